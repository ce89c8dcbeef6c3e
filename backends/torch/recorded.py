"""A model's layers as one call of the CPU kernels.

The model is run once on symbols, which note what is asked of them: products, norms, heads and attention, the gate. What
they noted becomes a `Program`; from then on every step, prompts and decoding alike, runs it instead of the model's Python.
So no model knows of this, and any model may do what it likes: what a symbol cannot note makes the recording fail, and
the model goes on being run operation by operation. Weights, keys and values may be of sixteen bits or fewer; what lies
between them is f32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from backends.base import CrossSpec, KVSpec, Model, Rope, Slot, StateSpec, Step
from backends.plan import StepPlan
from backends.torch.kernels.formats import PANEL
from backends.torch.kernels.program import Program
from backends.torch.kv import TorchKV
from backends.torch.ops import TextOps
from backends.torch.recorder import IN_FLOATS, Memory, NotRecorded, Positions, Recorder, Symbol
from backends.torch.slab import Slab
from backends.torch.turns import Turns


class RecordedOps(TextOps):
    """Operations that note themselves when they are given symbols."""

    def angles(self, pos: Any, rope: Rope) -> Any:
        if isinstance(pos, Positions):
            return pos.recorder.angles(rope)
        return super().angles(pos, rope)

    def qkv(
        self,
        x: Any,
        heads: int,
        kv_heads: int,
        dim: int,
        angles: Any = None,
        q_norm: Tensor | None = None,
        k_norm: Tensor | None = None,
        eps: float = 1e-6,
        norm_after_rope: bool = False,
    ) -> Any:
        if not isinstance(x, Symbol):
            return super().qkv(x, heads, kv_heads, dim, angles, q_norm, k_norm, eps, norm_after_rope)
        rope = None if angles is None else x.recorder.ropes[angles.index]
        return x.recorder.heads(
            x,
            angles,
            rope.dims if rope else 0,
            pairs=rope.pairs if rope else False,
            heads=heads,
            kv_heads=kv_heads,
            dim=dim,
            w=x.recorder.weights(q_norm),
            w2=x.recorder.weights(k_norm),
            eps=eps,
            norm_after_rope=norm_after_rope,
        )

    def rms_norm(self, x: Any, w: Tensor | None, eps: float) -> Any:
        if isinstance(x, Symbol) and w is not None:
            return x.recorder.norm(x, w, eps)
        return super().rms_norm(x, w, eps)

    def add_rms_norm(self, x: Any, residual: Any, w: Tensor, eps: float) -> Any:
        if isinstance(x, Symbol) and isinstance(residual, Symbol):
            return x.recorder.add_norm(x, residual, w, eps)
        return super().add_rms_norm(x, residual, w, eps)

    def layer_norm(self, x: Any, w: Tensor | None, b: Tensor | None, eps: float) -> Any:
        if isinstance(x, Symbol) and w is not None:
            return x.recorder.layer_norm(x, w, b, eps)
        return super().layer_norm(x, w, b, eps)

    def gelu(self, x: Any) -> Any:
        return x.recorder.gelu(x) if isinstance(x, Symbol) else super().gelu(x)

    def swiglu(self, x: Any, gate_last: bool = False) -> Any:
        return x.recorder.swiglu(x, gate_last) if isinstance(x, Symbol) else super().swiglu(x, gate_last)


class RecordedModel:
    """One model on one store, recorded. Made by `record`."""

    def __init__(self, recording: Recording, kv: TorchKV, ops: TextOps) -> None:
        self.program, self.kv = recording.program, kv
        self._turns = [Turns(ops, rope) for rope in recording.ropes]
        self._own = [layer for layer, spec in enumerate(kv.specs) if isinstance(spec, KVSpec)]
        self._crossed = [layer for layer, spec in enumerate(kv.specs) if isinstance(spec, CrossSpec)]
        self._slabs: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # capacity -> addresses and rows' bytes, [own, 4]
        self._last: tuple[list[tuple[int, int]], np.ndarray] = [], np.empty(0, np.int64)  # places of the last run's
        self._version = -1
        self._ears: dict[int, _Ear] = {}  # by slot id

    def run(self, plan: StepPlan, x: Tensor) -> Tensor:
        """The hidden states of all packed tokens, overwritten by the next run."""
        if self._version != self.kv.version:
            self._slabs.clear()
            self._last = [], np.empty(0, np.int64)
            self._version = self.kv.version
        spans = np.array([(s.start, len(s), s.past, s.slot.capacity, 0) for s in plan.segments], np.int64)
        memory = self._memory([packed.slot for packed in plan.segments])
        if self._crossed:
            for i, packed in enumerate(plan.segments):
                memory[self._crossed, i, :2], spans[i, 4] = self._heard(packed.slot)
        angles = [part for turns in self._turns for part in turns.at(plan.pos)]
        return self.program.run(x.contiguous(), spans, memory, angles)  # any float: the registers are f32

    def _memory(self, slots: Sequence[Slot]) -> np.ndarray:
        """Where each layer's keys and values of each slot lie, `[layers, slots, 4]`: in most steps where they lay in the last."""
        places = [(slot.capacity, slot.place.row) for slot in slots]
        if self._last[0] != places:
            memory = np.zeros((len(self.kv.specs), len(slots), 4), np.int64)
            for i, (capacity, row) in enumerate(places):
                base, row_bytes = self._slab(capacity)
                memory[self._own, i] = base + row * row_bytes
            self._last = places, memory
        return self._last[1]

    def _slab(self, capacity: int) -> tuple[np.ndarray, np.ndarray]:
        found = self._slabs.get(capacity)
        if found is None:
            pairs = [self.kv.slabs[capacity][layer] for layer in self._own]
            found = self._slabs[capacity] = _places(pairs, lambda p: p.data_ptr()), _places(pairs, _row_bytes)
        return found

    def _heard(self, slot: Slot) -> tuple[np.ndarray, int]:
        """Where a sequence's encoder keys and values lie, `[crossed, 2]`, and how many there are."""
        stored = self.kv.cross.get(slot.id)
        ear = self._ears.get(slot.id)
        if ear is not None and ear.stored is stored:
            return ear.places, ear.length
        pairs = [self.kv.cross_of(slot, layer) for layer in self._crossed]
        lengths = {part.shape[1] for pair in pairs for part in pair}
        if len(lengths) != 1 or 0 in lengths:
            raise ValueError(
                f"slot {slot.id} has no encoder keys, or not of one length, in every layer: put them first"
            )
        places = np.array([[k.data_ptr(), v.data_ptr()] for k, v in pairs], np.int64)
        self._ears = {known: ear for known, ear in self._ears.items() if known in self.kv.cross}
        self._ears[slot.id] = found = _Ear(stored, places, lengths.pop())
        return found.places, found.length


@dataclass(frozen=True)
class _Ear:
    """Where what an encoder made lies, as long as the store still holds just this."""

    stored: object
    places: np.ndarray
    length: int


def _places(pairs: Sequence[tuple[Slab, Slab]], what: Callable[[Tensor], int]) -> np.ndarray:
    """Of the planes of each layer's keys and values, `[layers, 4]` in the order of src/step.hpp; 0 where there is none."""
    made = np.zeros((len(pairs), 4), np.int64)
    for row, pair in zip(made, pairs):
        for i, slab in enumerate(pair):
            row[i::2][: len(slab.planes)] = [what(plane) for plane in slab.planes]
    return made


def _row_bytes(plane: Tensor) -> int:
    return plane.stride(0) * plane.itemsize


def record(model: Model, kv: TorchKV, ops: TextOps, width: int) -> RecordedModel | None:
    """None where the model, or the form in which its memory is kept, is not what the kernels run."""
    recording = _watched(model, width, Memory.of(kv))
    return None if recording is None else RecordedModel(recording, kv, ops)


def can_be_recorded(model: Model) -> bool:
    with torch.inference_mode():
        return _watched(model, model.embed(torch.zeros(1, dtype=torch.int64)).shape[1], IN_FLOATS) is not None


def _watched(model: Model, width: int, memory: Memory) -> Recording | None:
    specs = [spec for spec in model.memory if not isinstance(spec, StateSpec)]
    return watch(model, specs, width, memory) if len(specs) == len(model.memory) else None


@dataclass(frozen=True)
class Recording:
    """What watching gave: the program, and the ropes whose angles it is to be given."""

    program: Program
    ropes: list[Rope]


def watch(
    call: Callable[[Step], Any], specs: Sequence[KVSpec | CrossSpec], width: int, memory: Memory = IN_FLOATS
) -> Recording | None:
    """`call` as a program over inputs `[tokens, width]`; None where it does what no instruction stands for."""
    if any(spec.dim < PANEL for spec in specs):
        return None
    if any(spec.v_dim not in (None, spec.dim) for spec in specs if isinstance(spec, KVSpec)):
        return None
    recorder = Recorder(width, list(specs), memory)
    try:
        hidden = call(Step(recorder.x, Positions(recorder), recorder))
    except NotRecorded:
        return None
    if not isinstance(hidden, Symbol) or len(hidden.shape) != 2:
        return None
    program = Program(recorder.lines, recorder.widths, hidden.register, [*recorder.keep, call])
    return Recording(program, recorder.ropes)
