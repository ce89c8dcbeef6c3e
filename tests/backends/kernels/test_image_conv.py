"""Convolutions of images, against torch in f64, on every tier."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from backends.torch.kernels.conv import ConvWeight
from backends.torch.kernels.image_conv import ImageConvWeight, rounds
from tests.backends.kernels.test_conv import wanted as wanted_signal
from tests.backends.kernels.test_fused import normal

ACTIVATIONS = {None: lambda x: x, "relu": F.relu, "gelu": F.gelu, "silu": F.silu}


def wanted(x, w, b, stride, padding, activation, add, groups=1):  # type: ignore[no-untyped-def]
    y = F.conv2d(x.double().permute(0, 3, 1, 2), w.double(), b.double(), stride, padding, 1, groups)
    y = ACTIVATIONS[activation](y).permute(0, 2, 3, 1)
    return y if add is None else y + add.double()


@pytest.mark.parametrize(
    ("shape", "kernel", "outputs", "stride", "padding"),
    [
        ((2, 5, 7, 3), (3, 3), 20, (1, 1), (1, 1)),
        ((1, 20, 131, 48), (9, 9), 33, (1, 1), (4, 4)),
        ((3, 13, 29, 16), (3, 3), 40, (2, 1), (1, 1)),
        ((2, 6, 50, 33), (1, 1), 70, (1, 1), (0, 0)),
        ((1, 4, 5, 24), (2, 2), 7, (2, 2), (0, 0)),
        ((1, 1, 300, 10), (1, 7), 17, (1, 1), (0, 3)),
    ],
)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_dense_ones_are_torchs(tier, shape, kernel, outputs, stride, padding, activation) -> None:  # type: ignore[no-untyped-def]
    x, w, b = normal(*shape), normal(outputs, shape[3], *kernel, seed=1), normal(outputs, seed=2)
    bare = wanted(x, w, b, stride, padding, activation, None)
    add = normal(*bare.shape, seed=3)
    for more in (None, add):
        y = ImageConvWeight(w, b, stride, padding, activation)(x, more)
        want = wanted(x, w, b, stride, padding, activation, more)
        assert y.shape == want.shape
        assert (y.double() - want).abs().max() <= 2e-5 * (w[0].numel() ** 0.5 + 1)


@pytest.mark.parametrize(("kernel", "stride"), [((3, 3), (1, 1)), ((5, 5), (2, 1)), ((1, 7), (1, 1))])
@pytest.mark.parametrize("channels", [5, 16, 37])
def test_depthwise_ones_are_torchs(tier, kernel, stride, channels) -> None:  # type: ignore[no-untyped-def]
    padding = kernel[0] // 2, kernel[1] // 2
    x, w, b = normal(2, 11, 14, channels), normal(channels, 1, *kernel, seed=1), normal(channels, seed=2)
    want = wanted(x, w, b, stride, padding, "gelu", None, channels)
    y = ImageConvWeight(w, b, stride, padding, "gelu", depthwise=True)(x, None)
    assert (y.double() - want).abs().max() <= 1e-4


def test_what_is_no_number_stays_where_it_is(tier: str) -> None:
    """Not in positions that do not read it: padding is nothing, whatever lies beside it in memory."""
    x, w, b = normal(1, 5, 9, 16), normal(20, 16, 3, 3, seed=1), normal(20, seed=2)
    x[0, 2, 3, 5] = float("nan")
    for rounded in (False, True):
        y = ImageConvWeight(w, b, (1, 1), (1, 1), "relu", rounded=rounded)(x, None)
        seen = torch.isnan(y).any(-1)[0]
        assert seen[1:4, 2:5].all()
        assert seen.sum() == 9


def _noise(error: torch.Tensor, of: torch.Tensor) -> float:
    return float((error.square().mean() / of.square().mean()).sqrt())


@pytest.mark.parametrize(
    ("shape", "kernel", "outputs"),
    [((2, 7, 40, 96), (1, 1), 192), ((1, 9, 30, 64), (9, 9), 64), ((1, 5, 61, 9), (3, 3), 5)],
)
def test_rounded_ones_are_as_near_as_bf16(tier: str, shape, kernel, outputs) -> None:  # type: ignore[no-untyped-def]
    """Each factor is off by at most 2^-9 of itself, and sums are f32's: a fraction of that is left of their mean."""
    padding = kernel[0] // 2, kernel[1] // 2
    x, w, b = normal(*shape), normal(outputs, shape[3], *kernel, seed=1), torch.zeros(outputs)
    conv = ImageConvWeight(w, b, (1, 1), padding, None, rounded=True)
    assert conv.rounded == rounds()
    want = wanted(x, w, b, (1, 1), padding, None, None)
    noise = _noise(conv(x, None).double() - want, want)
    assert noise <= (2.0**-8 if conv.rounded else 1e-5)
    if conv.rounded:
        half = wanted(x.bfloat16(), w.bfloat16(), b, (1, 1), padding, None, None)
        assert _noise(conv(x, None).double() - half, half) <= 1e-5


@pytest.mark.parametrize(("taps", "dilation"), [(1, 1), (2, 1), (3, 1), (7, 3), (11, 5)])
def test_rounded_signals_are_nearly_as_near(tier: str, taps: int, dilation: int) -> None:
    """In blocks of three taps a rounding counts up to 2.2 times."""
    x, w, b = normal(301, 64), normal(80, 64, taps, seed=1), normal(80, seed=2)
    snake, add = (normal(64, seed=3).exp(), normal(64, seed=4)), normal(301, 80, seed=5)
    y, _ = ConvWeight(w, b, rounded=True)(x, [301], [None], dilation, snake, add)
    want = wanted_signal(x, w, b, dilation, snake, add)
    assert _noise(y.double() - want, want) <= 2.0**-7


@pytest.mark.parametrize("rounded", [False, True])
def test_a_signal_in_pieces_is_the_whole(tier: str, rounded: bool) -> None:
    """Groups of four outputs begin with a piece, so other pieces are other roundings, and no other sums."""
    conv = ConvWeight(normal(48, 32, 11), normal(48, seed=1), rounded)
    x = normal(200, 32, seed=2)
    whole, _ = conv(x, [200], [None], 3, None, None)
    before, parts = [None], []
    for part in x.split((1, 77, 5, 117)):
        y, before = conv(part, [len(part)], before, 3, None, None)
        parts.append(y)
    assert _noise(torch.cat(parts) - whole, whole) <= (2.0**-7 if rounded else 1e-5)
