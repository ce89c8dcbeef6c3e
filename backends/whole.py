"""Layers over whole sequences, over any backend's operations: see `backends.base.Whole`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from backends.base import Array, EncoderAttention, Ops, Rope

AT_ONCE = 2  # layers between two pauses
_HIDDEN = -1e9


class EagerEncoder:
    """Operation by operation."""

    def __init__(
        self, ops: Ops, layers: Sequence[Callable[[Array, Any, EncoderAttention], Array]], rope: Rope | None
    ) -> None:
        self.ops, self.layers, self.rope = ops, list(layers), rope

    def run(self, x: Array, lens: Sequence[int]) -> Generator[None, None, Array]:
        ops, angles, among = self.ops, None, PlainAmong(self.ops, lens)
        if self.rope is not None:
            angles = ops.angles(ops.array(places(lens)), self.rope)
        for i, layer in enumerate(self.layers, 1):
            x = layer(x, angles, among)
            if i % AT_ONCE == 0:
                yield
        return x


def places(lens: Sequence[int]) -> np.ndarray:
    """Where each token is in its own sequence."""
    return np.concatenate([np.arange(n, dtype=np.int32) for n in lens])


class PlainAmong:
    """See `backends.base.Among`."""

    def __init__(self, ops: Ops, lens: Sequence[int]) -> None:
        self.ops, self.lens = ops, lens
        self._masks: dict[tuple[int, int, int], Array] = {}

    def attend(self, q: Array, k: Array, v: Array, scale: float, window: tuple[int, int] | None = None) -> Array:
        if window is None:
            return self.ops.attend_varlen(q, k, v, self.lens, scale)
        parts, at = [], 0
        for n in self.lens:
            q1, k1, v1 = (part[at : at + n][None] for part in (q, k, v))
            parts.append(self.ops.sdpa(q1, k1, v1, scale, mask=self._mask(n, *window))[0])
            at += n
        return self.ops.cat(parts, 0)

    def _mask(self, n: int, back: int, ahead: int) -> Array:
        key = (n, back, ahead)
        if key not in self._masks:
            apart = np.arange(n)[:, None] - np.arange(n)[None]
            seen = (apart < back) & (apart >= -ahead)
            self._masks[key] = self.ops.array(np.where(seen, 0.0, _HIDDEN).astype(np.float32))
        return self._masks[key]
