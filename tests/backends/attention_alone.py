"""A model that is attention alone, for tests of the KV cache: a token's query, key and value are rows of a table, and its hidden state is
what attention gave. So the expectation is a few lines of numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from backends.base import Backend, KVSpec, Step
from backends.mlx.backend import MlxBackend
from backends.torch.backend import TorchBackend

HEADS, KV_HEADS, DIM, VOCAB = 4, 2, 32, 97
WIDTH = (HEADS + 2 * KV_HEADS) * DIM
BACKENDS: dict[str, Callable[[], Backend]] = {
    "torch": lambda: TorchBackend("cpu", "f32"),
    "mlx": lambda: MlxBackend("cpu", "f32"),
}  # type: ignore[dict-item]


class AttentionAlone:
    """Each layer attends with the token's own queries, keys and values, multiplied by the layer's number."""

    def __init__(self, backend: Backend, memory: Sequence[KVSpec]) -> None:
        self.ops, self.vocab, self.memory = backend.ops, VOCAB, list(memory)
        self.table = np.random.default_rng(3).normal(size=(VOCAB, WIDTH)).astype(np.float32)
        self.rows = self.ops.array(self.table)

    def embed(self, ids: Any) -> Any:
        return self.ops.take(self.rows, ids, 0)

    def __call__(self, step: Step) -> Any:
        made = []
        for layer in range(len(self.memory)):
            heads = (step.x * (layer + 1)).reshape(-1, HEADS + 2 * KV_HEADS, DIM)
            q, k, v = self.ops.split(heads, [HEADS, KV_HEADS, KV_HEADS], 1)
            made.append(step.cache.attend(layer, q, k, v, DIM**-0.5).reshape(-1, HEADS * DIM))
        return self.ops.cat(made, 1)

    def logits(self, hidden: Any) -> Any:
        return hidden[:, :VOCAB]

    def expected(self, ids: list[int], last: int, prompt: int = 0) -> np.ndarray:
        """Of the last tokens, by whole attention under a mask."""
        made, n = [], len(ids)
        at, back = np.arange(n), np.arange(n - last, n)[:, None] - np.arange(n)
        for layer, spec in enumerate(self.memory):
            heads = (self.table[ids].astype(np.float64) * (layer + 1)).reshape(n, HEADS + 2 * KV_HEADS, DIM)
            q, k, v = np.split(heads, [HEADS, HEADS + KV_HEADS], 1)
            scores = np.einsum("qhd,khd->hqk", q[n - last :], np.repeat(k, HEADS // KV_HEADS, 1)) * DIM**-0.5
            hidden = (back < 0) | (back >= (spec.window or n)) | ((back >= (spec.recent or n)) & (at >= prompt))
            shares = np.exp(np.where(hidden, -np.inf, scores - scores.max(-1, keepdims=True)))
            shares /= shares.sum(-1, keepdims=True)
            mixed = np.einsum("hqk,khd->qhd", shares, np.repeat(v, HEADS // KV_HEADS, 1))
            made.append(mixed.reshape(last, HEADS * DIM))
        return np.concatenate(made, 1)
