"""The most usual step in one native call: each of a few sequences adds the token before, known by its id, and wants the next one, without
penalties, masks or probabilities (src/program/decode_step.cpp).

What Python and torch do between two calls finds nothing in the caches, since the weights have passed through them: a plan, the row of an
embedding, angles, the head and a choice took 0.6 ms, in which memory rests. So arrays are set up once for the same sequences, and a step
writes ids and positions into them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import c_float, c_int32, c_int64, c_void_p
from math import isfinite

import numpy as np
import torch
from torch import Tensor

from backends.base import CrossSpec, KVSpec, Sampling, Segment, SegmentOutput, Slot, Step, TokenModel
from backends.plan import in_order
from backends.torch.greedy_head import GreedyHead
from backends.torch.kernels.library import DecodeStep, PositionTable, SamplerParams, library
from backends.torch.program import Program, TracedModel
from backends.torch.symbols import NotTraceable, Symbol
from backends.torch.tracing import KVDtypes, ProgramTracer, TracedIds, TracedPositions

MOST_SEQUENCES = 16
SEGMENT_FIELDS = 5  # of grus::ProgramSegment
PAST = 2


class FinishedStep:
    """Implements `backends.base.PendingStep`."""

    def __init__(self, outputs: dict[Slot, SegmentOutput]) -> None:
        self._outputs = outputs

    def read(self) -> dict[Slot, SegmentOutput]:
        return self._outputs


class DecodeSteps:
    """Runs such steps of one model over one KV cache."""

    def __init__(self, traced: TracedModel, program: Program, vocabulary: int, head: GreedyHead | None) -> None:
        """`vocabulary`: ids that have a row. `head`: None where the program's output are logits."""
        self.program, self.head = program, head
        self._traced, self._kv, self._vocabulary = traced, traced.kv, vocabulary
        self._moves = any(isinstance(spec, KVSpec) and spec.view is not None for spec in traced.kv.specs)
        self._sequences: _Sequences | None = None
        self._library = library()

    def run(self, segments: Sequence[Segment], last: dict[int, tuple[Tensor, int] | int]) -> FinishedStep | None:
        """None, and nothing has changed, where the step is another one. `last`: the token sampled last of each slot's id."""
        if len(segments) > MOST_SEQUENCES:
            return None
        if len(segments) > 1:
            segments = in_order(segments)
        ids, positions = list[int](), list[int]()
        for segment in segments:
            slot = segment.slot
            if not _is_plain(segment) or not slot.open or slot.length - slot.dropped >= slot.capacity:
                return None
            position, token = slot.length, segment.ids[0] if segment.ids is not None else last.get(slot.id, -1)
            if segment.pos is not None:
                position = int(segment.pos.flat[0])
                if (segment.pos != position).any():
                    return None
            if isinstance(token, tuple):
                if token[0].ndim != 1:
                    return None
                token = int(token[0][token[1]])
            if not 0 <= token < self._vocabulary or position < 0:
                return None
            ids.append(token)
            positions.append(position)
        slots = [segment.slot for segment in segments]
        if len(slots) > 1 and len({id(slot) for slot in slots}) < len(slots):
            return None
        if self._moves:
            for slot, segment in zip(slots, segments):
                self._kv.make_window_room(slot, 1, segment.prompt)
        sequences = self._prepared(slots)
        if not sequences.place(positions):
            return None
        step = sequences.step
        for i, slot in enumerate(slots):
            sequences.ids[i], sequences.positions[i] = ids[i], positions[i]
            sequences.segments[PAST + i * SEGMENT_FIELDS] = slot.length - slot.dropped
        samplings = [segment.sample for segment in segments]
        step.program.memory = sequences.memory_address()
        step.samplers = sequences.samplers_for(samplings)  # type: ignore[arg-type]
        if self.head is not None:
            step.shortlist = self.head.shortlist_address
        self._library.grus_decode_step(ctypes.byref(step), torch.get_num_threads())
        if self._kv.recurrent:
            self._kv.swap_states({slot.place.state for slot in slots})
        outputs = {}
        for slot, token, best in zip(slots, sequences.tokens, sequences.best):
            slot.length += 1
            last[slot.id] = token
            outputs[slot] = SegmentOutput([token])
            if not isfinite(best):
                self._kv.poisoned.add(slot.id)
                outputs[slot] = SegmentOutput([], nan=True)
        return FinishedStep(outputs)

    def _prepared(self, slots: Sequence[Slot]) -> _Sequences:
        key = (
            self._kv.version,
            *((slot.id, slot.capacity, slot.place.row, slot.place.state, *slot.place.firsts.items()) for slot in slots),
        )
        if self._sequences is None or self._sequences.key != key:
            registers = None
            if self._sequences is not None and len(self._sequences.ids) == len(slots):
                registers = self._sequences.registers
            self._sequences = _Sequences(key, slots, self.program, self._traced, self.head, registers)
        return self._sequences


def _is_plain(segment: Segment) -> bool:
    """Whether it adds one token, known by its id, and asks for nothing but the next."""
    sampling = segment.sample
    if sampling is None or segment.draft or segment.hidden or segment.mutual or segment.samples is not None:
        return False
    if not (segment.embeds is segment.codes is segment.add is segment.want is segment.adapter is None):
        return False
    if segment.ids is not None and len(segment.ids) != 1:
        return False
    return _is_plain_sampling(sampling)


def _is_plain_sampling(p: Sampling) -> bool:
    if not (p.mask is p.logprobs is p.together_from is None) or p.bias or p.typical_p < 1:
        return False
    return not (p.repeated and p.repetition != 1.0) and not (p.seen and (p.presence or p.frequency))


class _Sequences:
    """The arrays of steps of the same sequences, as long as they lie where they do."""

    def __init__(
        self,
        key: tuple[object, ...],
        slots: Sequence[Slot],
        program: Program,
        traced: TracedModel,
        head: GreedyHead | None,
        registers: Tensor | None,
    ) -> None:
        n = len(slots)
        self.key, self._traced, self._slots = key, traced, list(slots)
        self.registers = torch.empty(n * sum(program.widths)) if registers is None else registers
        self.ids, self.positions, self.tokens = (c_int64 * n)(), (c_int64 * n)(), (c_int32 * n)()
        self.best, self._places = (c_float * n)(), (c_int64 * n)()
        self.segments = (c_int64 * (SEGMENT_FIELDS * n))(
            *(number for i, slot in enumerate(slots) for number in (i, 1, 0, slot.capacity, 0))
        )
        self._samplers = (SamplerParams * n)()
        self._inputs = traced.inputs
        self._tables = (PositionTable * (n * len(self._inputs)))()
        self._ranges: list[range] = [range(0)] * n  # positions of which each sequence's tables have rows
        self._angles = (c_void_p * (2 * len(self._inputs)))()
        self._rows: Tensor | None = None
        self._memory: dict[
            int, tuple[int, np.ndarray]
        ] = {}  # by the side of the recurrent states: an address, and what lies there
        self._keep: list[object] = []
        self.step = DecodeStep(
            program=program.step(
                self.registers, n, np.ctypeslib.as_array(self.segments).reshape(n, -1), np.empty(0), [], self._keep
            ),
            inputs=len(self._inputs),
            output=program.output,
            head=None if head is None else ctypes.addressof(head.head.matrix),
        )
        step = self.step
        step.program.ids, step.program.angles = ctypes.addressof(self.ids), ctypes.addressof(self._angles)
        step.tables, step.positions = ctypes.addressof(self._tables), ctypes.addressof(self.positions)
        step.angles, step.best = step.program.angles, ctypes.addressof(self.best)
        step.places, step.tokens = ctypes.addressof(self._places), ctypes.addressof(self.tokens)

    def place(self, positions: Sequence[int]) -> bool:
        """Find tables with rows of these positions. False where there is none."""
        for t, position in enumerate(positions):
            if position in self._ranges[t]:
                continue
            starts, stops, widths = [0], [1 << 62], 0
            for i, source in enumerate(self._inputs):
                if (rows := source.around(position)) is None:
                    return False
                self._keep.append(rows)
                width = rows.cos.stride(0)
                table = PositionTable(rows.cos.data_ptr(), rows.sin.data_ptr(), rows.first, width)
                self._tables[i * len(self._ranges) + t] = table
                starts.append(rows.first)
                stops.append(rows.first + len(rows.cos))
                widths += 2 * width
            self._ranges[t] = range(max(starts), min(stops))
            if self._rows is None:
                self._rows = torch.empty(len(self._ranges) * widths)
                self.step.rows = self._rows.data_ptr()
        return True

    def memory_address(self) -> int:
        """Of the addresses of what each layer keeps of each sequence. Recurrent states and their spares change places in each step."""
        side = self._traced.kv.state_steps % 2
        if side not in self._memory:
            made = self._traced.memory(self._slots).copy()
            self._memory[side] = made.ctypes.data, made
        return self._memory[side][0]

    def samplers_for(self, samplings: Sequence[Sampling]) -> int | None:
        """The address of how each is sampled; None where all are the likeliest."""
        if not any(p.temperature for p in samplings):
            return None
        for sampler, p in zip(self._samplers, samplings):
            sampler.temperature, sampler.noise = p.temperature, p.noise
            sampler.top_p, sampler.min_p, sampler.top_k = p.top_p, p.min_p, p.top_k
        return ctypes.addressof(self._samplers)


def decode_steps(model: TokenModel, traced: TracedModel, head: GreedyHead | None) -> DecodeSteps | None:
    """None where a part of the step has no instruction."""
    kv = traced.kv
    if any(isinstance(spec, CrossSpec) for spec in kv.specs):
        return None
    tracer = ProgramTracer(1, model.memory, KVDtypes.of(kv))
    try:
        output = model(Step(model.embed(TracedIds(tracer)), TracedPositions(tracer), tracer))
        if head is None:
            output = model.logits(output)
    except NotTraceable:
        return None
    if not isinstance(output, Symbol) or len(output.shape) != 2 or len(tracer.inputs) != len(traced.inputs):
        return None
    output = output if output.whole else tracer.copy(output)
    program = Program(tracer.lines, tracer.widths, output.register, [*tracer.keep, model])
    return DecodeSteps(traced, program, tracer.vocabulary, head)
