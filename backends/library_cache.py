"""A KV cache whose contents belong to another library: every slot owns that library's cache objects, which grow by themselves.

Snapshots are copies of whole caches: they fill slots of the same model, but do not leave the process. What the objects are,
and how they are copied and cut, is the subclass's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from backends.base import KVSnapshot, MemorySpec, Slot
from backends.kv_cache import RowTable, capacity_class

C = TypeVar("C")


@dataclass(frozen=True)
class _Checkpoint(Generic[C]):
    length: int
    caches: C | None  # None: they can be cut


class LibraryKVCache(ABC, Generic[C]):
    """Implements `backends.base.KVCache`."""

    specs: Sequence[MemorySpec] = ()
    library: str

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.used = 0
        self.table = RowTable()
        self._caches: dict[int, C] = {}
        self._checkpoints: dict[int, _Checkpoint[C]] = {}

    def caches(self, slot: Slot) -> C:
        return self._caches[slot.id]

    # -- what the library's objects can do

    @property
    @abstractmethod
    def trimmable(self) -> bool:
        """Whether the last tokens of a cache can be dropped."""

    @abstractmethod
    def bytes_for(self, n: int) -> int:
        """What room for `n` tokens takes."""

    @abstractmethod
    def make(self) -> C: ...

    @abstractmethod
    def copied(self, caches: C) -> C: ...

    @abstractmethod
    def trim(self, caches: C, length: int, count: int) -> None:
        """Drop the last `count` of `length` tokens."""

    @abstractmethod
    def nbytes(self, caches: C) -> int: ...

    # -- slots

    def open(self, n: int) -> Slot | None:
        if self.used + self.bytes_for(capacity_class(n)) > self.budget:
            return None
        slot = self.table.open(n)
        self.used += self.bytes_for(slot.capacity)
        self._caches[slot.id] = self.make()
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        more = self.bytes_for(capacity_class(n)) - self.bytes_for(slot.capacity)
        if more <= 0:
            return True
        if self.used + more > self.budget:
            return False
        self.table.grow(slot, n)
        self.used += more
        return True

    def close(self, slot: Slot) -> None:
        if slot.open:
            self.used -= self.bytes_for(slot.capacity)
            self.table.close(slot)
            del self._caches[slot.id]
            self._checkpoints.pop(slot.id, None)

    def clear(self, slot: Slot) -> None:
        """Nothing to clear: a failed sequence shares no memory with others."""

    # -- going back and copies

    def can_truncate(self, slot: Slot, length: int) -> bool:
        return length == slot.length or self.trimmable

    def truncate(self, slot: Slot, length: int) -> None:
        self._require_trimmable()
        self._cut(slot, length)

    def checkpoint(self, slot: Slot) -> None:
        kept = None if self.trimmable else self.copied(self.caches(slot))
        self._checkpoints[slot.id] = _Checkpoint(slot.length, kept)

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        saved = self._checkpoints.pop(slot.id, None)
        if saved is None:
            raise ValueError(f"slot {slot.id} has no checkpoint")
        if saved.length + keep >= slot.length:
            return slot.length - saved.length
        if saved.caches is None:
            self._cut(slot, saved.length + keep)
            return keep
        self._caches[slot.id] = saved.caches
        slot.length = saved.length
        return 0

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        """With `rows` or without, the whole of the slot's caches: they cannot be told apart from outside."""
        kept = self.copied(self.caches(slot))
        return KVSnapshot(slot.length, self.nbytes(kept), kept, None)

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        if snapshot.length > slot.capacity:
            raise ValueError(f"slot {slot.id} has room for {slot.capacity} tokens, not {snapshot.length}")
        self._caches[slot.id] = self.copied(snapshot.rows)
        slot.length = snapshot.length

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        self._require_trimmable()
        if length > min(source.length, target.capacity):
            raise ValueError(f"{length} rows cannot be copied from slot {source.id} to slot {target.id}")
        self._caches[target.id] = self.copied(self.caches(source))
        target.length = source.length
        self._cut(target, length)

    def _cut(self, slot: Slot, length: int) -> None:
        if length < slot.length:
            self.trim(self.caches(slot), slot.length, slot.length - length)
            slot.length = length

    def _require_trimmable(self) -> None:
        if not self.trimmable:
            raise ValueError("this architecture's memory cannot be cut: restore a snapshot instead")

    def write_cross(self, slot: Slot, layer: int, k: Any, v: Any) -> None:
        raise ValueError(f"models that run through {self.library} have no cross attention of ours")

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        raise ValueError(f"snapshots of models that run through {self.library} do not leave the process")

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        raise ValueError(f"snapshots of models that run through {self.library} do not come from outside the process")
