"""Who may use how many bytes: one limit over the weights and sequences of all models, and a book of open slots.

Knows sizes only. What to give up when a byte is missing is the scheduler's decision.
"""

from __future__ import annotations

from collections.abc import Iterable

from backends.base import KVCache, Slot, StateSpec
from engine.errors import OutOfMemory


class Memory:
    """One model's sequence memory. Every slot is opened and closed here, so that a forgotten one can be found."""

    def __init__(self, kv: KVCache) -> None:
        self.kv = kv
        self.loaded_budget = kv.budget
        # a store that does not say what it holds (another library's caches) may hold states, and cannot be exported
        self.recurrent = not kv.specs or any(isinstance(spec, StateSpec) for spec in kv.specs)
        self.movable = bool(kv.specs)
        self.open_slots: set[Slot] = set()
        self._allowed = kv.budget
        self._snapshot_bytes = 0

    @property
    def used(self) -> int:
        return self.kv.used + self.snapshot_bytes

    @property
    def snapshot_bytes(self) -> int:
        """States kept beside the slots, under the same limit: what they give back, slots may use at once."""
        return self._snapshot_bytes

    @snapshot_bytes.setter
    def snapshot_bytes(self, nbytes: int) -> None:
        self._snapshot_bytes = nbytes
        self.kv.budget = max(0, self._allowed - nbytes)

    def allow(self, nbytes: int) -> None:
        """Set what this model may use in all from now on."""
        self._allowed = nbytes
        self.kv.budget = max(0, nbytes - self._snapshot_bytes)

    def open(self, n: int) -> Slot | None:
        try:
            slot = self.kv.open(n)
        except (MemoryError, OutOfMemory):
            return None
        if slot is not None:
            self.open_slots.add(slot)
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        try:
            return slot.capacity >= n or self.kv.grow(slot, n)
        except (MemoryError, OutOfMemory):
            return False

    def close(self, slot: Slot) -> None:
        self.open_slots.discard(slot)
        self.kv.close(slot)

    def leaked(self, owned: Iterable[Slot]) -> list[Slot]:
        """Open slots that nobody owns."""
        return sorted(self.open_slots.difference(owned), key=lambda slot: slot.id)


class Limit:
    """The bytes of the device that all models share. None: every model has the budget it was loaded with."""

    def __init__(self, nbytes: int | None) -> None:
        self.nbytes = nbytes

    def share(self, memory: Memory, weights: int, others: Iterable[Memory]) -> None:
        """Let `memory` have what the weights and the other models' sequences leave."""
        if self.nbytes is None:
            memory.allow(memory.loaded_budget)
        else:
            left = self.nbytes - weights - sum(other.used for other in others)
            memory.allow(min(left, memory.loaded_budget))
