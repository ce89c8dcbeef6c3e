"""Layers that remember only for a moment, each of their passes one call of the CPU kernels: see `backends.base.Brief`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from backends.base import KVSpec, Step
from backends.brief import PlainBrief
from backends.torch.kernels import library
from backends.torch.ops import Angles, TextOps
from backends.torch.recorded import Recording, watch


@dataclass(frozen=True)
class Call:
    """What one pass is given besides its tokens: the same each time as many sequences have come as far."""

    spans: np.ndarray
    memory: np.ndarray
    angles: list[Tensor]


class TorchBrief:
    def __init__(self, ops: TextOps, layers: Callable[[Step], Any], specs: Sequence[KVSpec], longest: int) -> None:
        self.ops, self.layers, self.specs, self.longest = ops, layers, list(specs), longest
        self.plain = PlainBrief(ops, layers)  # type: ignore[arg-type]  # the joined operations, see backend.py
        self._recording: Recording | None = None
        self._may_record = ops.device.type == "cpu" and ops.dtype == "f32" and library.available()
        self._memory: dict[int, Tensor] = {}  # by how many sequences
        self._calls: dict[tuple[int, int, int], Call] = {}

    @property
    def recorded(self) -> bool:
        """Whether the kernels run the passes; known after the first."""
        return self._recording is not None

    def begin(self, n: int) -> Callable[[Tensor], Tensor]:
        seen, plain = 0, self.plain.begin(n)

        def more(x: Tensor) -> Tensor:
            nonlocal seen
            if self._may_record:
                self._may_record = False
                self._recording = watch(self.layers, self.specs, x.shape[1])
            if self._recording is None:
                return plain(x)
            call = self._call(n, seen, x.shape[0] // n)
            seen += x.shape[0] // n
            return self._recording.program.run(x, call.spans, call.memory, call.angles)

        return more

    def _call(self, n: int, seen: int, each: int) -> Call:
        key = n, seen, each
        if key not in self._calls:
            assert self._recording is not None
            if seen + each > self.longest:
                raise ValueError(f"{seen + each} tokens are more than the {self.longest} that this was made for")
            spans = np.array([(i * each, each, seen, self.longest, 0) for i in range(n)], np.int64)
            place = torch.arange(seen, seen + each, dtype=torch.int32).repeat(n)
            turned: list[Angles] = [self.ops.angles(place, rope) for rope in self._recording.ropes]
            angles = [part.contiguous() for one in turned for part in (one.cos, one.sin)]
            self._calls[key] = Call(spans, self._rows(n), angles)
        return self._calls[key]

    def _rows(self, n: int) -> np.ndarray:
        """Addresses `[layers, n, 2]` of each sequence's keys and values."""
        sizes = [spec.heads * self.longest * spec.dim for spec in self.specs]
        if n not in self._memory:
            self._memory[n] = torch.zeros(2 * n * sum(sizes))
        starts = np.cumsum([0, *(2 * n * size for size in sizes[:-1])])
        rows = [start + size * np.arange(2 * n).reshape(n, 2) for start, size in zip(starts, sizes)]
        made: np.ndarray = self._memory[n].data_ptr() + 4 * np.array(rows, np.int64)
        return made
