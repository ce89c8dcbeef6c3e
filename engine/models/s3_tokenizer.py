"""S3, a tokenizer of speech: 25 tokens a second, each one of 6561, of what is said and how, hardly of who says it.

A transformer whose attention has a short memory beside it (FSMN), and a quantizer of eight numbers with three levels each.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from backends.base import Array, Rope
from engine.models.yield_budget import YieldBudget
from engine.weights.view import View

MELS = 128
LONGEST = 3000  # mel frames that are heard at once
_HEAD = 64
_LEVELS, _BOUND = 3, 0.9990000128746033
_EPS, _ATTENTION_EPS = 1e-5, 1e-6


class _Block:
    def __init__(self, w: View, dim: int) -> None:
        self.ops, self.dim = w.backend.ops, dim
        own, self.kernel = w.sub("attn"), (w.shape("attn.fsmn_block.weight") or (1, 1, 31))[2]
        self.qkv = own.linear(*((name, dim) for name in ("query", "key", "value")), inp=dim, bias=[True, False, True])
        self.out = own.linear(("out", dim), inp=dim, bias=True)
        self.memory = self.ops.conv_weight(own.tensor("fsmn_block.weight", (dim, 1, self.kernel), "f32"))
        self.up = w.linear(("mlp.0", 4 * dim), inp=dim, bias=True)
        self.down = w.linear(("mlp.2", dim), inp=4 * dim, bias=True)
        self.norms = [
            (w.tensor(f"{name}.weight", (dim,)), w.tensor(f"{name}.bias", (dim,))) for name in ("attn_ln", "mlp_ln")
        ]

    def __call__(self, x: Array, angles: Array) -> Array:
        """`[L, D]`"""
        ops, n, heads = self.ops, x.shape[0], self.dim // _HEAD
        normed = ops.layer_norm(x, *self.norms[0], _ATTENTION_EPS)
        q, k, v = ops.qkv(self.qkv(normed), heads, heads, _HEAD, None)
        q, k = ops.rope(q, angles), ops.rope(k, angles)
        attended = ops.sdpa(q[None], k[None], v[None], _HEAD**-0.5).reshape(n, self.dim)
        values = v.reshape(1, n, self.dim)
        kept = ops.conv1d(values, self.memory, padding=self.kernel // 2, groups=self.dim) + values
        x = x + self.out(attended) + kept[0]
        return x + self.down(ops.gelu(self.up(ops.layer_norm(x, *self.norms[1], _EPS))))


class S3Tokenizer:
    def __init__(self, w: View) -> None:
        ops = self.ops = w.backend.ops
        own = w.sub("encoder")
        self.dim = (own.shape("conv1.weight") or (1280,))[0]
        self.convs = [
            (ops.conv_weight(part.tensor("weight", (self.dim, inp, 3), "f32")), part.tensor("bias", (self.dim,), "f32"))
            for part, inp in ((own.sub("conv1"), MELS), (own.sub("conv2"), self.dim))
        ]
        count = max(1, sum(own.has(f"blocks.{i}.attn.out.weight") for i in range(100)))
        self.blocks = [_Block(own.sub(f"blocks.{i}"), self.dim) for i in range(count)]
        self.project = w.linear(("quantizer._codebook.project_down", 8), inp=self.dim, bias=True)
        self.rope = Rope(_HEAD, tuple(float(10000.0 ** (-i / _HEAD)) for i in range(0, _HEAD, 2)))

    def tokens(self, mel: np.ndarray) -> Generator[None, None, np.ndarray]:
        """`[frames, 128]` of at most 30 seconds -> tokens, one for four frames."""
        ops, budget = self.ops, YieldBudget(self.ops)
        x = ops.array(mel[None, :LONGEST].astype(np.float32), "f32")
        for weight, bias in self.convs:
            x = ops.gelu(ops.conv1d(x, weight, bias, stride=2, padding=1))
        x = x[0]
        angles = ops.angles(ops.arange(x.shape[0]), self.rope)
        for block in self.blocks:
            x = block(x, angles)
            yield from budget.pause(x[None])
        digits = np.round(np.tanh(ops.numpy(self.project(x))) * np.float32(_BOUND)).astype(np.int64) + 1
        made: np.ndarray = (digits * _LEVELS ** np.arange(8)).sum(1).astype(np.int32)
        return made
