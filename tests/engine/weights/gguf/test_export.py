"""What `grus convert` writes of each family: the tensors and keys that llama.cpp's own converter would write."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import UnsupportedArchitecture
from engine.models.registry import ARCHITECTURES
from engine.weights.convert import convert
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.metadata import architecture_of
from engine.weights.gguf.reader import Elements, read
from tests import llamacpp_files
from tests.asserting import every
from tests.checkpoints import save, save_as_qwen_publishes

FAMILIES = [name for name in llamacpp_files.FAMILIES if " " not in name]
# Of layers whose keys and values nothing reads, and one latent's projections of two spellings.
OTHERWISE = {"deepseek_v2": ("attn_k_b", "attn_v_b", "attn_kv_b")}
LATENT_KEYS = ("attention.head_count_kv", "attention.key_length", "attention.value_length")
SOME: dict[str, Any] = {
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_hidden_layers": 1,
    "intermediate_size": 96,
    "vocab_size": 300,
    "layers_block_type": ["mlp"],
}
# Of other modalities than text, or unknown to llama.cpp.
UNWRITTEN = {
    "chatterbox",
    "deepseek_ocr2",
    "lfm3",
    "lighton_ocr",
    "moonshine",
    "moonshine_streaming",
    "paddleocr_vl",
    "pocket_tts",
    "qwen3_asr",
    "qwen3_tts",
    "unlimited_ocr",
    "voxtral",
    "voxtral_realtime",
    "whisper",
}


def plain(value: Any) -> Any:
    return list(value.numbers().tolist()) if isinstance(value, Elements) else value


@pytest.mark.parametrize("name", FAMILIES)
def test_the_same_file_as_llama_cpps_converter_makes(tmp_path: Path, name: str) -> None:
    want = read(llamacpp_files.write(name, tmp_path / "theirs.gguf"))
    spelling = ("new", "old")[FAMILIES.index(name) % 2]
    folder = save(name, tmp_path / "folder", spelling, **llamacpp_files.FIXED.get(name, {}))
    got = read(convert(folder, tmp_path / "ours.gguf"))
    other = OTHERWISE.get(name, ())
    names = {key for key in want.tensors.keys() | got.tensors.keys() if not any(part in key for part in other)}
    assert names <= want.tensors.keys() & got.tensors.keys()
    for key in names:
        a, b = want.tensors[key], got.tensors[key]
        assert a.shape == b.shape, key
        assert np.allclose(dequantize(a), dequantize(b), rtol=1e-6, atol=1e-6), key
    for key, value in want.metadata.items():
        if not key.startswith(("tokenizer.", "general.")) and not (other and key.endswith(LATENT_KEYS)):
            # a family without RMS norms has the epsilon of the others
            assert plain(got.metadata.get(key)) == plain(value) or (name, key[-8:]) == ("cohere2", "_epsilon"), key


def test_every_text_family_is_written(tmp_path: Path) -> None:
    refused = set()
    for model_type in ARCHITECTURES:
        try:
            architecture_of(SOME | {"model_type": model_type}, "it")
        except UnsupportedArchitecture:
            refused.add(model_type)
    assert refused == UNWRITTEN


def test_experts_in_mxfp4_stay_as_they_are(tmp_path: Path) -> None:
    """gpt-oss as OpenAI publishes it: their bytes are those of the file, whatever quantization is asked for."""
    folder = save("gpt_oss", tmp_path / "folder", **llamacpp_files.FIXED["gpt_oss"])
    tensors = load_file(folder / "model.safetensors")
    generator = torch.Generator().manual_seed(1)
    for name in [name for name in tensors if name.endswith(("experts.gate_up_proj", "experts.down_proj"))]:
        experts, inp, out = tensors.pop(name).shape
        shape = experts, out, inp // 32
        tensors[f"{name}_blocks"] = torch.randint(0, 256, (*shape, 16), generator=generator, dtype=torch.uint8)
        tensors[f"{name}_scales"] = torch.randint(118, 126, shape, generator=generator, dtype=torch.uint8)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    plain_again = load_file(convert(folder, tmp_path / "plain", "safetensors") / "model.safetensors")
    for quant in (None, "q8_0"):
        written = read(convert(folder, tmp_path / f"{quant}.gguf", "gguf", quant)).tensors
        assert written["blk.1.attn_q.weight"].dtype == ("Q8_0" if quant else "F32")
        for theirs, ours, taken in (
            ("gate", "gate_up", slice(0, None, 2)),
            ("up", "gate_up", slice(1, None, 2)),
            ("down", "down", slice(None)),
        ):
            raw = written[f"blk.1.ffn_{theirs}_exps.weight"]
            assert raw.dtype == "MXFP4"
            want = plain_again[f"model.layers.1.mlp.experts.{ours}_proj"].float().numpy().swapaxes(1, 2)[:, taken]
            assert np.array_equal(dequantize(raw), want)


def test_a_mixture_as_qwen_publishes_it(tmp_path: Path) -> None:
    saved = save("qwen3_5_moe", tmp_path / "saved")
    published = save_as_qwen_publishes(saved, tmp_path / "published")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (published / name).write_bytes((saved / name).read_bytes())
    one, other = (read(convert(folder, tmp_path / f"{folder.name}.gguf")).tensors for folder in (saved, published))
    assert one.keys() == other.keys()
    assert every(bytes(one[name].buffer) == bytes(other[name].buffer) for name in one)


@pytest.mark.parametrize(
    ("name", "changes", "what"),
    [
        ("gpt_oss", {"swiglu_limit": 2.0}, "`swiglu_limit` is 2.0"),
        ("gemma3", {"query_pre_attn_scalar": 20}, "`query_pre_attn_scalar` is 20"),
        ("smollm3", {"no_rope_layers": [1, 0, 1]}, "layers have no positions otherwise"),
        ("nemotron_h", {"time_step_limit": (0.0, 0.5)}, "steps are bounded"),
        ("qwen3_moe", {"norm_topk_prob": False}, "`norm_topk_prob` is False"),
        ("laguna_wide", {}, "`moe_router_logit_softcapping` is 1.5"),
    ],
)
def test_what_no_key_says_is_refused_in_one_sentence(
    tmp_path: Path, name: str, changes: dict[str, Any], what: str
) -> None:
    folder = save(name, tmp_path / "folder", **changes)
    with pytest.raises(UnsupportedArchitecture, match=what) as caught:
        convert(folder, tmp_path / "m.gguf")
    assert str(caught.value).count("\n") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder"]


def test_the_command_refuses_before_it_works(tmp_path: Path) -> None:
    folder = save("lfm3", tmp_path / "folder")
    (folder / "model.safetensors").unlink()  # nothing of it is looked at
    command = [sys.executable, "-m", "app.cli", "convert", str(folder), str(tmp_path / "m.gguf")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert "the architecture `lfm3`, which Grus does not write as GGUF" in done.stderr
    assert json.loads((folder / "config.json").read_text())["model_type"] == "lfm3"
