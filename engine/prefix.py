"""Finished sequences stay as idle prefixes: a request that begins with one of them need not compute it again.

Where a model only attends, any common part can be reused: the idle slot is cut back, or its rows are copied. A recurrent
state cannot be cut back, so there a sequence keeps snapshots of its states at some lengths ("borders") and only those,
or its whole length, can be returned to. Knows keys and slots; who may use how much memory is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from backends.base import KVSnapshot, Slot
from engine.budget import Memory
from engine.sequence import Choice
from engine.stats import Tally

_LEAST = 4  # tokens; below that a match is not worth its copy
_MOST_IDLE = 64  # prefixes; bounds the time of a search
_BLOCK = 256


def common(a: Sequence[int], b: Sequence[int]) -> int:
    """How many leading tokens are equal."""
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
class Prefix:
    """An idle slot and what it holds. `key` is as long as the slot."""

    key: list[int]
    adapter: str | None
    slot: Slot
    borders: list[KVSnapshot] = field(default_factory=list)


@dataclass
class Match:
    """`length` tokens can be had from an idle prefix, or be copied from a running sequence's slot."""

    length: int
    idle: Prefix | None = None
    running: Slot | None = None
    state: KVSnapshot | None = None  # recurrent models: the border to return to; None: the slot as it is

    @property
    def takes_all(self) -> bool:
        """Is so little lost by continuing the idle slot itself that a copy would be a waste?"""
        return self.idle is not None and self.length * 8 >= len(self.idle.key) * 7


class Prefixes:
    """Idle prefixes, least recently used first."""

    def __init__(
        self, memory: Memory, spill: Callable[[Prefix, bool], None] | None = None, tally: Tally | None = None
    ) -> None:
        self._memory = memory
        self._spill = spill
        self._idle: list[Prefix] = []
        self._tally = tally or Tally()

    def __len__(self) -> int:
        return len(self._idle)

    @property
    def slots(self) -> list[Slot]:
        return [prefix.slot for prefix in self._idle]

    @property
    def nbytes(self) -> int:
        """What dropping all of them gives back."""
        kv = self._memory.kv
        states = sum(border.nbytes for prefix in self._idle for border in prefix.borders)
        return states + sum(kv.bytes_for(prefix.slot.capacity) for prefix in self._idle)

    def match(self, key: Sequence[int], adapter: str | None, running: Iterable[Choice]) -> Match | None:
        """The longest reusable beginning of `key`, its last token excepted (that one must be computed)."""
        usable = len(key) - 1
        best: Match | None = None
        for prefix in reversed(self._idle):
            if prefix.adapter == adapter:
                found = self._within(prefix, min(common(prefix.key, key), usable))
                if found is not None and (best is None or found.length > best.length):
                    best = found
        if not self._memory.recurrent:
            for choice in running:
                if choice.slot is not None and choice.adapter == adapter:
                    length = min(common(choice.key, key), usable, choice.slot.length)
                    if best is None or length > best.length:
                        best = Match(length, running=choice.slot)
        return best if best is not None and best.length >= _LEAST else None

    def _within(self, prefix: Prefix, shared: int) -> Match | None:
        if not self._memory.recurrent or shared == len(prefix.key):
            return Match(shared, prefix)
        borders = [border for border in prefix.borders if border.length <= shared]
        if not borders:
            return None
        state = max(borders, key=lambda border: border.length)
        return Match(state.length, prefix, state=state)

    def keep(self, prefix: Prefix) -> None:
        if not self._memory.recurrent:
            for other in [p for p in self._idle if p.adapter == prefix.adapter and len(p.key) <= len(prefix.key)]:
                if common(other.key, prefix.key) == len(other.key):
                    self._close(other)  # the new one holds all of it
        self._idle.append(prefix)
        if len(self._idle) > _MOST_IDLE:
            self.drop_oldest()

    def take(self, prefix: Prefix) -> None:
        """The prefix's slot has another owner from now on."""
        self._idle.remove(prefix)

    def count_hit(self, tokens: int) -> None:
        """A prompt began with so many remembered tokens."""
        self._tally.prefix_hits += 1
        self._tally.prefix_tokens += tokens

    def touch(self, prefix: Prefix) -> None:
        self._idle.remove(prefix)
        self._idle.append(prefix)

    def drop_oldest(self, spare: Prefix | None = None) -> bool:
        """Give the least recently used prefix's memory back. False when there is none."""
        for prefix in self._idle:
            if prefix is not spare:
                if self._spill is not None:
                    self._spill(prefix, True)
                self._close(prefix)
                return True
        return False

    def _close(self, prefix: Prefix) -> None:
        self._idle.remove(prefix)
        self._memory.snapshot_bytes -= sum(border.nbytes for border in prefix.borders)
        self._memory.close(prefix.slot)

    def forget(self) -> int:
        """Drop all and leave no trace of them on disk; returns how many there were."""
        count = len(self._idle)
        for prefix in list(self._idle):
            self._close(prefix)
        return count

    def clear(self, hurry: bool = True) -> int:
        """Drop all; returns how many there were."""
        count = len(self._idle)
        for prefix in list(self._idle):
            if self._spill is not None:
                self._spill(prefix, hurry)
            self._close(prefix)
        return count


def thin(borders: list[KVSnapshot], most: int) -> list[KVSnapshot]:
    """At most `most` of them: the newest two stay, and of the others those that lie furthest apart."""
    borders = list(borders)
    while len(borders) > most:
        gaps = [borders[i + 1].length - (borders[i - 1].length if i else 0) for i in range(max(1, len(borders) - 2))]
        del borders[gaps.index(min(gaps))]
    return borders
