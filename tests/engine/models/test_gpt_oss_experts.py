"""gpt-oss's experts as MXFP4, in OpenAI's layout and in GGUF's: both are the very values that transformers makes of the blocks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from backends.base import Raw, Segment
from engine.loading import LoadOptions, load
from engine.weights.float_formats import mxfp4
from engine.weights.gguf.blocks import decode_rows, dequantize
from engine.weights.quantization import parse
from tests import llamacpp_files
from tests.checkpoints import reference, save, save_tokenizer
from tests.driver import Driver
from tests.needs import no_kernels

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7, 7, 150, 99, 31, 64, 128, 254, 1, 2, 90, 77, 12, 180]
FP4 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


def blocks_of(count: int, rows: int, columns: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random blocks `[count, rows, columns / 32, 16]`, their scales, and the values by the rule: the low half first."""
    random = np.random.default_rng(seed)
    blocks = random.integers(0, 256, (count, rows, columns // 32, 16), np.uint8)
    scales = random.integers(121, 125, (count, rows, columns // 32), np.uint8)
    pairs = np.stack((FP4[blocks & 15], FP4[blocks >> 4]), -1).reshape(count, rows, columns // 32, 32)
    return blocks, scales, (pairs * np.exp2(scales[..., None] - 127.0)).reshape(count, rows, columns)


def raw(name: str, values: np.ndarray) -> Raw:
    return Raw(name, "here", 0, values.nbytes, "U8", values.shape, memoryview(values.tobytes()))


def test_blocks_become_ggufs() -> None:
    blocks, scales, values = blocks_of(2, 6, 64, 1)
    made = mxfp4(raw("w_blocks", blocks), raw("w_scales", scales))
    assert (made.type, made.shape, made.data.nbytes) == ("MXFP4", (2, 6, 64), len(made.data.buffer))
    np.testing.assert_array_equal(
        np.concatenate(list(decode_rows(made.data.buffer, "MXFP4", 64))), values.reshape(12, 64)
    )


def test_the_config_may_say_mxfp4() -> None:
    assert (
        parse({"quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}}, "here") is None
    )


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, np.ndarray]:
    """A folder as OpenAI publishes one, and the reference's logits of the same values."""
    import torch
    from safetensors.torch import load_file, save_file

    folder = save("gpt_oss", tmp_path_factory.mktemp("gpt_oss"), "old", spread=0.05)
    model = reference("gpt_oss", spread=0.05)
    tensors = load_file(folder / "model.safetensors")
    with torch.no_grad():
        for i, layer in enumerate(model.model.layers):
            for seed, name in enumerate(("gate_up_proj", "down_proj"), 2 * i):
                stem, plain = f"model.layers.{i}.mlp.experts.{name}", getattr(layer.mlp.experts, name)
                blocks, scales, values = blocks_of(plain.shape[0], plain.shape[2], plain.shape[1], seed)
                plain.copy_(torch.from_numpy(values).transpose(1, 2))
                del tensors[stem]
                tensors |= {f"{stem}_blocks": torch.from_numpy(blocks), f"{stem}_scales": torch.from_numpy(scales)}
        want = model(torch.tensor([PROMPT])).logits[0].numpy()
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]}
    (folder / "config.json").write_text(json.dumps(config))
    save_tokenizer(folder)
    return folder, want


def logits(path: Path, backend: str) -> np.ndarray:
    model = load(str(path), LoadOptions(backend=backend, device="cpu", dtype="f32"))
    slot = model.kv.open(len(PROMPT))
    assert slot is not None
    found = model.runner.run([Segment(slot, PROMPT, want=range(len(PROMPT)))]).read()[slot].logits
    assert found is not None
    return found


@pytest.mark.parametrize(
    "backend", [pytest.param("torch", marks=pytest.mark.skipif(bool(no_kernels()), reason=no_kernels())), "mlx"]
)
def test_a_published_folder(published: tuple[Path, np.ndarray], backend: str) -> None:
    """On torch the kernels round activations to bytes, as for every type of blocks; MLX holds the same values in five bits."""
    folder, want = published
    got = logits(folder, backend)
    if backend == "mlx":
        assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()
    cosine = (got * want).sum() / (np.linalg.norm(got) * np.linalg.norm(want))
    assert cosine >= 0.999


def test_a_file_of_llamacpp_holds_the_same_type(tmp_path: Path) -> None:
    from engine.weights.gguf.checkpoint import open_gguf

    source = open_gguf(llamacpp_files.write("gpt_oss", tmp_path / "m.gguf", "MXFP4")).source
    found = source.matrix("model.layers.1.mlp.switch_mlp.down_proj", (4, 64, 96)).weight
    assert found is not None
    assert getattr(found, "type", None) == "MXFP4"
    plain = llamacpp_files.written("gpt_oss").model.layers[1].mlp.experts.down_proj.detach().transpose(1, 2).numpy()
    assert np.abs(dequantize(found) - plain).mean() < 0.2 * np.abs(plain).mean()  # type: ignore[arg-type]


def test_long_prompts_are_attended_to_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All scores of a long chunk, as attention with sinks makes them on torch, would take gigabytes."""
    driver = Driver(save("gpt_oss", tmp_path / "m", "old"), "torch")
    whole = driver.logits(PROMPT, [9, 14])
    monkeypatch.setattr("backends.torch.cache.MOST_SCORES", 100)
    assert np.abs(driver.logits(PROMPT, [9, 14]) - whole).max() <= 1e-5 * np.abs(whole).max()
