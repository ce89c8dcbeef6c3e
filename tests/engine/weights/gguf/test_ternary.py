"""I2_S, as BitNet's own program writes it on x86: the rule one weight at a time, and whole models of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import WeightsError
from engine.weights.convert import convert
from engine.weights.gguf import ternary
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.checkpoint import open_gguf
from engine.weights.gguf.reader import Elements, read
from engine.weights.gguf.writer import Plan
from tests.checkpoints import save
from tests.engine.weights.gguf.files import save as save_file
from tests.engine.weights.gguf.test_models import FromGguf

PROMPT = [5, 17, 33, 41, 8, 9, 60, 3, 200, 7]


def packed(codes: np.ndarray, scale: float) -> bytes:
    """Codes 0, 1 and 2, one at a time."""
    flat, made = codes.reshape(-1), bytearray(codes.size // 4)
    for i, code in enumerate(flat.tolist()):
        block, place = divmod(i, 128)
        group, byte = divmod(place, 32)
        made[block * 32 + byte] |= code << (6 - 2 * group)
    return bytes(made) + np.float32(scale).tobytes() + bytes(28)


def some_codes(*shape: int) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 3, shape).astype(np.uint8)


def plan(name: str, codes: np.ndarray, scale: float) -> Plan:
    return Plan(name, ternary.I2_S, codes.shape, lambda: [packed(codes, scale)])


def plain(value: Any) -> Any:
    if not isinstance(value, Elements):
        return value
    return value.strings() if value.kind == 8 else value.numbers().tolist()


def test_every_weight(tmp_path: Path) -> None:
    codes = some_codes(6, 256)
    raw = read(
        save_file(tmp_path / "m.gguf", {}, [plan("a.weight", codes, 0.37), plan("b.weight", codes, 2.0)])
    ).tensors
    assert raw["a.weight"].nbytes == 6 * 256 // 4 + 32
    assert np.array_equal(dequantize(raw["a.weight"]), (codes.astype(np.float32) - 1) * np.float32(0.37))
    assert np.array_equal(ternary.codes(raw["b.weight"]), codes)
    turned = ternary.in_order(raw["b.weight"], np.array([5, 0, 1, 2, 3, 4]))
    assert np.array_equal(ternary.codes(turned), codes[[5, 0, 1, 2, 3, 4]])


def test_rows_that_no_block_divides(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="rows of 64 weights, which blocks of 128"):
        read(save_file(tmp_path / "m.gguf", {}, [plan("a.weight", some_codes(4, 64), 1.0)]))


@pytest.mark.parametrize("backend", ["torch", "mlx"])
@pytest.mark.parametrize(("name", "arch"), [("bitnet", "bitnet-b1.58"), ("llama_plain", "llama")])
def test_a_model_of_it_is_the_one_of_its_floats(tmp_path: Path, name: str, arch: str, backend: str) -> None:
    """Falcon's are of Llama's architecture, whose rows of queries and keys lie in another order."""
    folder = save(name, tmp_path / "folder", hidden_size=128, intermediate_size=256)
    whole = read(convert(folder, tmp_path / "whole.gguf"))
    metadata = {
        key.replace("bitnet.", f"{arch}.") if key.startswith("bitnet.") else key: plain(value)
        for key, value in whole.metadata.items()
        if not key.endswith("hidden_activation")
    }
    metadata["general.architecture"] = arch
    floats, codes = [], []
    for key, raw in whole.tensors.items():
        values = dequantize(raw)
        if key.startswith("blk.") and values.ndim == 2:
            scale = np.abs(values).mean()
            ternary_codes = (np.clip(np.round(values / scale), -1, 1) + 1).astype(np.uint8)
            codes.append(plan(key, ternary_codes, scale))
            values = (ternary_codes.astype(np.float32) - 1) * np.float32(scale)
        else:
            codes.append(Plan(key, "F32", values.shape, lambda values=values: [values.tobytes()]))
        floats.append(Plan(key, "F32", values.shape, lambda values=values: [values.tobytes()]))
    files = [save_file(tmp_path / f"{i}.gguf", metadata, plans) for i, plans in enumerate((floats, codes))]
    want, got = (FromGguf(open_gguf(file), backend).logits(PROMPT) for file in files)
    assert np.abs(got - want).max() <= 1e-4 * np.abs(want).max()
