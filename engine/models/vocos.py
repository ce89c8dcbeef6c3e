"""Vocos' backbone: ConvNeXt blocks over a sequence that keeps its length, with or without a condition.

With a condition (a voice's vector) the layer norms take their scale and shift from it. All is centred convolution and
work on single positions, so an output depends on `reach` inputs to either side and on nothing else.
"""

from __future__ import annotations

from collections.abc import Generator

from backends.base import Array, Ops
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

_KERNEL = 7
_EPS = 1e-6
_INNER_LAYERS = 2  # of the backbones that follow a change of rate


class Conv:
    """As long as its input, with silence around it."""

    def __init__(self, w: View, inp: int, out: int, groups: int = 1) -> None:
        self.ops: Ops = w.backend.ops
        self.groups = groups
        self.weight = self.ops.conv_weight(w.tensor("weight", (out, inp // groups, _KERNEL), "f32"))
        self.bias = w.tensor("bias", (out,), "f32")

    def __call__(self, x: Array) -> Array:
        return self.ops.conv1d(x, self.weight, self.bias, padding=_KERNEL // 2, groups=self.groups)


class Norm:
    """A layer norm, whose scale and shift are learned or made of a condition `[1, condition]`."""

    def __init__(self, w: View, dim: int, condition: int | None) -> None:
        self.ops: Ops = w.backend.ops
        self.fixed = None
        if condition is None:
            self.fixed = w.tensor("weight", (dim,), "f32"), w.tensor("bias", (dim,), "f32")
        else:
            self.scale = w.linear(("scale", dim), inp=condition, bias=True)
            self.shift = w.linear(("shift", dim), inp=condition, bias=True)

    def __call__(self, x: Array, condition: Array | None) -> Array:
        if self.fixed is not None:
            return self.ops.layer_norm(x, *self.fixed, _EPS)
        return self.ops.layer_norm(x, None, None, _EPS) * self.scale(condition) + self.shift(condition)


class Block:
    def __init__(self, w: View, dim: int, inner: int, condition: int | None) -> None:
        self.ops: Ops = w.backend.ops
        self.mix = Conv(w.sub("dwconv"), dim, dim, groups=dim)
        self.norm = Norm(w.sub("norm"), dim, condition)
        self.widen = w.linear(("pwconv1", inner), inp=dim, bias=True)
        self.narrow = w.linear(("pwconv2", dim), inp=inner, bias=True)
        self.scale = w.tensor("gamma", (dim,), "f32")

    def __call__(self, x: Array, condition: Array | None) -> Array:
        y = self.norm(self.mix(x), condition)
        return x + self.narrow(self.ops.gelu(self.widen(y))) * self.scale


class Backbone:
    """`[1, L, inp]` -> `[1, L, dim]`"""

    def __init__(self, w: View, inp: int, dim: int, inner: int, layers: int, condition: int | None = None) -> None:
        self.ops: Ops = w.backend.ops
        self.embed = Conv(w.sub("embed"), inp, dim)
        self.norm = Norm(w.sub("norm"), dim, condition)
        self.blocks = [Block(w.sub(f"convnext.{i}"), dim, inner, condition) for i in range(layers)]
        self.last = Norm(w.sub("final_layer_norm"), dim, None)
        self.reach = _KERNEL // 2 * (1 + layers)

    def __call__(self, x: Array, turns: YieldBudget, condition: Array | None = None) -> Generator[None, None, Array]:
        x = self.norm(self.embed(x), condition)
        for block in self.blocks:
            x = block(x, condition)
            yield from turns.pause(x)
        return self.last(x, None)


class EvenSampling:
    """What was meant to change the rate, at a rate of one: input and both of its shortcuts are added, then mixed."""

    def __init__(self, w: View, dim: int, inner: int) -> None:
        self.backbone = Backbone(w.sub("1"), dim, dim, inner, _INNER_LAYERS)
        self.reach = self.backbone.reach

    def __call__(self, x: Array, turns: YieldBudget) -> Generator[None, None, Array]:
        return (yield from self.backbone(x * 3.0, turns))
