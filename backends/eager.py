"""Encoders and frame predictors over any backend's operations, one operation at a time.

Implements `backends.base.EncoderRunner` and `backends.base.FramePredictor`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from backends.base import Array, EncoderAttention, FramePredictorParts, FrameSampling, LatentHeads, Ops, Rope, Step

AT_ONCE = 2  # layers between two yields
_HIDDEN = -1e9


class EagerEncoder:
    """Runs operation by operation."""

    def __init__(
        self, ops: Ops, layers: Sequence[Callable[[Array, Any, EncoderAttention], Array]], rope: Rope | None
    ) -> None:
        self.ops, self.layers, self.rope = ops, list(layers), rope

    def run(self, x: Array, lens: Sequence[int]) -> Generator[None, None, Array]:
        ops, angles, attention = self.ops, None, _EagerAttention(self.ops, lens)
        if self.rope is not None:
            angles = ops.angles(ops.array(places(lens)), self.rope)
        for i, layer in enumerate(self.layers, 1):
            x = layer(x, angles, attention)
            if i % AT_ONCE == 0:
                yield
        return x


def places(lens: Sequence[int]) -> np.ndarray:
    """Each token's position in its own sequence."""
    return np.concatenate([np.arange(n, dtype=np.int32) for n in lens])


class _EagerAttention:
    """Implements `backends.base.EncoderAttention`."""

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


Frame = Callable[[Array, Array, Array, Array, Array], tuple[Array, Array]]


class EagerFramePredictor:
    """Runs operation by operation; `Ops.compile` fuses or captures the whole frame where the backend can."""

    def __init__(self, ops: Ops, parts: FramePredictorParts) -> None:
        self.ops, self.parts = ops, parts
        self._compiled: dict[FrameSampling, Frame] = {}
        self._places: dict[
            tuple[int, int, int], Array
        ] = {}  # made once: a captured graph may contain no copy from the host

    def __call__(
        self, hidden: Array, first: Array, ids: Array, noise: np.ndarray, random: np.ndarray, choice: FrameSampling
    ) -> tuple[Array, Array]:
        if choice not in self._compiled:
            self._compiled[choice] = self.ops.compile(self.frame(choice), "frame")
        return self._compiled[choice](hidden, first, ids, self.ops.array(noise), self.ops.array(random))

    def frame(self, choice: FrameSampling) -> Frame:
        """The whole frame as one pure function of arrays."""
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
        """Starts `n` empty sequences. The returned function takes their next tokens `[n * m, D]`, sequence by sequence, and
        returns the hidden states."""
        memory, seen = _FrameCache(self.ops, n), 0

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


class _FrameCache:
    """Implements `backends.base.Cache` for one frame. All sequences have the same length."""

    def __init__(self, ops: Ops, n: int) -> None:
        self.ops, self.n = ops, n
        self._seen: dict[int, tuple[Array, Array]] = {}

    def attend(self, layer: int, q: Array, k: Array, v: Array, scale: float, sinks: Array | None = None) -> Array:
        if sinks is not None:
            raise ValueError("layers that remember for a frame have no attention sinks")
        q, k, v = (x.reshape(self.n, -1, x.shape[1], x.shape[2]) for x in (q, k, v))
        if layer in self._seen:
            past_k, past_v = self._seen[layer]
            k, v = self.ops.cat([past_k, k], 1), self.ops.cat([past_v, v], 1)
        self._seen[layer] = k, v
        out = self.ops.sdpa(q, k, v, scale, causal=q.shape[1] > 1)
        return out.reshape(-1, out.shape[2], out.shape[3])

    def attend_latent(self, layer: int, q: Array, rows: Array, heads: LatentHeads, scale: float) -> Array:
        raise ValueError("layers that remember for a frame have no latents")

    def cross(self, layer: int, q: Array, scale: float) -> Array:
        raise ValueError("layers that remember for a frame have no encoder")

    def conv(self, layer: int, x: Array, w: Array, bias: Array | None = None) -> Array:
        raise ValueError("layers that remember for a frame are not recurrent")

    def delta(self, layer: int, q: Array, k: Array, v: Array, g: Array, beta: Array) -> Array:
        raise ValueError("layers that remember for a frame are not recurrent")

    def scan(self, layer: int, q: Array, k: Array, v: Array, g: Array) -> Array:
        raise ValueError("layers that remember for a frame are not recurrent")
