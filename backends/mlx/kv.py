"""The memory of all sequences of one model on MLX, under one budget in bytes.

Puts together who owns which row (`rows.RowTable`), the slabs those rows lie in, recurrent states, and what encoders
left for cross attention. Between steps only: how a step reads and writes is cache.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from backends.base import CrossSpec, KVSnapshot, KVSpec, MemorySpec, Slot, StateSpec
from backends.mlx.crossed import CrossMemory, Layers
from backends.mlx.slabs import Parts, Slabs, make_format, row_width
from backends.mlx.states import Batch, Held, StateBank
from backends.rows import Move, RowTable, capacity_class


@dataclass(frozen=True)
class Kept:
    """What a snapshot holds besides rows. Values that nobody writes to."""

    states: Batch
    cross: Layers


@dataclass(frozen=True)
class Mark:
    length: int
    states: Held


class MlxKV:
    """Implements `backends.base.KV`."""

    def __init__(self, specs: Sequence[MemorySpec], budget: int, dtype: mx.Dtype, bits: int = 32) -> None:
        self.specs = list(specs)
        self.budget = budget
        self.used = 0
        self.dtype = dtype
        attention = {i: s for i, s in enumerate(specs) if isinstance(s, KVSpec)}
        self.form = make_format(dtype, bits, list(attention.values()))
        self.states = StateBank({i: s for i, s in enumerate(specs) if isinstance(s, StateSpec)}, dtype)
        self.crossed = CrossMemory(dtype)
        self.table = RowTable()
        self.slabs: dict[int, Slabs] = {}
        self._attention = attention
        self._token_bytes = sum(row_width(self.form, s) for s in attention.values())
        self._marks: dict[int, Mark] = {}

    # -- slots

    def bytes_for(self, n: int) -> int:
        return capacity_class(n) * self._token_bytes + self.states.bytes_each

    def open(self, n: int) -> Slot | None:
        if self.used + self.bytes_for(n) > self.budget:
            return None
        slot = self.table.open(n)
        self.used += self.bytes_for(n)
        self._slabs_of(slot.capacity).fit(len(self.table.classes[slot.capacity]))
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        more = self.bytes_for(n) - self.bytes_for(slot.capacity)
        if more <= 0:
            return True
        if self.used + more > self.budget:
            return False
        old = slot.capacity
        moves = self.table.grow(slot, n)
        self.used += more
        self._slabs_of(slot.capacity).fit(len(self.table.classes[slot.capacity]))
        self._carry_out(moves)
        self._shrink(old)
        return True

    def close(self, slot: Slot) -> None:
        if not slot.open:
            return
        capacity = slot.capacity
        self.used -= self.bytes_for(capacity) + self.crossed.drop(slot)
        moves, _ = self.table.close(slot)
        self._carry_out(moves)
        self._shrink(capacity)
        self.states.drop(slot)
        self._marks.pop(slot.id, None)

    def _slabs_of(self, capacity: int) -> Slabs:
        if capacity not in self.slabs:
            self.slabs[capacity] = Slabs(capacity, self._attention, self.form)
        return self.slabs[capacity]

    def _carry_out(self, moves: Sequence[Move]) -> None:
        for move in moves:
            length = self.table.classes[move.to_capacity][move.to_row].length
            if length:
                rows = self.slabs[move.from_capacity].read(move.from_row, length)
                self.slabs[move.to_capacity].write(move.to_row, rows)

    def _shrink(self, capacity: int) -> None:
        """Give rows back at once, not when the next step happens to run."""
        live = len(self.table.classes[capacity])
        if live:
            self.slabs[capacity].fit(live)
            mx.eval(self.slabs[capacity].arrays())
        else:
            del self.slabs[capacity]

    # -- going back

    def truncate(self, slot: Slot, length: int) -> None:
        self._refuse_recurrent("truncate")
        slot.length = min(slot.length, length)

    def checkpoint(self, slot: Slot) -> None:
        self._marks[slot.id] = Mark(slot.length, self.states.get(slot))

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        mark = self._marks.pop(slot.id, None)
        if mark is None:
            raise ValueError(f"slot {slot.id} was not marked")
        if mark.length + keep >= slot.length:
            return slot.length - mark.length
        if self.states.specs:
            self.states.put(slot, mark.states)
            keep = 0
        slot.length = mark.length + keep
        return keep

    # -- copies

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        taken: Parts | None = None
        if rows:
            taken = self.slabs[slot.capacity].read(slot.place.row, slot.length)
        kept = Kept(self.states.get(slot).alone(), self.crossed.layers(slot))
        states = [a for pair in kept.states.layers.values() for a in pair]
        mx.eval(states)
        return KVSnapshot(slot.length, sum(a.nbytes for a in [*(taken or []), *states]), taken, kept)

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        if snapshot.rows is None and snapshot.length > slot.length:
            raise ValueError(f"the snapshot holds no rows, and slot {slot.id} has only {slot.length} of its own")
        if snapshot.length > slot.capacity:
            raise ValueError(f"slot {slot.id} has room for {slot.capacity} tokens, not {snapshot.length}")
        if snapshot.rows is not None and snapshot.length:
            self.slabs[slot.capacity].write(slot.place.row, snapshot.rows)
        self.states.put(slot, Held(snapshot.states.states, 0))
        if snapshot.states.cross:
            self.used += self.crossed.replace(slot, snapshot.states.cross)
        slot.length = snapshot.length

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        self._refuse_recurrent("copy")
        if length > min(source.length, target.capacity):
            raise ValueError(f"{length} rows cannot be copied from slot {source.id} to slot {target.id}")
        if length:
            rows = self.slabs[source.capacity].read(source.place.row, length)
            self.slabs[target.capacity].write(target.place.row, rows)
        target.length = length

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        if snapshot.rows is None or snapshot.states.cross:
            raise ValueError("only a snapshot of rows and recurrent states can leave the device")
        return [_to_host(a) for a in self._flat(snapshot)]

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        rows: Parts = []
        left = iter(arrays)
        for side in ("keys", "values"):
            for spec in self._attention.values():
                dim = spec.dim if side == "keys" else spec.v_dim or spec.dim
                rows.extend(_from_host(next(left), dtype) for _, dtype in self.form.widths(dim))
        layers = {
            layer: (_from_host(next(left), self.dtype), _from_host(next(left), mx.float32))
            for layer in self.states.specs
        }
        snapshot = KVSnapshot(length, 0, rows, Kept(Batch(1, layers), {}))
        return KVSnapshot(length, sum(a.nbytes for a in self._flat(snapshot)), rows, snapshot.states)

    def _flat(self, snapshot: KVSnapshot) -> Parts:
        return [*snapshot.rows, *(a for pair in snapshot.states.states.layers.values() for a in pair)]

    def _refuse_recurrent(self, what: str) -> None:
        if self.states.specs:
            raise ValueError(f"a model with recurrent memory cannot {what}: restore a snapshot instead")

    # -- encoders, and what steps need

    def write_cross(self, slot: Slot, layer: int, k: mx.array, v: mx.array) -> None:
        if not isinstance(self.specs[layer], CrossSpec):
            raise ValueError(f"layer {layer} has no cross attention")
        self.used += self.crossed.put(slot, layer, k, v)

    def clear(self, slot: Slot) -> None:
        """Leave nothing of a sequence that went wrong."""
        if slot.open and slot.capacity in self.slabs:
            self.slabs[slot.capacity].clear(slot.place.row)

    def arrays(self) -> list[mx.array]:
        """Everything that a step may have changed, to be evaluated with it."""
        return [*(a for slabs in self.slabs.values() for a in slabs.arrays()), *self.states.arrays()]


def _to_host(a: mx.array) -> np.ndarray:
    return np.array(a.view(mx.uint16) if a.dtype in (mx.bfloat16, mx.float16) else a)


def _from_host(a: np.ndarray, dtype: mx.Dtype) -> mx.array:
    made = mx.array(a)
    return made if made.dtype == dtype else made.view(dtype)
