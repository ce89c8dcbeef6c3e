"""KV cache: what each layer of a model keeps between steps, the protocol of the store, and the table of its rows. Array-free.

Rows of a KV cache come in capacity classes of 256 * 2^k tokens, so at most half of a row is unused. Within a class the live
rows are compact (0 .. n-1), so a batch is a slice, not a gather. Closing or growing a slot leaves a hole that the class's last
row fills; the backend receives that as a `Move` and copies the data. Recurrent states have a row of their own, in one table,
because their size does not depend on length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

import numpy as np

from backends.ops import Array


@dataclass(frozen=True)
class KVSpec:
    """A softmax attention layer's memory: keys and values of every token (or of the last `window`)."""

    heads: int
    dim: int
    v_dim: int | None = None  # None: as `dim`
    window: int | None = None


@dataclass(frozen=True)
class StateSpec:
    """A recurrent layer's memory: a fixed number of bytes per sequence, whatever its length.

    The last `kernel - 1` inputs of a causal depthwise convolution over `channels`, and a delta rule's matrix
    `[heads, key_dim, value_dim]`, always kept in f32.
    """

    channels: int
    kernel: int
    heads: int
    key_dim: int
    value_dim: int


@dataclass(frozen=True)
class CrossSpec:
    """Encoder keys and values of a cross attention layer, written once a sequence by `KVCache.write_cross`."""

    heads: int
    dim: int


MemorySpec: TypeAlias = KVSpec | StateSpec | CrossSpec


@dataclass(eq=False)
class Slot:
    """A sequence's place in a KV cache. It holds its length; `place` is private to the cache."""

    id: int
    length: int = 0  # tokens whose memory is written
    capacity: int = 0  # tokens that fit without `KVCache.grow`
    place: Any = field(default=None, repr=False)  # private to the KV cache
    open: bool = True


@dataclass(frozen=True)
class KVSnapshot:
    """A sequence's memory at one length, kept outside its slot.

    `rows` is None when only the recurrent states were taken: such a snapshot can rewind the slot it came from (whose
    rows up to `length` are still there) but cannot fill another one.
    """

    length: int
    nbytes: int
    rows: Any = field(repr=False, default=None)
    states: Any = field(repr=False, default=None)


class KVCache(Protocol):
    """Memory of all sequences of one model, under one budget in bytes."""

    @property
    def specs(self) -> Sequence[MemorySpec]: ...

    budget: int  # bytes that may be used; the model manager changes it while models share the device

    @property
    def used(self) -> int:
        """Bytes in use by open slots (capacity, not length)."""

    def bytes_for(self, n: int) -> int:
        """Bytes that a slot with room for `n` tokens takes."""

    def open(self, n: int) -> Slot | None:
        """A slot with room for `n` tokens, or None when the budget does not allow it."""

    def grow(self, slot: Slot, n: int) -> bool:
        """Room for `n` tokens in all; False (and nothing changed) when the budget does not allow it."""

    def close(self, slot: Slot) -> None: ...

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        """A copy of the slot's memory at its current length (`rows=False`: of its recurrent states only)."""

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        """Restore the slot to the snapshot: fill a fresh slot, or rewind the one it was taken from."""

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        """Copy the first `length` rows of `source` into the fresh slot `target`. Only without recurrent memory."""

    def truncate(self, slot: Slot, length: int) -> None:
        """Drop all rows from `length` on. Only without recurrent memory (use `restore` there)."""

    def checkpoint(self, slot: Slot) -> None:
        """Save this point (recurrent states included) so that `rollback` can return to it."""

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        """Undo all tokens since `checkpoint` but the first `keep`. Returns how many were kept: `keep` for a model
        that only attends, 0 for one with recurrent memory (whose caller runs the kept tokens again)."""

    def write_cross(self, slot: Slot, layer: int, k: Array, v: Array) -> None:
        """Encoder keys and values `[S, H, D]` of a `CrossSpec` layer."""

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        """The snapshot as host arrays, byte for byte (dtypes numpy lacks come as uint8/uint16 views)."""

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        """The inverse of `export`."""


COMMON = (64, 32)  # the groups that fused kernels know
LEAST, MOST = 8, 64


def group_of(dim: int) -> int:
    """The group for heads of `dim` numbers: a common one where it divides them, else their largest even divisor of at
    most 64 (two 4-bit codes lie in a byte). A head without such a divisor is a group by itself."""
    fitting = (group for group in (*COMMON, *range(MOST, LEAST - 1, -2)) if dim % group == 0)
    return next(fitting, dim)


SMALLEST = 256


def capacity_class(n: int) -> int:
    """The smallest class that holds `n` tokens."""
    capacity = SMALLEST
    while capacity < n:
        capacity *= 2
    return capacity


@dataclass
class SlotPlace:
    """Where a slot lies now."""

    row: int  # in the slab of its capacity class
    state: int  # in the table of recurrent states (kept also for models that have none: it is only a number)


@dataclass(frozen=True)
class Move:
    """Copy one row's data. Equal capacities: fill a hole. Different ones: a slot has grown."""

    from_capacity: int
    from_row: int
    to_capacity: int
    to_row: int


class RowTable:
    """Rows of one KV cache."""

    def __init__(self) -> None:
        self.classes: dict[int, list[Slot]] = {}  # capacity -> the owners of its rows, in row order
        self.states: list[Slot] = []  # the owners of state rows, in row order
        self._next_id = 0

    @property
    def slots(self) -> list[Slot]:
        return self.states

    def open(self, n: int) -> Slot:
        capacity = capacity_class(n)
        owners = self.classes.setdefault(capacity, [])
        slot = Slot(self._next_id, 0, capacity, SlotPlace(len(owners), len(self.states)))
        self._next_id += 1
        owners.append(slot)
        self.states.append(slot)
        return slot

    def grow(self, slot: Slot, n: int) -> list[Move]:
        """Move the slot into the class for `n` tokens. The moves are to be carried out in order."""
        capacity = capacity_class(n)
        if capacity <= slot.capacity:
            return []
        owners = self.classes.setdefault(capacity, [])
        old_capacity, old_row = slot.capacity, slot.place.row
        moves = [Move(old_capacity, old_row, capacity, len(owners)), *self._leave(slot)]
        slot.capacity, slot.place.row = capacity, len(owners)
        owners.append(slot)
        return moves

    def close(self, slot: Slot) -> tuple[list[Move], tuple[int, int] | None]:
        """Free the slot's rows: the moves that fill the hole, and the (from, to) of the state row that fills its own."""
        moves = self._leave(slot)
        last = self.states.pop()
        state_move = None
        if last is not slot:
            state_move = (last.place.state, slot.place.state)
            last.place.state = slot.place.state
            self.states[slot.place.state] = last
        slot.open, slot.capacity = False, 0
        return moves, state_move

    def _leave(self, slot: Slot) -> list[Move]:
        owners = self.classes[slot.capacity]
        last = owners.pop()
        if last is slot:
            return []
        hole = slot.place.row
        move = Move(slot.capacity, last.place.row, slot.capacity, hole)
        last.place.row = hole
        owners[hole] = last
        return [move]
