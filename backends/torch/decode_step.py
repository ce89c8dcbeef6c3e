"""The most usual steps in one native call: each of a few sequences adds the token before and maybe draft tokens, known by their ids, and
wants the next ones, without penalties, masks or probabilities (src/program/decode_step.cpp).

What Python and torch do between two calls finds nothing in the caches, since the weights have passed through them: a plan, the rows of an
embedding, angles, the head and a choice took 0.6 ms, in which memory rests. So arrays are set up once for the same sequences, and a step
writes ids and positions into them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from ctypes import c_float, c_int32, c_int64, c_void_p
from functools import partial
from itertools import accumulate, chain
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from backends.base import CrossSpec, KVSpec, Sampling, Segment, SegmentOutput, Slot, Step, TokenModel
from backends.plan import chosen_tokens, in_order
from backends.torch.greedy_head import GreedyHead
from backends.torch.kernels.library import DecodeStep, PositionTable, SamplerParams, library
from backends.torch.program import Program, TracedModel
from backends.torch.sample import leaves_logits
from backends.torch.symbols import NotTraceable, Symbol
from backends.torch.tracing import KVDtypes, ProgramTracer, TracedIds, TracedPositions

MOST_ROWS = 16  # tokens of all sequences
MOST_PREPARED = 8  # kinds of steps whose arrays are kept: a draft head's differ in their tokens
SEGMENT_FIELDS = 5  # of grus::ProgramSegment
PAST = 2

Settle = Callable[[Sequence[Segment], Mapping[Slot, SegmentOutput]], None]  # drops rejected draft tokens


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
    replaying: Callable[[], Program]  # makes the same program with replays


class DecodeSteps:
    """Runs such steps of one model over one KV cache."""

    def __init__(self, model: TokenModel, traced: TracedModel, head: GreedyHead | None) -> None:
        """`head`: None where the logits are no plain product."""
        self.head = head
        self._model, self._traced, self._kv = model, traced, traced.kv
        # by whether something is added to the embeddings, and whether recurrent layers can be computed again
        self._programs: dict[tuple[bool, bool], StepProgram | None] = {}
        self._moves = any(isinstance(spec, KVSpec) and spec.view is not None for spec in traced.kv.specs)
        self._prepared: dict[tuple[object, ...], _Sequences] = {}
        self._registers = torch.empty(0)  # of all of these
        self._version = -1  # of the KV cache
        self._library = library()

    def run(
        self, segments: Sequence[Segment], last: dict[int, tuple[Tensor, int] | int], settle: Settle
    ) -> FinishedStep | None:
        """None, and nothing has changed, where the step is another one. `last`: the token sampled last of each slot's id."""
        if not 0 < len(segments) <= MOST_ROWS:
            return None
        if len(segments) > 1:
            segments = in_order(segments)
        adds, drafts = segments[0].add is not None, 0
        ids: list[int] = []
        positions: list[int] = []
        counts: list[int] = []
        samplings: list[Sampling] = []
        for segment in segments:
            slot, sampling = segment.slot, segment.sample
            if sampling is None or not _is_plain(segment) or not slot.open or (segment.add is not None) != adds:
                return None
            if segment.ids is None:
                ids.append(_sampled(last.get(slot.id, -1)))
                count = 1
            else:
                ids += map(int, segment.ids)
                count = len(segment.ids)
            if segment.pos is None:
                positions += range(slot.length, slot.length + count)
            elif (given := _on_one_axis(segment.pos, count)) is not None:
                positions += given
            else:
                return None
            if slot.length - slot.dropped + count > slot.capacity or not segment.draft < count < self._traced.longest:
                return None
            if self.head is None and (segment.hidden or segment.draft + 1 < count):
                return None
            if segment.samples:
                drafts += segment.draft
                samplings += segment.samples
            samplings.append(sampling)
            counts.append(count)
        if len(segments) > 1 and len({id(segment.slot) for segment in segments}) < len(segments):
            return None
        if len(ids) > MOST_ROWS or min(ids) < 0 or min(positions) < 0:
            return None
        if self._moves:
            for segment, count in zip(segments, counts):
                self._kv.make_window_room(segment.slot, count, segment.prompt)
        sequences = self._prepared_for(segments, counts, adds)
        if sequences is None or max(ids) >= sequences.made.vocabulary or not sequences.place(positions):
            return None
        if adds and not sequences.add([segment.add for segment in segments], positions):
            return None
        sequences.ids[:] = ids  # type: ignore[assignment]
        sequences.positions[:] = positions  # type: ignore[assignment]
        at = PAST
        for segment in segments:
            sequences.segments[at] = segment.slot.length - segment.slot.dropped
            at += SEGMENT_FIELDS
        sequences.program.memory = sequences.memory_address(self._kv.state_steps % 2)
        sequences.step.samplers = sequences.samplers_for(samplings)  # type: ignore[misc]
        if self.head is not None:
            sequences.step.shortlist = self.head.shortlist_address
        # What can be done before the call is done there: behind it the caches hold nothing of what Python needs.
        if drafts:
            again = partial(sequences.made.program.replay, sequences.registers, len(ids))
            self._traced.commit_rows(segments, sequences.starts, again)
        elif self._kv.recurrent:
            self._kv.swap_states(sequences.states)
        outputs = {}
        hidden = False
        for segment, count in zip(segments, counts):
            segment.slot.length += count
            outputs[segment.slot] = SegmentOutput([])
            hidden = hidden or segment.hidden
        finished = FinishedStep(outputs)
        spoiled = self._library.grus_decode_step(sequences.reference, torch.get_num_threads())
        if drafts or hidden or spoiled:
            self._complete(outputs, segments, sequences, last, bool(spoiled))
            if drafts:
                settle(segments, outputs)
        else:
            for (slot, output), token in zip(outputs.items(), sequences.tokens[:]):
                output.ids.append(token)
                last[slot.id] = token
        return finished

    def _complete(
        self,
        outputs: dict[Slot, SegmentOutput],
        segments: Sequence[Segment],
        sequences: _Sequences,
        last: dict[int, tuple[Tensor, int] | int],
        spoiled: bool,
    ) -> None:
        """Where there is more to do than to hand on a token. `spoiled`: something that the step has made is no finite number."""
        tokens, best = sequences.tokens[:], sequences.best[:] if spoiled else []
        for segment, rows, wanted in zip(segments, sequences.rows, sequences.wanted):
            slot, chosen = segment.slot, tokens[wanted]
            outputs[slot] = output = chosen_tokens(segment, chosen, best[wanted])
            last[slot.id] = chosen[-1]
            if segment.hidden:
                output.hidden = sequences.output[rows].copy()
                output.nan |= spoiled and not np.isfinite(output.hidden).all()
            if output.nan:
                self._kv.poisoned.add(slot.id)

    def _prepared_for(self, segments: Sequence[Segment], counts: Sequence[int], adds: bool) -> _Sequences | None:
        if self._version != self._kv.version:
            self._version = self._kv.version
            self._prepared.clear()
        parts: list[object] = [adds]
        for segment, count in zip(segments, counts):
            slot, place = segment.slot, segment.slot.place
            parts += (count, segment.draft, slot.id, slot.capacity, place.row, place.state)
            if place.firsts:
                parts += place.firsts.items()
        key = tuple(parts)
        found = self._prepared.get(key)
        if found is None and (made := self._program(adds, any(s.draft for s in segments))) is not None:
            room = sum(counts) * sum(made.program.widths)
            if self._registers.numel() < room:
                self._prepared.clear()
                self._registers = torch.empty(room)
            elif len(self._prepared) == MOST_PREPARED:
                del self._prepared[next(iter(self._prepared))]
            found = _Sequences(segments, counts, made, self._traced, self.head, self._registers)
            self._prepared[key] = found
        return found

    def _program(self, adds: bool, drafts: bool) -> StepProgram | None:
        replays = drafts and self._kv.recurrent
        if (adds, replays) not in self._programs:
            if replays:
                made = self._program(adds, False)
                made = made and made._replace(program=made.replaying())
            else:
                made = _trace(self._model, self._traced, self.head, adds)
            self._programs[adds, replays] = made
        return self._programs[adds, replays]


def _is_plain(segment: Segment) -> bool:
    """Whether it adds tokens known by their ids, of which the last may be drafts, and asks for nothing but the next ones."""
    sampling, samples = segment.sample, segment.samples
    if sampling is None or segment.mutual or segment.draft != (len(samples) if samples else 0):
        return False
    if not (segment.embeds is segment.codes is segment.want is segment.adapter is None):
        return False
    return _draws_plainly(sampling) and (not samples or all(map(_draws_plainly, samples)))


def _draws_plainly(sampling: Sampling) -> bool:
    return sampling.logprobs is None and sampling.typical_p >= 1 and leaves_logits(sampling)


def _sampled(token: tuple[Tensor, int] | int) -> int:
    """The token sampled last; -1 where it is a frame's embedding."""
    if isinstance(token, int):
        return token
    return int(token[0][token[1]]) if token[0].ndim == 1 else -1


def _on_one_axis(pos: np.ndarray, count: int) -> list[int] | None:
    """Positions whose axes are equal, if they have several."""
    if pos.shape[-1:] != (count,):
        return None
    axes = pos.reshape(-1, count)
    return None if (axes != axes[0]).any() else axes[0].tolist()


class _Sequences:
    """The arrays of steps of the same sequences and as many tokens of each, as long as they lie where they do."""

    def __init__(
        self,
        segments: Sequence[Segment],
        counts: Sequence[int],
        made: StepProgram,
        traced: TracedModel,
        head: GreedyHead | None,
        registers: Tensor,
    ) -> None:
        total, program = sum(counts), made.program
        self.made, self._traced, self._slots = made, traced, [segment.slot for segment in segments]
        self.states = frozenset(slot.place.state for slot in self._slots)  # rows of recurrent states
        self.starts = [*accumulate(counts[:-1], initial=0)]
        self.rows = [slice(start, start + count) for start, count in zip(self.starts, counts)]
        chosen = [segment.draft + 1 for segment in segments]  # of each sequence's last rows
        self.wanted = [slice(stop - n, stop) for n, stop in zip(chosen, accumulate(chosen))]
        places = [row for n, rows in zip(chosen, self.rows) for row in range(rows.stop - n, rows.stop)]
        self._wanted = (c_int64 * len(places))(*places)
        self.registers = program.addresses(registers, total)
        self.output = program.view(registers, program.output, total).numpy()
        self.ids, self.positions = (c_int64 * total)(), (c_int64 * total)()
        self.tokens, self.best = (c_int32 * len(places))(), (c_float * len(places))()
        self._places, self._samplers = (c_int64 * len(places))(), (SamplerParams * len(places))()
        spans = [(rows.start, n, 0, slot.capacity, 0) for slot, rows, n in zip(self._slots, self.rows, counts)]
        self.segments = (c_int64 * (SEGMENT_FIELDS * len(spans)))(*chain.from_iterable(spans))
        self._first = int(made.added > 0)  # of the inputs that have a row for each position
        inputs = self._first + len(traced.inputs)
        self._tables = (PositionTable * (total * inputs))()
        self._ranges: list[range] = [range(0)] * total  # positions of which each token's tables have rows
        self._tables_of: list[list[object]] = [[] for _ in self._ranges]  # keeps them alive
        self._angles = (c_void_p * (2 * inputs))()
        self._rows: Tensor | None = None
        self._added = np.zeros((total, made.added), np.float32)
        self._added_tables = [self._tables[t] for t in range(total if made.added else 0)]
        for row, table in zip(self._added, self._added_tables):
            table.cos = table.sin = row.ctypes.data
            table.width = made.added
        self._memory: list[int | None] = [None, None]  # addresses of memory, by the side of the recurrent states
        self._keep: list[object] = [registers]
        self.step = DecodeStep(
            program=program.step(
                registers,
                total,
                np.ctypeslib.as_array(self.segments).reshape(len(spans), -1),
                np.empty(0),
                [],
                self._keep,
            ),
            inputs=inputs,
            output=program.output,
            wanted_count=len(places),
            head=None if head is None else ctypes.addressof(head.head.matrix),
        )
        step = self.step
        self.program, self.reference = step.program, ctypes.byref(step)
        self.program.ids, self.program.angles = ctypes.addressof(self.ids), ctypes.addressof(self._angles)
        step.tables, step.positions = ctypes.addressof(self._tables), ctypes.addressof(self.positions)
        step.angles, step.best = self.program.angles, ctypes.addressof(self.best)
        step.places, step.tokens = ctypes.addressof(self._places), ctypes.addressof(self.tokens)
        step.wanted = ctypes.addressof(self._wanted)

    def place(self, positions: Sequence[int]) -> bool:
        """Find tables with rows of these positions. False where there is none."""
        for t, position in enumerate(positions):
            if position in self._ranges[t]:
                continue
            found: list[object] = []
            starts, stops, widths = [0], [1 << 62], 2 * self.made.added
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
        """Put what is added to the embeddings where the program looks for it, as tables with a row of one position each. False for
        another shape."""
        width = self.made.added
        for given, own in zip(rows, self.rows):
            if tuple(given.shape) != (own.stop - own.start, width):
                return False
            self._added[own] = given
        for table, position in zip(self._added_tables, positions):
            table.first = position
        return True

    def memory_address(self, side: int) -> int:
        """Of the addresses of what each layer keeps of each sequence. Recurrent states and their spares change places in each step."""
        found = self._memory[side]
        if found is None:
            made = self._traced.memory(self._slots).copy()
            self._keep.append(made)
            self._memory[side] = found = made.ctypes.data
        return found

    def samplers_for(self, samplings: Sequence[Sampling]) -> int | None:
        """The address of how each is sampled; None where all are the likeliest."""
        for p in samplings:
            if p.temperature:
                break
        else:
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
    program = partial(Program, tracer.lines, tracer.widths, output.register, [*tracer.keep, model])
    return StepProgram(program(), tracer.vocabulary, added, partial(program, replays=True))


def decode_steps(model: TokenModel, traced: TracedModel, head: GreedyHead | None) -> DecodeSteps | None:
    """None where steps of this model are never such ones."""
    crossed = any(isinstance(spec, CrossSpec) for spec in traced.kv.specs)
    return None if crossed else DecodeSteps(model, traced, head)
