"""Encoders, frame predictors and mixtures of experts over any backend's operations, one operation at a time.

Implements `backends.base.EncoderRunner`, `backends.base.FramePredictor` and `backends.base.Mixture`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np

from backends.base import (
    Array,
    DistanceKeys,
    DType,
    EncoderAttention,
    FramePredictorParts,
    FrameSampling,
    LatentHeads,
    MixtureParts,
    Ops,
    Rope,
    RoutingRule,
    Step,
)

AT_ONCE = 2  # layers between two yields
_HIDDEN = -1e9


class EagerEncoder:
    """Runs operation by operation."""

    def __init__(
        self,
        ops: Ops,
        layers: Sequence[Callable[[Array, Any, EncoderAttention], Array]],
        rope: Rope | Sequence[Rope] | None,
    ) -> None:
        self.ops, self.layers, self.rope = ops, list(layers), rope

    def run(self, x: Array, lens: Sequence[int]) -> Generator[None, None, Array]:
        ops, attention = self.ops, _EagerAttention(self.ops, lens)
        at = ops.array(places(lens))
        angles = for_each_rope(self.rope, lambda rope: ops.angles(at, rope))
        for i, layer in enumerate(self.layers, 1):
            x = layer(x, angles, attention)
            if i % AT_ONCE == 0:
                yield
        return x


def for_each_rope(rope: Rope | Sequence[Rope] | None, make: Callable[[Rope], Any]) -> Any:
    """The angles that a layer of an encoder takes: of one rope, a list of several ropes', or None."""
    if rope is None or isinstance(rope, Rope):
        return None if rope is None else make(rope)
    return [make(each) for each in rope]


def places(lens: Sequence[int]) -> np.ndarray:
    """Each token's position in its own sequence."""
    return np.concatenate([np.arange(n, dtype=np.int32) for n in lens])


class _EagerAttention:
    """Implements `backends.base.EncoderAttention`."""

    def __init__(self, ops: Ops, lens: Sequence[int]) -> None:
        self.ops, self.lens = ops, lens
        self._masks: dict[tuple[int, int, int], Array] = {}

    def attend(self, q: Array, k: Array, v: Array, scale: float, window: tuple[int, int] | None = None) -> Array:
        if window is None or max(self.lens, default=0) <= min(window[0], window[1] + 1):  # a window that no text leaves
            return self.ops.attend_varlen(q, k, v, self.lens, scale)
        parts, at = [], 0
        for n in self.lens:
            q1, k1, v1 = (part[at : at + n][None] for part in (q, k, v))
            parts.append(self.ops.sdpa(q1, k1, v1, scale, mask=self._mask(n, *window))[0])
            at += n
        return self.ops.cat(parts, 0)

    def attend_by_distance(self, q: Array, k: Array, v: Array, scale: float, distances: DistanceKeys) -> Array:
        parts, at = [], 0
        for n in self.lens:
            q1, k1, v1 = (part[at : at + n] for part in (q, k, v))
            bias = self._by_distance(q1 + distances.position, distances.keys(n)) * scale
            parts.append(self.ops.sdpa((q1 + distances.content)[None], k1[None], v1[None], scale, mask=bias[None])[0])
            at += n
        return parts[0] if len(parts) == 1 else self.ops.cat(parts, 0)

    def _by_distance(self, q: Array, keys: Array) -> Array:
        """`q [L, H, D]` times `keys [2L - 1, H * D]`: `[H, L, L]`, row i and column j that of the distance i - j."""
        ops, (n, heads, dim), many = self.ops, q.shape, keys.shape[0]
        each = ops.permute(keys.reshape(many, heads, dim), (1, 0, 2)).reshape(heads * many, dim, 1)
        # a grouped convolution of one tap is a product for each head
        scores = ops.conv1d(q.reshape(1, n, heads * dim), ops.conv_weight(each), groups=heads)
        scores = ops.permute(scores.reshape(n, heads, many), (1, 0, 2))
        # row i begins i places further left: one more column, read with rows of one less
        shifted = ops.pad(scores, [(0, 0), (0, 0), (1, 0)]).reshape(heads, many + 1, n)[:, 1:]
        return shifted.reshape(heads, n, many)[:, :, :n]

    def convolve(self, x: Array, w: Array, bias: Array, taps: int) -> Array:
        parts, at = [], 0
        for n in self.lens:
            parts.append(self.ops.conv1d(x[at : at + n][None], w, bias, padding=taps // 2, groups=x.shape[1])[0])
            at += n
        return parts[0] if len(parts) == 1 else self.ops.cat(parts, 0)

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

    def store(self, layer: int, k: Array, v: Array) -> None:
        raise ValueError("layers that remember for a frame attend to what they write")

    def store_latent(self, layer: int, rows: Array) -> None:
        raise ValueError("layers that remember for a frame have no latents")

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


class EagerMixture:
    """Runs operation by operation: products go by `Linear.gather`."""

    def __init__(self, ops: Ops, dtype: DType, parts: MixtureParts) -> None:
        self.ops, self.dtype, self.parts = ops, dtype, parts
        self.count = parts.up.shape[0]
        rule = parts.rule
        if rule.kept < rule.groups:
            self.members = ops.array(np.eye(rule.groups, dtype=np.float32))
        # `inside` is one or zero: what is outside lies far below all else
        self.masked = ops.fused(lambda scores, inside: scores * inside + (inside - 1) * 1e9)
        self.shared = ops.fused(lambda share, total: share * rule.scale / (total + 1e-20))

    def __call__(self, x: Array, scores: Array) -> Array:
        ops, parts = self.ops, self.parts
        share, experts = self.route(scores)
        made = parts.up.gather(x, experts)
        if parts.up_bias is not None:
            made = made + ops.take(parts.up_bias, experts, 0)
        y = parts.down.gather(self._activated(made), experts)
        if parts.down_bias is not None:
            y = y + ops.take(parts.down_bias, experts, 0)
        weighted = ops.cast(y, "f32") * share.reshape(*share.shape, 1)
        return ops.cast(ops.sum(weighted, 1), self.dtype)

    def route(self, scores: Array) -> tuple[Array, Array]:
        """Shares, f32, and experts, `[T, k]` each."""
        ops, r, n = self.ops, self.parts.rule, scores.shape[0]
        raw = ops.cast(scores, "f32")
        if r.softcap:
            raw = ops.tanh(raw / r.softcap) * r.softcap
        each = ops.sigmoid(raw) if r.sigmoid else ops.softmax(raw)
        wanted = each if self.parts.preferred is None else each + self.parts.preferred
        if r.kept < r.groups:
            wanted = self._in_best_groups(wanted, r)
        share, experts = ops.topk(wanted, r.chosen)
        if self.parts.preferred is not None:
            share = ops.pick(each, experts)
        if r.renormalize:
            share = self.shared(share, ops.sum(share, -1).reshape(n, 1))
        elif r.scale != 1.0:
            share = share * r.scale
        if self.parts.factors is not None:
            share = share * ops.take(self.parts.factors, experts, 0)
        return share, experts

    def _in_best_groups(self, scores: Array, rule: RoutingRule) -> Array:
        """Scores, far below all others outside of the best groups."""
        ops, n = self.ops, scores.shape[0]
        grouped = scores.reshape(n, rule.groups, self.count // rule.groups)
        best, _ = ops.topk(grouped, rule.judged_by)
        _, kept = ops.topk(ops.sum(best, -1), rule.kept)
        inside = ops.sum(ops.take(self.members, kept, 0), 1).reshape(n, rule.groups, 1)
        return self.masked(grouped, inside).reshape(n, self.count)

    def _activated(self, made: Array) -> Array:
        ops, parts = self.ops, self.parts
        if parts.activation == "relu_squared":
            inner = ops.relu(made)
            return inner * inner
        if parts.activation != "clamped_swiglu" and not parts.alternating:
            return (ops.swiglu if parts.activation == "swiglu" else ops.geglu)(made)
        n, k, width = made.shape
        if parts.alternating:
            pairs = made.reshape(n, k, width // 2, 2)
            gate, up = pairs[:, :, :, 0], pairs[:, :, :, 1]
        else:
            gate, up = ops.split(made, [width // 2, width // 2], 2)
        if parts.activation != "clamped_swiglu":
            return (ops.swiglu if parts.activation == "swiglu" else ops.geglu)(ops.cat([gate, up], 2))
        gate, up = ops.clamp(gate, None, parts.limit), ops.clamp(up, -parts.limit, parts.limit)
        return (up + 1) * (gate * ops.sigmoid(gate * parts.alpha))
