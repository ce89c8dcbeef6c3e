"""Convolutions over a stream on the CPU kernels: what came before, the snake in front and the sum behind in one call."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from backends.torch.kernels import arena
from backends.torch.kernels.formats import PANEL
from backends.torch.kernels.library import Conv, ConvPiece, library


class ConvWeight:
    """Weights in the kernels' order, sixteen outputs side by side."""

    def __init__(self, w: Tensor, b: Tensor | None) -> None:
        """`w [outputs, inputs, taps]`"""
        self.outputs, self.inputs, self.taps = w.shape
        panels = -(-self.outputs // PANEL)
        self.w = arena.zeros(4 * panels * PANEL * self.inputs * self.taps).view(torch.float32)
        laid = self.w.view(panels, self.taps, self.inputs, PANEL)
        for panel, part in enumerate(w.float().split(PANEL)):
            laid[panel, :, :, : len(part)] = part.permute(2, 1, 0)
        self.bias = torch.zeros(panels * PANEL)
        if b is not None:
            self.bias[: self.outputs] = b

    def __call__(
        self,
        x: Tensor,
        before: Tensor | None,
        dilation: int,
        snake: tuple[Tensor, Tensor] | None,
        add: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        """See `backends.base.Ops.stream_conv`; one stream, `[L, C]`."""
        x = x.contiguous()
        keep = (self.taps - 1) * dilation
        after, y = x.new_empty(keep, self.inputs), x.new_empty(len(x), self.outputs)
        rate, size = (None, None) if snake is None else (part.contiguous() for part in snake)
        before = None if before is None else before.contiguous()
        add = None if add is None else add.contiguous()
        made = Conv(self.w.data_ptr(), self.bias.data_ptr(), self.inputs, self.outputs, self.taps, dilation)
        piece = ConvPiece(x.data_ptr(), len(x), _at(rate), _at(size), _at(before), _at(after), _at(add), y.data_ptr())
        library().grus_conv(ctypes.byref(made), ctypes.byref(piece), torch.get_num_threads())
        return y, after


def _at(x: Tensor | None) -> int | None:
    return x.data_ptr() if x is not None and x.numel() else None
