"""Yield budget of cooperative work: a task yields to running requests after a time, not after a number of layers.

A task is a generator; each yield costs it one step of every running request. On a fast device a whole chunk of audio
fits between two steps, on a slow one only a few layers.
"""

from __future__ import annotations

import time
from collections.abc import Generator

from backends.base import Array, Ops

LONGEST = 0.05  # seconds of work between yields


class YieldBudget:
    """The yield budget of one task, created when it starts."""

    def __init__(self, ops: Ops) -> None:
        self._ops = ops
        self._began = time.perf_counter()

    def pause(self, x: Array) -> Generator[None, None, None]:
        """Evaluate `x [B, L, C]` (a lazy backend computes it here), then yield if the budget is used up."""
        self._ops.numpy(x[:, :1, :1])
        if time.perf_counter() - self._began >= LONGEST:
            yield
            self._began = time.perf_counter()
