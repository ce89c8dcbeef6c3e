"""Layers over whole sequences, all of them one program of the CPU kernels: see `backends.base.Whole`."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from backends.base import EncoderAttention, Rope
from backends.torch.kernels import library
from backends.torch.kernels.program import Program
from backends.torch.ops import Angles, TextOps
from backends.torch.recorder import IN_FLOATS, HeadSymbol, NotRecorded, Recorder, Symbol
from backends.whole import AT_ONCE, EagerEncoder, places

Layer = Callable[[Any, Any, EncoderAttention], Any]


@dataclass(frozen=True)
class Recorded:
    program: Program
    cuts: list[int]  # instructions before which it may pause


class Noting:
    """Notes attention instead of computing it."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder

    def attend(self, q: Any, k: Any, v: Any, scale: float, window: tuple[int, int] | None = None) -> Any:
        if not all(isinstance(part, HeadSymbol) for part in (q, k, v)):
            raise NotRecorded("attention of something that is not of the pass")
        return self.recorder.among(q, k, v, scale, window)


class TorchWhole:
    def __init__(self, ops: TextOps, layers: Sequence[Layer], rope: Rope | None) -> None:
        self.ops, self.layers, self.rope = ops, list(layers), rope
        self.plain = EagerEncoder(ops, layers, rope)  # type: ignore[arg-type]  # the joined operations, see backend.py
        self._recorded: Recorded | None = None
        self._may_record = ops.device.type == "cpu" and library.available()

    @property
    def recorded(self) -> bool:
        """Whether the kernels run the layers; known after the first run."""
        return self._recorded is not None

    def run(self, x: Tensor, lens: Sequence[int]) -> Generator[None, None, Tensor]:
        if self._may_record:
            self._may_record = False
            self._recorded = self._record(x.shape[1])
        if self._recorded is None or x.shape[0] == 0:
            plain: Tensor = yield from self.plain.run(x, lens)
            return plain
        starts = np.cumsum([0, *lens[:-1]])
        spans = np.array([(start, n, 0, n, 0) for start, n in zip(starts, lens)], np.int64)
        angles: list[Tensor] = []
        if self.rope is not None:
            turned: Angles = self.ops.angles(torch.from_numpy(places(lens)), self.rope)
            angles = [turned.cos.contiguous(), turned.sin.contiguous()]
        nothing = np.zeros((1, len(lens), 4), np.int64)
        parts = self._recorded.program.run_in_parts(x.float().contiguous(), spans, nothing, angles, self._recorded.cuts)
        for part in parts:
            if part is not None:
                made = torch.from_numpy(part.numpy().copy())  # its memory holds all else of the run, too
                return made.to(x.dtype)
            yield
        raise AssertionError("a program ends with what it made")

    def _record(self, width: int) -> Recorded | None:
        recorder, cuts = Recorder(width, [], IN_FLOATS), list[int]()
        angles = None if self.rope is None else recorder.angles(self.rope)
        x: Any = recorder.x
        try:
            for i, layer in enumerate(self.layers, 1):
                x = layer(x, angles, Noting(recorder))
                if i % AT_ONCE == 0 and i < len(self.layers):
                    cuts.append(len(recorder.lines))
        except NotRecorded:
            return None
        if not isinstance(x, Symbol) or len(x.shape) != 2:
            return None
        return Recorded(Program(recorder.lines, recorder.widths, x.register, [*recorder.keep, *self.layers]), cuts)
