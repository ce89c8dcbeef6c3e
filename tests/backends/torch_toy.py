"""A small decoder with every kind of memory, over the operations alone; weights are random but always the same."""

from __future__ import annotations

import numpy as np
import torch

from backends.base import CrossSpec, KVSpec, MemorySpec, Rope, Segment, SharedKVSpec, StateSpec, Step
from backends.torch.backend import TorchBackend
from backends.torch.kv_cache import TorchKVCache
from backends.torch.runner import TorchRunner

WIDTH, HEADS, KV_HEADS, DIM, VOCAB = 32, 4, 2, 16, 50
ROPE = Rope(DIM, tuple(100.0 ** (-i / 8) for i in range(8)))
SPECS: dict[str, MemorySpec] = {
    "full": KVSpec(KV_HEADS, DIM),
    "window": KVSpec(KV_HEADS, DIM, window=5),
    "shared": SharedKVSpec(1),
    "delta": StateSpec(3 * WIDTH, 4, 2, 16, 16),
    "scan": StateSpec(3 * WIDTH, 4, 2, 16, 16),
    "conv": StateSpec(3 * WIDTH, 4),
    "cross": CrossSpec(KV_HEADS, DIM),
}
RECURRENT = ("delta", "scan", "conv")


class Toy:
    def __init__(self, backend: TorchBackend, *layers: str) -> None:
        self.ops, self.vocab = backend.ops, VOCAB
        self.kinds, self.memory = layers, [SPECS[kind] for kind in layers]
        random = np.random.default_rng(11)

        def matrix(*shape: int) -> torch.Tensor:
            return self.ops.array(random.normal(size=shape) / shape[-1] ** 0.5, backend.dtype)

        self.table = matrix(VOCAB, WIDTH) * 5
        sizes = {"full": (HEADS + 2 * KV_HEADS) * DIM, "cross": HEADS * DIM}
        sizes |= dict.fromkeys(RECURRENT, 3 * WIDTH + 4)
        self.into = [matrix(sizes.get(kind, sizes["full"]), WIDTH) for kind in layers]
        self.taps = matrix(3 * WIDTH, 4)
        self.out = [matrix(WIDTH, WIDTH if kind in RECURRENT else HEADS * DIM) for kind in layers]

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        return self.ops.take(self.table, ids, 0)

    def __call__(self, step: Step) -> torch.Tensor:
        x, n = step.x, step.x.shape[0]
        angles = self.ops.angles(step.pos, ROPE)
        for i, kind in enumerate(self.kinds):
            y = self.ops.rms_norm(x, None, 1e-6) @ self.into[i].T
            if kind in RECURRENT:
                mixed = self.ops.silu(step.cache.conv(i, y[:, : 3 * WIDTH], self.taps)).reshape(n, 3, 2, 16)
                g = -self.ops.softplus(self.ops.cast(y[:, -4:-2], "f32"))
                q, k = self.ops.l2norm(mixed[:, 0]), self.ops.l2norm(mixed[:, 1])
                if kind == "delta":
                    mixed = step.cache.delta(i, q, k, mixed[:, 2], g, self.ops.sigmoid(y[:, -2:]))
                else:
                    mixed = step.cache.scan(i, q, k, mixed[:, 2], g) if kind == "scan" else mixed[:, 2]
            elif kind == "cross":
                mixed = step.cache.cross(i, y.reshape(n, HEADS, DIM), DIM**-0.5)
            else:
                q, k, v = self.ops.qkv(y, HEADS, KV_HEADS, DIM, angles)
                k, v = (None, None) if kind == "shared" else (k, v)
                mixed = step.cache.attend(i, q, k, v, DIM**-0.5)
            x = x + mixed.reshape(n, -1) @ self.out[i].T
        return self.ops.rms_norm(x, None, 1e-6)

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden @ self.table.T


class Rig:
    """A toy on its own store."""

    def __init__(self, *layers: str, dtype: str = "f32", bits: int = 32, budget: int = 1 << 28) -> None:
        self.backend = TorchBackend("cpu", dtype)
        self.model = Toy(self.backend, *layers)
        self.kv: TorchKVCache = self.backend.kv(self.model.memory, budget, bits)
        self.runner: TorchRunner = self.backend.runner(self.model, self.kv)

    def feed(self, slot, ids) -> np.ndarray:
        """Logits of all of `ids`."""
        return self.runner.run([Segment(slot, ids, want=range(len(ids)))]).read()[slot].logits

    def alone(self, ids, *chunks: int) -> np.ndarray:
        """Logits of all of `ids` in a fresh slot, in chunks of these sizes."""
        slot = self.kv.open(len(ids))
        out, at = [], 0
        for size in chunks or (len(ids),):
            out.append(self.feed(slot, ids[at : at + size]))
            at += size
        self.kv.close(slot)
        return np.concatenate(out)


def prompt(n: int, seed: int = 0) -> list[int]:
    return np.random.default_rng(seed).integers(0, VOCAB, n).tolist()
