"""Drives a model on a real backend the plain way: one sequence, no engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from backends.base import Backend, Sampling, Segment
from backends.pick import pick
from engine.models.registry import find_architecture
from engine.weights.checkpoint import Checkpoint
from engine.weights.view import build


class Driver:
    def __init__(self, folder: Path, backend: str, dtype: str = "f32", kv_bits: int = 32) -> None:
        self.checkpoint = Checkpoint.open(folder)
        self.backend: Backend = pick(backend, "cpu", dtype)
        config: Mapping[str, Any] = self.checkpoint.config
        make = find_architecture(config, folder.name)
        self.model = build(lambda view: make(view, config), self.checkpoint, self.backend)
        self.kv = self.backend.kv(self.model.memory, 1 << 30, kv_bits)
        self.runner = self.backend.runner(self.model, self.kv)

    def logits(self, ids: Sequence[int], chunks: Sequence[int] | None = None) -> np.ndarray:
        """Logits of every position, `[n, vocabulary]`, the prompt given in chunks of these sizes."""
        slot = self.kv.open(len(ids))
        assert slot is not None
        rows, at = [], 0
        for size in chunks or [len(ids)]:
            part = ids[at : at + size]
            at += size
            token = self.runner.run([Segment(slot, part, want=range(len(part)))]).read()[slot]
            rows.append(token.logits)
        self.kv.close(slot)
        return np.concatenate(rows)

    def hidden(self, ids: Sequence[int], chunks: Sequence[int] | None = None) -> np.ndarray:
        """Hidden states of every position, `[n, D]`, the prompt given in chunks of these sizes."""
        slot = self.kv.open(len(ids))
        assert slot is not None
        rows, at = [], 0
        for size in chunks or [len(ids)]:
            rows.append(self.runner.run([Segment(slot, ids[at : at + size], hidden=True)]).read()[slot].hidden)
            at += size
        self.kv.close(slot)
        return np.concatenate(rows)

    def greedy(self, ids: Sequence[int], n: int, held: bool = False) -> list[int]:
        """`n` greedy tokens; `held`: each next input stays on the device."""
        slot = self.kv.open(len(ids) + n)
        assert slot is not None
        out = self.runner.run([Segment(slot, ids, sample=Sampling())]).read()[slot].ids
        while len(out) < n:
            out += self.runner.run([Segment(slot, None if held else [out[-1]], sample=Sampling())]).read()[slot].ids
        self.kv.close(slot)
        return out
