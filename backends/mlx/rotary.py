"""Rotary position embedding: angles once a forward pass, then rotations of packed heads `[T, H, D]`.

Two ways to rotate. Metal has one kernel that takes a position per row, which covers the plain case. Everything else
(several axes, dynamic frequencies, a scale on part of a head) and the CPU, where that kernel is thirty primitives,
rotates by cos and sin that were computed once: one slice and one fused multiply-add.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate

import mlx.core as mx
import numpy as np

from backends.base import Rope


class Frequencies:
    """What of a `Rope` is the same in every step."""

    def __init__(self, rope: Rope) -> None:
        self.inverse = mx.array(np.asarray(rope.inv, np.float32))
        self.periods = mx.array(1.0 / np.asarray(rope.inv, np.float32))  # the kernel divides positions by these
        self.axes = None if rope.section is None else mx.array(_axis_of_frequency(rope))


class Angles:
    """What `Ops.angles` hands out. Both forms are made on first use, so that a pass pays for one of them."""

    def __init__(self, pos: mx.array, rope: Rope, frequencies: Frequencies, kernel: bool) -> None:
        self.rope = rope
        self._pos = pos
        self._frequencies = frequencies
        plain = pos.ndim == 1 and rope.dynamic is None and rope.scale == 1.0
        self.kernel = kernel and plain

    @cached_property
    def _radians(self) -> mx.array:
        """`[T, dims / 2]`, f32."""
        inverse, axes = self._frequencies.inverse, self._frequencies.axes
        pos = self._pos.astype(mx.float32)
        if self.rope.dynamic is not None:
            return _dynamic_radians(pos if pos.ndim == 1 else pos[0], self.rope, inverse)
        if pos.ndim == 1:
            return pos[:, None] * inverse
        if axes is None:
            return pos[0][:, None] * inverse
        return mx.take(pos.T, axes, axis=1) * inverse

    @cached_property
    def cos_sin(self) -> tuple[mx.array, mx.array]:
        """Shaped to meet a head that was split into its two rotated halves; sin carries the sign of each half."""
        cos, sin = mx.cos(self._radians), mx.sin(self._radians)
        if self.rope.scale != 1.0:
            cos, sin = cos * self.rope.scale, sin * self.rope.scale
        axis = -1 if self.rope.pairs else -2
        cos, sin = mx.expand_dims(cos[:, None], axis), mx.expand_dims(sin[:, None], axis)
        return cos, mx.concatenate([-sin, sin], axis=axis)

    def rotate(self, x: mx.array) -> mx.array:
        """`[T, H, D] -> [T, H, D]`"""
        rope = self.rope
        if self.kernel:
            rotated = mx.fast.rope(
                x[:, :, None],
                rope.dims,
                traditional=rope.pairs,
                base=None,
                scale=1.0,
                offset=self._pos,
                freqs=self._frequencies.periods,
            )
            return rotated.squeeze(2)
        if rope.dims == x.shape[-1]:
            return self._rotate_whole(x)
        turned, passed = mx.split(x, [rope.dims], axis=-1)
        return mx.concatenate([self._rotate_whole(turned), passed], axis=-1)

    def _rotate_whole(self, x: mx.array) -> mx.array:
        t, h, d = x.shape
        cos, sin = self.cos_sin
        if self.rope.pairs:
            halves = x.reshape(t, h, d // 2, 2)
            swapped = halves[..., ::-1]
        else:
            halves = x.reshape(t, h, 2, d // 2)
            swapped = halves[:, :, ::-1]
        return _turn(halves, swapped, cos, sin).reshape(t, h, d)


def _turn(x: mx.array, swapped: mx.array, cos: mx.array, sin: mx.array) -> mx.array:
    return (x * cos + swapped * sin).astype(x.dtype)


_turn = mx.compile(_turn, shapeless=True)


def _axis_of_frequency(rope: Rope) -> np.ndarray:
    """Which of the three position axes each frequency belongs to."""
    assert rope.section is not None
    axis = np.zeros(len(rope.inv), np.int32)
    if rope.interleaved:
        for which in (1, 2):
            axis[which : 3 * rope.section[which] : 3] = which
        return axis
    borders = list(accumulate(rope.section))
    axis[borders[0] : borders[1]] = 1
    axis[borders[1] :] = 2
    return axis


def _dynamic_radians(pos: mx.array, rope: Rope, inv: mx.array) -> mx.array:
    """NTK scaling whose base grows with the position, beyond the trained length only."""
    assert rope.dynamic is not None
    base, factor, trained = rope.dynamic
    length = mx.maximum(pos + 1, float(trained))[:, None]
    growth = (factor * length / trained - (factor - 1)) ** (rope.dims / (rope.dims - 2))
    exponents = mx.array(-np.arange(0, rope.dims, 2, dtype=np.float32) / rope.dims)
    stretched = mx.power(base * growth, exponents)
    return pos[:, None] * mx.where(length > trained, stretched, inv)
