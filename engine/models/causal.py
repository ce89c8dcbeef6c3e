"""Layers of a codec that may hear a sound piece by piece: what they need of the past is carried from call to call.

A `Past` belongs to one stream. Fed in pieces of any length, a layer gives exactly what it gives for the whole, and the
first piece is preceded by silence. Several streams may go through together, so that weights are read once for all of them:
the rows of an array `[T, C]` are one stream's positions behind the other's, and `Pieces` says whose they are. Each sounds as
it would alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.base import Array, Ops, Rope
from engine.weights.view import View

Past = dict[Any, Any]  # layer -> what it keeps


@dataclass(frozen=True)
class Pieces:
    """A further piece of each of some streams."""

    pasts: Sequence[Past]
    lengths: Sequence[int]

    def longer(self, rate: int) -> Pieces:
        """The same after an upsampling."""
        return Pieces(self.pasts, [length * rate for length in self.lengths])

    def recall(self, layer: Any) -> list[Any]:
        return [past.get(layer) for past in self.pasts]

    def keep(self, layer: Any, kept: Sequence[Any]) -> None:
        for past, part in zip(self.pasts, kept):
            past[layer] = part


class CausalConv:
    """A convolution that sees only what came before. `stride` is 1; `snake` is what its input goes through first."""

    def __init__(
        self, w: View, inp: int, out: int, kernel: int, dilation: int = 1, snake: SnakeBeta | None = None
    ) -> None:
        self.ops: Ops = w.backend.ops
        self.dilation, self.snake = dilation, None if snake is None else snake.pair
        self.w = self.ops.stream_weight(w.tensor("weight", (out, inp, kernel), "f32"), w.tensor("bias", (out,), "f32"))

    def __call__(self, x: Array, pieces: Pieces, add: Array | None = None) -> Array:
        y, kept = self.ops.stream_conv(
            x, self.w, pieces.lengths, pieces.recall(self), dilation=self.dilation, snake=self.snake, add=add
        )
        pieces.keep(self, kept)
        return y


class CausalDepthwise:
    """The same for each channel alone."""

    def __init__(self, w: View, dim: int, kernel: int) -> None:
        self.ops: Ops = w.backend.ops
        self.dim, self.kept = dim, kernel - 1
        self.w = self.ops.conv_weight(w.tensor("weight", (dim, 1, kernel), "f32"))
        self.b = w.tensor("bias", (dim,), "f32")

    def __call__(self, x: Array, pieces: Pieces) -> Array:
        ops, streams = self.ops, []
        for part, past in zip(ops.split(x, pieces.lengths, 0), pieces.recall(self)):
            streams.append(ops.pad(part, ((self.kept, 0), (0, 0))) if past is None else ops.cat([past, part], 0))
        pieces.keep(self, [each[each.shape[0] - self.kept :] for each in streams])
        return ops.cat([ops.conv1d(each[None], self.w, self.b, groups=self.dim)[0] for each in streams], 0)


class CausalTransposed:
    """An upsampling by `stride`: what an input spreads beyond its own outputs falls on those of the next ones. So it is a
    convolution that writes the `stride` outputs of a position side by side."""

    def __init__(self, w: View, inp: int, out: int, kernel: int, stride: int, snake: SnakeBeta | None = None) -> None:
        ops = self.ops = w.backend.ops
        self.out, self.stride, self.snake = out, stride, None if snake is None else snake.pair
        weight, bias = w.tensor("weight", (inp, out, kernel), "f32"), w.tensor("bias", (out,), "f32")
        if w.dry:
            return
        taps = -(-kernel // stride)
        spread = ops.pad(weight, ((0, 0), (0, 0), (0, taps * stride - kernel))).reshape(inp, out, taps, stride)
        newest_last = ops.take(spread, ops.array(np.arange(taps, dtype=np.int32)[::-1].copy()), 2)
        side_by_side = ops.permute(newest_last, (3, 1, 0, 2)).reshape(stride * out, inp, taps)
        self.w = ops.stream_weight(side_by_side, ops.cat([bias] * stride, 0))

    def __call__(self, x: Array, pieces: Pieces) -> tuple[Array, Pieces]:
        y, kept = self.ops.stream_conv(x, self.w, pieces.lengths, pieces.recall(self), snake=self.snake)
        pieces.keep(self, kept)
        return y.reshape(y.shape[0] * self.stride, self.out), pieces.longer(self.stride)


class SnakeBeta:
    """`x + sin(x * exp(alpha)) ** 2 / exp(beta)`, which is part of the convolution behind it."""

    def __init__(self, w: View, channels: int) -> None:
        ops = w.backend.ops
        rate = ops.exp(w.tensor("alpha", (channels,), "f32"))
        self.pair = rate, 1.0 / (ops.exp(w.tensor("beta", (channels,), "f32")) + 1e-9)


class Pointwise:
    """A linear over rows, whose `(name, outputs)` parts share their input: a convolution that sees one position. Beside those
    of a codec its rows are few, and their f32 weights are read as fast so as memory allows."""

    def __init__(self, w: View, *parts: tuple[str, int], inp: int, bias: bool = False) -> None:
        ops = self.ops = w.backend.ops
        weights = [w.tensor(f"{name}.weight", (out, inp), "f32") for name, out in parts]
        biases = [w.tensor(f"{name}.bias", (out,), "f32") for name, out in parts if bias]
        if w.dry:
            return
        outputs = sum(out for _, out in parts)
        shift = ops.cat(biases, 0) if bias else ops.array(np.zeros(outputs, np.float32))
        self.w = ops.stream_weight(ops.cat(weights, 0).reshape(outputs, inp, 1), shift)

    def __call__(self, x: Array) -> Array:
        return self.ops.stream_conv(x, self.w, [x.shape[0]], [None])[0]


class WindowedAttention:
    """Causal attention over the last `window` positions, each token's own among them; plain rope."""

    def __init__(self, w: View, hidden: int, heads: int, kv_heads: int, dim: int, window: int, bias: bool) -> None:
        self.ops: Ops = w.backend.ops
        self.heads, self.kv_heads, self.dim, self.window = heads, kv_heads, dim, window
        kv = kv_heads * dim
        self.qkv = Pointwise(w, ("q_proj", heads * dim), ("k_proj", kv), ("v_proj", kv), inp=hidden, bias=bias)
        self.out = Pointwise(w, ("o_proj", hidden), inp=heads * dim, bias=bias)

    def __call__(self, x: Array, where: Where) -> Array:
        ops, lengths = self.ops, where.pieces.lengths
        rows = ops.qkv(self.qkv(x), self.heads, self.kv_heads, self.dim, where.angles)
        made, kept = [], []
        streams = zip(*(ops.split(y, lengths, 0) for y in rows), where.pieces.recall(self), where.masks)
        for q, k, v, past, mask in streams:
            if past is not None:
                k, v = ops.cat([past[0], k], 0), ops.cat([past[1], v], 0)
            first = max(0, k.shape[0] - self.window + 1)
            kept.append((k[first:], v[first:]))
            made.append(ops.sdpa(q[None], k[None], v[None], self.dim**-0.5, mask=mask)[0])
        where.pieces.keep(self, kept)
        return self.out(ops.cat(made, 0).reshape(x.shape[0], self.heads * self.dim))


class Where:
    """What all layers of a transformer share in one pass: positions and who sees whom. Advances the streams' counts."""

    def __init__(self, ops: Ops, rope: Rope, window: int, pieces: Pieces) -> None:
        self.pieces, self.masks = pieces, []
        starts = [start or 0 for start in pieces.recall(rope)]
        pieces.keep(rope, [start + length for start, length in zip(starts, pieces.lengths)])
        positions = []
        for start, length in zip(starts, pieces.lengths):
            seen, at = min(start, window - 1), np.arange(length)
            distance = at[:, None] + seen - np.arange(seen + length)
            hidden = np.where((distance >= 0) & (distance < window), 0.0, -np.inf).astype(np.float32)
            self.masks.append(ops.array(hidden[None, None]))
            positions.append(start + at)
        self.angles = ops.angles(ops.array(np.concatenate(positions).astype(np.int32)), rope)
