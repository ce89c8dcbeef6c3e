"""When a long piece of work lets others in: after so much time, not after so many layers.

Work beside running replies is a generator; every point where it yields costs it a step of each reply. On a fast device
a whole chunk of sound fits between two steps, on a slow one a few layers do.
"""

from __future__ import annotations

import time
from collections.abc import Generator

from backends.base import Array, Ops

LONGEST = 0.05  # seconds that others wait


class YieldBudget:
    """Made when a piece of work begins."""

    def __init__(self, ops: Ops) -> None:
        self._ops = ops
        self._began = time.perf_counter()

    def pause(self, x: Array) -> Generator[None, None, None]:
        """`x [B, L, C]`: what the work has made so far, which a lazy backend does now. Yields when it is time to."""
        self._ops.numpy(x[:, :1, :1])
        if time.perf_counter() - self._began >= LONGEST:
            yield
            self._began = time.perf_counter()
