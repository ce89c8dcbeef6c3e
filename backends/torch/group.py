"""The ranks of tensor parallelism on torch: sums and gathers by NCCL on CUDA, by gloo on CPUs.

Each model has a process group of its own, none is torch's global one. Ranks meet in a file of a private folder and listen on the
loopback address alone. NCCL's path is written and reviewed, and has not run on two GPUs.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from backends.base import BackendMissing, GroupActivity

MEETING = timedelta(seconds=20)  # for the others to come
LONGEST = timedelta(days=1)  # of one operation: that ranks are lost is found out otherwise


class TorchGroup:
    """Implements `backends.base.RankGroup`."""

    def __init__(self, place: Path, index: int, count: int, device: torch.device) -> None:
        self.index, self.count, self.activity = index, count, GroupActivity()
        store = dist.FileStore(str(place), count)
        store.set_timeout(MEETING)
        self._group: Any = (_nccl if device.type == "cuda" else _gloo)(store, index, count)
        self.captures = device.type == "cuda"
        self.all_reduce(torch.zeros(1, device=device))  # NCCL connects when it is first used

    def all_reduce(self, x: Tensor) -> Tensor:
        return self._done(x.contiguous(), lambda y: self._group.allreduce([y]))

    def broadcast(self, x: Tensor) -> Tensor:
        """The first rank's `x`, which is written to on the others."""
        return self._done(x.contiguous(), lambda y: self._group.broadcast([y]))

    def all_gather(self, x: Tensor, sizes: Sequence[int]) -> Tensor:
        """`x [N, sizes[index]]` of all ranks -> `[N, sum(sizes)]`."""
        most, n = max(sizes), x.shape[0]
        mine = x.new_zeros(n, most)
        mine[:, : x.shape[1]] = x
        made = x.new_empty(self.count * n, most)
        self._done(mine, lambda y: self._group._allgather_base(made, y))
        each = made.view(self.count, n, most)
        return torch.cat([part[:, :size] for part, size in zip(each, sizes)], 1)

    def _done(self, x: Tensor, begin: Callable[[Tensor], Any]) -> Tensor:
        self.activity.since = time.monotonic()
        try:
            begin(x).wait()
        finally:
            self.activity.since = None
        self.activity.count += 1
        return x

    def abort(self) -> None:
        """Wake every thread that waits for the group. May be called from any thread."""
        try:
            self._group.abort()
        except Exception:
            return  # it is broken already, which is what was asked for

    def close(self) -> None:
        self._group = None


def _gloo(store: Any, index: int, count: int) -> Any:
    options = dist.ProcessGroupGloo._Options()
    options._devices = [dist.ProcessGroupGloo.create_device(hostname="127.0.0.1")]
    options._timeout = LONGEST
    return dist.ProcessGroupGloo(store, index, count, options)


def _nccl(store: Any, index: int, count: int) -> Any:
    if not dist.is_nccl_available():
        raise BackendMissing("Several GPUs need NCCL, which this build of torch does not contain.")
    os.environ.setdefault("NCCL_SOCKET_IFNAME", "lo" if sys.platform.startswith("linux") else "lo0")
    # a rank that is lost must end its requests, not the process that serves all others
    os.environ.setdefault("TORCH_NCCL_ASYNC_ERROR_HANDLING", "0")
    options = dist.ProcessGroupNCCL.Options()
    options._timeout = LONGEST
    return dist.ProcessGroupNCCL(store, index, count, options)
