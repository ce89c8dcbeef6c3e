"""Tensor parallelism between a leading rank and its followers. Array-free, shared by all backends.

KV cache and runner are called from one thread in one order, and what they do depends on nothing else: so the protocol is these
calls. The first rank leads: it sends each call to the followers as it makes it, and they repeat it on their share of the model. Only
the leader samples; chosen ids reach the others by the ranks' group. Masks, penalties and text never travel.

A call is checked before it is sent. An exception after that leaves ranks in different states, so all of them are ended:
`RanksLost`; the `Link` holds the reason.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

import numpy as np

from backends.base import (
    KVCache,
    KVSnapshot,
    MemorySpec,
    PendingStep,
    Profiler,
    Runner,
    Sampling,
    Segment,
    SegmentOutput,
    Slot,
)
from backends.ops import Array
from backends.plan import make_plan, roll_back_drafts

Message = tuple[Any, ...]  # plain data: numbers, strings, bytes, lists and tuples of them
Answer = Message | list[Message] | int | None  # None: the leader waits for no answer


class RanksLost(Exception):
    """A rank ended, failed or hangs: none of the others can continue. The message is one sentence."""


def ran_out(error: BaseException) -> bool:
    """Whether `error` means that memory ran out, whichever library raised it."""
    named = type(error).__name__ in ("OutOfMemory", "OutOfMemoryError")
    message = str(error)
    return (
        isinstance(error, MemoryError) or named or "not enough memory" in message or "can't allocate memory" in message
    )


class Link(Protocol):
    """The leader's connection to its followers."""

    @property
    def followers(self) -> int: ...

    def send(self, messages: Sequence[Message]) -> None:
        """Send one message to all followers, or one to each. Raises RanksLost."""

    def ask(self, message: Message) -> list[Any]:
        """Send a message and return the followers' answers. Raises RanksLost."""

    def lost(self, error: BaseException) -> RanksLost:
        """End the ranks after the leader's own `error`. The result holds the first reason that is known."""

    def reading(self) -> AbstractContextManager[None]:
        """While the leader waits for a step's results. On a GPU, operations between ranks block only there."""

    @property
    def over(self) -> bool:
        """Whether the followers have ended or are being closed."""


class LeadingKVCache:
    """Implements `backends.base.KVCache`: the leader's share. Every call that changes it is sent to the followers."""

    def __init__(self, kv: KVCache, link: Link) -> None:
        self.own, self._link = kv, link
        self._snapshots = 0
        # numbers of released snapshots, not yet sent; finalizers call its `append`
        self._gone: deque[int] = deque()

    @property
    def specs(self) -> Sequence[MemorySpec]:
        return self.own.specs

    @property
    def budget(self) -> int:
        return self.own.budget

    @budget.setter
    def budget(self, nbytes: int) -> None:
        self.own.budget = nbytes

    @property
    def used(self) -> int:
        return self.own.used

    def bytes_for(self, n: int) -> int:
        return self.own.bytes_for(n)

    def can_truncate(self, slot: Slot, length: int) -> bool:
        return self.own.can_truncate(slot, length)

    def _send(self, *message: Any) -> None:
        if self._link.over:  # the leader closes what is left alone
            return
        if gone := [self._gone.popleft() for _ in range(len(self._gone))]:
            self._link.send([("forget", gone)])
        self._link.send([message])

    def open(self, n: int) -> Slot | None:
        slot = self.own.open(n)
        if slot is not None:
            self._send("open", slot.id, n)
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        grown = self.own.grow(slot, n)
        if grown:
            self._send("grow", slot.id, n)
        return grown

    def close(self, slot: Slot) -> None:
        self.own.close(slot)
        self._send("close", slot.id)

    def snapshot(self, slot: Slot, *, rows: bool = True) -> KVSnapshot:
        made = self.own.snapshot(slot, rows=rows)
        return self._shared(made, "snapshot", slot.id, rows)

    def _shared(self, made: KVSnapshot, *message: Any) -> KVSnapshot:
        number = self._snapshots
        self._snapshots += 1
        self._send(*message, number)
        held = _SharedSnapshot(made, number)
        weakref.finalize(held, self._gone.append, number).atexit = False
        return KVSnapshot(made.length, made.nbytes, states=held)

    def restore(self, slot: Slot, snapshot: KVSnapshot) -> None:
        held: _SharedSnapshot = snapshot.states
        self.own.restore(slot, held.own)
        self._send("restore", slot.id, held.number)

    def copy(self, source: Slot, target: Slot, length: int) -> None:
        self.own.copy(source, target, length)
        self._send("copy", source.id, target.id, length)

    def truncate(self, slot: Slot, length: int) -> None:
        self.own.truncate(slot, length)
        self._send("truncate", slot.id, length)

    def checkpoint(self, slot: Slot) -> None:
        self.own.checkpoint(slot)
        self._send("checkpoint", slot.id)

    def rollback(self, slot: Slot, keep: int = 0) -> int:
        kept = self.own.rollback(slot, keep)
        self._send("rollback", slot.id, keep)
        return kept

    def write_cross(self, slot: Slot, layer: int, k: Array, v: Array) -> None:
        raise TypeError("a model with an encoder's keys is not split among ranks")

    def export_snapshot(self, snapshot: KVSnapshot) -> list[np.ndarray]:
        """The arrays of all ranks, in the ranks' order."""
        held: _SharedSnapshot = snapshot.states
        arrays = self.own.export_snapshot(held.own)
        for answer in self._link.ask(("export", held.number)):
            arrays += [_array(packed) for packed in answer]
        return arrays

    def import_snapshot(self, length: int, arrays: Sequence[np.ndarray]) -> KVSnapshot:
        each = len(arrays) // (self._link.followers + 1)
        made = self.own.import_snapshot(length, arrays[:each])
        held = _SharedSnapshot(made, self._snapshots)
        self._snapshots += 1
        parts = [arrays[i * each : (i + 1) * each] for i in range(1, self._link.followers + 1)]
        self._link.send([("import", held.number, length, [_packed(array) for array in part]) for part in parts])
        weakref.finalize(held, self._gone.append, held.number).atexit = False
        return KVSnapshot(made.length, made.nbytes, states=held)


class _SharedSnapshot:
    """A snapshot of which each rank holds its share, under a number."""

    def __init__(self, own: KVSnapshot, number: int) -> None:
        self.own, self.number = own, number


def _packed(array: np.ndarray) -> Message:
    return array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes()


def _array(packed: Message) -> np.ndarray:
    dtype, shape, data = packed
    return np.frombuffer(data, dtype).reshape(shape).copy()


class RankRunner(Runner, Protocol):
    """What ranks need of a backend's runner besides `Runner`."""

    settle: Any  # called when a step was read, with its segments and outputs: see `LeadingRunner`

    def poison(self, slot: Slot) -> None:
        """The slot's rows hold NaN."""

    def set_last(self, slot: Slot, token: int) -> None:
        """Make `token` the slot's next input."""


class LeadingRunner:
    """Implements `backends.base.Runner`."""

    def __init__(self, runner: RankRunner, kv: LeadingKVCache, link: Link) -> None:
        self.own, self._kv, self._link = runner, kv, link
        runner.settle = self._settle

    @property
    def span(self) -> Profiler:
        return self.own.span

    @span.setter
    def span(self, span: Profiler) -> None:
        self.own.span = span

    def run(self, segments: Sequence[Segment]) -> PendingStep:
        make_plan(segments)  # raises where a segment cannot run, before anything is sent
        self._link.send([("run", [_packed_segment(segment) for segment in segments])])
        try:
            return _LeadingStep(self.own.run(segments), self._link)
        except Exception as error:
            raise self._link.lost(error) from error

    def warm(self) -> None:
        self._link.send([("warm",)])
        try:
            self.own.warm()
        except Exception as error:
            raise self._link.lost(error) from error

    def _settle(self, segments: Sequence[Segment], tokens: Mapping[Slot, SegmentOutput]) -> None:
        for slot, token in tokens.items():
            if token.nan:
                self._link.send([("poison", slot.id)])
        roll_back_drafts(self._kv, segments, tokens, self.run)
        for segment in segments:
            if segment.draft and tokens[segment.slot].ids:
                last = tokens[segment.slot].ids[-1]
                self._link.send([("last", segment.slot.id, last)])
                self.own.set_last(segment.slot, last)


class _LeadingStep:
    """Implements `backends.base.PendingStep`."""

    def __init__(self, own: PendingStep, link: Link) -> None:
        self._own, self._link = own, link

    def read(self) -> dict[Slot, SegmentOutput]:
        try:
            with self._link.reading():
                return self._own.read()
        except Exception as error:
            raise self._link.lost(error) from error


def _packed_segment(segment: Segment) -> Any:
    """A segment as a message: its slot's number where it continues by one token, else all fields that decide what is computed."""
    if segment.continues and segment.sample is not None and segment.want is None and segment.pos is None:
        return segment.slot.id
    ids = None if segment.ids is None else np.asarray(segment.ids, np.int32).tobytes()
    want = None if segment.want is None else (segment.want.start, segment.want.stop, segment.want.step)
    embeds = None if segment.embeds is None else tuple(segment.embeds.shape)
    pos = None if segment.pos is None else _packed(np.asarray(segment.pos))
    return (
        segment.slot.id,
        ids,
        segment.sample is not None,
        segment.draft,
        want,
        embeds,
        pos,
        segment.mutual,
        segment.prompt,
    )


class Follower:
    """Repeats the leader's calls on this rank's share."""

    def __init__(self, kv: KVCache, runner: RankRunner) -> None:
        self._kv, self._runner = kv, runner
        kv.budget = 1 << 62  # the leader decides
        self._slots: dict[int, Slot] = {}
        self._snapshots: dict[int, KVSnapshot] = {}

    def obey(self, message: Message) -> Answer:
        """Carry out one message. Returns the answer of a message that has one."""
        what, *given = message
        answer: Answer = getattr(self, f"_{what}")(*given)
        return answer

    def _open(self, number: int, n: int) -> None:
        slot = self._kv.open(n)
        if slot is None or slot.id != number:
            raise RanksLost("The ranks of a model do not agree on its sequences.")
        self._slots[number] = slot

    def _grow(self, number: int, n: int) -> None:
        self._kv.grow(self._slots[number], n)

    def _close(self, number: int) -> None:
        self._kv.close(self._slots.pop(number))

    def _snapshot(self, number: int, rows: bool, name: int) -> Answer:
        self._snapshots[name] = self._kv.snapshot(self._slots[number], rows=rows)
        return None

    def _restore(self, number: int, name: int) -> Answer:
        self._kv.restore(self._slots[number], self._snapshots[name])
        return None

    def _forget(self, names: Sequence[int]) -> None:
        for name in names:
            del self._snapshots[name]

    def _copy(self, source: int, target: int, length: int) -> Answer:
        self._kv.copy(self._slots[source], self._slots[target], length)
        return None

    def _truncate(self, number: int, length: int) -> Answer:
        self._kv.truncate(self._slots[number], length)
        return None

    def _checkpoint(self, number: int) -> None:
        self._kv.checkpoint(self._slots[number])

    def _rollback(self, number: int, keep: int) -> Answer:
        self._kv.rollback(self._slots[number], keep)
        return None

    def _export(self, name: int) -> Answer:
        return [_packed(array) for array in self._kv.export_snapshot(self._snapshots[name])]

    def _import(self, name: int, length: int, arrays: Sequence[Message]) -> Answer:
        self._snapshots[name] = self._kv.import_snapshot(length, [_array(packed) for packed in arrays])
        return None

    def _run(self, segments: Sequence[Any]) -> None:
        self._runner.run([self._segment(one) for one in segments])

    def _warm(self) -> None:
        self._runner.warm()

    def _poison(self, number: int) -> None:
        self._runner.poison(self._slots[number])

    def _last(self, number: int, token: int) -> None:
        self._runner.set_last(self._slots[number], token)

    def _segment(self, packed: Any) -> Segment:
        if isinstance(packed, int):
            return Segment(self._slots[packed], sample=Sampling())
        number, ids, samples, draft, want, embeds, pos, mutual, prompt = packed
        return Segment(
            self._slots[number],
            None if ids is None else np.frombuffer(ids, np.int32).tolist(),
            None if embeds is None else np.empty(embeds, np.float32),
            pos=None if pos is None else _array(pos),
            sample=Sampling() if samples else None,
            samples=[Sampling()] * draft if draft else None,
            draft=draft,
            want=None if want is None else range(*want),
            mutual=mutual,
            prompt=prompt,
        )
