"""Convolutions, pooling, resampling, the LSTM and Fourier frames on MLX.

MLX's convolutions are channels-last like the seam, so only weights are transposed, once, by `conv_weight`. MLX has no
pooling, no resampling and no LSTM; here they are built from maxima, gathers and one loop over time. Stateless. Every
gather clips its indices, because MLX silently reads out of range. An input too short for a
kernel gives a result of length zero, where MLX itself would raise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import mlx.core as mx
import numpy as np

from backends.ops import SILENT, out_length


def _wavy(x: mx.array, rate: mx.array, size: mx.array) -> mx.array:
    wave = mx.sin(x * rate)
    return x + wave * wave * size


_snake = mx.compile(_wavy, shapeless=True)


@dataclass(frozen=True)
class MlxImageConv:
    """A convolution of images and the activation behind it."""

    w: mx.array
    b: mx.array
    stride: tuple[int, int]
    padding: tuple[int, int]
    groups: int
    activation: str | None


class MlxSignalOps:
    """The signal operations of `backends.ops.Ops`."""

    def conv_weight(self, w: mx.array, transposed: bool = False) -> mx.array:
        """`[out, *kernel, in / groups]`; transposed `[out / groups, kernel, in]`, whose groups only the call knows."""
        laid_out = w.transpose(1, 2, 0) if transposed else mx.moveaxis(w, 1, -1)
        return mx.contiguous(laid_out)

    def conv1d(
        self,
        x: mx.array,
        w: mx.array,
        b: mx.array | None = None,
        *,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
    ) -> mx.array:
        if out_length(x.shape[1], w.shape[1], stride, padding, dilation) == 0:
            return mx.zeros((x.shape[0], 0, w.shape[0]), x.dtype)
        y = mx.conv1d(x, w, stride, padding, dilation, groups)
        return y if b is None else y + b

    def conv_transpose1d(
        self,
        x: mx.array,
        w: mx.array,
        b: mx.array | None = None,
        *,
        stride: int = 1,
        padding: int = 0,
        output_padding: int = 0,
        groups: int = 1,
    ) -> mx.array:
        part, kernel, inputs = w.shape
        length = (x.shape[1] - 1) * stride - 2 * padding + kernel + output_padding
        if x.shape[1] == 0 or length <= 0:
            return mx.zeros((x.shape[0], 0, part * groups), x.dtype)
        if groups > 1:
            grouped = w.reshape(part, kernel, groups, inputs // groups)
            w = grouped.transpose(2, 0, 1, 3).reshape(groups * part, kernel, inputs // groups)
        y = mx.conv_transpose1d(x, w, stride, padding, 1, output_padding, groups)
        return y if b is None else y + b

    def conv2d(
        self,
        x: mx.array,
        w: mx.array,
        b: mx.array | None = None,
        *,
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
        groups: int = 1,
    ) -> mx.array:
        height, width = (out_length(x.shape[1 + i], w.shape[1 + i], stride[i], padding[i]) for i in (0, 1))
        if height == 0 or width == 0:
            return mx.zeros((x.shape[0], height, width, w.shape[0]), x.dtype)
        y = mx.conv2d(x, w, stride, padding, 1, groups)
        return y if b is None else y + b

    def image_weight(
        self,
        w: mx.array,
        b: mx.array,
        *,
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
        groups: int = 1,
        activation: Literal["relu", "gelu", "silu"] | None = None,
        rounded: bool = False,
    ) -> MlxImageConv:
        return MlxImageConv(self.conv_weight(w), b, stride, padding, groups, activation)

    def image_conv(self, x: mx.array, weight: MlxImageConv, add: mx.array | None = None) -> mx.array:
        y = self.conv2d(x, weight.w, weight.b, stride=weight.stride, padding=weight.padding, groups=weight.groups)
        y = y if weight.activation is None else getattr(self, weight.activation)(y)
        return y if add is None else y + add

    def stream_weight(
        self, w: mx.array, b: mx.array, depthwise: bool = False, rounded: bool = False
    ) -> tuple[mx.array, mx.array, int]:
        return self.conv_weight(w), b, w.shape[0] if depthwise else 1

    def stream_conv(
        self,
        x: mx.array,
        weight: tuple[mx.array, mx.array, int],
        lengths: Sequence[int],
        before: Sequence[mx.array | None],
        *,
        dilation: int = 1,
        snake: tuple[mx.array, mx.array] | None = None,
        add: mx.array | None = None,
    ) -> tuple[mx.array, list[mx.array]]:
        w, b, groups = weight
        keep = (w.shape[1] - 1) * dilation
        if snake is not None:
            x = _snake(x, *snake)
        if keep == 0 and groups == 1:
            y = x @ w[:, 0].T + b
            return y if add is None else y + add, [x[:0] for _ in lengths]
        silence, streams, at = mx.zeros((keep, x.shape[1]), x.dtype), [], 0
        for length, past in zip(lengths, before):
            streams.append(mx.concatenate([silence if past is None else past, x[at : at + length]]))
            at += length
        y = mx.concatenate([self.conv1d(each[None], w, b, dilation=dilation, groups=groups)[0] for each in streams])
        return y if add is None else y + add, [each[each.shape[0] - keep :] for each in streams]

    def same_conv(
        self,
        x: mx.array,
        weight: tuple[mx.array, mx.array, int],
        *,
        dilation: int = 1,
        scale: tuple[mx.array, mx.array] | None = None,
        snake: tuple[mx.array, mx.array] | None = None,
        add: mx.array | None = None,
    ) -> mx.array:
        w, b, _ = weight
        if scale is not None:
            x = x * scale[0] + scale[1]
        if snake is not None:
            x = _snake(x, *snake)
        y = self.conv1d(x[None], w, b, padding=(w.shape[1] - 1) * dilation // 2, dilation=dilation)[0]
        return y if add is None else y + add

    def channel_scale(self, x: mx.array, gain: mx.array, bias: mx.array, eps: float) -> tuple[mx.array, mx.array]:
        wide = x.astype(mx.float32)
        factor = gain.astype(mx.float32) * mx.rsqrt(mx.var(wide, 0) + eps)
        shift = bias.astype(mx.float32) - mx.mean(wide, 0) * factor
        return factor.astype(x.dtype), shift.astype(x.dtype)

    def batch_norm(self, x: mx.array, mean: mx.array, var: mx.array, w: mx.array, b: mx.array, eps: float) -> mx.array:
        scale = w.astype(mx.float32) * mx.rsqrt(var.astype(mx.float32) + eps)
        shift = b.astype(mx.float32) - mean.astype(mx.float32) * scale
        return (x.astype(mx.float32) * scale + shift).astype(x.dtype)

    def max_pool(
        self, x: mx.array, kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int] = (0, 0)
    ) -> mx.array:
        (top, left), low = padding, mx.array(-np.inf, x.dtype)
        x = mx.pad(x, [(0, 0), (top, top), (left, left), (0, 0)], constant_values=low)
        # A rectangle's maximum is the maximum over its columns' maxima: kh + kw slices instead of kh * kw.
        return slide_max(slide_max(x, 1, kernel[0], stride[0]), 2, kernel[1], stride[1])

    def interpolate(self, x: mx.array, size: tuple[int, int], mode: Literal["nearest", "bilinear"]) -> mx.array:
        if mode not in ("nearest", "bilinear"):
            raise ValueError(f"interpolate supports nearest and bilinear, not {mode!r}.")
        if 0 in (*x.shape[1:3], *size):
            raise ValueError(f"interpolate cannot resize {tuple(x.shape[1:3])} to {tuple(size)}: there are no pixels.")
        resize: Callable[[mx.array, int, int], mx.array] = pick_nearest if mode == "nearest" else mix_linear
        y = x if mode == "nearest" else x.astype(mx.float32)
        for axis in (1, 2):
            y = resize(y, axis, size[axis - 1])
        return y.astype(x.dtype)

    def grid_sample(self, x: mx.array, grid: mx.array) -> mx.array:
        batch, height, width, channels = x.shape
        rows, columns = grid.shape[1:3]
        if batch == 0 or height == 0 or width == 0:
            return mx.zeros((batch, rows, columns, channels), x.dtype)
        grid = grid.astype(mx.float32)
        # Beyond one pixel outside nothing changes any more; clipping keeps wild coordinates inside of int32.
        fx = mx.clip((grid[..., 0] + 1) * (width / 2) - 0.5, -1, width)
        fy = mx.clip((grid[..., 1] + 1) * (height / 2) - 0.5, -1, height)
        x0, y0 = mx.floor(fx), mx.floor(fy)
        pixels = x.astype(mx.float32).reshape(batch * height * width, channels)
        base = (mx.arange(batch) * (height * width)).reshape(batch, 1, 1)
        total = mx.zeros((batch, rows, columns, channels), mx.float32)
        for cx, cy in ((x0, y0), (x0 + 1, y0), (x0, y0 + 1), (x0 + 1, y0 + 1)):
            weight = (1 - mx.abs(fx - cx)) * (1 - mx.abs(fy - cy))
            inside = (cx >= 0) & (cx < width) & (cy >= 0) & (cy < height)
            ix = mx.clip(cx.astype(mx.int32), 0, width - 1)
            iy = mx.clip(cy.astype(mx.int32), 0, height - 1)
            corner = mx.take(pixels, base + iy * width + ix, axis=0)
            total = total + corner * mx.where(inside, weight, 0.0)[..., None]
        return total.astype(x.dtype)

    def lstm(
        self, x: mx.array, w_ih: mx.array, w_hh: mx.array, b: mx.array, h: mx.array, c: mx.array
    ) -> tuple[mx.array, mx.array, mx.array]:
        if x.shape[1] == 0:
            return mx.zeros((x.shape[0], 0, w_hh.shape[1]), x.dtype), h, c
        # In f32: the cell adds up over all of time. What does not depend on h is one product for all steps.
        driven = x.astype(mx.float32) @ w_ih.astype(mx.float32).T + b.astype(mx.float32)
        back = w_hh.astype(mx.float32).T
        hidden, cell, outputs = h.astype(mx.float32), c.astype(mx.float32), []
        for step in range(x.shape[1]):
            i, f, g, o = mx.split(driven[:, step] + hidden @ back, 4, axis=-1)
            cell = mx.sigmoid(f) * cell + mx.sigmoid(i) * mx.tanh(g)
            hidden = mx.sigmoid(o) * mx.tanh(cell)
            outputs.append(hidden)
        return mx.stack(outputs, axis=1).astype(x.dtype), hidden.astype(h.dtype), cell.astype(c.dtype)

    def stft(self, x: mx.array, window: mx.array, hop: int) -> tuple[mx.array, mx.array]:
        n = window.shape[0]
        frames = out_length(x.shape[1], n, hop, 0)
        if x.shape[0] == 0 or frames == 0:
            empty = mx.zeros((x.shape[0], frames, n // 2 + 1), x.dtype)
            return empty, empty
        # as_strided lays its input out in row order first, whatever view it is
        cut = mx.as_strided(x.astype(mx.float32), (x.shape[0], frames, n), (x.shape[1], hop, 1))
        spectrum = mx.fft.rfft(cut * window.astype(mx.float32))
        return mx.real(spectrum).astype(x.dtype), mx.imag(spectrum).astype(x.dtype)

    def istft(self, re: mx.array, im: mx.array, window: mx.array, hop: int) -> mx.array:
        n, (batch, frames) = window.shape[0], re.shape[:2]
        if batch == 0 or frames == 0:
            return mx.zeros((batch, (frames - 1) * hop + n if frames else 0), re.dtype)
        taps = window.astype(mx.float32)
        spectrum = re.astype(mx.float32) + 1j * im.astype(mx.float32)
        waves = mx.fft.irfft(spectrum, n=n) * taps
        weight = overlap_add(mx.broadcast_to(taps * taps, (1, frames, n)), hop)
        signal = overlap_add(waves, hop) / mx.where(weight > SILENT, weight, 1.0)
        return signal.astype(re.dtype)


def slide_max(x: mx.array, axis: int, kernel: int, stride: int) -> mx.array:
    """The maximum of `kernel` neighbours along one axis, every `stride`."""
    count = out_length(x.shape[axis], kernel, stride, 0)
    span = stride * (count - 1) + 1 if count else 0
    before = (slice(None),) * axis
    return reduce(mx.maximum, (x[(*before, slice(k, k + span, stride))] for k in range(kernel)))


def pick_nearest(x: mx.array, axis: int, size: int) -> mx.array:
    """Rounded in f32 as torch does it, so that both pick the same pixel where the quotient is nearly whole."""
    source = x.shape[axis]
    places = np.floor(np.arange(size, dtype=np.float32) * np.float32(source / size)).astype(np.int32)
    return mx.take(x, mx.array(np.minimum(places, source - 1)), axis=axis)


def mix_linear(x: mx.array, axis: int, size: int) -> mx.array:
    """Between the two nearest pixels' centres; beyond the border the outermost pixel."""
    source = x.shape[axis]
    places = np.maximum((np.arange(size, dtype=np.float32) + 0.5) * np.float32(source / size) - 0.5, 0)
    low = np.minimum(places.astype(np.int32), source - 1)
    share = mx.array((places - low).reshape(-1, *[1] * (x.ndim - axis - 1)))
    left = mx.take(x, mx.array(low), axis=axis)
    right = mx.take(x, mx.array(np.minimum(low + 1, source - 1)), axis=axis)
    return left + (right - left) * share


def overlap_add(frames: mx.array, hop: int) -> mx.array:
    """`[B, F, n]` laid `hop` apart and summed -> `[B, (F - 1) * hop + n]`.

    Frames are cut into pieces of `hop`: the r-th pieces of all frames lie end to end, r pieces from the start, so the
    sum takes n / hop additions, however many frames there are.
    """
    batch, count, n = frames.shape
    pieces = -(-n // hop)
    cut = mx.pad(frames, [(0, 0), (0, 0), (0, pieces * hop - n)]).reshape(batch, count, pieces, hop)
    laid = (mx.pad(cut[:, :, r], [(0, 0), (r, pieces - 1 - r), (0, 0)]) for r in range(pieces))
    return reduce(mx.add, laid).reshape(batch, -1)[:, : (count - 1) * hop + n]
