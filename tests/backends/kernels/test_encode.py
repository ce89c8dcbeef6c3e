"""Quantizing in C++ makes the bytes of the numpy rule, on every tier, whatever the numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from backends.base import Dense
from backends.torch.kernels import formats
from backends.torch.kernels.linear import linear
from backends.torch.kernels.quantize import encode
from engine.weights.gguf.blocks import decode
from engine.weights.gguf.encode import encode_plainly
from tests.backends.kernels.weights_made_here import raw

Make = Callable[[np.random.Generator], np.ndarray]
SHAPE = (24, 512)
CASES: dict[str, Make] = {
    "normal": lambda rng: rng.normal(size=SHAPE),
    "heavy tails": lambda rng: rng.standard_t(1, size=SHAPE),
    "above zero": lambda rng: rng.uniform(0.5, 1, size=SHAPE),
    "below zero": lambda rng: -rng.uniform(0.5, 1, size=SHAPE),
    "halves": lambda rng: rng.integers(-8, 8, SHAPE) + 0.5,
    "zeros": lambda rng: np.zeros(SHAPE),
    "zeros below": lambda rng: -np.zeros(SHAPE),
    "constant": lambda rng: np.full(SHAPE, -0.3),
    "sparse": lambda rng: rng.normal(size=SHAPE) * (rng.random(SHAPE) < 0.05),
    "every size": lambda rng: rng.normal(size=SHAPE) * 10.0 ** rng.integers(-44, 7, SHAPE),
    "denormal": lambda rng: rng.normal(size=SHAPE) * 1e-41,
    "huge": lambda rng: rng.normal(size=SHAPE) * 3e7,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", formats.MADE_HERE)
def test_bytes_are_those_of_the_rule(tier: str, kind: str, case: str) -> None:
    x = CASES[case](np.random.default_rng(3)).astype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        want = encode_plainly(x, kind)
    made = encode(x, kind)
    assert made is not None
    assert np.array_equal(made, want)


@pytest.mark.parametrize("kind", ["Q4_K", "Q6_K"])
def test_any_bits_at_all(tier: str, kind: str) -> None:
    x = np.random.default_rng(1).integers(0, 2**32, (200, 512), dtype=np.uint32).view(np.float32)
    made = encode(x, kind)
    assert made is not None
    assert np.array_equal(made, encode_plainly(x, kind))


@pytest.mark.parametrize("kind", formats.MADE_HERE)
@pytest.mark.parametrize("dtype", ["F32", "F16", "BF16"])
def test_a_matrix_quantized_while_it_is_packed_holds_the_same(kind: str, dtype: str) -> None:
    x = np.random.default_rng(2).normal(size=(37, 512)).astype(np.float32)
    stored = torch.from_numpy(x).to({"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}[dtype])
    weight = Dense(raw(stored.view(torch.uint8).numpy(), dtype, (37, 512)), kind)
    matrix = linear([weight], [None], torch.float32, kind)
    want = decode(encode_plainly(stored.float().numpy(), kind), kind).reshape(37, 512)
    assert np.array_equal(matrix.rows(torch.arange(37)).numpy(), want)


def test_other_types_are_left_to_numpy() -> None:
    assert encode(np.zeros((1, 256), np.float32), "Q5_K") is None
