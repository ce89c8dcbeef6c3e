"""Streaming convolutions on the CPU kernels: kept context, snake activation and residual sum in one call, for chunks of one
stream or of several."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from backends.torch.kernels import arena
from backends.torch.kernels.formats import PANEL
from backends.torch.kernels.library import ConvChunk, ConvParams, library

BLOCK = 32  # inputs that the matrix unit takes at once
BLOCK_TAPS, BLOCK_POINTS = 3, 6  # see src/conv/winograd.hpp
WINOGRAD_POINTS = 10  # transformed weights of a kernel of seven taps, see src/conv/winograd.hpp
FLOATS = 0  # of `ConvForm` in src/conv/conv.hpp


class ConvWeight:
    """Packed weights, sixteen outputs side by side: f32, split into two bf16 for the matrix unit (bf16x2), transformed for Winograd
    convolution of seven taps or of blocks of three, or rounded to bf16."""

    def __init__(self, w: Tensor, b: Tensor | None, rounded: bool = False) -> None:
        """`w [outputs, inputs, taps]`. `rounded`: inputs and weights may be rounded to bf16, where that is faster."""
        self.outputs, self.inputs, self.taps = w.shape
        self.library = library()
        self.panels = -(-self.outputs // PANEL)
        self.form: int = self.library.grus_conv_form(*w.shape, rounded)
        pack = (self._floats, self._bf16x2, self._winograd, self._bf16, self._blocks, self._bf16_blocks)[self.form]
        self.w = pack(w.float().contiguous())
        self.bias = torch.zeros(self.panels * PANEL)
        if b is not None:
            self.bias[: self.outputs] = b

    def _floats(self, w: Tensor) -> Tensor:
        return float_panels(w[:, :, None])

    def _bf16x2(self, w: Tensor) -> Tensor:
        """`UnitConv::w` of src/arch/tier.hpp, pair after pair of panels."""
        blocks = -(-self.inputs // BLOCK)
        made = arena.zeros(4 * self.panels * PANEL * blocks * BLOCK * self.taps).view(torch.bfloat16)
        self.library.grus_conv_bf16x2_weights(w.data_ptr(), *w.shape, made.data_ptr(), torch.get_num_threads())
        return made

    def _winograd(self, w: Tensor) -> Tensor:
        made = arena.zeros(4 * self.panels * PANEL * self.inputs * WINOGRAD_POINTS).view(torch.float32)
        self.library.grus_conv_winograd_weights(
            w.data_ptr(), self.outputs, self.inputs, made.data_ptr(), torch.get_num_threads()
        )
        return made

    def _bf16(self, w: Tensor) -> Tensor:
        return bf16_panels(w[:, :, None], -(-self.inputs // BLOCK) * BLOCK)

    def _blocks(self, w: Tensor) -> Tensor:
        return float_panels(self._block_values(w))

    def _bf16_blocks(self, w: Tensor) -> Tensor:
        return bf16_panels(self._block_values(w), self.inputs)

    def _block_values(self, w: Tensor) -> Tensor:
        """`[outputs, inputs, points, blocks of three taps]`"""
        made = w.new_empty(self.outputs, self.inputs, BLOCK_POINTS, -(-self.taps // BLOCK_TAPS))
        self.library.grus_conv_block_weights(w.data_ptr(), self.outputs * self.inputs, self.taps, made.data_ptr())
        return made

    def __call__(
        self,
        x: Tensor,
        lengths: Sequence[int],
        before: Sequence[Tensor | None],
        dilation: int,
        snake: tuple[Tensor, Tensor] | None,
        add: Tensor | None,
    ) -> tuple[Tensor, list[Tensor]]:
        """See `backends.base.Ops.stream_conv`."""
        return _convolve(self.library.grus_conv, self._params(dilation), x, lengths, before, snake, add)

    def same(
        self,
        x: Tensor,
        dilation: int,
        scale: tuple[Tensor, Tensor] | None,
        snake: tuple[Tensor, Tensor] | None,
        add: Tensor | None,
    ) -> Tensor:
        """See `backends.base.Ops.same_conv`."""
        ahead = (self.taps - 1) * dilation // 2
        made = self._params(dilation)
        return _convolve(self.library.grus_conv, made, x, [len(x)], [None], snake, add, scale, ahead)[0]

    def _params(self, dilation: int) -> ConvParams:
        return ConvParams(
            self.w.data_ptr(),
            self.form,
            self.bias.data_ptr(),
            self.inputs,
            self.outputs,
            self.taps,
            dilation,
        )


def float_panels(w: Tensor) -> Tensor:
    """`w [outputs, inputs, rows, columns]` as `[panels, rows, columns, inputs, 16]`, with zeros where there is nothing."""
    outputs, inputs, rows, columns = w.shape
    panels = -(-outputs // PANEL)
    made = arena.zeros(4 * panels * PANEL * inputs * rows * columns).view(torch.float32)
    laid = made.view(panels, rows, columns, inputs, PANEL)
    for panel, part in enumerate(w.split(PANEL)):
        laid[panel, ..., : len(part)] = part.permute(2, 3, 1, 0)
    return made


def bf16_panels(w: Tensor, inputs: int) -> Tensor:
    """`w [outputs, given inputs, rows, columns]` as `[panels, rows, columns, inputs / 2, 16, 2]` in bf16, with zeros where there is
    nothing."""
    outputs, given, rows, columns = w.shape
    panels = -(-outputs // PANEL)
    made = arena.zeros(2 * panels * PANEL * inputs * rows * columns).view(torch.bfloat16)
    laid = made.view(panels, rows, columns, inputs // 2, PANEL, 2)
    padded = torch.nn.functional.pad(w.to(torch.bfloat16), (0, 0, 0, 0, 0, inputs - given))
    for panel, part in enumerate(padded.split(PANEL)):
        laid[panel, :, :, :, : len(part)] = part.unflatten(1, (inputs // 2, 2)).permute(3, 4, 1, 0, 2)
    return made


class DepthwiseWeight:
    """Weights of a depthwise convolution, `[taps, channels]`."""

    def __init__(self, w: Tensor, b: Tensor) -> None:
        """`w [channels, 1, taps]`"""
        self.channels, _, self.taps = w.shape
        self.library = library()
        self.w, self.bias = w[:, 0].t().float().contiguous(), b.float().contiguous()

    def __call__(
        self,
        x: Tensor,
        lengths: Sequence[int],
        before: Sequence[Tensor | None],
        dilation: int,
        snake: tuple[Tensor, Tensor] | None,
        add: Tensor | None,
    ) -> tuple[Tensor, list[Tensor]]:
        if snake is not None or add is not None:
            raise ValueError("a depthwise convolution has neither a snake activation nor a residual")
        n = self.channels
        made = ConvParams(self.w.data_ptr(), FLOATS, self.bias.data_ptr(), n, n, self.taps, dilation)
        return _convolve(self.library.grus_conv_depthwise, made, x, lengths, before, None, None)


def _convolve(
    call: Any,
    conv: ConvParams,
    x: Tensor,
    lengths: Sequence[int],
    before: Sequence[Tensor | None],
    snake: tuple[Tensor, Tensor] | None,
    add: Tensor | None,
    affine: tuple[Tensor, Tensor] | None = None,
    ahead: int | None = None,
) -> tuple[Tensor, list[Tensor]]:
    """`ahead`: how far outputs look ahead in a whole signal, of which nothing is kept."""
    x = x.contiguous()
    keep = (conv.taps - 1) * conv.dilation
    after = [x.new_empty(keep, conv.inputs) for _ in lengths] if ahead is None else [None] * len(lengths)
    y = x.new_empty(len(x), conv.outputs)
    rate, size = (None, None) if snake is None else (part.contiguous() for part in snake)
    scale, shift = (None, None) if affine is None else (part.contiguous() for part in affine)
    kept = [None if part is None else part.contiguous() for part in before]
    add = None if add is None else add.contiguous()
    many = len(lengths)
    addresses = ctypes.c_void_p * many
    each, old, new = (ctypes.c_int64 * many)(*lengths), addresses(*map(_at, kept)), addresses(*map(_at, after))
    piece = ConvChunk(
        many,
        ctypes.addressof(each),
        x.data_ptr(),
        _at(scale),
        _at(shift),
        _at(rate),
        _at(size),
        ctypes.addressof(old),
        ctypes.addressof(new),
        _at(add),
        y.data_ptr(),
        ahead or 0,
    )
    call(ctypes.byref(conv), ctypes.byref(piece), torch.get_num_threads())
    return y, [part for part in after if part is not None]


def channel_scale(x: Tensor, gain: Tensor, bias: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """See `backends.base.Ops.channel_scale`; `x [L, C]`, with L not zero."""
    x, gain, bias = x.contiguous(), gain.contiguous(), bias.contiguous()
    rows, n = x.shape
    scale, shift = x.new_empty(n), x.new_empty(n)
    library().grus_channel_scale(
        x.data_ptr(),
        rows,
        n,
        gain.data_ptr(),
        bias.data_ptr(),
        eps,
        scale.data_ptr(),
        shift.data_ptr(),
        torch.get_num_threads(),
    )
    return scale, shift


def _at(x: Tensor | None) -> int | None:
    return x.data_ptr() if x is not None and x.numel() else None
