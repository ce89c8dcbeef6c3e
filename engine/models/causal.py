"""Layers of a codec that may hear a sound piece by piece: what they need of the past is carried from call to call.

A `StreamState` belongs to one stream. Fed in pieces of any length, a layer gives exactly what it gives for the whole, and the
first piece is preceded by silence. Several streams may go through together, so that weights are read once for all of them:
the rows of an array `[T, C]` are one stream's positions behind the other's, and `StreamBatch` says whose they are. Each sounds as
it would alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from backends.base import Array, Ops, Rope
from engine.weights.view import View

StreamState = dict[Any, Any]  # layer -> what it keeps


@dataclass(frozen=True)
class StreamBatch:
    """A further piece of each of some streams."""

    pasts: Sequence[StreamState]
    lengths: Sequence[int]

    def longer(self, rate: int) -> StreamBatch:
        """The same after an upsampling."""
        return StreamBatch(self.pasts, [length * rate for length in self.lengths])

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

    def __call__(self, x: Array, pieces: StreamBatch, add: Array | None = None) -> Array:
        y, kept = self.ops.stream_conv(
            x, self.w, pieces.lengths, pieces.recall(self), dilation=self.dilation, snake=self.snake, add=add
        )
        pieces.keep(self, kept)
        return y


class CausalDepthwise:
    """The same for each channel alone."""

    def __init__(self, w: View, dim: int, kernel: int) -> None:
        self.ops: Ops = w.backend.ops
        weight, bias = w.tensor("weight", (dim, 1, kernel), "f32"), w.tensor("bias", (dim,), "f32")
        self.w = self.ops.stream_weight(weight, bias, depthwise=True)

    def __call__(self, x: Array, pieces: StreamBatch) -> Array:
        y, kept = self.ops.stream_conv(x, self.w, pieces.lengths, pieces.recall(self))
        pieces.keep(self, kept)
        return y


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

    def __call__(self, x: Array, pieces: StreamBatch) -> tuple[Array, StreamBatch]:
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
    """A linear over rows, whose `(name, outputs)` parts share their input: a convolution that sees one position, so that it
    reads f32 weights as fast as the others do, and adds what it is to be added to. `scale` is a factor of each output."""

    def __init__(
        self, w: View, *parts: tuple[str, int], inp: int, bias: bool = False, scale: Array | None = None
    ) -> None:
        ops = self.ops = w.backend.ops
        weights = [w.tensor(f"{name}.weight", (out, inp), "f32") for name, out in parts]
        biases = [w.tensor(f"{name}.bias", (out,), "f32") for name, out in parts if bias]
        if w.dry:
            return
        outputs = sum(out for _, out in parts)
        weight = ops.cat(weights, 0)
        shift = ops.cat(biases, 0) if bias else ops.array(np.zeros(outputs, np.float32))
        if scale is not None:
            weight, shift = weight * scale.reshape(outputs, 1), shift * scale
        self.w = ops.stream_weight(weight.reshape(outputs, inp, 1), shift)

    def __call__(self, x: Array, add: Array | None = None) -> Array:
        return self.ops.stream_conv(x, self.w, [x.shape[0]], [None], add=add)[0]


class WindowedAttention:
    """Causal attention over the last `window` positions, each token's own among them; plain rope. `scale` is a factor of each
    of its outputs, which are added to `add`."""

    def __init__(
        self, w: View, hidden: int, heads: int, kv_heads: int, dim: int, window: int, bias: bool, scale: Array
    ) -> None:
        self.ops: Ops = w.backend.ops
        self.heads, self.kv_heads, self.dim, self.window = heads, kv_heads, dim, window
        kv = kv_heads * dim
        self.qkv = Pointwise(w, ("q_proj", heads * dim), ("k_proj", kv), ("v_proj", kv), inp=hidden, bias=bias)
        self.out = Pointwise(w, ("o_proj", hidden), inp=heads * dim, bias=bias, scale=scale)

    def __call__(self, x: Array, where: StreamPositions, add: Array) -> Array:
        ops, lengths = self.ops, where.pieces.lengths
        rows = ops.qkv(self.qkv(x), self.heads, self.kv_heads, self.dim, where.angles)
        made, kept = [], []
        streams = zip(*(ops.split(y, lengths, 0) for y in rows), where.pieces.recall(self))
        for q, k, v, past in streams:
            if past is not None:
                k, v = ops.cat([past[0], k], 0), ops.cat([past[1], v], 0)
            first = max(0, k.shape[0] - self.window + 1)
            kept.append((k[first:], v[first:]))
            made.append(ops.attend_window(q, k, v, self.window, self.dim**-0.5))
        where.pieces.keep(self, kept)
        return self.out(ops.cat(made, 0).reshape(x.shape[0], self.heads * self.dim), add)


class StreamPositions:
    """What all layers of a transformer share in one pass: the positions. Advances the streams' counts."""

    def __init__(self, ops: Ops, rope: Rope, pieces: StreamBatch) -> None:
        self.pieces = pieces
        starts = [start or 0 for start in pieces.recall(rope)]
        pieces.keep(rope, [start + length for start, length in zip(starts, pieces.lengths)])
        positions = [np.arange(start, start + length) for start, length in zip(starts, pieces.lengths)]
        self.angles = ops.angles(ops.array(np.concatenate(positions).astype(np.int32)), rope)
