"""Convolutions as detectors have them: no bias of their own, a batch norm behind, then an activation.

The norm is folded into the convolution while loading, so that it costs nothing later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from backends.base import Array, Ops
from engine.errors import ConfigError
from engine.weights.view import View

NORM_EPS = 1e-5


def activation(ops: Ops, name: str | None) -> Callable[[Array], Array]:
    known: dict[str | None, Callable[[Array], Array]] = {
        None: lambda x: x,
        "relu": ops.relu,
        "silu": ops.silu,
        "gelu": ops.gelu,
    }
    if name not in known:
        raise ConfigError(f"The activation `{name}` is not known here. Known: relu, silu, gelu.")
    return known[name]


def folded(
    w: View, conv: str, norm: str, shape: tuple[int, ...], eps: float = NORM_EPS, biased: bool = False
) -> tuple[Array, Array]:
    """Kernel and bias in f32, with the norm's scale and shift in them. `biased`: the convolution has a bias of its own too."""
    ops, out = w.backend.ops, shape[0]
    kernel = w.tensor(f"{conv}.weight", shape, "f32")
    mean, var, gain, bias = (
        w.tensor(f"{norm}.{name}", (out,), "f32") for name in ("running_mean", "running_var", "weight", "bias")
    )
    zeros = ops.array(np.zeros(out, np.float32))
    scale = ops.batch_norm(zeros + 1.0, zeros, var, gain, zeros, eps)  # what becomes of one
    shift = ops.batch_norm(zeros, mean, var, gain, bias, eps)  # what becomes of zero
    if biased:
        shift = shift + w.tensor(f"{conv}.bias", (out,), "f32") * scale
    return kernel * scale.reshape(out, 1, 1, 1), shift


class Convolution:
    """A convolution over `[B, H, W, C]`, padded so that only the stride shrinks the image. Sizes and strides are of both axes, or of
    rows and columns. `rounded`: see `Ops.image_weight`."""

    def __init__(
        self,
        w: View,
        kernel: Array,
        bias: Array,
        size: int | Sequence[int],
        stride: int | Sequence[int],
        groups: int,
        act: str | None,
        rounded: bool = False,
    ) -> None:
        ops, dtype = w.backend.ops, w.backend.dtype
        activation(ops, act)  # which names one that is not known
        rows, columns = both_axes(size)
        self.ops = ops
        self.weight: Any = ops.image_weight(
            ops.cast(kernel, dtype),
            ops.cast(bias, dtype),
            stride=both_axes(stride),
            padding=((rows - 1) // 2, (columns - 1) // 2),
            groups=groups,
            activation=act,  # type: ignore[arg-type]
            rounded=rounded,
        )

    def __call__(self, x: Array, add: Array | None = None) -> Array:
        """`add` is added behind the activation."""
        return self.ops.image_conv(x, self.weight, add)


def both_axes(value: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(value, int):
        return value, value
    rows, columns = value
    return rows, columns


def plain_conv(
    w: View,
    name: str,
    inp: int,
    out: int,
    size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    groups: int = 1,
    bias: bool = True,
    rounded: bool = False,
) -> Convolution:
    """One without a norm and without an activation."""
    kernel = w.tensor(f"{name}.weight", (out, inp // groups, *both_axes(size)), "f32")
    given = w.tensor(f"{name}.bias", (out,), "f32") if bias else w.backend.ops.array(np.zeros(out, np.float32))
    return Convolution(w, kernel, given, size, stride, groups, None, rounded)


def conv_norm(
    w: View,
    inp: int,
    out: int,
    size: int | Sequence[int],
    stride: int | Sequence[int] = 1,
    groups: int = 1,
    act: str | None = None,
    names: tuple[str, str] = ("convolution", "normalization"),
    eps: float = NORM_EPS,
    biased: bool = False,
    rounded: bool = False,
) -> Convolution:
    kernel, bias = folded(w, *names, (out, inp // groups, *both_axes(size)), eps, biased)
    return Convolution(w, kernel, bias, size, stride, groups, act, rounded)
