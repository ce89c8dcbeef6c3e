"""Frames of codes on torch: on a CPU a whole frame is one call of the kernels. See `backends.base.Frames`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from torch import Tensor

from backends.base import FramePredictorParts, FrameSampling, Linear
from backends.frames import EagerFramePredictor
from backends.torch.kernels import library
from backends.torch.kernels.frame import FrameProgram
from backends.torch.kernels.linear import AnyMatrix, KernelLinear
from backends.torch.ops import Angles, TextOps
from backends.torch.recorded import watch


class TorchFrames:
    def __init__(self, ops: TextOps, parts: FramePredictorParts) -> None:
        self.ops, self.parts = ops, parts
        self.plain = EagerFramePredictor(ops, parts)  # type: ignore[arg-type]  # the joined operations, see backend.py
        self.program: FrameProgram | None = None
        self._may_record = ops.device.type == "cpu" and library.available()

    @property
    def recorded(self) -> bool:
        """Whether the kernels run the frames; known after the first."""
        return self.program is not None

    def __call__(
        self, hidden: Tensor, first: Tensor, ids: Tensor, noise: np.ndarray, random: np.ndarray, choice: FrameSampling
    ) -> tuple[Tensor, Tensor]:
        if self._may_record:
            self._may_record = False
            self.program = self._record()
        if self.program is None:
            return cast(tuple[Tensor, Tensor], self.plain(hidden, first, ids, noise, random, choice))
        return self.program.run(hidden, first, ids, noise, random, choice)

    def _record(self) -> FrameProgram | None:
        """None where a part is not what the kernels run."""
        parts = self.parts
        heads, tables = _matrices(parts.heads), _matrices(parts.embeddings)
        narrow = [] if parts.narrow is None else _matrices([parts.narrow])
        if heads is None or tables is None or narrow is None:
            return None
        recording = watch(parts.layers, parts.specs, narrow[0].rows_each if narrow else tables[0].columns)
        if recording is None:
            return None

        def turns(place: Tensor) -> list[Tensor]:
            turned: list[Angles] = [self.ops.angles(place, rope) for rope in recording.ropes]
            return [part.contiguous() for one in turned for part in (one.cos, one.sin)]

        return FrameProgram(recording.program, turns, parts.specs, heads, tables, narrow[0] if narrow else None)


def _matrices(linears: Sequence[Linear]) -> list[AnyMatrix] | None:
    """The one matrix of each; None where one is of another kind."""
    found: list[AnyMatrix] = []
    for linear in linears:
        if not isinstance(linear, KernelLinear) or len(linear.matrices) != 1:
            return None
        found.append(linear.matrices[0])
    return found
