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
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from backends.base import CrossSpec, KVSpec, Sampling, Segment, SegmentOutput, Slot, Step, TokenModel
from backends.plan import in_order
from backends.torch.greedy_head import GreedyHead
from backends.torch.kernels.library import DecodeStep, PositionTable, SamplerParams, library
from backends.torch.program import Program, TracedModel
from backends.torch.sample import leaves_logits
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


class StepProgram(NamedTuple):
    """From ids to what the head reads, or to logits."""

    program: Program
    vocabulary: int  # ids from here on have no row
    added: int  # columns of what is added to the embeddings, 0 where nothing is


class DecodeSteps:
    """Runs such steps of one model over one KV cache."""

    def __init__(self, model: TokenModel, traced: TracedModel, head: GreedyHead | None) -> None:
        """`head`: None where the logits are no plain product."""
        self.head = head
        self._model, self._traced, self._kv = model, traced, traced.kv
        self._programs: dict[bool, StepProgram | None] = {}  # by whether something is added to the embeddings
        self._moves = any(isinstance(spec, KVSpec) and spec.view is not None for spec in traced.kv.specs)
        self._sequences: _Sequences | None = None
        self._library = library()

    def run(self, segments: Sequence[Segment], last: dict[int, tuple[Tensor, int] | int]) -> FinishedStep | None:
        """None, and nothing has changed, where the step is another one. `last`: the token sampled last of each slot's id."""
        if not 0 < len(segments) <= MOST_SEQUENCES:
            return None
        if len(segments) > 1:
            segments = in_order(segments)
        adds = segments[0].add is not None
        ids, positions = list[int](), list[int]()
        for segment in segments:
            slot = segment.slot
            if not _is_plain(segment) or not slot.open or slot.length - slot.dropped >= slot.capacity:
                return None
            if (segment.add is not None) != adds or (segment.hidden and self.head is None):
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
            ids.append(token)
            positions.append(position)
        slots = [segment.slot for segment in segments]
        if len(slots) > 1 and len({id(slot) for slot in slots}) < len(slots):
            return None
        made = self._program(adds)
        if made is None or min(ids) < 0 or max(ids) >= made.vocabulary or min(positions) < 0:
            return None
        if self._moves:
            for slot, segment in zip(slots, segments):
                self._kv.make_window_room(slot, 1, segment.prompt)
        sequences = self._prepared(slots, made)
        if not sequences.place(positions) or (adds and not sequences.add([s.add for s in segments], positions)):
            return None
        step = sequences.step
        for i, slot in enumerate(slots):
            sequences.ids[i], sequences.positions[i] = ids[i], positions[i]
            sequences.segments[PAST + i * SEGMENT_FIELDS] = slot.length - slot.dropped
        step.program.memory = sequences.memory_address()
        step.samplers = sequences.samplers_for([segment.sample for segment in segments])  # type: ignore[misc]
        if self.head is not None:
            step.shortlist = self.head.shortlist_address
        self._library.grus_decode_step(ctypes.byref(step), torch.get_num_threads())
        if self._kv.recurrent:
            self._kv.swap_states({slot.place.state for slot in slots})
        outputs = {}
        for i, (segment, token, best) in enumerate(zip(segments, sequences.tokens, sequences.best)):
            slot = segment.slot
            slot.length += 1
            last[slot.id] = token
            outputs[slot] = output = SegmentOutput([token])
            finite = isfinite(best)
            if not finite:
                output.ids = []
            if segment.hidden:
                output.hidden = states = sequences.output[i : i + 1].copy()
                finite = finite and bool(np.isfinite(states).all())
            if not finite:
                self._kv.poisoned.add(slot.id)
                output.nan = True
        return FinishedStep(outputs)

    def _program(self, adds: bool) -> StepProgram | None:
        if adds not in self._programs:
            self._programs[adds] = _trace(self._model, self._traced, self.head, adds)
        return self._programs[adds]

    def _prepared(self, slots: Sequence[Slot], made: StepProgram) -> _Sequences:
        places = ((s.id, s.capacity, s.place.row, s.place.state, *s.place.firsts.items()) for s in slots)
        key = made.added, self._kv.version, *places
        if self._sequences is None or self._sequences.key != key:
            self._sequences = _Sequences(key, slots, made, self._traced, self.head, self._sequences)
        return self._sequences


def _is_plain(segment: Segment) -> bool:
    """Whether it adds one token, known by its id, and asks for nothing but the next."""
    sampling = segment.sample
    if sampling is None or segment.draft or segment.mutual or segment.samples is not None:
        return False
    if not (segment.embeds is segment.codes is segment.want is segment.adapter is None):
        return False
    if segment.ids is not None and len(segment.ids) != 1:
        return False
    return sampling.logprobs is None and sampling.typical_p >= 1 and leaves_logits(sampling)


class _Sequences:
    """The arrays of steps of the same sequences, as long as they lie where they do."""

    def __init__(
        self,
        key: tuple[object, ...],
        slots: Sequence[Slot],
        made: StepProgram,
        traced: TracedModel,
        head: GreedyHead | None,
        before: _Sequences | None,
    ) -> None:
        """`before`: what was used last, whose registers may do."""
        n, program = len(slots), made.program
        self.key, self._traced, self._slots, self._made = key, traced, list(slots), made
        room = n * sum(program.widths)
        self._registers: Tensor = (
            before._registers if before and before._registers.numel() == room else torch.empty(room)
        )
        self.output = program.view(self._registers, program.output, n).numpy()
        self.ids, self.positions, self.tokens = (c_int64 * n)(), (c_int64 * n)(), (c_int32 * n)()
        self.best, self._places = (c_float * n)(), (c_int64 * n)()
        self.segments = (c_int64 * (SEGMENT_FIELDS * n))(
            *(number for i, slot in enumerate(slots) for number in (i, 1, 0, slot.capacity, 0))
        )
        self._samplers = (SamplerParams * n)()
        self._first = int(made.added > 0)  # of the inputs that have a row for each position
        inputs = self._first + len(traced.inputs)
        self._tables = (PositionTable * (n * inputs))()
        self._ranges: list[range] = [range(0)] * n  # positions of which each sequence's tables have rows
        self._tables_of: list[list[object]] = [[] for _ in slots]  # keeps them alive
        self._angles = (c_void_p * (2 * inputs))()
        self._rows: Tensor | None = None
        self._added = np.zeros((n, made.added), np.float32)
        # by the side of the recurrent states: an address, and what lies there
        self._memory: dict[int, tuple[int, np.ndarray]] = {}
        self._keep: list[object] = []
        spans = np.ctypeslib.as_array(self.segments).reshape(n, -1)
        self.step = DecodeStep(
            program=program.step(self._registers, n, spans, np.empty(0), [], self._keep),
            inputs=inputs,
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
            starts, stops, widths, found = [0], [1 << 62], 2 * self._made.added, list[object]()
            self._ranges[t] = range(0)
            for i, source in enumerate(self._traced.inputs, self._first):
                if (rows := source.around(position)) is None:
                    return False
                found.append(rows)
                width = rows.cos.stride(0)
                table = PositionTable(rows.cos.data_ptr(), rows.sin.data_ptr(), rows.first, width)
                self._tables[i * len(self._ranges) + t] = table
                starts.append(rows.first)
                stops.append(rows.first + len(rows.cos))
                widths += 2 * width
            self._ranges[t], self._tables_of[t] = range(max(starts), min(stops)), found
            if self._rows is None:
                self._rows = torch.empty(len(self._ranges) * widths)
                self.step.rows = self._rows.data_ptr()
        return True

    def add(self, rows: Sequence[Any], positions: Sequence[int]) -> bool:
        """Put what is added to the embeddings where the program looks for it, as a table with a row of the one position. False for
        another shape."""
        if any(tuple(row.shape) != (1, self._made.added) for row in rows):
            return False
        for t, (row, position) in enumerate(zip(rows, positions)):
            self._added[t] = row
            address = self._added.ctypes.data + t * self._added.strides[0]
            self._tables[t] = PositionTable(address, address, position, self._made.added)
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


def _trace(model: TokenModel, traced: TracedModel, head: GreedyHead | None, adds: bool) -> StepProgram | None:
    """None where a part of the step has no instruction."""
    tracer = ProgramTracer(1, model.memory, KVDtypes.of(traced.kv))
    added = 0
    try:
        x = model.embed(TracedIds(tracer))
        if adds:
            added = x.shape[1]
            x = x + tracer.lookup(torch.empty(1, added))
        output = model(Step(x, TracedPositions(tracer), tracer))
        if head is None:
            output = model.logits(output)
    except NotTraceable:
        return None
    same = len(tracer.inputs) == len(traced.inputs) + adds
    if not same or not isinstance(output, Symbol) or len(output.shape) != 2:
        return None
    output = output if output.whole else tracer.copy(output)
    program = Program(tracer.lines, tracer.widths, output.register, [*tracer.keep, model])
    return StepProgram(program, tracer.vocabulary, added)


def decode_steps(model: TokenModel, traced: TracedModel, head: GreedyHead | None) -> DecodeSteps | None:
    """None where steps of this model are never such ones."""
    crossed = any(isinstance(spec, CrossSpec) for spec in traced.kv.specs)
    return None if crossed else DecodeSteps(model, traced, head)
