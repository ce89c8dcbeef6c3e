"""A model's pass as a list of instructions that C++ runs in one call (src/program/program.hpp).

`tracing` writes the instructions. `Program` holds them and their registers: a register is an f32 array `[tokens, width]`, and
registers with disjoint lifetimes share memory. `TracedModel` runs a program over one KV cache: it gives each step the addresses of what
every sequence keeps, and the angles of its positions.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from backends.adapters import AdapterRun
from backends.base import CrossSpec, KVSpec, Rope, Segment, Slot
from backends.plan import StepPlan, checkpoint_drafts
from backends.torch.kernels import arena
from backends.torch.kernels.library import Instruction, ProgramStep, RegisterView, library
from backends.torch.kernels.linear import AnyMatrix
from backends.torch.kernels.mixture import KernelMixture
from backends.torch.kv_cache import Slab, TorchKVCache
from backends.torch.ops import PositionRows, RotaryCache, TorchTextOps
from backends.torch.state_tables import StateTables

KEPT = 1 << 18  # numbers of all registers
FEW = 64  # tokens, for which registers are kept from step to step


class Opcode(IntEnum):
    """`grus::Opcode`."""

    (
        MULTIPLY,
        GATE,
        NORM,
        ADD_NORM,
        HEADS,
        ATTENTION,
        SWIGLU,
        LAYER_NORM,
        CROSS_ATTENTION,
        GELU,
        ENCODER_ATTENTION,
        GEGLU,
        MAP,
        STORE,
        CONV,
        RECUR,
        HEAD_PRODUCT,
        MIXTURE,
        LOW_RANK,
        CENTRED_CONV,
        MULTIPLY_GELU,
        ROWS,
    ) = range(22)


class MapFunction(IntEnum):
    """`grus::MapFunction`."""

    (
        ADD,
        SUBTRACT,
        MULTIPLY,
        DIVIDE,
        AFFINE,
        CLAMP,
        SILU,
        SIGMOID,
        TANH,
        GELU_TANH,
        RELU,
        SOFTPLUS,
        EXP,
        SQRT,
        SUM,
    ) = range(15)


class GateKind(IntEnum):
    """The first of `grus::Activation`: what a GATE does with the gates."""

    SILU, GELU = range(2)


CONV_CHUNK = 256  # channels whose weights lie together, see src/program/program.cpp


class OperandView(NamedTuple):
    """Rows of numbers among the columns of a virtual register; register -1: among the instruction's weights `w`, -2: of its `angles`."""

    register: int
    at: int = 0
    apart: int = 0  # from row to row
    step: int = 1  # from number to number


NO_VIEW = OperandView(-1)


@dataclass
class ProgramOp:
    """One instruction on virtual registers."""

    opcode: Opcode
    reads: list[int]
    writes: list[int]
    fields: dict[str, Any] = field(default_factory=dict)
    views: Sequence[OperandView] = ()


@dataclass(frozen=True)
class _RegisterLayout:
    """Addresses of a run's registers, and the input and output registers as tensors, which keep the memory alive."""

    addresses: np.ndarray
    input: Tensor
    output: Tensor


class Program:
    """`widths` are those of the written registers; register 0 is the input."""

    def __init__(
        self,
        ops: Sequence[ProgramOp],
        widths: Sequence[int],
        output: int,
        keep: Sequence[object],
        most: int = KEPT,
        replays: bool = False,
    ) -> None:
        """`most`: numbers of all registers together that are kept from step to step. `replays`: recurrent layers can be computed again
        after a run (`replay`), so what they read stays in its registers."""
        self._keep, self._most = list(keep), most  # what the instructions point to
        recurrent = [op for op in ops if op.opcode in (Opcode.RECUR, Opcode.CONV)] if replays else []
        places, self.widths = _share_registers(ops, widths, output, {r for op in recurrent for r in op.reads})
        # Convolutions come last: their outputs may lie where the recurrences read.
        again = sorted(recurrent, key=lambda op: op.opcode is Opcode.CONV)
        self._again = (Instruction * len(again))(*(_instruction(op, places) for op in again))
        self.input, self.output = places[0], places[output]
        self._code = (Instruction * len(ops))(*(_instruction(op, places) for op in ops))
        self._widths = np.array(self.widths, np.int64)
        self._offsets = np.cumsum([0, *self.widths[:-1]]).astype(np.int64)
        self._registers = torch.empty(0)
        self._large: Tensor | None = None
        self._known: dict[int, _RegisterLayout] = {}  # by tokens
        self.last = np.empty(0, np.int64)  # registers of the last `run` of a program with replays
        self._library = library()

    def run(
        self, x: Tensor, spans: np.ndarray, memory: np.ndarray, angles: Sequence[Tensor], runs: np.ndarray | None = None
    ) -> Tensor:
        """`x [tokens, width]`; `spans` int64 `[n, 5]` and `memory` `[layers, n, 4]` as in src/program/program.hpp; `angles` cos and sin in
        turn; `runs` int64 `[n, 3]` of adapters. The next run overwrites the result."""
        layout = self._register_layout(x.shape[0])
        if self._again:
            self.last = layout.addresses
        if x.dtype == torch.float32:
            ctypes.memmove(layout.input.data_ptr(), x.data_ptr(), 4 * x.numel())
        else:
            layout.input.copy_(x)
        turns = np.array([a.data_ptr() for a in angles], np.int64)
        step = self._step(layout.addresses, x.shape[0], spans, memory, turns)
        if runs is not None:
            step.runs, step.run_count = runs.ctypes.data, len(runs)
        self._library.grus_run_program(ctypes.byref(step), torch.get_num_threads())
        return layout.output

    def run_in_parts(
        self, x: Tensor, spans: np.ndarray, memory: np.ndarray, angles: Sequence[Tensor], cuts: Sequence[int]
    ) -> Generator[Tensor | None, None, None]:
        """The same, with a None before each instruction in `cuts`, and the result at the end, in memory of its own."""
        tokens = x.shape[0]
        registers = arena.zeros(4 * tokens * sum(self.widths)).view(torch.float32)
        # not by torch, whose threads would spin beside the kernels' own
        ctypes.memmove(self.view(registers, self.input, tokens).data_ptr(), x.data_ptr(), 4 * x.numel())
        keep: list[object] = []
        step = self.step(registers, tokens, spans, memory, angles, keep)
        for begin, end in pairwise([0, *cuts, len(self._code)]):
            step.code = ctypes.addressof(self._code) + begin * ctypes.sizeof(Instruction)
            step.length = end - begin
            self._library.grus_run_program(ctypes.byref(step), torch.get_num_threads())
            if end < len(self._code):
                yield None
        del keep
        yield self.view(registers, self.output, tokens)

    def step(
        self,
        registers: Tensor,
        tokens: int,
        spans: np.ndarray,
        memory: np.ndarray,
        angles: Sequence[Tensor],
        keep: list[object],
    ) -> ProgramStep:
        """A pass over `tokens` tokens, whose registers take the beginning of `registers`. It points to what it is given, and to
        what it adds to `keep`."""
        turns = np.array([a.data_ptr() for a in angles], np.int64)
        addresses = self.addresses(registers, tokens)
        keep += [addresses, turns]
        return self._step(addresses, tokens, spans, memory, turns)

    def replay(self, addresses: np.ndarray, tokens: int, spans: np.ndarray, memory: np.ndarray) -> None:
        """The recurrent layers once more, over some of the tokens of a pass that had `tokens` in all, whose registers these are."""
        step = self._step(addresses, tokens, spans, memory, np.empty(0, np.int64))
        step.code, step.length = ctypes.addressof(self._again), len(self._again)
        self._library.grus_run_program(ctypes.byref(step), torch.get_num_threads())

    def _step(
        self, addresses: np.ndarray, tokens: int, spans: np.ndarray, memory: np.ndarray, turns: np.ndarray
    ) -> ProgramStep:
        return ProgramStep(
            ctypes.addressof(self._code),
            len(self._code),
            tokens,
            addresses.ctypes.data,
            self._widths.ctypes.data,
            spans.ctypes.data,
            len(spans),
            memory.ctypes.data,
            turns.ctypes.data,
        )

    def _register_layout(self, tokens: int) -> _RegisterLayout:
        """Layout of the registers of a run. For few tokens it is cached."""
        needed = tokens * sum(self.widths)
        if needed > self._most:  # the system clears fresh memory page by page: kept for the prompt's next chunk
            if self._large is None or self._large.numel() < needed:
                self._large = arena.zeros(4 * needed).view(torch.float32)
            return self._layout_in(self._large, tokens)
        self._large = None
        if (known := self._known.get(tokens)) is not None:
            return known
        if self._registers.numel() < needed:
            self._registers = torch.empty(needed)
            self._known.clear()
        made = self._layout_in(self._registers, tokens)
        if tokens <= FEW:
            self._known[tokens] = made
        return made

    def _layout_in(self, registers: Tensor, tokens: int) -> _RegisterLayout:
        views = (self.view(registers, register, tokens) for register in (self.input, self.output))
        return _RegisterLayout(self.addresses(registers, tokens), *views)

    def addresses(self, registers: Tensor, tokens: int) -> np.ndarray:
        made: np.ndarray = registers.data_ptr() + 4 * tokens * self._offsets
        return made

    def view(self, registers: Tensor, register: int, tokens: int) -> Tensor:
        width, start = self.widths[register], tokens * int(self._offsets[register])
        return registers[start : start + tokens * width].view(tokens, width)


def _share_registers(
    ops: Sequence[ProgramOp], widths: Sequence[int], output: int, kept: Collection[int] = ()
) -> tuple[list[int], list[int]]:
    """Physical register of each virtual one, and their widths: a register is reused after its last reader. `kept` ones
    have a place of their own."""
    last = {register: at for at, op in enumerate(ops) for register in (*op.reads, *op.writes)}
    last |= dict.fromkeys((output, *kept), len(ops))
    places, made, free = [0] * len(widths), [widths[0]], list[int]()
    placed = {0}
    for at, op in enumerate(ops):
        for register in op.writes:
            if register in placed:
                continue  # written in parts, or in place
            placed.add(register)
            fitting = () if register in kept else (place for place in free if made[place] == widths[register])
            found = next(iter(fitting), None)
            if found is None:
                found = len(made)
                made.append(widths[register])
            else:
                free.remove(found)
            places[register] = found
        free += {places[register] for register in (*op.reads, *op.writes) if last[register] == at}
    return places, made


_FIELDS = frozenset(name for name, *_ in Instruction._fields_)


def _instruction(op: ProgramOp, places: Sequence[int]) -> Instruction:
    reads, writes = [places[r] for r in op.reads], [places[r] for r in op.writes]
    made = Instruction(
        opcode=op.opcode,
        **{"in": reads[0]},
        other=reads[1] if len(reads) > 1 else 0,
        out=writes[0] if writes else 0,
        sum=writes[1] if len(writes) > 1 else 0,
    )
    for name, value in op.fields.items():
        if name not in _FIELDS:  # ctypes would take any name, and the kernel would never see it
            raise AttributeError(f"An instruction has no field {name!r}.")
        if isinstance(value, AnyMatrix):
            value = ctypes.addressof(value.matrix)
        elif isinstance(value, KernelMixture):
            value = ctypes.addressof(value.params)
        elif isinstance(value, Tensor):
            value = value.data_ptr()
        elif isinstance(value, ctypes.Array):
            value = ctypes.addressof(value)
        setattr(made, name, value)
    for i, view in enumerate(op.views):
        index = view.register if view.register < 0 else places[view.register]
        made.views[i] = RegisterView(index, view.at, view.apart, view.step)
    return made


# -- over one KV cache


ReplayedPass = Callable[[np.ndarray, np.ndarray], None]  # runs recurrent layers again, over these spans and memory


@dataclass(frozen=True)
class Trace:
    """A traced program, and the ropes and tables whose rows at each position it takes as inputs."""

    program: Program
    inputs: list[Rope | Tensor]
    longest: int  # tokens of a sequence, beyond which a step takes less work operation by operation
    adapters: list[str]
    replaying: Callable[[], Program]  # makes the same program with replays


class TracedModel:
    """A model as one program over one KV cache."""

    def __init__(self, traced: Trace, kv: TorchKVCache, ops: TorchTextOps) -> None:
        self.program, self.kv = traced.program, kv
        self._make_replaying = traced.replaying
        self._replaying: Program | None = None  # for steps with draft tokens, of a model with recurrent layers
        self.inputs = [RotaryCache(ops, made) if isinstance(made, Rope) else TableRows(made) for made in traced.inputs]
        self.longest = traced.longest
        self._own = {layer: spec for layer, spec in enumerate(kv.specs) if isinstance(spec, KVSpec)}
        self._crossed = [layer for layer, spec in enumerate(kv.specs) if isinstance(spec, CrossSpec)]
        self._recurrent, self._states = list(kv.states), StateTables()
        self._adapters = {name: i for i, name in enumerate(traced.adapters)}
        # capacity -> addresses, rows' bytes and tokens' bytes, [own, 4]
        self._slabs: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self._last: tuple[list[Any], np.ndarray] = [], np.empty(0, np.int64)  # places of the last run's
        self._version = -1
        self._cross: dict[int, _CrossAddresses] = {}  # by slot id

    def fits(self, plan: StepPlan) -> bool:
        """Whether the program is the less work of both ways, and causal attention is what is wanted."""
        return all(len(packed) < self.longest and not packed.segment.mutual for packed in plan.segments)

    def run(self, plan: StepPlan, x: Tensor, runs: Sequence[AdapterRun] = ()) -> Tensor:
        """The hidden states of all packed tokens, overwritten by the next run."""
        dropped = [packed.slot.dropped for packed in plan.segments]
        spans = np.array(
            [(s.start, len(s), s.past - gone, s.slot.capacity, 0) for s, gone in zip(plan.segments, dropped)], np.int64
        )
        slots = [packed.slot for packed in plan.segments]
        memory = self.memory(slots)
        if self._crossed:
            for i, packed in enumerate(plan.segments):
                memory[self._crossed, i, :2], spans[i, 4] = self._cross_memory(packed.slot)
        angles = [part for rows in self.inputs for part in rows.at(plan.pos)]
        rows = [(run.start, run.stop - run.start, self._adapters[run.adapter]) for run in runs]
        table = np.array(rows, np.int64) if rows else None
        return self._program(plan).run(x.contiguous(), spans, memory, angles, table)  # any float: the registers are f32

    def _program(self, plan: StepPlan) -> Program:
        if not self._recurrent or not any(packed.segment.draft for packed in plan.segments):
            return self.program
        if self._replaying is None:
            self._replaying = self._make_replaying()
        return self._replaying

    def commit(self, plan: StepPlan) -> None:
        """The step has succeeded; slots have their lengths before it."""
        made = self._replaying
        again = None if made is None else partial(made.replay, made.last, plan.total)
        self.commit_rows(
            [packed.segment for packed in plan.segments], [packed.start for packed in plan.segments], again
        )

    def commit_rows(self, segments: Sequence[Segment], starts: Sequence[int], again: ReplayedPass | None) -> None:
        """Recurrent states become the sequences' own, and what drafts have added can be rolled back. `starts`: each segment's first row."""
        if not self._recurrent:
            checkpoint_drafts(self.kv, segments)
            return
        self.kv.swap_states({segment.slot.place.state for segment in segments})
        for segment, start in zip(segments, starts):
            if segment.draft and again is not None:
                past = segment.slot.length
                self.kv.checkpoint_spares(segment.slot, past, partial(self._replay, again, segment.slot, start, past))

    def _replay(self, again: ReplayedPass, slot: Slot, start: int, past: int, count: int) -> None:
        """Make the recurrent states of one sequence after the first `count` tokens of the step with draft tokens that ran last."""
        memory = np.zeros((len(self.kv.specs), 1, 4), np.int64)
        memory[self._recurrent] = self._state_memory([slot])[..., [1, 0, 3, 2]]  # from the spares
        again(np.array([(start, count, past, slot.capacity, 0)], np.int64), memory)

    def _state_memory(self, slots: Sequence[Slot]) -> np.ndarray:
        """Addresses of each recurrent layer's states of each slot, and of their spares, `[recurrent layers, slots, 4]`."""
        bases, strides = self._states.addresses(self.kv.states, self.kv.version)
        rows = np.array([slot.place.state for slot in slots], np.int64)
        made: np.ndarray = bases[:, None] + rows[None, :, None] * strides[:, None]
        return made

    def memory(self, slots: Sequence[Slot]) -> np.ndarray:
        """Addresses of what each layer keeps of each slot, `[layers, slots, 4]`, overwritten by the next call. Most steps reuse the last
        step's."""
        if self._version != self.kv.version:
            self._slabs.clear()
            self._last = [], np.empty(0, np.int64)
            self._version = self.kv.version
        places = [(slot.capacity, slot.place.row, *slot.place.firsts.items()) for slot in slots]
        if self._last[0] != places:
            own = list(self._own)
            memory = np.zeros((len(self.kv.specs), len(slots), 4), np.int64)
            for i, slot in enumerate(slots):
                base, row_bytes, token_bytes = self._slab(slot.capacity)
                # where position 0 would lie: the kernels count from there, and read nothing before the first that is kept
                firsts = np.array([[slot.place.first(spec) - slot.dropped] for spec in self._own.values()], np.int64)
                memory[own, i] = base + slot.place.row * row_bytes - firsts * token_bytes
            self._last = places, memory
        if self._recurrent:
            self._last[1][self._recurrent] = self._state_memory(slots)
        return self._last[1]

    def _slab(self, capacity: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        found = self._slabs.get(capacity)
        if found is None:
            pairs = [self.kv.slabs[capacity][layer] for layer in self._own]
            found = self._slabs[capacity] = (
                _places(pairs, lambda p: p.data_ptr()),
                _places(pairs, lambda p: p.stride(0) * p.itemsize),
                _places(pairs, lambda p: p.stride(2) * p.itemsize),
            )
        return found

    def _cross_memory(self, slot: Slot) -> tuple[np.ndarray, int]:
        """Addresses of a sequence's encoder keys and values, `[cross layers, 2]`, and their length."""
        stored = self.kv.cross.get(slot.id)
        known = self._cross.get(slot.id)
        if known is not None and known.stored is stored:
            return known.places, known.length
        pairs = [self.kv.cross_of(slot, layer) for layer in self._crossed]
        lengths = {part.shape[1] for pair in pairs for part in pair}
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError(
                f"slot {slot.id} has no encoder keys, or not of one length, in every layer: put them first"
            )
        places = np.array([[k.data_ptr(), v.data_ptr()] for k, v in pairs], np.int64)
        self._cross = {key: value for key, value in self._cross.items() if key in self.kv.cross}
        self._cross[slot.id] = found = _CrossAddresses(stored, places, lengths.pop())
        return found.places, found.length


class TableRows:
    """A table with a row for each position, in the place of a rope's angles."""

    def __init__(self, table: Tensor) -> None:
        self.table = table

    def at(self, pos: np.ndarray) -> tuple[Tensor, Tensor]:
        rows = self.table[torch.from_numpy(pos if pos.ndim == 1 else pos[0]).long()]
        return rows, rows

    def around(self, position: int) -> PositionRows | None:
        return PositionRows(0, self.table, self.table) if position < len(self.table) else None


@dataclass(frozen=True)
class _CrossAddresses:
    """Addresses of a sequence's encoder keys and values; valid while the KV cache still holds `stored`."""

    stored: object
    places: np.ndarray
    length: int


def _places(pairs: Sequence[tuple[Slab, ...]], what: Callable[[Tensor], int]) -> np.ndarray:
    """`what` of the planes of each layer's keys and values, `[layers, 4]` in the order of src/program/program.hpp; 0 where there is none."""
    made = np.zeros((len(pairs), 4), np.int64)
    for row, pair in zip(made, pairs):
        for i, slab in enumerate(pair):
            row[i::2][: len(slab.planes)] = [what(plane) for plane in slab.planes]
    return made


class TracedLogits:
    """A head as one program: between its product and its result lies more than torch should be woken for."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def __call__(self, hidden: Tensor) -> Tensor:
        """The next call overwrites the result."""
        span, nothing = np.zeros((1, 5), np.int64), np.zeros((1, 1, 4), np.int64)
        span[0, 1] = len(hidden)
        return self.program.run(hidden.contiguous(), span, nothing, [])
