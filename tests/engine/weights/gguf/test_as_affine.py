"""Blocks in MLX's layout hold the very same numbers, also as MLX itself reads them."""

from __future__ import annotations

import mlx.core as mx
import numpy as np
import pytest

from backends.base import Blocks, Raw
from engine.weights import affine
from engine.weights.gguf.as_affine import BITS, EXACT, GROUP, anew, bits_per_weight, exact
from engine.weights.gguf.blocks import dequantize
from engine.weights.gguf.types import TYPES

ROWS, COLUMNS = 5, 512


def blocks(kind: str) -> Blocks:
    """Random codes under ordinary scales."""
    rng = np.random.default_rng(4)
    t = TYPES[kind]
    data = rng.integers(0, 256, (ROWS * COLUMNS // t.weights, t.nbytes), dtype=np.uint8)
    scales = rng.uniform(1e-3, 1e-1, (len(data), 2)).astype("<f2").view(np.uint8)
    if kind == "MXFP4":
        data[:, 0] = rng.integers(100, 140, len(data))
    elif kind == "IQ1_M":  # four bits of the scale in the highest of each of four pairs of bytes
        for i in range(4):
            high = (np.ascontiguousarray(scales[:, :2]).view("<u2")[:, 0] >> 4 * i) & 15
            data[:, 49 + 2 * i] = data[:, 49 + 2 * i] & 15 | (high << 4).astype(np.uint8)
    elif kind == "NVFP4":
        pass  # every byte is a scale
    elif kind in ("TQ2_0_G128", "TQ2_0", "TQ1_0", "PTQ1_0", "Q3_K", "Q6_K"):
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


def test_every_other_type_fits_exactly() -> None:
    whole = {kind for kind, t in TYPES.items() if t.weights > 1}
    assert whole - set(EXACT) == {"Q2_K", "Q6_K", "IQ2_XS", "IQ2_S", "NVFP4", "FP8_32", "FP8_128"}
    assert exact(blocks("Q6_K")) is None


@pytest.mark.parametrize("kind", ["Q6_K", "Q2_K", "IQ2_XS", "IQ2_S"])
def test_what_does_not_fit_is_quantized_anew_as_closely_as_it_is_said(kind: str) -> None:
    weight = blocks(kind)
    if kind == "Q2_K":
        raw = np.frombuffer(weight.data.buffer, np.uint8).reshape(-1, 84).copy()
        raw[:, 80:84] = np.array([0.01, 0.02], "<f2").view(np.uint8)
        data = Raw("w", "", 0, raw.nbytes, kind, (ROWS, COLUMNS), memoryview(raw.tobytes()))
        weight = Blocks(data, kind, data.shape)
    made = anew(weight)
    assert (made.bits, made.group, bits_per_weight(kind)) == (BITS, GROUP, 9)
    for part in (made.packed, made.scales, made.biases):
        assert len(part.buffer) == part.nbytes
    want = dequantize(weight).reshape(-1, GROUP)
    off = np.abs(affine.dequantize(made).reshape(-1, GROUP) - want).max(1)
    assert (off <= 0.004 * (want.max(1) - want.min(1)) + 1e-9).all()
    assert off.any()
