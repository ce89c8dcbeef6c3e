"""Blocks in MLX's layout hold the very same numbers, also as MLX itself reads them."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from backends.base import Blocks, Raw
from engine.weights import affine
from engine.weights.gguf.as_affine import EXACT, exact
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.types import TYPES

ROWS, COLUMNS = 5, 512


def blocks(kind: str) -> Blocks:
    """Random codes under ordinary scales."""
    rng = np.random.default_rng(4)
    t = TYPES[kind]
    data = rng.integers(0, 256, (ROWS * COLUMNS // t.weights, t.nbytes), dtype=np.uint8)
    scales = rng.uniform(1e-3, 1e-1, (len(data), 2)).astype("<f2").view(np.uint8)
    if kind in ("TQ2_0_G128", "TQ2_0"):
        data[:, -2:] = scales[:, :2]
        # the code 11 is 2 to one format and nothing to the other
    else:
        data[:, :2] = scales[:, :2]
        if kind in ("Q4_1", "Q5_1", "Q4_K", "Q5_K"):
            data[:, 2:4] = scales[:, 2:]
    raw = Raw("w", "", 0, data.nbytes, kind, (ROWS, COLUMNS), memoryview(data.tobytes()))
    return Blocks(raw, kind, raw.shape)


@pytest.mark.parametrize("kind", EXACT)
def test_the_numbers_are_the_same(kind: str) -> None:
    weight = blocks(kind)
    made = exact(weight)
    assert made is not None
    want = dequantize(weight)
    assert made.shape == want.shape
    for raw in (made.packed, made.scales, made.biases):
        assert len(raw.buffer) == raw.nbytes
    # Products of the K types do not fit f32 exactly: there the last bit may differ.
    tolerance = 2e-7 if kind in ("Q4_K", "Q5_K") else 0
    assert np.allclose(affine.dequantize(made), want, rtol=0, atol=tolerance * np.abs(want).max())


@pytest.mark.parametrize("kind", EXACT)
def test_mlx_reads_them(kind: str) -> None:
    weight = blocks(kind)
    made = exact(weight)
    assert made is not None
    dtypes = {"U32": np.uint32, "F16": np.float16, "F32": np.float32}
    with mx.stream(mx.cpu):
        parts = [
            mx.array(np.frombuffer(raw.buffer, dtypes[raw.dtype]).reshape(raw.shape))
            for raw in (made.packed, made.scales, made.biases)
        ]
        parts[1:] = [part.astype(mx.float32) for part in parts[1:]]
        got = np.array(mx.dequantize(*parts, group_size=made.group, bits=made.bits))
    want = dequantize(weight)
    assert np.allclose(got, want, rtol=0, atol=2e-7 * np.abs(want).max())


def test_what_does_not_fit_is_said() -> None:
    raw = Raw("w", "", 0, 210, "Q6_K", (1, 256), memoryview(bytes(210)))
    assert exact(Blocks(raw, "Q6_K", raw.shape)) is None
