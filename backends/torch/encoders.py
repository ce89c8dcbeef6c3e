"""Encoders and frame predictors on torch: on a CPU their layers are traced into one program of the kernels.

Implements `backends.base.EncoderRunner` and `backends.base.FramePredictor`. What cannot be traced runs through
`backends.eager`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from backends.base import DistanceKeys, EncoderAttention, FramePredictorParts, FrameSampling, Linear, Rope
from backends.eager import AT_ONCE, EagerEncoder, EagerFramePredictor, for_each_rope, places
from backends.torch.frame_program import FrameProgram
from backends.torch.kernels import library
from backends.torch.kernels.linear import AnyMatrix, KernelLinear
from backends.torch.ops import TorchAngles, TorchTextOps
from backends.torch.program import Program
from backends.torch.symbols import NotTraceable, Symbol
from backends.torch.tracing import EVERY, IN_FLOATS, ProgramTracer, trace

Layer = Callable[[Any, Any, EncoderAttention], Any]
_FIRST, _STEP, _MOST = 128, 64, 1024  # tokens of a sequence for which a program holds keys of distances


@dataclass(frozen=True)
class _TracedLayers:
    program: Program
    cuts: list[int]  # indices of instructions before which the run may yield
    longest: int  # tokens of a sequence, where attention is by distance: further keys of distances are not there


class TracedAttention:
    """Records attention and convolutions instead of computing them. `longest`: for as many tokens distances get keys."""

    def __init__(self, tracer: ProgramTracer, longest: int) -> None:
        self.tracer, self.longest, self.by_distance = tracer, longest, False

    def attend(self, q: Any, k: Any, v: Any, scale: float, window: tuple[int, int] | None = None) -> Any:
        if not all(isinstance(part, Symbol) for part in (q, k, v)):
            raise NotTraceable("attention of arrays that were not traced")
        return self.tracer.encoder_attention(q, k, v, scale, window)

    def attend_by_distance(self, q: Any, k: Any, v: Any, scale: float, distances: DistanceKeys) -> Any:
        if not all(isinstance(part, Symbol) for part in (q, k, v)):
            raise NotTraceable("attention of arrays that were not traced")
        self.by_distance = True
        return self.tracer.encoder_attention(q, k, v, scale, None, distances, self.longest)

    def convolve(self, x: Any, w: Any, bias: Any, taps: int) -> Any:
        if not isinstance(x, Symbol):
            raise NotTraceable("a convolution of an array that was not traced")
        return self.tracer.centred_conv(x, w.reshape(-1, taps), bias)


class TorchEncoder:
    def __init__(self, ops: TorchTextOps, layers: Sequence[Layer], rope: Rope | Sequence[Rope] | None) -> None:
        self.ops, self.layers, self.rope = ops, list(layers), rope
        self.plain = EagerEncoder(ops, layers, rope)  # type: ignore[arg-type]  # the joined operations, see backend.py
        self._traced: _TracedLayers | None = None
        self._may_trace = ops.device.type == "cpu" and library.available()

    @property
    def traced(self) -> bool:
        """Whether the kernels run the layers; decided by the first run."""
        return self._traced is not None

    def run(self, x: Tensor, lens: Sequence[int]) -> Generator[None, None, Tensor]:
        longest = max(lens, default=0)
        if self._may_trace:
            self._may_trace = False
            self._traced = self._trace(x.shape[1], max(_FIRST, longest))
        if self._traced is not None and self._traced.longest < longest <= _MOST:
            self._traced = self._trace(x.shape[1], longest)
        if self._traced is None or x.shape[0] == 0 or self._traced.longest < longest:
            plain: Tensor = yield from self.plain.run(x, lens)
            return plain
        starts = np.cumsum([0, *lens[:-1]])
        spans = np.array([(start, n, 0, n, 0) for start, n in zip(starts, lens)], np.int64)
        ropes = [] if self.rope is None else [self.rope] if isinstance(self.rope, Rope) else self.rope
        at = torch.from_numpy(places(lens))
        turned: list[TorchAngles] = [self.ops.angles(at, rope) for rope in ropes]
        angles = [part.contiguous() for one in turned for part in (one.cos, one.sin)]
        nothing = np.zeros((1, len(lens), 4), np.int64)
        parts = self._traced.program.run_in_parts(x.float().contiguous(), spans, nothing, angles, self._traced.cuts)
        for part in parts:
            if part is not None:
                made = torch.from_numpy(part.numpy().copy())  # a copy: its memory also holds all registers of the run
                return made.to(x.dtype)
            yield
        raise AssertionError("a program's last part is its result")

    def _trace(self, width: int, longest: int) -> _TracedLayers | None:
        tracer, cuts = ProgramTracer(width, [], IN_FLOATS), list[int]()
        among = TracedAttention(tracer, min(-(-longest // _STEP) * _STEP, _MOST))
        angles = for_each_rope(self.rope, tracer.angles)
        x: Any = tracer.x
        try:
            for i, layer in enumerate(self.layers, 1):
                x = layer(x, angles, among)
                if i % AT_ONCE == 0 and i < len(self.layers):
                    cuts.append(len(tracer.lines))
        except NotTraceable:
            return None
        if not isinstance(x, Symbol) or len(x.shape) != 2:
            return None
        program = Program(tracer.lines, tracer.widths, x.register, [*tracer.keep, *self.layers])
        return _TracedLayers(program, cuts, among.longest if among.by_distance else EVERY)


class TorchFramePredictor:
    def __init__(self, ops: TorchTextOps, parts: FramePredictorParts) -> None:
        self.ops, self.parts = ops, parts
        self.plain = EagerFramePredictor(ops, parts)  # type: ignore[arg-type]  # the joined operations, see backend.py
        self.program: FrameProgram | None = None
        self._may_trace = ops.device.type == "cpu" and library.available()

    @property
    def traced(self) -> bool:
        """Whether the kernels run the frames; decided by the first frame."""
        return self.program is not None

    def __call__(
        self, hidden: Tensor, first: Tensor, ids: Tensor, noise: np.ndarray, random: np.ndarray, choice: FrameSampling
    ) -> tuple[Tensor, Tensor]:
        if self._may_trace:
            self._may_trace = False
            self.program = self._trace()
        if self.program is None:
            return cast(tuple[Tensor, Tensor], self.plain(hidden, first, ids, noise, random, choice))
        return self.program.run(hidden, first, ids, noise, random, choice)

    def _trace(self) -> FrameProgram | None:
        """None where the kernels cannot run one of the parts."""
        parts = self.parts
        heads, tables = _matrices(parts.heads), _matrices(parts.embeddings)
        narrow = [] if parts.narrow is None else _matrices([parts.narrow])
        if heads is None or tables is None or narrow is None:
            return None
        trace_of_layers = trace(parts.layers, parts.specs, narrow[0].rows_each if narrow else tables[0].columns)
        if trace_of_layers is None:
            return None
        ropes = [rope for rope in trace_of_layers.inputs if isinstance(rope, Rope)]
        if len(ropes) < len(trace_of_layers.inputs):
            return None

        def turns(place: Tensor) -> list[Tensor]:
            turned: list[TorchAngles] = [self.ops.angles(place, rope) for rope in ropes]
            return [part.contiguous() for one in turned for part in (one.cos, one.sin)]

        return FrameProgram(trace_of_layers.program, turns, parts.specs, heads, tables, narrow[0] if narrow else None)


def _matrices(linears: Sequence[Linear]) -> list[AnyMatrix] | None:
    """The one matrix of each; None if one is not a single kernel matrix."""
    found: list[AnyMatrix] = []
    for linear in linears:
        if not isinstance(linear, KernelLinear) or len(linear.matrices) != 1:
            return None
        found.append(linear.matrices[0])
    return found
