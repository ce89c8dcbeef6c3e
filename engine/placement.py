"""Gives a joining choice its slot: continued from a prefix, copied, restored from the host, or fresh.

Knows how memory is moved; which choice joins when is the scheduler's decision.
"""

from __future__ import annotations

from collections.abc import Callable

from backends.base import KVSnapshot, Slot
from engine.budget import Memory
from engine.prefix import Match, Prefix, Prefixes
from engine.sequence import Choice


class Placement:
    """`place` either gives the choice a slot with room for `n` tokens or changes nothing."""

    def __init__(self, memory: Memory, prefixes: Prefixes, reclaim: Callable[[], bool], reuse: bool) -> None:
        self._memory = memory
        self._prefixes = prefixes
        self._reclaim = reclaim  # idle memory of other models
        self._reuse = reuse
        self.host_bytes = 0  # of evicted states

    def place(self, choice: Choice, n: int, running: list[Choice]) -> bool:
        if choice.kept is not None:
            return self._restore(choice, n)
        if choice.job.shared is not None and choice.index:
            return self._fill(choice, n, choice.job.shared)
        match = self._match(choice, running)
        stored = choice.ready.result().stored if choice.ready is not None else None
        if stored is not None and stored.shared > (match.length if match else 0):
            snapshot = self._memory.kv.import_snapshot(stored.length, stored.arrays)
            if self._fill(choice, max(n, stored.length), snapshot):
                self._cut(choice, stored.shared)
                return True
            match = self._match(choice, running)  # making room may have cost the one that was found
        if match is not None and self._reuse_match(choice, n, match):
            return True
        if match is not None and running:
            return False
        choice.slot = self.room(n)
        return choice.slot is not None

    def room(self, n: int, spare: Prefix | None = None) -> Slot | None:
        """A fresh slot, at the cost of idle prefixes where it must be."""
        while (slot := self._memory.open(n)) is None:
            if not self._prefixes.drop_oldest(spare) and not self._reclaim():
                return None
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        while not self._memory.grow(slot, n):
            if not self._prefixes.drop_oldest() and not self._reclaim():
                return False
        return True

    def _match(self, choice: Choice, running: list[Choice]) -> Match | None:
        if not self._reuse or choice.job.request.computes_all:
            return None
        return self._prefixes.match(choice.key, choice.adapter, running)

    def _restore(self, choice: Choice, n: int) -> bool:
        kept = choice.kept
        assert kept is not None
        if not self._fill(choice, n, self._memory.kv.import_snapshot(kept.length, kept.arrays), border=False):
            return False
        self.host_bytes -= kept.nbytes
        choice.kept = None
        return True

    def _fill(self, choice: Choice, n: int, snapshot: KVSnapshot, border: bool = True) -> bool:
        slot = self.room(n)
        if slot is None:
            return False
        self._memory.kv.restore(slot, snapshot)
        choice.slot = slot
        if border:
            self._count_hit(choice)
            self.add_border(choice)
        return True

    def _cut(self, choice: Choice, shared: int) -> None:
        """A stored prefix may be longer than what it shares with the prompt, where the model only attends."""
        if choice.slot is not None and choice.slot.length > shared:
            self._memory.kv.truncate(choice.slot, shared)

    def _reuse_match(self, choice: Choice, n: int, match: Match) -> bool:
        idle = match.idle
        if idle is None:
            slot = self.room(n)
            if slot is None:
                return False
            assert match.running is not None
            self._memory.kv.copy(match.running, slot, match.length)
        else:
            slot = None if match.takes_all else self._copy_idle(n, match, idle)
            if slot is None:
                if not self._continue_idle(choice, n, match, idle):
                    return False
                slot = idle.slot
        choice.slot = slot
        self._count_hit(choice)
        if self._memory.recurrent and not any(b.length == slot.length for b in choice.borders):
            self.add_border(choice)
        return True

    def _copy_idle(self, n: int, match: Match, idle: Prefix) -> Slot | None:
        """A second slot with the shared part, where memory has room for both."""
        slot = self._memory.open(n)
        if slot is None:
            return None
        kv = self._memory.kv
        if not self._memory.recurrent:
            kv.copy(idle.slot, slot, match.length)
        else:
            # only a slot that *is* at the border can be copied: rewind it, copy, and return it to where it was
            now = kv.snapshot(idle.slot)
            assert match.state is not None
            kv.restore(idle.slot, match.state)
            whole = kv.snapshot(idle.slot)
            kv.restore(idle.slot, now)
            kv.restore(slot, whole)
        self._prefixes.touch(idle)
        return slot

    def _continue_idle(self, choice: Choice, n: int, match: Match, idle: Prefix) -> bool:
        self._prefixes.take(idle)
        if not self.grow(idle.slot, n):
            self._prefixes.keep(idle)
            return False
        kv = self._memory.kv
        if match.length < idle.slot.length:
            if match.state is not None:
                kv.restore(idle.slot, match.state)
            else:
                kv.truncate(idle.slot, match.length)
        choice.borders = [border for border in idle.borders if border.length <= match.length]
        lost = sum(border.nbytes for border in idle.borders) - sum(border.nbytes for border in choice.borders)
        self._memory.snapshot_bytes -= lost
        return True

    def add_border(self, choice: Choice) -> None:
        """Keep the recurrent states of this moment."""
        if self._memory.recurrent and self._reuse and choice.slot is not None and choice.slot.length:
            border = self._memory.kv.snapshot(choice.slot, rows=False)
            choice.borders.append(border)
            self._memory.snapshot_bytes += border.nbytes

    def _count_hit(self, choice: Choice) -> None:
        self._prefixes.count_hit(choice.own_slot.length)
