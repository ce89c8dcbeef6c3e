"""The first rank of a split model in a process of its own, for a backend whose ranks cannot be in the leader's.

The leader keeps what its decisions need: rows, lengths and bytes of slots. Everything else it asks of that process (`FirstRank`), which also
samples; its answers hold sampled ids.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from backends.base import KVSnapshot, MemorySpec, PendingStep, Profiler, Segment, SegmentOutput, Slot, unprofiled
from backends.kv_cache import RowTable, can_truncate, capacity_class, window_shifts
from backends.ops import Array
from backends.ranks import Follower, Message, RankRunner, RanksLost
from engine.parallel.messages import packed, unpacked


class FirstLink(Protocol):
    """The leader's connection to the first rank. Both methods raise RanksLost."""

    @property
    def over(self) -> bool: ...
    def send_first(self, message: Message) -> None: ...
    def ask_first(self, message: Message) -> Any: ...


class DryModel:
    """What the engine reads of a model that no process of its own computes. It takes text only."""

    def __init__(self, model: Any) -> None:
        self.vocab: int = model.vocab
        self.memory: Sequence[MemorySpec] = model.memory
        self.long_from: int = getattr(model, "long_from", 0)


class FirstKVCache:
    """Implements `backends.base.KVCache` for the leader."""

    def __init__(self, specs: Sequence[MemorySpec], link: FirstLink) -> None:
        self.specs, self.budget, self.used = specs, 0, 0
        self._link, self._table = link, RowTable()
        self._bytes: dict[int, int] = {}  # of a slot, by its capacity
        self._snapshots = 0
        self._gone: deque[int] = deque()  # released snapshots; finalizers call its `append`

    def bytes_for(self, n: int) -> int:
        capacity = capacity_class(n)
        if capacity not in self._bytes:
            self._bytes[capacity] = self._link.ask_first(("bytes_for", capacity))
        return self._bytes[capacity]

    def open(self, n: int) -> Slot | None:
        if self.used + self.bytes_for(n) > self.budget:
            return None
        number = self._link.ask_first(("open_next", n))
        slot = self._table.open(n)
        slot.id = number
        self.used += self.bytes_for(n)
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        more = self.bytes_for(n) - self.bytes_for(slot.capacity)
        if self.used + max(0, more) > self.budget:
            return False
        if more > 0:
            self.used += more
            self._table.grow(slot, n)
            self._link.send_first(("grow", slot.id, n))
        return True

    def close(self, slot: Slot) -> None:
        if slot.open:
            self.used -= self.bytes_for(slot.capacity)
            self._table.close(slot)
            if not self._link.over:  # what is left of lost ranks is closed here alone
                self._link.send_first(("close", slot.id))

    def _changed(self, slot: Slot, *message: Any) -> Any:
        """The answer to a message that changes where a slot's tokens lie."""
        answer, slot.length, slot.place.firsts = self._link.ask_first(message)
        return answer

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        return self._kept(lambda number: self._link.ask_first(("snapshot", slot.id, rows, number)))

    def _kept(self, make: Callable[[int], tuple[int, int]]) -> KVSnapshot:
        if gone := [self._gone.popleft() for _ in range(len(self._gone))]:
            self._link.send_first(("forget", gone))
        number = self._snapshots
        self._snapshots += 1
        length, nbytes = make(number)
        held = _Number(number)
        weakref.finalize(held, self._gone.append, number).atexit = False
        return KVSnapshot(length, nbytes, states=held)

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        self._changed(slot, "restore", slot.id, snapshot.states.number)

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        self._changed(target, "copy", source.id, target.id, length)

    def can_truncate(self, slot: Slot, length: int) -> bool:
        return can_truncate(self.specs, slot, length)

    def truncate(self, slot: Slot, length: int) -> None:
        self._changed(slot, "truncate", slot.id, length)

    def checkpoint(self, slot: Slot) -> None:
        self._link.send_first(("checkpoint", slot.id))

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        kept: int = self._changed(slot, "rollback", slot.id, keep)
        return kept

    def write_cross(self, slot: Slot, layer: int, k: Array, v: Array) -> None:
        raise TypeError("a model with an encoder's keys is not split among ranks")

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        arrays: list[np.ndarray] = unpacked(self._link.ask_first(("export", snapshot.states.number)))
        return arrays

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        content = packed(arrays)
        return self._kept(lambda number: self._link.ask_first(("import", number, length, content)))

    def advance(self, segments: Sequence[Segment]) -> None:
        """The segments' tokens are being written, as the first rank's own cache does it."""
        for segment in segments:
            for _ in window_shifts(self.specs, segment.slot, len(segment), segment.prompt):
                continue  # each is applied when it is taken
            segment.slot.length += len(segment)


class _Number:
    """Of a snapshot that the first rank holds, as long as it lives."""

    def __init__(self, number: int) -> None:
        self.number = number


class FirstRunner:
    """Implements `backends.ranks.RankRunner` for the leader."""

    def __init__(self, kv: FirstKVCache, link: FirstLink) -> None:
        self.span: Profiler = unprofiled
        self.settle: Any = None
        self._kv, self._link = kv, link
        self._steps = 0

    def run(self, segments: Sequence[Segment]) -> PendingStep:
        number = self._steps
        self._steps += 1
        self._link.send_first(("step", number, [_packed_segment(segment) for segment in segments]))
        self._kv.advance(segments)
        return _FirstStep(number, segments, self, self._link)

    def warm(self) -> None:
        self._link.send_first(("warm",))

    def poison(self, slot: Slot) -> None:
        """The first rank has noticed it itself."""

    def set_last(self, slot: Slot, token: int) -> None:
        self._link.send_first(("last", slot.id, token))


class _FirstStep:
    """Implements `backends.base.PendingStep`."""

    def __init__(self, number: int, segments: Sequence[Segment], runner: FirstRunner, link: FirstLink) -> None:
        self._number, self._segments, self._runner, self._link = number, segments, runner, link
        self._outputs: dict[Slot, SegmentOutput] | None = None

    def read(self) -> dict[Slot, SegmentOutput]:
        if self._outputs is None:
            made: list[SegmentOutput] = unpacked(self._link.ask_first(("read", self._number)))
            self._outputs = {segment.slot: output for segment, output in zip(self._segments, made, strict=True)}
            self._runner.settle(self._segments, self._outputs)
        return self._outputs


def _packed_segment(segment: Segment) -> Any:
    """All fields of a segment; its slot's number in place of the slot."""
    want = None if segment.want is None else (segment.want.start, segment.want.stop, segment.want.step)
    return packed({**vars(segment), "slot": segment.slot.id, "want": want})


class FirstRank(Follower):
    """Carries out the leader's calls in the first rank's process."""

    def __init__(self, kv: Any, runner: RankRunner) -> None:
        super().__init__(kv, runner)
        runner.settle = lambda segments, outputs: None  # the leader rolls back, on all ranks
        self._pending: dict[int, tuple[PendingStep, list[Slot]]] = {}

    def _bytes_for(self, n: int) -> int:
        return self._kv.bytes_for(n)

    def _open_next(self, n: int) -> int:
        slot = self._kv.open(n)
        if slot is None:
            raise RanksLost("The first rank has less room than the leader counts.")
        self._slots[slot.id] = slot
        return slot.id

    def _place(self, number: int, answer: Any = None) -> Message:
        slot = self._slots[number]
        return answer, slot.length, dict(slot.place.firsts)

    def _snapshot(self, number: int, rows: bool, name: int) -> Message:
        super()._snapshot(number, rows, name)
        return self._snapshots[name].length, self._snapshots[name].nbytes

    def _import(self, name: int, length: int, arrays: Any) -> Message:
        self._snapshots[name] = self._kv.import_snapshot(length, unpacked(arrays))
        return length, self._snapshots[name].nbytes

    def _export(self, name: int) -> list[Message]:
        content: list[Message] = packed(self._kv.export_snapshot(self._snapshots[name]))
        return content

    def _restore(self, number: int, name: int) -> Message:
        super()._restore(number, name)
        return self._place(number)

    def _copy(self, source: int, target: int, length: int) -> Message:
        super()._copy(source, target, length)
        return self._place(target)

    def _truncate(self, number: int, length: int) -> Message:
        super()._truncate(number, length)
        return self._place(number)

    def _rollback(self, number: int, keep: int) -> Message:
        return self._place(number, self._kv.rollback(self._slots[number], keep))

    def _step(self, number: int, segments: Sequence[Any]) -> None:
        made = [self._whole_segment(unpacked(one)) for one in segments]
        self._pending[number] = self._runner.run(made), [segment.slot for segment in made]

    def _whole_segment(self, fields: Mapping[str, Any]) -> Segment:
        want = fields["want"]
        rows = None if want is None else range(*want)
        return Segment(**{**fields, "slot": self._slots[fields["slot"]], "want": rows})

    def _read(self, number: int) -> list[Message]:
        for earlier in [one for one in self._pending if one < number]:
            del self._pending[earlier]  # nobody reads a step that only repeats accepted draft tokens
        pending, slots = self._pending.pop(number)
        outputs = pending.read()
        content: list[Message] = packed([outputs[slot] for slot in slots])
        return content
