"""Quantizing: the reference's bytes where it has them, and nowhere a larger error than plain rounding makes."""

from __future__ import annotations

from collections.abc import Callable

import gguf
import numpy as np
import pytest

from engine.weights.gguf.blocks import decode
from engine.weights.gguf.encode import ENCODERS, encode, encode_plainly
from engine.weights.gguf.types import TYPES

CASES = {
    "normal": lambda rng: rng.normal(size=(9, 512)),
    "heavy tails": lambda rng: rng.standard_t(2, size=(9, 512)),
    "uniform": lambda rng: rng.uniform(0.5, 1, size=(9, 512)),
    "negative": lambda rng: -rng.uniform(0.5, 1, size=(9, 512)),
    "one outlier": lambda rng: rng.normal(size=(9, 512)) * 0.01 + (np.arange(512) == 77) * 5,
    "small": lambda rng: rng.normal(size=(9, 512)) * 1e-3,
    "halves": lambda rng: rng.integers(-8, 8, (9, 512)) + 0.5,
    "zeros": lambda rng: np.zeros((9, 512)),
    "constant": lambda rng: np.full((9, 512), -0.3),
    "sparse": lambda rng: rng.normal(size=(9, 512)) * (rng.random((9, 512)) < 0.05),
}


def values(case: str) -> np.ndarray:
    return CASES[case](np.random.default_rng(3)).astype(np.float32)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q4_0"])
@pytest.mark.parametrize("make", [encode, encode_plainly])
def test_bytes_are_the_references(make: Callable[..., np.ndarray], kind: str, case: str) -> None:
    x = values(case)
    want = gguf.quantize(x, gguf.GGMLQuantizationType[kind])
    assert make(x, kind).tobytes() == np.ascontiguousarray(want).tobytes()


def test_odd_floats_survive_bf16() -> None:
    x = np.array([[np.inf, -np.inf, np.nan, 0.0, -0.0, 3.4e38, 1e-40, 1.00390625]], np.float32)
    assert encode(x, "BF16").tobytes() == gguf.quantize(x, gguf.GGMLQuantizationType.BF16).tobytes()


def quotient(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.divide(a, b, out=np.zeros(np.broadcast_shapes(a.shape, b.shape), np.float32), where=b != 0)


def coarse(steps: np.ndarray, levels: int) -> np.ndarray:
    """Steps `[blocks, groups]` as multiples of an f16 number."""
    d = (steps.max(1, keepdims=True) / levels).astype(np.float16).astype(np.float32)
    return (np.rint(quotient(steps, d)).clip(0, levels) * d)[:, :, None]


def plain(x: np.ndarray, kind: str) -> np.ndarray:
    """The same format without a search: each group's range decides its step."""
    if kind == "Q4_K":
        groups = x.reshape(-1, 8, 32)
        low = np.minimum(groups.min(2), 0)
        step, start = coarse((groups.max(2) - low) / 15, 63), coarse(-low, 63)
        return (np.rint(quotient(groups + start, step)).clip(0, 15) * step - start).reshape(x.shape)
    groups = x.reshape(-1, 16, 16)
    step = coarse(np.abs(groups).max(2) / 31, 127)
    return (np.rint(quotient(groups, step)).clip(-32, 31) * step).reshape(x.shape)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", ["Q4_K", "Q6_K"])
def test_the_search_is_no_worse_than_rounding(kind: str, case: str) -> None:
    x = values(case)
    got = gguf.dequantize(encode_plainly(x, kind), gguf.GGMLQuantizationType[kind])
    error, naive = (np.square(y - x).mean(dtype=np.float64) for y in (got, plain(x, kind)))
    assert error <= naive * 1.0001


def test_the_search_gains_on_what_weights_look_like() -> None:
    x = values("normal")
    for kind, gain in (("Q4_K", 0.95), ("Q6_K", 0.99)):
        got = decode(encode_plainly(x, kind), kind).reshape(x.shape)
        assert np.square(got - x).mean() < gain**2 * np.square(plain(x, kind) - x).mean()


@pytest.mark.parametrize("kind", sorted(ENCODERS))
def test_any_number_of_axes_and_of_steps(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = values("normal")[:6].reshape(2, 3, 512)
    whole = encode(x, kind)
    assert np.array_equal(encode_plainly(x.reshape(6, 512), kind), whole.reshape(6, -1))
    assert whole.shape == (2, 3, TYPES[kind].row_bytes(512))
    monkeypatch.setattr("engine.weights.gguf.encode._CHUNK", 256)
    assert np.array_equal(encode_plainly(x.reshape(6, 512), kind), whole.reshape(6, -1))


@pytest.mark.parametrize("kind", ["Q4_K", "Q6_K"])
def test_a_block_that_no_scale_reaches_is_not_a_number(kind: str) -> None:
    x = np.random.default_rng(5).normal(size=(6, 512)).astype(np.float32)
    for row, odd in enumerate((np.nan, np.inf, -np.inf, 3e8, -9e7)):
        x[row, 300] = odd
    got = decode(encode_plainly(x, kind), kind).reshape(6, 512)
    assert np.isnan(got[:4, 256:]).all()
    assert np.isfinite(got[:, :256]).all()
    assert np.isnan(got[4, 256:]).all() == (kind == "Q4_K")  # whose minima reach only 63 f16 numbers
    assert np.isfinite(got[5]).all()
