"""A traced model over one KV cache: gives its program the addresses of what each sequence keeps, and the angles of each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from backends.adapters import AdapterRun
from backends.base import CrossSpec, KVSpec, Rope, Slot, TokenModel
from backends.plan import StepPlan
from backends.torch.kernels.program import Program
from backends.torch.kv_cache import Slab, TorchKVCache
from backends.torch.ops import RotaryCache, TorchTextOps
from backends.torch.symbols import NotTraceable, Symbol
from backends.torch.tracing import IN_FLOATS, KVDtypes, ProgramTracer, Trace, trace_token_model

FEW = 64  # rows whose logits a program computes: its registers are kept


class TracedModel:
    """A model as one program over one KV cache. Made by `trace_model`."""

    def __init__(self, traced: Trace, kv: TorchKVCache, ops: TorchTextOps) -> None:
        self.program, self.kv = traced.program, kv
        self._inputs = [RotaryCache(ops, made) if isinstance(made, Rope) else TableRows(made) for made in traced.inputs]
        self._longest = traced.longest
        self._own = {layer: spec for layer, spec in enumerate(kv.specs) if isinstance(spec, KVSpec)}
        self._crossed = [layer for layer, spec in enumerate(kv.specs) if isinstance(spec, CrossSpec)]
        self._recurrent = list(kv.states)
        self._adapters = {name: i for i, name in enumerate(traced.adapters)}
        # capacity -> addresses, rows' bytes and tokens' bytes, [own, 4]
        self._slabs: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self._last: tuple[list[Any], np.ndarray] = [], np.empty(0, np.int64)  # places of the last run's
        self._version = -1
        self._cross: dict[int, _CrossAddresses] = {}  # by slot id

    def fits(self, plan: StepPlan) -> bool:
        """Whether the program is the less work of both ways."""
        return all(len(packed) < self._longest for packed in plan.segments)

    def run(self, plan: StepPlan, x: Tensor, runs: Sequence[AdapterRun] = ()) -> Tensor:
        """The hidden states of all packed tokens, overwritten by the next run."""
        if self._version != self.kv.version:
            self._slabs.clear()
            self._last = [], np.empty(0, np.int64)
            self._version = self.kv.version
        spans = np.array([(s.start, len(s), s.past, s.slot.capacity, 0) for s in plan.segments], np.int64)
        slots = [packed.slot for packed in plan.segments]
        memory = self._memory(slots)
        if self._recurrent:
            memory[self._recurrent] = self._state_memory(slots)
        if self._crossed:
            for i, packed in enumerate(plan.segments):
                memory[self._crossed, i, :2], spans[i, 4] = self._cross_memory(packed.slot)
        angles = [part for rows in self._inputs for part in rows.at(plan.pos)]
        rows = [(run.start, run.stop - run.start, self._adapters[run.adapter]) for run in runs]
        table = np.array(rows, np.int64) if rows else None
        return self.program.run(x.contiguous(), spans, memory, angles, table)  # any float: the registers are f32

    def commit(self, plan: StepPlan) -> None:
        """The step has succeeded: its recurrent states become the sequences' own."""
        if self._recurrent:
            self.kv.swap_states({packed.slot.place.state for packed in plan.segments})

    def _state_memory(self, slots: Sequence[Slot]) -> np.ndarray:
        """Addresses of each recurrent layer's states of each slot, and of their spares, `[recurrent layers, slots, 4]`."""
        tables = [(s.conv, s.spare_conv, s.matrix, s.spare) for s in self.kv.states.values()]
        bases = np.array([[table.data_ptr() for table in four] for four in tables], np.int64)
        strides = np.array([[table.stride(0) * table.itemsize for table in four] for four in tables], np.int64)
        rows = np.array([slot.place.state for slot in slots], np.int64)
        made: np.ndarray = bases[:, None] + rows[None, :, None] * strides[:, None]
        return made

    def _memory(self, slots: Sequence[Slot]) -> np.ndarray:
        """Addresses of each layer's keys and values of each slot, `[layers, slots, 4]`. Most steps reuse the last step's."""
        places = [(slot.capacity, slot.place.row, *slot.place.firsts.items()) for slot in slots]
        if self._last[0] != places:
            own = list(self._own)
            memory = np.zeros((len(self.kv.specs), len(slots), 4), np.int64)
            for i, slot in enumerate(slots):
                base, row_bytes, token_bytes = self._slab(slot.capacity)
                # where position 0 would lie: the kernels count from there, and read nothing before the first that is kept
                firsts = np.array([[slot.place.first(spec)] for spec in self._own.values()], np.int64)
                memory[own, i] = base + slot.place.row * row_bytes - firsts * token_bytes
            self._last = places, memory
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


@dataclass(frozen=True)
class _CrossAddresses:
    """Addresses of a sequence's encoder keys and values; valid while the KV cache still holds `stored`."""

    stored: object
    places: np.ndarray
    length: int


def _places(pairs: Sequence[tuple[Slab, ...]], what: Callable[[Tensor], int]) -> np.ndarray:
    """`what` of the planes of each layer's keys and values, `[layers, 4]` in the order of src/step.hpp; 0 where there is none."""
    made = np.zeros((len(pairs), 4), np.int64)
    for row, pair in zip(made, pairs):
        for i, slab in enumerate(pair):
            row[i::2][: len(slab.planes)] = [what(plane) for plane in slab.planes]
    return made


def trace_model(
    model: TokenModel, kv: TorchKVCache, ops: TorchTextOps, width: int, adapted: bool = False
) -> TracedModel | None:
    """The model as one program; None where the kernels cannot run the model or read its KV dtype. `adapted`: with what its
    adapters add, for steps in which some take part."""
    traced = trace_token_model(model, width, KVDtypes.of(kv), adapted)
    return None if traced is None else TracedModel(traced, kv, ops)


class TracedLogits:
    """A head as one program: between its product and its result lies more than torch should be woken for."""

    def __init__(self, tracer: ProgramTracer, logits: Symbol) -> None:
        most = FEW * sum(tracer.widths)
        self.program = Program(tracer.lines, tracer.widths, logits.register, tracer.keep, most)

    def __call__(self, hidden: Tensor) -> Tensor:
        """The next call overwrites the result."""
        span, nothing = np.zeros((1, 5), np.int64), np.zeros((1, 1, 4), np.int64)
        span[0, 1] = len(hidden)
        return self.program.run(hidden.contiguous(), span, nothing, [])


def trace_logits(model: TokenModel, width: int) -> tuple[ProgramTracer, Symbol] | None:
    """What a model's head does; None where an operation has no instruction."""
    tracer = ProgramTracer(width, [], IN_FLOATS)
    try:
        logits = model.logits(tracer.x)
    except NotTraceable:
        return None
    return (tracer, logits) if isinstance(logits, Symbol) and logits.whole else None
