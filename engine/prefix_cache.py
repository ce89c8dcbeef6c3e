"""A model's memory for sequences, and the prefix cache that fills what is free of it.

`PrefixCache` keeps the KV cache of finished sequences, so that a request with a known beginning need not compute it
again. An attention-only model can reuse any common prefix: the cached slot is truncated, or its rows are copied. A
recurrent state cannot be truncated, nor can a sliding window that has moved on. Such a sequence keeps state checkpoints at
some lengths, and only those, or its whole length, can be resumed from. `engine/prefix_offload.py` writes evicted entries to disk.
"""

from __future__ import annotations

from collections import abc
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from backends.base import KVCache, KVSnapshot, Slot, StateSpec
from backends.kv_cache import WINDOW_STEP, drops_tokens, may_forget, rows_for, tokens_at_once, windowed
from engine.errors import OutOfMemory
from engine.metrics import Counters
from engine.sequence import Sequence


class SequenceMemory:
    """One model's KV cache with its byte budget. Opens and closes all slots, so that leaked ones can be found."""

    def __init__(self, kv: KVCache) -> None:
        self.kv = kv
        self.loaded_budget = kv.budget
        # a KV cache without specs (another library's) may hold recurrent states, and cannot be exported
        self.recurrent = not kv.specs or any(isinstance(spec, StateSpec) for spec in kv.specs)
        self.movable = bool(kv.specs)
        self.drops = drops_tokens(kv.specs)
        self.open_slots: set[Slot] = set()
        self._allowed = kv.budget
        self._snapshot_bytes = 0

    @property
    def used(self) -> int:
        return self.kv.used + self.snapshot_bytes

    @property
    def snapshot_bytes(self) -> int:
        """Bytes of snapshots beside the slots, under the same limit: slots may use what they free."""
        return self._snapshot_bytes

    @snapshot_bytes.setter
    def snapshot_bytes(self, nbytes: int) -> None:
        self._snapshot_bytes = nbytes
        self.kv.budget = max(0, self._allowed - nbytes)

    def allow(self, nbytes: int) -> None:
        """Set the bytes that slots and snapshots of this model may use."""
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

    def may_forget(self, slot: Slot) -> bool:
        """Whether earlier lengths of the slot may need a state checkpoint."""
        return may_forget(self.kv.specs, slot.capacity)

    def rows(self, n: int, prompt: int) -> int:
        """The capacity that `n` tokens need, of which `prompt` are the sequence's prompt."""
        return rows_for(self.kv.specs, n, prompt)

    def step_limit(self, slot: Slot, prompt: int = 0) -> int:
        """The most tokens that one step may add to the slot of a sequence with this prompt."""
        if self.drops:
            return tokens_at_once(self.kv.specs, slot, prompt)
        return WINDOW_STEP if windowed(self.kv.specs) and self.may_forget(slot) else slot.capacity

    def leaked(self, owned: Iterable[Slot]) -> list[Slot]:
        """Open slots without an owner."""
        return sorted(self.open_slots.difference(owned), key=lambda slot: slot.id)


_LEAST = 4  # tokens; a shorter match is not worth its copy
_MAX_ENTRIES = 64  # bounds the time of a search
_BLOCK = 256


def common_prefix(a: abc.Sequence[int], b: abc.Sequence[int]) -> int:
    """The number of leading tokens that are equal."""
    end = min(len(a), len(b))
    at = 0
    while at < end and a[at : at + _BLOCK] == b[at : at + _BLOCK]:
        at += _BLOCK
    if at >= end:
        return end
    while at < end and a[at] == b[at]:
        at += 1
    return at


@dataclass(eq=False)
class CachedPrefix:
    """An entry of the prefix cache: the slot of a finished sequence and its tokens. `key` is as long as the slot; `variant`: see
    `Sequence.variant`."""

    key: list[int]
    variant: str | None
    slot: Slot
    checkpoints: list[KVSnapshot] = field(default_factory=list)


@dataclass
class PrefixMatch:
    """`length` tokens that can be reused from a cached prefix, or copied from a running sequence's slot."""

    length: int
    cached: CachedPrefix | None = None
    running: Slot | None = None
    checkpoint: KVSnapshot | None = None  # the state to return to; None: the slot as it is, or truncated

    @property
    def takes_all(self) -> bool:
        """Whether nearly all of the entry matches, so that its slot is continued instead of copied."""
        return self.cached is not None and self.length * 8 >= len(self.cached.key) * 7


class PrefixCache:
    """The KV cache of finished sequences, least recently used first, for reuse by requests with the same beginning."""

    def __init__(
        self,
        memory: SequenceMemory,
        offload: Callable[[CachedPrefix, bool], None] | None = None,
        counters: Counters | None = None,
    ) -> None:
        self._memory = memory
        self._offload = offload
        self._entries: list[CachedPrefix] = []
        self._counters = counters or Counters()

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def slots(self) -> list[Slot]:
        return [prefix.slot for prefix in self._entries]

    @property
    def nbytes(self) -> int:
        """Bytes that evicting all entries would free."""
        kv = self._memory.kv
        states = sum(checkpoint.nbytes for prefix in self._entries for checkpoint in prefix.checkpoints)
        return states + sum(kv.bytes_for(prefix.slot.capacity) for prefix in self._entries)

    def match(self, key: abc.Sequence[int], variant: str | None, running: Iterable[Sequence]) -> PrefixMatch | None:
        """The longest reusable prefix of `key`, without its last token (which must be computed)."""
        usable = len(key) - 1
        best: PrefixMatch | None = None
        for prefix in reversed(self._entries):
            if prefix.variant == variant:
                found = self._within(prefix, min(common_prefix(prefix.key, key), usable))
                if found is not None and (best is None or found.length > best.length):
                    best = found
        if not self._memory.recurrent:
            for sequence in running:
                if sequence.slot is not None and sequence.variant == variant:
                    reusable = sequence.prompt_length if sequence.slot.dropped else sequence.slot.length
                    length = min(common_prefix(sequence.key, key), usable, reusable)
                    longer = best is None or length > best.length
                    if longer and self._memory.kv.can_truncate(sequence.slot, length):
                        best = PrefixMatch(length, running=sequence.slot)
        return best if best is not None and best.length >= _LEAST else None

    def _within(self, prefix: CachedPrefix, shared: int) -> PrefixMatch | None:
        if self._memory.kv.can_truncate(prefix.slot, shared):
            return PrefixMatch(shared, prefix)
        checkpoints = [checkpoint for checkpoint in prefix.checkpoints if checkpoint.length <= shared]
        if not checkpoints:
            return None
        checkpoint = max(checkpoints, key=lambda one: one.length)
        return PrefixMatch(checkpoint.length, prefix, checkpoint=checkpoint)

    def insert(self, prefix: CachedPrefix) -> None:
        """Add an entry. An attention-only model drops the entries that it contains."""
        kv = self._memory.kv
        if not self._memory.recurrent:
            for other in [p for p in self._entries if p.variant == prefix.variant and len(p.key) <= len(prefix.key)]:
                contained = common_prefix(other.key, prefix.key) == len(other.key)
                if contained and kv.can_truncate(prefix.slot, len(other.key)):
                    self._close(other)  # the new entry contains it
        self._entries.append(prefix)
        if len(self._entries) > _MAX_ENTRIES:
            self.evict_oldest()

    def take(self, prefix: CachedPrefix) -> None:
        """Remove an entry without closing its slot, which a sequence continues."""
        self._entries.remove(prefix)

    def count_hit(self, tokens: int) -> None:
        """Count a prompt that began with so many cached tokens."""
        self._counters.prefix_hits += 1
        self._counters.prefix_tokens += tokens

    def touch(self, prefix: CachedPrefix) -> None:
        """Mark as most recently used."""
        self._entries.remove(prefix)
        self._entries.append(prefix)

    def evict_oldest(self, spare: CachedPrefix | None = None) -> bool:
        """Evict the least recently used entry, offloading it where that is on. False when there is none."""
        for prefix in self._entries:
            if prefix is not spare:
                if self._offload is not None:
                    self._offload(prefix, True)
                self._close(prefix)
                return True
        return False

    def _close(self, prefix: CachedPrefix) -> None:
        self._entries.remove(prefix)
        self._memory.snapshot_bytes -= sum(checkpoint.nbytes for checkpoint in prefix.checkpoints)
        self._memory.close(prefix.slot)

    def clear(self, *, offload: bool = True, hurry: bool = True) -> int:
        """Evict all entries and return their number. `offload`: write them to disk where that is on (see `hurry` of
        `PrefixOffload.store`)."""
        count = len(self._entries)
        for prefix in list(self._entries):
            if offload and self._offload is not None:
                self._offload(prefix, hurry)
            self._close(prefix)
        return count


def thin_checkpoints(checkpoints: list[KVSnapshot], most: int) -> list[KVSnapshot]:
    """At most `most` checkpoints: the newest two, and of the others those that lie furthest apart."""
    checkpoints = list(checkpoints)
    while len(checkpoints) > most:
        gaps = [
            checkpoints[i + 1].length - (checkpoints[i - 1].length if i else 0)
            for i in range(max(1, len(checkpoints) - 2))
        ]
        del checkpoints[gaps.index(min(gaps))]
    return checkpoints
