"""Rows taken back out of the packed layout, and weights quantized on the way in, bit for bit."""

from __future__ import annotations

import gguf
import numpy as np
import pytest
import torch

from backends.base import Dense
from backends.torch.kernels.linear import linear
from tests.backends.kernels.weights_made_here import ALL, columns_of, make, raw


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("hard", [False, True])
def test_rows_are_the_dequantized_weights(kind: str, hard: bool) -> None:
    case = make(kind, 21, columns_of(kind, 256), seed=2, hard=hard, shift=3)
    ids = torch.tensor([[20, 0, 7], [7, 16, 15]])
    rows = linear([case.weight], [None], torch.float32).rows(ids)
    assert rows.shape == (2, 3, case.floats.shape[1])
    assert np.array_equal(rows.numpy(), case.floats[ids.numpy()])


@pytest.mark.parametrize("quant", ["Q8_0", "Q4_0"])
@pytest.mark.parametrize("stored", ["F32", "F16", "BF16"])
def test_dense_weights_are_quantized_as_the_format_says(quant: str, stored: str) -> None:
    case = make(stored, 33, 512, seed=8)
    case.floats[3] = 0
    case.floats[4, ::2] = 0.5  # ties
    weight = make_dense(case.floats, stored)
    kind = gguf.GGMLQuantizationType[quant]
    want = gguf.dequantize(gguf.quantize(case.floats, kind), kind)
    got = linear([weight], [None], torch.float32, quant).rows(torch.arange(33)).numpy()
    assert np.array_equal(got, want)


def make_dense(floats: np.ndarray, stored: str) -> Dense:
    dtype = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}[stored]
    return Dense(raw(torch.from_numpy(floats).to(dtype).view(torch.uint8).numpy(), stored, floats.shape))


def test_a_row_that_is_not_there_is_refused() -> None:
    matrix = linear([make("Q8_0", 5, 32).weight], [None], torch.float32)
    for wrong in (-1, 5):
        with pytest.raises(IndexError, match=r"0 \.\. 4"):
            matrix.rows(torch.tensor([wrong]))


@pytest.mark.parametrize("quant", ["Q8_0", "Q4_0"])
def test_quantizing_hides_nothing_that_is_not_finite(quant: str) -> None:
    floats = np.ones((4, 64), np.float32)
    floats[1, 5], floats[2, 40], floats[3, 7] = np.nan, -np.inf, 1e-44
    rows = linear([make_dense(floats, "F32")], [None], torch.float32, quant).rows(torch.arange(4))
    assert torch.isfinite(rows[[0, 3]]).all()
    assert not torch.isfinite(rows[1, :32]).any()
    assert not torch.isfinite(rows[2, 32:]).any()
    assert torch.isfinite(rows[2, :32]).all()
