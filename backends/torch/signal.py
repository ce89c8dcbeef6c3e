"""Convolutions, pooling, resampling, the LSTM and Fourier frames on torch.

Runs torch's channels-first kernels on the seam's channels-last arrays without copying them: `[B, H, W, C]`
viewed as `[B, C, H, W]` is exactly torch's `channels_last` memory format, and a signal `[B, L, C]` is an image of height
one (measured on CPU against `conv1d`: 1.2x for dense kernels, 3x to 8x for depthwise ones). Stateless. An input too short for a kernel gives a result of length zero, where torch itself would raise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from backends.ops import SILENT, out_length
from backends.torch.kernels import library
from backends.torch.kernels.conv import ConvWeight, DepthwiseWeight, channel_scale
from backends.torch.kernels.image_conv import MOST_ROWS, ImageConvWeight

# Positions up to which a dense kernel on a CPU is one matrix product: torch's convolutions do not read large weights
# well for a few positions (measured at 1024 -> 1536 channels, 7 taps: 4.6x slower at 16 positions, alike from 128 on).
FEW = 64


def channels_first(x: Tensor) -> Tensor:
    return x.permute(0, 3, 1, 2)


def channels_last(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1)


def product(x: Tensor, w: Tensor, b: Tensor | None, length: int) -> Tensor:
    """A dense convolution: neighbours lie one after the other in memory, and so do the taps of a prepared weight."""
    out, inp, _, kernel = w.shape
    x = x.contiguous()
    windows = x.as_strided((x.shape[0], length, kernel * inp), (x.stride(0), inp, 1))
    return F.linear(windows, w.permute(0, 2, 3, 1).reshape(out, -1), b)


def spread_product(x: Tensor, w: Tensor, b: Tensor | None, stride: int) -> Tensor:
    """A dense transposed convolution: what each input spreads is one product, then laid `stride` apart and summed."""
    inp, out, _, kernel = w.shape
    batch, length, _ = x.shape
    pieces = -(-kernel // stride)
    spread = (x @ w.permute(0, 2, 3, 1).reshape(inp, -1)).view(batch, length, kernel, out)
    spread = F.pad(spread, (0, 0, 0, pieces * stride - kernel)).view(batch, length, pieces, stride, out)
    laid = spread.new_zeros(batch, length + pieces - 1, stride, out)
    for i in range(pieces):
        laid[:, i : i + length] += spread[:, :, i]
    whole = laid.view(batch, (length + pieces - 1) * stride, out)[:, : (length - 1) * stride + kernel]
    return whole if b is None else whole + b


@dataclass(frozen=True)
class TorchImageConv:
    """A convolution of images and the activation behind it, for torch's kernels."""

    w: Tensor
    b: Tensor
    stride: tuple[int, int]
    padding: tuple[int, int]
    groups: int
    activation: str | None


@dataclass(frozen=True)
class StreamWeight:
    """The weight of a streaming convolution: for torch's kernels, or packed for the CPU kernels."""

    w: Tensor | None
    b: Tensor | None
    packed: ConvWeight | DepthwiseWeight | None
    groups: int = 1


class TorchSignalOps:
    """The signal operations of `backends.ops.Ops`."""

    exact = True  # whether convolutions that may be rounded are not

    def conv_weight(self, w: Tensor, transposed: bool = False) -> Tensor:
        """Torch wants `[in, out / groups, ...]` for a transposed kernel too, so both forms stay as they come."""
        image = w.unsqueeze(2) if w.ndim == 3 else w
        return image.contiguous(memory_format=torch.channels_last)

    def conv1d(
        self,
        x: Tensor,
        w: Tensor,
        b: Tensor | None = None,
        *,
        stride: int = 1,
        padding: int = 0,
        dilation: int = 1,
        groups: int = 1,
    ) -> Tensor:
        length = out_length(x.shape[1], w.shape[3], stride, padding, dilation)
        if length == 0:
            return x.new_zeros(x.shape[0], 0, w.shape[0])
        if length <= FEW and stride == dilation == groups == 1 and padding == 0 and x.device.type == "cpu":
            return product(x, w, b, length)
        y = F.conv2d(channels_first(x.unsqueeze(1)), w, b, (1, stride), (0, padding), (1, dilation), groups)
        return channels_last(y).squeeze(1)

    def conv_transpose1d(
        self,
        x: Tensor,
        w: Tensor,
        b: Tensor | None = None,
        *,
        stride: int = 1,
        padding: int = 0,
        output_padding: int = 0,
        groups: int = 1,
    ) -> Tensor:
        length = (x.shape[1] - 1) * stride - 2 * padding + w.shape[3] + output_padding
        if x.shape[1] == 0 or length <= 0:
            return x.new_zeros(x.shape[0], 0, w.shape[1] * groups)
        if x.shape[1] <= FEW and groups == 1 and padding == output_padding == 0 and x.device.type == "cpu":
            return spread_product(x, w, b, stride)
        image = channels_first(x.unsqueeze(1))
        y = F.conv_transpose2d(image, w, b, (1, stride), (0, padding), (0, output_padding), groups)
        return channels_last(y).squeeze(1)

    def conv2d(
        self,
        x: Tensor,
        w: Tensor,
        b: Tensor | None = None,
        *,
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
        groups: int = 1,
    ) -> Tensor:
        height, width = (out_length(x.shape[1 + i], w.shape[2 + i], stride[i], padding[i]) for i in (0, 1))
        if height == 0 or width == 0:
            return x.new_zeros(x.shape[0], height, width, w.shape[0])
        return channels_last(F.conv2d(channels_first(x), w, b, stride, padding, 1, groups))

    def image_weight(
        self,
        w: Tensor,
        b: Tensor,
        *,
        stride: tuple[int, int] = (1, 1),
        padding: tuple[int, int] = (0, 0),
        groups: int = 1,
        activation: Literal["relu", "gelu", "silu"] | None = None,
        rounded: bool = False,
    ) -> ImageConvWeight | TorchImageConv:
        depthwise = groups > 1 and w.shape[0] == groups
        if _has_kernels(w) and (groups == 1 or depthwise) and w.shape[2] <= MOST_ROWS and not library.has_matrix_unit():
            return ImageConvWeight(w, b, stride, padding, activation, depthwise, rounded and not self.exact)
        return TorchImageConv(self.conv_weight(w), b, stride, padding, groups, activation)

    def image_conv(self, x: Tensor, weight: ImageConvWeight | TorchImageConv, add: Tensor | None = None) -> Tensor:
        if isinstance(weight, ImageConvWeight):
            return weight(x, add)
        y = self.conv2d(x, weight.w, weight.b, stride=weight.stride, padding=weight.padding, groups=weight.groups)
        y = y if weight.activation is None else getattr(self, weight.activation)(y)
        return y if add is None else y + add

    def stream_weight(self, w: Tensor, b: Tensor, depthwise: bool = False, rounded: bool = False) -> StreamWeight:
        if _has_kernels(w):
            packed = DepthwiseWeight(w, b) if depthwise else ConvWeight(w, b, rounded and not self.exact)
            return StreamWeight(None, None, packed)
        return StreamWeight(self.conv_weight(w), b, None, w.shape[0] if depthwise else 1)

    def stream_conv(
        self,
        x: Tensor,
        weight: StreamWeight,
        lengths: Sequence[int],
        before: Sequence[Tensor | None],
        *,
        dilation: int = 1,
        snake: tuple[Tensor, Tensor] | None = None,
        add: Tensor | None = None,
    ) -> tuple[Tensor, list[Tensor]]:
        if weight.packed is not None:
            return weight.packed(x, lengths, before, dilation, snake, add)
        if snake is not None:
            wave = torch.sin(x * snake[0])
            x = x + wave * wave * snake[1]
        assert weight.w is not None
        keep = (weight.w.shape[3] - 1) * dilation
        streams = [
            torch.cat((part.new_zeros(keep, x.shape[1]) if past is None else past, part))
            for part, past in zip(x.split(list(lengths)), before)
        ]
        y = torch.cat(
            [
                self.conv1d(each[None], weight.w, weight.b, dilation=dilation, groups=weight.groups)[0]
                for each in streams
            ]
        )
        return y if add is None else y + add, [each[len(each) - keep :] for each in streams]

    def same_conv(
        self,
        x: Tensor,
        weight: StreamWeight,
        *,
        dilation: int = 1,
        scale: tuple[Tensor, Tensor] | None = None,
        snake: tuple[Tensor, Tensor] | None = None,
        add: Tensor | None = None,
    ) -> Tensor:
        if isinstance(weight.packed, ConvWeight):
            return weight.packed.same(x, dilation, scale, snake, add)
        assert weight.w is not None
        if scale is not None:
            x = torch.addcmul(scale[1], x, scale[0])
        if snake is not None:
            wave = torch.sin(x * snake[0])
            x = x + wave * wave * snake[1]
        padding = (weight.w.shape[3] - 1) * dilation // 2
        y = self.conv1d(x[None], weight.w, weight.b, padding=padding, dilation=dilation)[0]
        return y if add is None else y + add

    def channel_scale(self, x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, Tensor]:
        if x.device.type == "cpu" and x.dtype == torch.float32 and len(x) and library.available():
            return channel_scale(x, gain, bias, eps)
        wide = x.float()
        variance, mean = torch.var_mean(wide, 0, correction=0) if len(x) else (wide.new_zeros(x.shape[1]),) * 2
        factor = gain.float() * torch.rsqrt(variance + eps)
        return factor.to(x.dtype), (bias.float() - mean * factor).to(x.dtype)

    def batch_norm(self, x: Tensor, mean: Tensor, var: Tensor, w: Tensor, b: Tensor, eps: float) -> Tensor:
        scale = w.float() * torch.rsqrt(var.float() + eps)
        shift = b.float() - mean.float() * scale
        return torch.addcmul(shift, x.float(), scale).to(x.dtype)

    def max_pool(
        self, x: Tensor, kernel: tuple[int, int], stride: tuple[int, int], padding: tuple[int, int] = (0, 0)
    ) -> Tensor:
        height, width = (out_length(x.shape[1 + i], kernel[i], stride[i], padding[i]) for i in (0, 1))
        if height == 0 or width == 0:
            return x.new_zeros(x.shape[0], height, width, x.shape[3])
        # Padded here: torch's own padding may not exceed half the kernel.
        padded = F.pad(x, (0, 0, padding[1], padding[1], padding[0], padding[0]), value=-torch.inf)
        return channels_last(F.max_pool2d(channels_first(padded), kernel, stride))

    def interpolate(self, x: Tensor, size: tuple[int, int], mode: Literal["nearest", "bilinear"]) -> Tensor:
        if mode not in ("nearest", "bilinear"):
            raise ValueError(f"interpolate supports nearest and bilinear, not {mode!r}.")
        if 0 in (*x.shape[1:3], *size):
            raise ValueError(f"interpolate cannot resize {tuple(x.shape[1:3])} to {tuple(size)}: there are no pixels.")
        return channels_last(F.interpolate(channels_first(x), size, mode=mode))

    def grid_sample(self, x: Tensor, grid: Tensor) -> Tensor:
        # In f32: eight bits of mantissa cannot name a pixel of a map wider than 256.
        y = F.grid_sample(channels_first(x.float()), grid.float(), "bilinear", "zeros", align_corners=False)
        return channels_last(y).to(x.dtype)

    def lstm(
        self, x: Tensor, w_ih: Tensor, w_hh: Tensor, b: Tensor, h: Tensor, c: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        if x.shape[1] == 0:
            return x.new_zeros(x.shape[0], 0, w_hh.shape[1]), h, c
        # In f32: the cell adds up over all of time. Torch wants two biases, ours is their sum.
        weights = [w_ih.float(), w_hh.float(), b.float(), torch.zeros_like(b, dtype=torch.float32)]
        state = (h.float().unsqueeze(0).contiguous(), c.float().unsqueeze(0).contiguous())
        y, h_n, c_n = torch._VF.lstm(x.float(), state, weights, True, 1, 0.0, False, False, True)
        return y.to(x.dtype), h_n.squeeze(0).to(h.dtype), c_n.squeeze(0).to(c.dtype)

    def stft(self, x: Tensor, window: Tensor, hop: int) -> tuple[Tensor, Tensor]:
        n = window.shape[0]
        frames = out_length(x.shape[1], n, hop, 0)
        if x.shape[0] == 0 or frames == 0:  # MKL refuses empty transforms
            empty = x.new_zeros(x.shape[0], frames, n // 2 + 1)
            return empty, empty
        spectrum = torch.fft.rfft(x.float().unfold(1, n, hop) * window.float())
        return spectrum.real.to(x.dtype), spectrum.imag.to(x.dtype)

    def istft(self, re: Tensor, im: Tensor, window: Tensor, hop: int) -> Tensor:
        n, (batch, frames) = window.shape[0], re.shape[:2]
        if batch == 0 or frames == 0:
            return re.new_zeros(batch, (frames - 1) * hop + n if frames else 0)
        taps = window.float()
        waves = torch.fft.irfft(torch.complex(re.float(), im.float()), n=n) * taps
        weight = overlap_add((taps * taps).expand(1, frames, n), hop)
        signal = overlap_add(waves, hop) / torch.where(weight > SILENT, weight, 1.0)
        return signal.to(re.dtype)


def _has_kernels(w: Tensor) -> bool:
    return w.device.type == "cpu" and w.dtype == torch.float32 and library.available()


def overlap_add(frames: Tensor, hop: int) -> Tensor:
    """`[B, F, n]` laid `hop` apart and summed -> `[B, (F - 1) * hop + n]`."""
    count, n = frames.shape[1:]
    length = (count - 1) * hop + n
    return F.fold(frames.transpose(1, 2), (1, length), (1, n), stride=(1, hop)).reshape(-1, length)
