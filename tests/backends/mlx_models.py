"""A tiny model over the operations, for tests of what remembers: attention and delta layers in any order."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np

from backends.base import KVSpec, MemorySpec, Rope, StateSpec, Step
from backends.mlx.backend import MlxBackend
from backends.mlx.kv import MlxKV
from backends.mlx.runner import MlxRunner

WIDTH, VOCAB, HEADS, KV_HEADS, DIM = 32, 61, 4, 2, 32
ROPE = Rope(DIM, tuple(1e4 ** (-i / DIM) for i in range(0, DIM, 2)))


class Tiny:
    """Varied enough that greedy output does not repeat."""

    def __init__(self, ops: Any, layers: str = "aa", window: int | None = None, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.ops, self.layers, self.vocab = ops, layers, VOCAB
        attention = KVSpec(KV_HEADS, DIM, window=window)
        self._channels = 2 * 2 * 8 + 4 * 8
        state = StateSpec(self._channels, 4, 4, 8, 8)
        self.memory: list[MemorySpec] = [attention if kind == "a" else state for kind in layers]

        def weight(*shape: int) -> mx.array:
            return ops.array(rng.normal(size=shape).astype(np.float32) / shape[-2] ** 0.5 * 1.5, ops.dtype)

        self.embedding = weight(VOCAB, WIDTH) * 4
        self.head = weight(WIDTH, VOCAB) * 2
        self.norm = ops.array(np.ones(DIM, np.float32), ops.dtype)
        self.weights = []
        for kind in layers:
            if kind == "a":
                self.weights.append((weight(WIDTH, (HEADS + 2 * KV_HEADS) * DIM), weight(HEADS * DIM, WIDTH)))
            else:
                mixed = weight(WIDTH, self._channels + 8)
                self.weights.append((mixed, weight(32, WIDTH), weight(4, self._channels).swapaxes(0, 1)))

    def embed(self, ids: mx.array) -> mx.array:
        return self.ops.take(self.embedding, ids, 0)

    def __call__(self, step: Step) -> mx.array:
        x, ops = step.x, self.ops
        angles = ops.angles(step.pos, ROPE)
        for layer, kind in enumerate(self.layers):
            h = ops.rms_norm(x, None, 1e-6)
            x = x + (self._attend(layer, h, angles, step) if kind == "a" else self._recur(layer, h, step))
        return ops.rms_norm(x, None, 1e-6)

    def _attend(self, layer: int, h: mx.array, angles: Any, step: Step) -> mx.array:
        qkv, out = self.weights[layer]
        q, k, v = self.ops.qkv(h @ qkv, HEADS, KV_HEADS, DIM, angles, self.norm, self.norm)
        y = step.cache.attend(layer, q, k, v, DIM**-0.5)
        return y.reshape(len(h), HEADS * DIM) @ out

    def _recur(self, layer: int, h: mx.array, step: Step) -> mx.array:
        mixed, out, taps = self.weights[layer]
        ops = self.ops
        wide, gates = ops.split(h @ mixed, [self._channels, 8], 1)
        wide = ops.silu(step.cache.conv(layer, wide, taps))
        q, k, v = ops.split(wide, [16, 16, 32], 1)
        q, k = (ops.l2norm(part.reshape(-1, 2, 8)) for part in (q, k))
        g = -ops.softplus(ops.cast(gates[:, :4], "f32"))
        y = step.cache.delta(layer, q, k, v.reshape(-1, 4, 8), g, ops.sigmoid(gates[:, 4:]))
        return y.reshape(len(h), 32) @ out

    def logits(self, hidden: mx.array) -> mx.array:
        return hidden @ self.head


def tiny_runner(
    layers: str = "aa", window: int | None = None, bits: int = 32, dtype: Any = "f32", budget: int = 1 << 30
) -> tuple[MlxRunner, MlxKV]:
    backend = MlxBackend("cpu", dtype)
    model = Tiny(backend.ops, layers, window)
    kv = backend.kv(model.memory, budget, bits)
    return backend.runner(model, kv), kv
