"""Convolutions over a stream, against torch in f64, on every tier."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from backends.torch.kernels.conv import ConvWeight
from backends.torch.kernels.library import TIERS, available, library
from tests.backends.kernels.test_fused import normal

WINOGRAD, BLOCKS = 2, 4  # of `ConvForm` in src/conv/conv.hpp


def wanted(x, w, b, dilation, snake, add):  # type: ignore[no-untyped-def]
    x = x.double()
    if snake is not None:
        rate, size = (part.double() for part in snake)
        x = x + torch.sin(x * rate) ** 2 * size
    padded = F.pad(x.T[None], ((w.shape[2] - 1) * dilation, 0))
    y = F.conv1d(padded, w.double(), b.double(), dilation=dilation)[0].T
    return y if add is None else y + add.double()


@pytest.mark.parametrize(("inputs", "outputs"), [(16, 16), (5, 1), (96, 40), (7, 100)])
@pytest.mark.parametrize(("taps", "dilation"), [(1, 1), (2, 1), (3, 2), (7, 1), (7, 9), (11, 5)])
@pytest.mark.parametrize("whole", [True, False], ids=["with-all", "bare"])
def test_pieces_of_any_length(tier: str, inputs: int, outputs: int, taps: int, dilation: int, whole: bool) -> None:
    w, b, x = normal(outputs, inputs, taps), normal(outputs, seed=1), 3 * normal(150, inputs, seed=2)
    snake = (normal(inputs, seed=3).exp(), normal(inputs, seed=4)) if whole else None
    add = normal(150, outputs, seed=5) if whole else None
    conv, before, made = ConvWeight(w, b), None, []
    start = 0
    for length in (1, 2, 0, 13, 100, 34):  # shorter than what is kept, nothing, more than a tile
        rows = slice(start, start + length)
        y, (before,) = conv(x[rows], [length], [before], dilation, snake, None if add is None else add[rows])
        made.append(y)
        start += length
    want = wanted(x, w, b, dilation, snake, add)
    error = (torch.cat(made).double() - want).abs()
    if tier == "amx" or conv.form in (
        WINOGRAD,
        BLOCKS,
    ):  # in halves, without the product of both low ones; or by points
        y = x if snake is None else x + torch.sin(x * snake[0]) ** 2 * snake[1]
        assert (error <= 1e-5 + 2.0**-15 * wanted(y.abs(), w.abs(), b.abs(), dilation, None, None)).all()
    else:
        assert (error <= 1e-5 * want.abs() + 2e-5 * (inputs * taps) ** 0.5).all()


@pytest.mark.parametrize(("taps", "dilation"), [(1, 1), (7, 1), (7, 3)])
@pytest.mark.parametrize(("inputs", "outputs"), [(24, 40), (512, 320)], ids=["few-weights", "many-weights"])
def test_a_stream_sounds_the_same_in_any_company(
    tier: str, inputs: int, outputs: int, taps: int, dilation: int
) -> None:
    conv = ConvWeight(normal(outputs, inputs, taps), normal(outputs, seed=1))
    snake = (normal(inputs, seed=2).exp(), normal(inputs, seed=3))
    lengths = [5, 0, 33, 70]
    pasts = [normal((taps - 1) * dilation, inputs, seed=10 + i) if i != 2 else None for i in range(4)]
    x, add = normal(sum(lengths), inputs, seed=4), normal(sum(lengths), outputs, seed=5)
    together, kept = conv(x, lengths, pasts, dilation, snake, add)
    apart = [
        conv(part, [len(part)], [past], dilation, snake, more)
        for part, past, more in zip(x.split(lengths), pasts, add.split(lengths))
    ]
    assert torch.equal(together, torch.cat([y for y, _ in apart]))
    for mine, (_, (alone,)) in zip(kept, apart):
        assert torch.equal(mine, alone)


def test_halves_hold_what_sixteen_bits_lose() -> None:
    """Against a sum of f64: as good as f32, whose sums of so many products are off by as much; bf16 alone is not near it."""
    if not (available() and library().grus_use_tier(TIERS.index("amx"))):
        pytest.skip("needs a CPU with a matrix unit")
    w, x = normal(64, 768, 7) / 70, normal(64, 768, seed=1)
    y, _ = ConvWeight(w, torch.zeros(64))(x, [64], [None], 1, None, None)
    want = wanted(x, w, torch.zeros(64), 1, None, None)
    rounded = wanted(x.bfloat16(), w.bfloat16(), torch.zeros(64), 1, None, None)
    error, lost = (float((each.double() - want).square().mean().sqrt()) for each in (y, rounded))
    assert error < 1e-5 * float(want.std())
    assert lost > 100 * error


def test_points_lose_little(tier: str) -> None:
    """Against a sum of f64, in tiles that end early, at the width where the codec has most of its multiplications."""
    conv = ConvWeight(normal(64, 384, 7) / 50, torch.zeros(64))
    if tier == "amx":
        assert conv.form != WINOGRAD
        return
    assert conv.form == WINOGRAD
    x = normal(101, 384, seed=1)
    y, _ = conv(x, [101], [None], 3, None, None)
    want = wanted(x, normal(64, 384, 7) / 50, torch.zeros(64), 3, None, None)
    assert float((y.double() - want).square().mean().sqrt()) < 1e-5 * float(want.std())


def test_a_snake_of_large_numbers_and_of_none(tier: str) -> None:
    w, b = torch.eye(16)[:, :, None], torch.zeros(16)
    x = normal(40, 16) * torch.logspace(-3, 3, 40)[:, None]
    x[3, 5] = float("nan")
    snake = torch.full((16,), 2.0), torch.full((16,), 0.5)
    y, _ = ConvWeight(w, b)(x, [40], [None], 1, snake, None)
    want = wanted(x, w, b, 1, snake, None)
    good = ~want.isnan()
    assert not good[3].any()
    assert good.sum() == 39 * 16
    assert torch.allclose(y[good].double(), want[good], rtol=2e-5 if tier == "amx" else 1e-6, atol=1e-5)
