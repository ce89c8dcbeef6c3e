"""Convolutions of images on the CPU kernels, with the activation behind them and a sum in one call."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from backends.ops import out_length
from backends.torch.kernels.conv import bf16_panels, float_panels
from backends.torch.kernels.formats import PANEL
from backends.torch.kernels.library import ImageBatch, ImageConv, library

ACTIVATIONS = (None, "relu", "gelu", "silu")  # `ImageActivation` of src/conv/image_conv.hpp
MOST_ROWS = 64  # of a kernel
LEAST_ROUNDED = 8  # inputs from which a product of pairs is worth bringing them into pairs


def rounds() -> bool:
    """Whether this CPU multiplies bf16 faster than f32, in convolutions."""
    return bool(library().grus_conv_rounds())


class ImageConvWeight:
    """Packed weights of a dense convolution, or of one of each channel alone."""

    def __init__(
        self,
        w: Tensor,
        b: Tensor,
        stride: tuple[int, int],
        padding: tuple[int, int],
        activation: str | None,
        depthwise: bool = False,
        rounded: bool = False,
    ) -> None:
        """`w [outputs, inputs, rows, columns]`; `depthwise`: `[channels, 1, rows, columns]`."""
        self.outputs, given, *self.kernel = w.shape
        self.inputs = self.outputs if depthwise else given
        self.stride, self.padding = stride, padding
        self.library = library()
        self.call = self.library.grus_image_depthwise if depthwise else self.library.grus_image_conv
        self.rounded = rounded and not depthwise and self.inputs >= LEAST_ROUNDED and rounds()
        w = w.float()
        if depthwise:
            self.w, self.bias = w[:, 0].permute(1, 2, 0).contiguous(), b.float().contiguous()
        else:
            self.w = bf16_panels(w, self.inputs + self.inputs % 2) if self.rounded else float_panels(w)
            self.bias = torch.zeros(-(-self.outputs // PANEL) * PANEL)
            self.bias[: self.outputs] = b
        self.params = ImageConv(
            self.w.data_ptr(),
            self.bias.data_ptr(),
            self.rounded,
            self.inputs,
            self.outputs,
            *self.kernel,
            *stride,
            *padding,
            ACTIVATIONS.index(activation),
        )

    def __call__(self, x: Tensor, add: Tensor | None) -> Tensor:
        """See `backends.base.Ops.image_conv`."""
        x = x.contiguous()
        images, rows, columns, _ = x.shape
        height, width = (out_length(x.shape[1 + i], self.kernel[i], self.stride[i], self.padding[i]) for i in (0, 1))
        y = x.new_empty(images, height, width, self.outputs)
        if y.numel():
            add = None if add is None else add.contiguous()
            batch = ImageBatch(
                images, rows, columns, x.data_ptr(), None if add is None else add.data_ptr(), y.data_ptr()
            )
            self.call(ctypes.byref(self.params), ctypes.byref(batch), torch.get_num_threads())
        return y
