"""The ranks of tensor parallelism on MLX: sums and gathers by MLX's ring, which is sockets between neighbours. Experimental.

A ring has no tags: all ranks must compute their sums in one order. A lazy graph promises none, so each operation depends on the one
before it. A process can join one ring only, and one that waits for a peer that has gone never wakes: so every rank is a process
of its own, and is ended when another is lost (`Backend.ranks_apart`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import mlx.core as mx

from backends.base import BackendMissing, GroupActivity

MEETING = 60.0  # seconds for the file of addresses to appear
_TICK = 0.02


class MlxGroup:
    """Implements `backends.base.RankGroup`."""

    def __init__(self, place: Path, index: int, count: int) -> None:
        """`place`: a JSON list with a list of `address:port` for each rank."""
        deadline = time.monotonic() + MEETING
        while not place.exists():
            if time.monotonic() > deadline:
                raise BackendMissing(f"The other ranks did not come within {MEETING:.0f} seconds.")
            time.sleep(_TICK)
        self.index, self.count, self.activity = index, count, GroupActivity()
        os.environ.update(MLX_RANK=str(index), MLX_HOSTFILE=str(place))
        self._ring = mx.distributed.init(strict=True, backend="ring")
        self._last: mx.array | None = None
        mx.eval(self.all_reduce(mx.zeros(1)))  # nobody continues before all are connected

    def all_reduce(self, x: mx.array) -> mx.array:
        return self._done(mx.distributed.all_sum(self._next(x), group=self._ring))

    def broadcast(self, x: mx.array) -> mx.array:
        """The first rank's `x`: the others add zeros to it."""
        return self.all_reduce(x if self.index == 0 else mx.zeros_like(x))

    def all_gather(self, x: mx.array, sizes: Sequence[int]) -> mx.array:
        """`x [N, sizes[index]]` of all ranks -> `[N, sum(sizes)]`."""
        most = max(sizes)
        padded = mx.pad(x, [(0, 0), (0, most - x.shape[1])])
        made = self._done(mx.distributed.all_gather(self._next(padded), group=self._ring))
        each = made.reshape(self.count, x.shape[0], most)
        return mx.concatenate([each[i, :, :size] for i, size in enumerate(sizes)], axis=1)

    def arrays(self) -> list[mx.array]:
        """To be evaluated with a step: what one rank computes and another leaves out would hold the first one up."""
        return [] if self._last is None else [self._last]

    def _next(self, x: mx.array) -> mx.array:
        return x if self._last is None else mx.depends([x], [self._last])[0]

    def _done(self, y: mx.array) -> mx.array:
        self._last = y
        self.activity.count += 1
        return y

    def abort(self) -> None:
        """Nothing wakes a rank that waits for the ring. Its process is ended instead."""

    def close(self) -> None:
        self._last = None
