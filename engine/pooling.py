"""From a prompt's hidden states to one vector, a chunk at a time: nothing but the sum (or the last row) is kept.

Knows no scheduler. A chunk may come again, when a sequence lost its memory and is computed anew: rows that were counted
are not counted twice.
"""

from __future__ import annotations

import numpy as np

from engine.types import Pooling


class Pool:
    """One prompt's vector in the making."""

    def __init__(self, kind: Pooling, length: int) -> None:
        self.kind = kind
        self.length = length
        self._seen = 0
        self._sum: np.ndarray | None = None

    def wants(self, stop: int) -> bool:
        """Are hidden states needed of a chunk that ends there?"""
        return self.kind == "mean" or stop >= self.length

    def add(self, start: int, hidden: np.ndarray) -> None:
        """The hidden states of the tokens from `start` on."""
        stop = start + len(hidden)
        if self.kind == "last":
            self._sum = hidden[-1]
        elif stop > self._seen:
            new = hidden[max(0, self._seen - start) :].sum(axis=0, dtype=np.float64)
            self._sum = new if self._sum is None else self._sum + new
        self._seen = max(self._seen, stop)

    @property
    def vector(self) -> np.ndarray | None:
        """`[D]` f32; None until the last token was added."""
        if self._sum is None or self._seen < self.length:
            return None
        return np.asarray(self._sum if self.kind == "last" else self._sum / self.length, np.float32)
