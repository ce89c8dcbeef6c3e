"""What image encoders share: what they are given, and how their work is cut so that running replies may step in between.

The cuts depend on sizes alone, so the same pictures give the same numbers whatever else runs. Whether a cut becomes a
pause depends on the time since the last one: a fast device is not interrupted for every layer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Sequence
from typing import Protocol, TypeAlias

import numpy as np

from backends.base import Array, Ops

PIECE = 8e9  # multiplications between two cuts: smaller ones pay for bringing the weights into form once more
PAUSE_AFTER = 0.03  # seconds of work without a pause
_ROUND = 16  # rows of a piece are a multiple of this, as kernels like it

Work: TypeAlias = Generator[None, None, Array]


class Patched(Protocol):
    """A picture as an encoder needs it."""

    @property
    def patches(self) -> np.ndarray: ...
    @property
    def grid(self) -> tuple[int, int, int]:
        """Patches in time, down, across."""


class Pieces:
    """One run of an encoder, in pieces."""

    def __init__(self, ops: Ops, piece: float = PIECE, pause_after: float = PAUSE_AFTER) -> None:
        self.ops, self.piece, self.pause_after = ops, piece, pause_after
        self._since = time.monotonic()

    def cut(self, x: Array) -> Generator[None, None, None]:
        """Wait until `x` is there; then pause, if it is time."""
        self.ops.numpy(x[:1].reshape(-1)[:1])
        if time.monotonic() - self._since >= self.pause_after:
            yield
            self._since = time.monotonic()

    def rows(self, f: Callable[[Array], Array], x: Array, cost: float) -> Work:
        """`f(x)`, where `f` treats every row alike at `cost` multiplications. Pieces are alike too: a small rest at the end
        would cost far more a row."""
        n = x.shape[0]
        pieces = max(1, math.ceil(n * cost / self.piece))
        step = max(_ROUND, -(-math.ceil(n / pieces) // _ROUND) * _ROUND)
        parts = []
        for start in range(0, n, step):
            parts.append(f(x if step >= n else x[start : start + step]))
            yield from self.cut(parts[-1])
        return parts[0] if len(parts) == 1 else self.ops.cat(parts, 0)

    def attend(self, q: Array, k: Array, v: Array, lens: Sequence[int], scale: float) -> Work:
        """As `Ops.attend_varlen`."""
        each = 2 * q.shape[1] * q.shape[2]
        parts, start = [], 0
        for run in self._runs(lens, each):
            stop = start + sum(run)
            mine = (q, k, v) if stop - start == q.shape[0] else (q[start:stop], k[start:stop], v[start:stop])
            if len(run) == 1:
                parts.append((yield from self._attend_one(*mine, scale, each * run[0])))
            else:
                parts.append(self.ops.attend_varlen(*mine, run, scale))
                yield from self.cut(parts[-1])
            start = stop
        return parts[0] if len(parts) == 1 else self.ops.cat(parts, 0)

    def _attend_one(self, q: Array, k: Array, v: Array, scale: float, cost: float) -> Work:
        return (yield from self.rows(lambda part: self.ops.sdpa(part[None], k[None], v[None], scale)[0], q, cost))

    def _runs(self, lens: Sequence[int], each: float) -> list[list[int]]:
        """Neighbours that are one piece together."""
        runs: list[list[int]] = []
        left = 0.0
        for n in lens:
            cost = each * n * n
            if not runs or cost > left:
                runs.append([])
                left = self.piece
            runs[-1].append(n)
            left -= cost
        return runs
