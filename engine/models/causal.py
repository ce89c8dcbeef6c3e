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
    """A convolution that sees only what came before. `stride` is 1."""

    def __init__(self, w: View, inp: int, out: int, kernel: int, dilation: int = 1, groups: int = 1) -> None:
        self.ops: Ops = w.backend.ops
        self.dilation, self.groups, self.keep = dilation, groups, (kernel - 1) * dilation
        self.w = self.ops.conv_weight(w.tensor("weight", (out, inp // groups, kernel), "f32"))
        self.b = w.tensor("bias", (out,), "f32")

    def __call__(self, x: Array, past: Past) -> Array:
        if self.keep:
            x = before(self.ops, self, x, past, self.keep)
        return self.ops.conv1d(x, self.w, self.b, dilation=self.dilation, groups=self.groups)


class CausalTransposed:
    """An upsampling by `stride`. What an input spreads beyond its own outputs falls on those of the next ones."""

    def __init__(self, w: View, inp: int, out: int, kernel: int, stride: int) -> None:
        self.ops: Ops = w.backend.ops
        self.stride, self.keep = stride, -(-(kernel - stride) // stride)
        self.w = self.ops.conv_weight(w.tensor("weight", (inp, out, kernel), "f32"), transposed=True)
        self.b = w.tensor("bias", (out,), "f32")

    def __call__(self, x: Array, past: Past) -> Array:
        length = x.shape[1] * self.stride
        if self.keep:
            x = before(self.ops, self, x, past, self.keep)
        start = self.keep * self.stride
        return self.ops.conv_transpose1d(x, self.w, self.b, stride=self.stride)[:, start : start + length]


def before(ops: Ops, layer: object, x: Array, past: Past, keep: int) -> Array:
    """`x` behind the last `keep` inputs that `layer` had, which are then those of `x`."""
    if layer in past:
        x = ops.cat([past[layer], x], 1)
    else:
        x = ops.pad(x, ((0, 0), (keep, 0), (0, 0)))
    past[layer] = x[:, x.shape[1] - keep :]
    return x


class SnakeBeta:
    """`x + sin(x * exp(alpha)) ** 2 / exp(beta)`"""

    def __init__(self, w: View, channels: int) -> None:
        self.ops: Ops = w.backend.ops
        self.rate = self.ops.exp(w.tensor("alpha", (channels,), "f32"))
        self.size = 1.0 / (self.ops.exp(w.tensor("beta", (channels,), "f32")) + 1e-9)

    def __call__(self, x: Array) -> Array:
        wave = self.ops.sin(x * self.rate)
        return x + wave * wave * self.size


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
