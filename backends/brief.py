"""Layers that remember only for a moment, over any backend's operations: see `backends.base.Brief`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from backends.base import Array, Ops, Step


class PlainBrief:
    """Operation by operation; inside of `Ops.compile` as well."""

    def __init__(self, ops: Ops, layers: Callable[[Step], Array]) -> None:
        self.ops, self.layers = ops, layers
        self._places: dict[tuple[int, int, int], Array] = {}  # made once: a recording may hold no copy from the host

    def begin(self, n: int) -> Callable[[Array], Array]:
        memory, seen = Memory(self.ops, n), 0

        def more(x: Array) -> Array:
            nonlocal seen
            each = x.shape[0] // n
            hidden = self.layers(Step(x, self._place(n, seen, each), memory))
            seen += each
            return hidden

        return more

    def _place(self, n: int, seen: int, each: int) -> Array:
        key = n, seen, each
        if key not in self._places:
            self._places[key] = self.ops.array(np.tile(np.arange(seen, seen + each, dtype=np.int32), n))
        return self._places[key]


class Memory:
    """See `backends.base.Cache`. Every sequence has as many tokens."""

    def __init__(self, ops: Ops, n: int) -> None:
        self.ops, self.n = ops, n
        self._seen: dict[int, tuple[Array, Array]] = {}

    def attend(self, layer: int, q: Array, k: Array, v: Array, scale: float) -> Array:
        q, k, v = (x.reshape(self.n, -1, x.shape[1], x.shape[2]) for x in (q, k, v))
        if layer in self._seen:
            past_k, past_v = self._seen[layer]
            k, v = self.ops.cat([past_k, k], 1), self.ops.cat([past_v, v], 1)
        self._seen[layer] = k, v
        out = self.ops.sdpa(q, k, v, scale, causal=q.shape[1] > 1)
        return out.reshape(-1, out.shape[2], out.shape[3])

    def cross(self, layer: int, q: Array, scale: float) -> Array:
        raise ValueError("layers that remember for a moment have no encoder")

    def conv(self, layer: int, x: Array, w: Array, bias: Array | None = None) -> Array:
        raise ValueError("layers that remember for a moment are not recurrent")

    def delta(self, layer: int, q: Array, k: Array, v: Array, g: Array, beta: Array) -> Array:
        raise ValueError("layers that remember for a moment are not recurrent")
