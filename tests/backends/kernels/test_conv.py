"""Convolutions over a stream, against torch in f64, on every tier."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from backends.torch.kernels.conv import ConvWeight
from tests.backends.kernels.test_fused import normal


def wanted(x, w, b, dilation, snake, add):  # type: ignore[no-untyped-def]
    x = x.double()
    if snake is not None:
        rate, size = (part.double() for part in snake)
        x = x + torch.sin(x * rate) ** 2 * size
    padded = F.pad(x.T[None], ((w.shape[2] - 1) * dilation, 0))
    y = F.conv1d(padded, w.double(), b.double(), dilation=dilation)[0].T
    return y if add is None else y + add.double()


@pytest.mark.parametrize(("inputs", "outputs"), [(16, 16), (5, 1), (96, 40), (7, 100)])
@pytest.mark.parametrize(("taps", "dilation"), [(1, 1), (2, 1), (7, 1), (7, 9)])
@pytest.mark.parametrize("whole", [True, False], ids=["with-all", "bare"])
def test_pieces_of_any_length(tier: str, inputs: int, outputs: int, taps: int, dilation: int, whole: bool) -> None:
    w, b, x = normal(outputs, inputs, taps), normal(outputs, seed=1), 3 * normal(150, inputs, seed=2)
    snake = (normal(inputs, seed=3).exp(), normal(inputs, seed=4)) if whole else None
    add = normal(150, outputs, seed=5) if whole else None
    conv, before, made = ConvWeight(w, b), None, []
    start = 0
    for length in (1, 2, 0, 13, 100, 34):  # shorter than what is kept, nothing, more than a tile
        rows = slice(start, start + length)
        y, before = conv(x[rows], before, dilation, snake, None if add is None else add[rows])
        made.append(y)
        start += length
    want = wanted(x, w, b, dilation, snake, add)
    assert torch.allclose(torch.cat(made).double(), want, rtol=1e-5, atol=2e-5 * (inputs * taps) ** 0.5)


def test_a_snake_of_large_numbers_and_of_none(tier: str) -> None:
    w, b = torch.eye(16)[:, :, None], torch.zeros(16)
    x = normal(40, 16) * torch.logspace(-3, 3, 40)[:, None]
    x[3, 5] = float("nan")
    snake = torch.full((16,), 2.0), torch.full((16,), 0.5)
    y, _ = ConvWeight(w, b)(x, None, 1, snake, None)
    want = wanted(x, w, b, 1, snake, None)
    good = ~want.isnan()
    assert not good[3].any()
    assert good.sum() == 39 * 16
    assert torch.allclose(y[good].double(), want[good], rtol=1e-6, atol=1e-5)
