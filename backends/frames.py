"""Completing frames of codes over any backend's operations: see `backends.base.Frames`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from backends.base import Array, FramePredictorParts, FrameSampling, Step
from backends.ops import Ops

Frame = Callable[[Array, Array, Array, Array, Array], tuple[Array, Array]]


class EagerFramePredictor:
    """Operation by operation; `Ops.compile` makes all of it one recording where the backend has such."""

    def __init__(self, ops: Ops, parts: FramePredictorParts) -> None:
        self.ops, self.parts = ops, parts
        self._compiled: dict[FrameSampling, Frame] = {}
        self._places: dict[tuple[int, int, int], Array] = {}  # made once: a recording may hold no copy from the host

    def __call__(
        self, hidden: Array, first: Array, ids: Array, noise: np.ndarray, random: np.ndarray, choice: FrameSampling
    ) -> tuple[Array, Array]:
        if choice not in self._compiled:
            self._compiled[choice] = self.ops.compile(self.frame(choice), "frame")
        return self._compiled[choice](hidden, first, ids, self.ops.array(noise), self.ops.array(random))

    def frame(self, choice: FrameSampling) -> Frame:
        """All of it as one pure function of arrays."""
        ops, parts = self.ops, self.parts

        def frame(hidden: Array, first: Array, ids: Array, noise: Array, random: Array) -> tuple[Array, Array]:
            n = hidden.shape[0]
            more = self.begin(n)
            x = ops.stack([hidden, first], 1).reshape(2 * n, hidden.shape[1])
            codes, total = [ids], first
            for i, (head, embedding) in enumerate(zip(parts.heads, parts.embeddings)):
                out = more(x if parts.narrow is None else parts.narrow(x))
                last = out.reshape(n, -1, out.shape[1])[:, -1]
                logits = ops.cast(head(last), "f32")
                code = ops.choose(logits, noise[:, i], random, choice.temperature, choice.top_k, choice.top_p)
                x = embedding.rows(code)
                codes.append(code)
                total = total + x
            return ops.stack(codes, 1), total

        return frame

    def begin(self, n: int) -> Callable[[Array], Array]:
        """`n` sequences of nothing. What is returned takes their next tokens `[n * m, D]`, sequence by sequence, and gives
        the hidden states."""
        memory, seen = Memory(self.ops, n), 0

        def more(x: Array) -> Array:
            nonlocal seen
            each = x.shape[0] // n
            hidden = self.parts.layers(Step(x, self._place(n, seen, each), memory))
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
        raise ValueError("layers that remember for a frame have no encoder")

    def conv(self, layer: int, x: Array, w: Array, bias: Array | None = None) -> Array:
        raise ValueError("layers that remember for a frame are not recurrent")

    def delta(self, layer: int, q: Array, k: Array, v: Array, g: Array, beta: Array) -> Array:
        raise ValueError("layers that remember for a frame are not recurrent")
