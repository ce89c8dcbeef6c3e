"""Conversions, there and back: what is written opens in the programs it is written for, and holds the same numbers."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import BadRequest, UnsupportedArchitecture, WeightsError
from engine.text.tokenizer import Tokenizer
from engine.weights import affine
from engine.weights.checkpoint import Checkpoint
from engine.weights.convert import convert
from engine.weights.gguf.checkpoint import open_gguf
from engine.weights.gguf.reader import read
from engine.weights.stored import FolderStored
from tests import llamacpp_files
from tests.checkpoints import reference_cached, save
from tests.driver import Driver

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150]
NAMES = ("llama", "llama_yarn", "qwen2", "qwen3", "qwen3_moe", "qwen3_5")

Files = Callable[..., Path]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    root = tmp_path_factory.mktemp("convert")

    @cache
    def folder(name: str) -> Path:
        made = save(name, root / name, "new" if name == "qwen3_5" else "old")
        (made / "chat_template.jinja").write_text("{{ messages[0].content }}")
        return made

    @cache
    def file(name: str, *steps: tuple[str, str | None]) -> Path:
        """`steps` are formats and quantizations, one after the other."""
        if not steps:
            return folder(name)
        to, quant = steps[-1]
        target = root / "-".join([name, *(f"{to}-{quant}" for to, quant in steps)])
        return convert(file(name, *steps[:-1]), target.with_suffix(".gguf") if to == "gguf" else target, to, quant)

    return file


def expected(name: str) -> np.ndarray:
    import torch

    with torch.no_grad():
        return reference_cached(name)(torch.tensor([PROMPT])).logits[0].numpy()


def mlx_lm_logits(folder: Path) -> np.ndarray:
    import mlx.core as mx
    from mlx_lm.utils import load_model

    with mx.stream(mx.cpu):
        model, _ = load_model(folder)
        return np.array(model(mx.array([PROMPT]))[0].astype(mx.float32))


def worst(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


def tensors(folder: Path) -> dict[str, np.ndarray]:
    stored = FolderStored(Checkpoint.open(folder))
    return {name: stored.values(name) for name in stored.names}


@pytest.mark.parametrize("name", NAMES)
def test_to_gguf_and_back_gives_the_same_checkpoint(files: Files, name: str) -> None:
    original = tensors(files(name))
    again = tensors(files(name, ("gguf", None), ("safetensors", None)))
    assert set(again) == set(original)
    for key, values in original.items():
        exact = name != "qwen3_5" or not key.endswith(("norm.weight", "A_log"))
        assert np.array_equal(again[key], values) if exact else np.allclose(again[key], values, atol=1e-6), key


@pytest.mark.parametrize("name", NAMES)
def test_the_reference_library_opens_what_comes_back(files: Files, name: str) -> None:
    import torch
    import transformers

    folder = files(name, ("gguf", None), ("safetensors", None))
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    with torch.no_grad():
        got = model(torch.tensor([PROMPT])).logits[0].numpy()
    assert worst(got, expected(name)) <= 1e-4


@pytest.mark.parametrize("quant", [None, "q8_0", "q6_k", "q4_k"])
@pytest.mark.parametrize("name", ["llama", "qwen3", "qwen3_moe", "qwen3_5"])
def test_mlx_lm_opens_an_mlx_folder(files: Files, name: str, quant: str | None) -> None:
    folder = files(name, ("mlx", quant))
    theirs = mlx_lm_logits(folder)
    assert worst(Driver(folder, "mlx").logits(PROMPT), theirs) <= 1e-4
    if quant in (None, "q8_0"):
        assert worst(theirs, expected(name)) <= (1e-4 if quant is None else 0.2)


def test_mlx_lm_opens_what_was_a_gguf_file(files: Files) -> None:
    folder = files("qwen3", ("gguf", "q8_0"), ("mlx", "q8_0"))
    assert worst(mlx_lm_logits(folder), expected("qwen3")) <= 0.15


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_packing_is_mlxs(bits: int) -> None:
    import mlx.core as mx

    x = np.random.default_rng(1).normal(size=(6, 128)).astype(np.float32)
    x[0] = 0
    with mx.stream(mx.cpu):
        words, scales, biases = mx.quantize(mx.array(x), group_size=64, bits=bits)
        packed, ours, bias = affine.quantize(x, bits, 64, "F32")
        assert np.allclose(ours.view(np.float32), np.array(scales), rtol=1e-5, atol=1e-6)
        triple = [mx.array(part.view(kind)) for part, kind in ((packed, np.uint32), (ours, "f4"), (bias, "f4"))]
        back = np.array(mx.dequantize(*triple, group_size=64, bits=bits))
        theirs = np.array(mx.dequantize(words, scales, biases, group_size=64, bits=bits))
    assert np.square(back - x).mean() <= np.square(theirs - x).mean() * 1.001


def test_a_packed_folder_becomes_plain_again(files: Files) -> None:
    """Weights that were packed are decoded as MLX decodes them."""
    import mlx.core as mx

    packed = files("qwen3", ("mlx", "q6_k"))
    plain = tensors(files("qwen3", ("mlx", "q6_k"), ("safetensors", None)))
    with mx.stream(mx.cpu):
        raw = mx.load(str(packed / "model.safetensors"))
        stem = "model.layers.0.mlp.up_proj"
        parts = [raw[f"{stem}.{part}"] for part in ("weight", "scales", "biases")]
        want = np.array(mx.dequantize(*parts, group_size=64, bits=6))
    assert np.allclose(plain[f"{stem}.weight"], want, atol=1e-6)


def test_requantizing_a_file_is_as_converting_the_folder(files: Files) -> None:
    once = read(files("llama", ("gguf", "q8_0"))).tensors
    twice = read(files("llama", ("gguf", None), ("gguf", "q8_0"))).tensors
    assert set(once) == set(twice)
    for name, raw in once.items():
        assert raw.dtype == twice[name].dtype
        if name != "rope_freqs.weight":
            assert bytes(raw.buffer) == bytes(twice[name].buffer), name


def test_types_by_tensor(files: Files) -> None:
    kinds = {name: raw.dtype for name, raw in read(files("qwen3_moe", ("gguf", "q4_0"))).tensors.items()}
    assert kinds["blk.0.attn_q.weight"] == kinds["blk.0.ffn_up_exps.weight"] == "Q4_0"
    assert kinds["blk.0.ffn_gate_inp.weight"] == kinds["blk.0.attn_norm.weight"] == "F32"
    assert kinds["token_embd.weight"] == "Q8_0"  # six bits would need rows of 256
    kept = {name: raw.dtype for name, raw in read(files("qwen3_moe", ("gguf", None))).tensors.items()}
    assert set(kept.values()) == {"F32"}


@pytest.mark.parametrize("steps", [(("gguf", "q8_0"), ("safetensors", None)), (("mlx", "q8_0"),)])
def test_tokenizer_and_template_go_along(files: Files, steps: Any) -> None:
    before, after = (Tokenizer.from_folder(files("qwen3", *s)) for s in ((), steps))
    text = "hello <|im_end|> wörld"
    assert after.encode(text) == before.encode(text)
    assert after.eos_ids[0] == before.eos_ids[0]
    assert (files("qwen3", *steps) / "chat_template.jinja").read_text() == "{{ messages[0].content }}"


def test_the_config_says_which_layers_differ(files: Files) -> None:
    config = json.loads((files("qwen3", ("mlx", "q4_0")) / "config.json").read_text())
    assert config["quantization"]["bits"] == 4
    assert config["quantization"]["lm_head"] == {"group_size": 64, "bits": 6}
    assert config["quantization"]["model.layers.0.mlp.down_proj"] == {"group_size": 32, "bits": 4}  # rows of 96
    assert config["quantization_config"] == config["quantization"]


def test_progress_ends_at_all(files: Files, tmp_path: Path) -> None:
    for to, name in (("gguf", "a.gguf"), ("mlx", "b")):
        seen: list[tuple[int, int]] = []
        convert(files("qwen2"), tmp_path / name, to, "q8_0", lambda *step, seen=seen: seen.append(step))
        assert seen == sorted(seen)
        assert seen[-1][1] - seen[-1][0] < 32  # padding


@pytest.mark.parametrize(
    ("to", "quant", "message"),
    [("onnx", None, "no format"), ("gguf", "q3", "no quantization"), ("safetensors", "q8_0", "holds no quantized")],
)
def test_impossible_wishes(files: Files, tmp_path: Path, to: str, quant: str, message: str) -> None:
    with pytest.raises(BadRequest, match=message):
        convert(files("qwen2"), tmp_path / "x", to, quant)


def test_what_is_there_is_kept(files: Files, tmp_path: Path) -> None:
    (tmp_path / "x").mkdir()
    with pytest.raises(BadRequest, match="is there already"):
        convert(files("qwen2"), tmp_path / "x")


def test_an_architecture_that_gguf_has_no_place_for(tmp_path: Path) -> None:
    folder = save("lfm3", tmp_path / "lfm3")
    file = llamacpp_files.write("glm4", tmp_path / "glm4.gguf")
    with pytest.raises(UnsupportedArchitecture, match="`glm4`, whose GGUF files Grus reads"):
        convert(file, tmp_path / "m", "safetensors")
    with pytest.raises(UnsupportedArchitecture, match="does not write as GGUF"):
        convert(folder, tmp_path / "lfm3.gguf")


def test_a_failed_conversion_leaves_nothing(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise WeightsError("broken")

    monkeypatch.setattr("engine.weights.folder.encode", fail)
    monkeypatch.setattr("engine.weights.gguf.export.encode", fail)
    for to in ("gguf", "mlx"):
        with pytest.raises(WeightsError, match="broken"):
            convert(files("qwen2"), tmp_path / "x", to)
    assert list(tmp_path.iterdir()) == []


def test_a_gguf_file_that_we_wrote_says_what_it_is(files: Files) -> None:
    checkpoint = open_gguf(files("llama", ("gguf", "q4_0")))
    assert checkpoint.file.metadata["general.file_type"] == 2
    assert checkpoint.template_source == "{{ messages[0].content }}"
    assert checkpoint.config["rope_parameters"]["rope_type"] == "factors"
