"""Mamba-2: a state space layer. It remembers the last inputs of a short convolution and a matrix for each head, whatever the length."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from backends.base import Array, StateSpec, Step
from engine.errors import ConfigError
from engine.models.config import Fields
from engine.weights.portions import Portion
from engine.weights.view import View


@dataclass(frozen=True)
class MambaSizes:
    """What configs say under names of their own."""

    heads: int
    dim: int  # of a head
    groups: int  # of heads that share B and C
    state: int
    kernel: int
    conv_bias: bool
    bias: bool  # of the projections
    steps: tuple[float, float]  # the bounds of dt


class Mamba2:
    def __init__(self, w: View, hidden: int, layer: int, size: MambaSizes, eps: float) -> None:
        self.ops, self.dtype, self.layer, self.eps = w.backend.ops, w.backend.dtype, layer, eps
        if size.heads % size.groups:
            raise ConfigError(f"Mamba-2: {size.heads} heads do not divide into {size.groups} groups.")
        # where all heads share B and C, each rank has these, and some heads
        self.parted = size.groups == 1 < w.rank.count <= size.heads
        w = w if size.groups >= w.rank.count or self.parted else w.unsplit()
        groups = Portion.all_of(1) if self.parted else w.rank.portion(size.groups)
        heads = w.rank.portion(size.heads) if self.parted else groups.times(size.heads // size.groups)
        inner, shared = heads.times(size.dim), groups.times(size.state)
        channels = Portion.joined(inner, shared, shared)
        inputs = Portion.joined(inner, channels, heads)
        self.size, self.width = replace(size, heads=heads.size, groups=groups.size), inner.total
        self.memory = StateSpec(channels.size, size.kernel, heads.size, size.state, size.dim)
        self.inputs, self.mixed = [inner.size, channels.size, heads.size], [inner.size, shared.size, shared.size]
        self.project = w.linear(("in_proj", inputs.total), inp=hidden, bias=size.bias, rows=[inputs])
        self.conv = w.depthwise("conv1d.weight", channels.total, size.kernel, channels)
        self.conv_bias = w.tensor("conv1d.bias", (channels.total,), part=channels) if size.conv_bias else None
        self.dt_bias = w.tensor("dt_bias", (heads.total,), "f32", heads)
        self.decay = -self.ops.exp(w.tensor("A_log", (heads.total,), "f32", heads))
        self.skip = w.tensor("D", (heads.total,), "f32", heads).reshape(heads.size, 1)
        self.norm = w.norm("norm", inner.total, part=inner)
        self.stepped, self.gated = self.ops.fused(self._stepped), self.ops.fused(self._gated)
        self.out = w.linear(("out_proj", hidden), inp=inner.total, bias=size.bias, columns=inner)

    def __call__(self, x: Array, step: Step, angles: Array | None) -> Array:
        ops, n, s = self.ops, x.shape[0], self.size
        gate, mixed, dt = ops.split(self.project(x), self.inputs, 1)
        mixed = ops.silu(step.cache.conv(self.layer, mixed, self.conv, self.conv_bias))
        x, b, c = ops.split(mixed, self.mixed, 1)
        x = ops.cast(x, "f32").reshape(n, s.heads, s.dim)
        b, c = (part.reshape(n, s.groups, s.state) for part in (b, c))
        dt, decay = self.stepped(dt, self.dt_bias, self.decay)
        y = step.cache.scan(self.layer, c, b, x * dt.reshape(n, s.heads, 1), decay)
        y = self.gated(y, x, self.skip, gate.reshape(n, s.heads, s.dim))
        y = self._normed(y.reshape(n, s.groups, -1)).reshape(n, s.heads * s.dim)
        return self.out(ops.cast(y, self.dtype) * self.norm)

    def _stepped(self, dt: Array, bias: Array, decay: Array) -> tuple[Array, Array]:
        """Each head's step, and how its logarithm of the state decays in it."""
        ops, (least, most) = self.ops, self.size.steps
        dt = ops.softplus(ops.cast(dt, "f32") + bias)
        if least > 0 or most < math.inf:
            dt = ops.clamp(dt, least, None if most == math.inf else most)
        return dt, dt * decay

    def _gated(self, y: Array, x: Array, skip: Array, gate: Array) -> Array:
        return (y + x * skip) * self.ops.silu(self.ops.cast(gate, "f32"))

    def _normed(self, y: Array) -> Array:
        """Each group's numbers, on all ranks that have some, over their root mean square."""
        if not self.parted:
            return self.ops.rms_norm(y, None, self.eps)
        squares = self.ops.all_reduce(self.ops.sum(y * y, 2))
        return y / self.ops.sqrt(squares.reshape(y.shape[0], 1, 1) / self.width + self.eps)


def step_bounds(f: Fields) -> tuple[float, float]:
    """The bounds of dt. JSON has no infinity: it is written as Python's `Infinity`, or as an object."""
    given = f.find("time_step_limit", default=(0.0, math.inf))
    bounds = (
        [math.inf if one == {"__float__": "Infinity"} else one for one in given]
        if isinstance(given, list | tuple)
        else []
    )
    if len(bounds) == 2 and all(isinstance(one, int | float) for one in bounds) and 0 <= bounds[0] < bounds[1]:
        return float(bounds[0]), float(bounds[1])
    raise ConfigError(f"{f.where}: time_step_limit must be two numbers from 0 up, the smaller one first.")
