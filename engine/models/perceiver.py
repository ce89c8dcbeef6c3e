"""A perceiver's resampler: a fixed number of vectors that gather, by attention, what a sequence of any length says."""

from __future__ import annotations

from backends.base import Array, Ops
from engine.weights.view import View

_PERCEIVER_DEPTH, _PERCEIVER_HEADS, _PERCEIVER_HEAD_DIM = 2, 8, 64
_PERCEIVER_WIDTH = _PERCEIVER_HEADS * _PERCEIVER_HEAD_DIM
_LEAST = 1e-24  # of a mean square


class _PerceiverLayer:
    """Attention of the vectors over themselves and the sequence, and a feed-forward layer."""

    def __init__(self, w: View, dim: int) -> None:
        self.ops: Ops = w.backend.ops
        ffn = int(dim * 4 * 2 / 3)
        self.query = w.linear(("0.to_q", _PERCEIVER_WIDTH), inp=dim)
        self.keys_values = w.linear(("0.to_kv", 2 * _PERCEIVER_WIDTH), inp=dim)
        self.out = w.linear(("0.to_out", dim), inp=_PERCEIVER_WIDTH)
        self.widen = w.linear(("1.0", 2 * ffn), inp=dim, bias=True)
        self.narrow = w.linear(("1.2", dim), inp=ffn, bias=True)
        self.ffn = ffn

    def __call__(self, x: Array, seen: Array) -> Array:
        ops = self.ops
        k, v = ops.split(self.keys_values(ops.cat([x, seen], 1)), [_PERCEIVER_WIDTH, _PERCEIVER_WIDTH], 2)
        q, k, v = (y.reshape(1, y.shape[1], _PERCEIVER_HEADS, _PERCEIVER_HEAD_DIM) for y in (self.query(x), k, v))
        found = ops.sdpa(q, k, v, _PERCEIVER_HEAD_DIM**-0.5)
        x = x + self.out(found.reshape(1, found.shape[1], _PERCEIVER_WIDTH))
        plain, gate = ops.split(self.widen(x), [self.ffn, self.ffn], 2)
        return x + self.narrow(ops.gelu(gate) * plain)


class _PerceiverResampler:
    """`[1, L, inp]` -> `[1, count, dim]`"""

    def __init__(self, w: View, inp: int, dim: int, count: int) -> None:
        self.ops: Ops = w.backend.ops
        self.enter = w.linear(("proj_context", dim), inp=inp, bias=True)
        self.start = w.tensor("latents", (count, dim), "f32")
        self.layers = [_PerceiverLayer(w.sub(f"layers.{i}"), dim) for i in range(_PERCEIVER_DEPTH)]
        self.gain = w.tensor("norm.gamma", (dim,), "f32")

    def __call__(self, x: Array) -> Array:
        seen, x = self.enter(x), self.start[None]
        for layer in self.layers:
            x = layer(x, seen)
        return self.ops.rms_norm(x, self.gain, _LEAST)
