"""Layers of a codec that may hear a sound piece by piece: what they need of the past is carried from call to call.

A `Past` belongs to one stream. Fed in pieces of any length, a layer gives exactly what it gives for the whole, and the
first piece is preceded by silence. Arrays are `[1, L, C]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.base import Array, Ops, Rope
from engine.weights.view import View

Past = dict[Any, Any]  # layer -> what it keeps


class CausalConv:
    """A convolution that sees only what came before. `stride` is 1; `snake` is what its input goes through first."""

    def __init__(
        self, w: View, inp: int, out: int, kernel: int, dilation: int = 1, snake: SnakeBeta | None = None
    ) -> None:
        self.ops: Ops = w.backend.ops
        self.dilation, self.snake = dilation, None if snake is None else snake.pair
        self.w = self.ops.stream_weight(w.tensor("weight", (out, inp, kernel), "f32"), w.tensor("bias", (out,), "f32"))

    def __call__(self, x: Array, past: Past, add: Array | None = None) -> Array:
        y, past[self] = self.ops.stream_conv(
            x, self.w, past.get(self), dilation=self.dilation, snake=self.snake, add=add
        )
        return y


class CausalDepthwise:
    """The same for each channel alone."""

    def __init__(self, w: View, dim: int, kernel: int) -> None:
        self.ops: Ops = w.backend.ops
        self.dim, self.keep = dim, kernel - 1
        self.w = self.ops.conv_weight(w.tensor("weight", (dim, 1, kernel), "f32"))
        self.b = w.tensor("bias", (dim,), "f32")

    def __call__(self, x: Array, past: Past) -> Array:
        if self in past:
            x = self.ops.cat([past[self], x], 1)
        else:
            x = self.ops.pad(x, ((0, 0), (self.keep, 0), (0, 0)))
        past[self] = x[:, x.shape[1] - self.keep :]
        return self.ops.conv1d(x, self.w, self.b, groups=self.dim)


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

    def __call__(self, x: Array, past: Past) -> Array:
        y, past[self] = self.ops.stream_conv(x, self.w, past.get(self), snake=self.snake)
        return y.reshape(y.shape[0], y.shape[1] * self.stride, self.out)


class SnakeBeta:
    """`x + sin(x * exp(alpha)) ** 2 / exp(beta)`, which is part of the convolution behind it."""

    def __init__(self, w: View, channels: int) -> None:
        ops = w.backend.ops
        rate = ops.exp(w.tensor("alpha", (channels,), "f32"))
        self.pair = rate, 1.0 / (ops.exp(w.tensor("beta", (channels,), "f32")) + 1e-9)


class WindowedAttention:
    """Causal attention over the last `window` positions, each token's own among them; plain rope."""

    def __init__(self, w: View, hidden: int, heads: int, kv_heads: int, dim: int, window: int, bias: bool) -> None:
        self.ops: Ops = w.backend.ops
        self.heads, self.kv_heads, self.dim, self.window = heads, kv_heads, dim, window
        kv = kv_heads * dim
        self.qkv = w.linear(("q_proj", heads * dim), ("k_proj", kv), ("v_proj", kv), inp=hidden, bias=bias)
        self.out = w.linear(("o_proj", hidden), inp=heads * dim, bias=bias)

    def __call__(self, x: Array, where: Where, past: Past) -> Array:
        length = x.shape[1]
        mixed = self.qkv(x.reshape(length, x.shape[2]))
        q, k, v = (y[None] for y in self.ops.qkv(mixed, self.heads, self.kv_heads, self.dim, where.angles))
        if self in past:
            past_k, past_v = past[self]
            k, v = self.ops.cat([past_k, k], 1), self.ops.cat([past_v, v], 1)
        first = max(0, k.shape[1] - self.window + 1)
        past[self] = k[:, first:], v[:, first:]
        out = self.ops.sdpa(q, k, v, self.dim**-0.5, mask=where.mask)
        return self.out(out.reshape(length, self.heads * self.dim))[None]


class Where:
    """What all layers of a transformer share in one pass: positions and who sees whom. Advances the stream's count."""

    def __init__(self, ops: Ops, rope: Rope, length: int, window: int, past: Past) -> None:
        start = past.get(rope, 0)
        past[rope] = start + length
        seen = min(start, window - 1)
        at = np.arange(length)
        distance = at[:, None] + seen - np.arange(seen + length)
        hidden = np.where((distance >= 0) & (distance < window), 0.0, -np.inf).astype(np.float32)
        self.mask = ops.array(hidden[None, None])
        self.angles = ops.angles(ops.array((start + at).astype(np.int32)), rope)
