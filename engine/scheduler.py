"""The scheduler of one model: continuous batching with chunked prefill and preemption.

Before every step it decides which sequences run and what each of them computes. Sequences that decode come first, then
prompt chunks as far as the prefill budget allows. When memory runs out it evicts entries of the prefix cache, then
preempts the sequence with the longest output; a preempted sequence resumes before any waiting one is admitted.
`SlotAllocator` gives an admitted sequence its memory, `PrefillBudget` bounds the prompt tokens of a step. Nothing in here
touches a device or sends events.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from backends.base import KVSnapshot, Segment, Slot
from engine.metrics import Counters
from engine.prefix_cache import CachedPrefix, PrefixCache, PrefixMatch, SequenceMemory, thin
from engine.sequence import HostState, RequestState, Sequence
from engine.settings import Settings
from engine.speculation import Speculation

_HOST_RATE = 4e9  # bytes a second between device and host, until it is measured
_CALM_STEPS = 64  # without an eviction, after which one more sequence may run
_TAIL = 16  # a recurrent prompt keeps a border so many tokens before its end: templates often change the last few
_SCORED_CHUNK = 64  # prompt tokens a step when the host wants all their logits


@dataclass
class ScheduledSegment:
    """One sequence's part of a step."""

    sequence: Sequence
    segment: Segment
    start: int  # the slot's length before the step
    fed: int  # tokens, draft tokens not counted
    drafts: int  # draft tokens
    samples: bool


class Scheduler:
    def __init__(self, memory: SequenceMemory, prefix_cache: PrefixCache, allocator: SlotAllocator, prefill_budget: PrefillBudget, settings: Settings,
                 speculation: Speculation, host_limit: int, counters: Counters | None = None) -> None:  # fmt: skip
        self.memory = memory
        self.prefix_cache = prefix_cache
        self.allocator = allocator
        self.prefill_budget = prefill_budget
        self.speculation = speculation
        self.cap = settings.max_concurrent
        self.running: list[Sequence] = []
        self.waiting: deque[Sequence] = deque()
        self.preempted: list[Sequence] = []
        self._sharing: dict[str, RequestState] = {}  # whose prompt is kept for their further choices
        self._counters = counters or Counters()
        self.copy_rate = _HOST_RATE
        self._settings = settings
        self._quantum = settings.decode_tokens_per_seq
        self._host_limit = host_limit
        self._calm = 0

    @property
    def has_work(self) -> bool:
        return bool(self.running or self.waiting or self.preempted)

    def everyone(self) -> Iterator[Sequence]:
        yield from self.running
        yield from self.preempted
        yield from self.waiting

    # -- memory

    def make_room(self, drain: Callable[[], bool]) -> Sequence | None:
        """Room for what every running choice feeds next. `settle` reads an outstanding step (False: there is none).

        Returns a choice that cannot go on even alone, to be failed by the caller, who then calls again.
        """
        for sequence in list(self.running):
            while sequence in self.running and not self._has_room(sequence):
                if drain():
                    continue
                victim = self.victim()
                if victim is not None:
                    self.preempt(victim)
                elif not self._drop_snapshots():
                    return sequence
        return None

    def _drop_snapshots(self) -> bool:
        """The last resort of a choice that is alone: it needs the room more than others need a short way back."""
        before = self.memory.snapshot_bytes
        for other in self.everyone():
            self._drop_checkpoints(other)
        for state in list(self._sharing.values()):
            self.drop_prompt_snapshot(state)
        return self.memory.snapshot_bytes < before

    def _has_room(self, sequence: Sequence) -> bool:
        slot = sequence.own_slot
        need = len(sequence.tokens) + sequence.unread
        if slot.capacity >= need:
            return True
        return self.memory.grow(slot, self._room_for(sequence)) or self.allocator.grow(slot, need)

    def _room_for(self, sequence: Sequence) -> int:
        """Known tokens and some to come, but no more than the reply may ever have."""
        known = len(sequence.tokens) + sequence.unread
        return max(known, min(known + self._quantum, sequence.prompt_length + sequence.output.limit))

    def victim(self) -> Sequence | None:
        """The longest output, of those that had their turn. None when only one sequence runs."""
        if len(self.running) < 2:
            return None
        had_turn = [sequence for sequence in self.running if sequence.tokens_since_admission >= self._quantum]
        return max(reversed(had_turn or self.running), key=lambda sequence: sequence.sampled)

    def preempt(self, sequence: Sequence, keep: bool = True) -> None:
        """Take the choice's slot away; it resumes later with what is kept, or computes its tokens again."""
        self.running.remove(sequence)
        slot = sequence.own_slot
        if keep and slot.length and not self._cheaper_again(slot.length):
            self._save(sequence)
        self.free_slot(sequence)
        sequence.tokens_since_admission = 0
        self.preempted.append(sequence)
        self.preempted.sort(key=lambda c: (c.parent.submitted, c.index))
        self._counters.preemptions += 1
        self.cap, self._calm = max(1, len(self.running)), 0

    def _cheaper_again(self, length: int) -> bool:
        """Is computing the tokens again cheaper than moving their memory twice, or the only way?"""
        if not self.memory.movable:
            return True
        nbytes = self.memory.kv.bytes_for(length)
        if self.allocator.host_bytes + nbytes > self._host_limit:
            return True
        per_token = self.prefill_budget.seconds_per_prompt_token
        return per_token is not None and per_token * length < 2 * nbytes / self.copy_rate

    def _save(self, sequence: Sequence) -> None:
        began = time.perf_counter()
        snapshot = self.memory.kv.snapshot(sequence.own_slot)
        arrays = self.memory.kv.export_snapshot(snapshot)
        nbytes = sum(array.nbytes for array in arrays)
        sequence.host_state = HostState(snapshot.length, arrays, nbytes)
        self.allocator.host_bytes += nbytes
        if nbytes > 1 << 20:  # smaller ones measure the call, not the copy
            self.copy_rate = 0.5 * self.copy_rate + 0.5 * nbytes / max(1e-6, time.perf_counter() - began)

    def free_slot(self, sequence: Sequence) -> None:
        """Close the choice's slot and all that belongs to it."""
        self.speculation.forget(sequence)
        self._drop_checkpoints(sequence)
        if sequence.slot is not None:
            self.memory.close(sequence.slot)
            sequence.slot = None

    def retire(self, sequence: Sequence, keep: bool) -> None:
        """The choice has ended: its slot becomes an idle prefix, or is closed."""
        self.speculation.forget(sequence)
        self.drop_host_state(sequence)
        slot = sequence.slot
        if slot is None:
            return
        if keep and self._settings.prefix_reuse and 0 < slot.length <= len(sequence.key):
            sequence.slot = None
            self.prefix_cache.keep(
                CachedPrefix(sequence.key[: slot.length], sequence.adapter, slot, sequence.checkpoints)
            )
            sequence.checkpoints = []
        else:
            self.free_slot(sequence)

    def drop_host_state(self, sequence: Sequence) -> None:
        if sequence.host_state is not None:
            self.allocator.host_bytes -= sequence.host_state.nbytes
            sequence.host_state = None

    def _drop_checkpoints(self, sequence: Sequence) -> None:
        self.memory.snapshot_bytes -= sum(checkpoint.nbytes for checkpoint in sequence.checkpoints)
        sequence.checkpoints = []

    def checkpoint_prompt(self, scheduled: ScheduledSegment) -> None:
        """After a prompt chunk of a recurrent model was issued: keep its states, so that others may begin there."""
        sequence = scheduled.sequence
        if (
            not self.memory.recurrent
            or scheduled.start >= sequence.prompt_length
            or scheduled.drafts
            or sequence.pool is not None
        ):
            return
        if (
            sequence.parent.prompt_snapshot is None
            and sequence.index == 0
            and len(sequence.parent.sequences) > 1
            and self._at_last(scheduled)
        ):
            sequence.parent.prompt_snapshot = self.memory.kv.snapshot(sequence.own_slot)
            self._sharing[sequence.parent.id] = sequence.parent
            self.memory.snapshot_bytes += sequence.parent.prompt_snapshot.nbytes
        self.allocator.add_checkpoint(sequence)
        kept = thin(sequence.checkpoints, self._settings.state_snapshots)
        self.memory.snapshot_bytes -= sum(
            checkpoint.nbytes for checkpoint in sequence.checkpoints if checkpoint not in kept
        )
        sequence.checkpoints = kept

    def drop_prompt_snapshot(self, state: RequestState) -> None:
        if state.prompt_snapshot is not None:
            self.memory.snapshot_bytes -= state.prompt_snapshot.nbytes
            state.prompt_snapshot = None
            self._sharing.pop(state.id, None)

    @staticmethod
    def _at_last(scheduled: ScheduledSegment) -> bool:
        return scheduled.start + scheduled.fed == scheduled.sequence.prompt_length - 1

    # -- joining

    def finished_one(self) -> None:
        self.cap = min(self._settings.max_concurrent, self.cap + 1)

    def admit(self) -> tuple[list[Sequence], Sequence | None]:
        """Let choices join. Returns those that did, and one that does not fit even into empty memory."""
        self._calm += 1
        if self._calm % _CALM_STEPS == 0:
            self.finished_one()
        joined: list[Sequence] = []
        while len(self.running) < self.cap:
            sequence = self._next()
            if sequence is None:
                break
            if not self.allocator.place(sequence, self._room_for(sequence), self.running):
                if not self.running and self._drop_snapshots():
                    continue
                return joined, None if self.running else sequence
            (self.preempted if sequence in self.preempted else self.waiting).remove(sequence)
            if sequence.prepared is not None:
                made = sequence.prepared.result().constraint
                sequence.constraint, sequence.prepared = made and made.copy(), None
            self.running.append(sequence)
            joined.append(sequence)
        return joined, None

    def _next(self) -> Sequence | None:
        if self.preempted:
            return self.preempted[0]
        for sequence in self.waiting:
            if self._is_prepared(sequence) and self._prompt_is_computed(sequence):
                return sequence
        return None

    @staticmethod
    def _is_prepared(sequence: Sequence) -> bool:
        return sequence.prepared is None or (sequence.prepared.done() and sequence.prepared.exception() is None)

    @staticmethod
    def _prompt_is_computed(sequence: Sequence) -> bool:
        """The further choices of a request wait until the first has computed their common prompt."""
        first = sequence.parent.sequences[0]
        if sequence is first or first.ended or first.prompt_length < 2:
            return True
        if first.slot is None:
            return first.sampled > 0
        return first.slot.length >= first.prompt_length - 1

    # -- the next step

    def plan(self) -> list[ScheduledSegment]:
        """The rows of the next step: replies first, then prompts in the order in which they joined."""
        suspect = next((sequence for sequence in self.running if sequence.isolated), None)
        running = self.running if suspect is None else [suspect]
        decoding = [sequence for sequence in running if self._is_decoding(sequence)]
        goes_on = [c for c in decoding if not c.unread or c.output.count + c.unread < c.output.limit]
        drafts = self.speculation.propose(goes_on) if suspect is None else {}
        batch = [self._decode_segment(sequence, drafts.get(sequence, [])) for sequence in goes_on]
        budget = self.prefill_budget.tokens(len(batch))
        for sequence in running:
            if budget > 0 and sequence not in decoding and sequence.uncomputed > 0:
                scheduled = self._prefill_segment(sequence, budget)
                batch.append(scheduled)
                budget -= scheduled.fed
        return batch

    def _is_decoding(self, sequence: Sequence) -> bool:
        return sequence.decoding and sequence.uncomputed <= self._settings.max_draft + 1

    def _decode_segment(self, sequence: Sequence, drafts: list[int]) -> ScheduledSegment:
        slot = sequence.own_slot
        masks: list[np.ndarray | None] = [None] * (len(drafts) + 1)
        if sequence.constraint is not None:
            drafts, masks = sequence.constraint.masks(drafts)
        at, choose = sequence.sampled, sequence.sampler.at
        ids = None if sequence.unread else sequence.tokens[slot.length :] + drafts
        fed = 1 if ids is None else len(ids) - len(drafts)
        segment = Segment(slot, ids, sample=choose(at + len(drafts), drafts, masks[-1]), draft=len(drafts))
        if drafts:
            segment.samples = [choose(at + i, drafts[:i], masks[i]) for i in range(len(drafts))]
        if sequence.frames is not None and ids is not None:
            segment.ids = None
            if fed > 1 or sequence.framed_slot != slot.id:
                segment.codes = sequence.codes(slot.length, slot.length + fed)
        self._place(sequence, segment)
        return ScheduledSegment(sequence, segment, slot.length, fed, len(drafts), samples=True)

    @staticmethod
    def _place(sequence: Sequence, segment: Segment) -> None:
        """Where its tokens lie on several axes, and what is added to them."""
        start, stop = segment.slot.length, segment.slot.length + len(segment)
        segment.pos, segment.add = sequence.positions(start, stop), sequence.track(start, stop)

    def _prefill_segment(self, sequence: Sequence, budget: int) -> ScheduledSegment:
        slot = sequence.own_slot
        start, end = slot.length, len(sequence.tokens)
        scored = sequence.parent.request.prompt_logprobs and start < sequence.prompt_length
        stop = min(end, start + (min(budget, _SCORED_CHUNK) if scored else budget))
        if self.memory.recurrent:
            stop = min([stop, *(b for b in self._checkpoint_positions(sequence) if b > start)])
        ids, embeds = sequence.tokens[start:stop], None
        if sequence.embedded or sequence.frames is not None:
            stop, scheduled = sequence.same_kind(start, stop)
            ids, embeds = (
                ids[: stop - start],
                None if scheduled is None else sequence.parent.request.embeds[scheduled : scheduled + stop - start],
            )
        codes = None if embeds is not None else sequence.codes(start, stop)
        segment = Segment(slot, ids if embeds is None and codes is None else None, embeds, codes)
        self._place(sequence, segment)
        if scored:
            segment.want = range(min(stop, sequence.prompt_length - 1) - start) or None
        if sequence.pool is not None:
            segment.hidden = sequence.pool.wants(stop)
        elif stop == end:
            mask = sequence.constraint.masks([])[1][0] if sequence.constraint is not None else None
            segment.sample = sequence.sampler.at(sequence.sampled, (), mask)
        return ScheduledSegment(sequence, segment, start, stop - start, 0, samples=segment.sample is not None)

    @staticmethod
    def _checkpoint_positions(sequence: Sequence) -> list[int]:
        checkpoints = [sequence.prompt_length - _TAIL]
        if len(sequence.parent.sequences) > 1:
            checkpoints.append(sequence.prompt_length - 1)
        return checkpoints


class SlotAllocator:
    """`place` either gives the choice a slot with room for `n` tokens or changes nothing."""

    def __init__(
        self, memory: SequenceMemory, prefix_cache: PrefixCache, reclaim: Callable[[], bool], reuse: bool
    ) -> None:
        self._memory = memory
        self._prefix_cache = prefix_cache
        self._reclaim = reclaim  # idle memory of other models
        self._reuse = reuse
        self.host_bytes = 0  # of preempted sequences

    def place(self, sequence: Sequence, n: int, running: list[Sequence]) -> bool:
        if sequence.host_state is not None:
            return self._restore(sequence, n)
        if sequence.parent.prompt_snapshot is not None and sequence.index:
            return self._fill(sequence, n, sequence.parent.prompt_snapshot)
        match = self._match(sequence, running)
        stored = sequence.prepared.result().stored if sequence.prepared is not None else None
        if stored is not None and stored.shared > (match.length if match else 0):
            snapshot = self._memory.kv.import_snapshot(stored.length, stored.arrays)
            if self._fill(sequence, max(n, stored.length), snapshot):
                self._cut(sequence, stored.shared)
                return True
            match = self._match(sequence, running)  # making room may have cost the one that was found
        if match is not None and self._reuse_match(sequence, n, match):
            return True
        if match is not None and running:
            return False
        sequence.slot = self.room(n)
        return sequence.slot is not None

    def room(self, n: int, spare: CachedPrefix | None = None) -> Slot | None:
        """A fresh slot, at the cost of idle prefixes where it must be."""
        while (slot := self._memory.open(n)) is None:
            if not self._prefix_cache.evict_oldest(spare) and not self._reclaim():
                return None
        return slot

    def grow(self, slot: Slot, n: int) -> bool:
        while not self._memory.grow(slot, n):
            if not self._prefix_cache.evict_oldest() and not self._reclaim():
                return False
        return True

    def _match(self, sequence: Sequence, running: list[Sequence]) -> PrefixMatch | None:
        if not self._reuse or sequence.parent.request.computes_all:
            return None
        return self._prefix_cache.match(sequence.key, sequence.adapter, running)

    def _restore(self, sequence: Sequence, n: int) -> bool:
        kept = sequence.host_state
        assert kept is not None
        if not self._fill(sequence, n, self._memory.kv.import_snapshot(kept.length, kept.arrays), checkpoint=False):
            return False
        self.host_bytes -= kept.nbytes
        sequence.host_state = None
        return True

    def _fill(self, sequence: Sequence, n: int, snapshot: KVSnapshot, checkpoint: bool = True) -> bool:
        slot = self.room(n)
        if slot is None:
            return False
        self._memory.kv.restore(slot, snapshot)
        sequence.slot = slot
        if checkpoint:
            self._count_hit(sequence)
            self.add_checkpoint(sequence)
        return True

    def _cut(self, sequence: Sequence, shared: int) -> None:
        """A stored prefix may be longer than what it shares with the prompt, where the model only attends."""
        if sequence.slot is not None and sequence.slot.length > shared:
            self._memory.kv.truncate(sequence.slot, shared)

    def _reuse_match(self, sequence: Sequence, n: int, match: PrefixMatch) -> bool:
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
                if not self._continue_idle(sequence, n, match, idle):
                    return False
                slot = idle.slot
        sequence.slot = slot
        self._count_hit(sequence)
        if self._memory.recurrent and not any(b.length == slot.length for b in sequence.checkpoints):
            self.add_checkpoint(sequence)
        return True

    def _copy_idle(self, n: int, match: PrefixMatch, idle: CachedPrefix) -> Slot | None:
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
        self._prefix_cache.touch(idle)
        return slot

    def _continue_idle(self, sequence: Sequence, n: int, match: PrefixMatch, idle: CachedPrefix) -> bool:
        self._prefix_cache.take(idle)
        if not self.grow(idle.slot, n):
            self._prefix_cache.keep(idle)
            return False
        kv = self._memory.kv
        if match.length < idle.slot.length:
            if match.state is not None:
                kv.restore(idle.slot, match.state)
            else:
                kv.truncate(idle.slot, match.length)
        sequence.checkpoints = [checkpoint for checkpoint in idle.checkpoints if checkpoint.length <= match.length]
        lost = sum(checkpoint.nbytes for checkpoint in idle.checkpoints) - sum(
            checkpoint.nbytes for checkpoint in sequence.checkpoints
        )
        self._memory.snapshot_bytes -= lost
        return True

    def add_checkpoint(self, sequence: Sequence) -> None:
        """Keep the recurrent states of this moment."""
        if self._memory.recurrent and self._reuse and sequence.slot is not None and sequence.slot.length:
            checkpoint = self._memory.kv.snapshot(sequence.slot, rows=False)
            sequence.checkpoints.append(checkpoint)
            self._memory.snapshot_bytes += checkpoint.nbytes

    def _count_hit(self, sequence: Sequence) -> None:
        self._prefix_cache.count_hit(sequence.own_slot.length)


_MARGIN = 0.85  # of the allowed extra time: later chunks of a prompt cost more than the ones measured
_IDLE_SECONDS = 0.5  # with no reply running: so long may a newcomer wait for a chunk to end
_CALM = 32  # chunks without trouble after which a cap is lifted again
_LEAST = 1  # prompt tokens in a step, however slow: a prompt must end some day


class PrefillBudget:
    """Learns from every step; answers before every step."""

    def __init__(self, most: int, factor: float) -> None:
        self._most = most
        self._extra = (factor - 1.0) * _MARGIN
        self._plain: dict[int, float] = {}
        self._per_token: float | None = None
        self._cap = most  # lowered where memory ran out
        self._calm = 0  # chunks since then

    def tokens(self, replies: int) -> int:
        """Prompt tokens that the next step may carry beside `replies` running replies; 0: measure a plain step first."""
        if not replies:
            if not self._per_token:
                return self._cap
            return max(min(self._cap, int(_IDLE_SECONDS / self._per_token)), min(self._cap, 64))
        plain = self._plain.get(replies.bit_length())
        if plain is None:  # that of fewer replies would make each prompt token look as dear as the further replies
            return 0
        if self._per_token is None:
            return _LEAST
        if not self._per_token:
            return self._cap
        return max(_LEAST, min(self._cap, int(self._extra * plain / self._per_token)))

    def record(self, seconds: float, replies: int, prompt: int) -> None:
        """A step with `replies` rows of replies and `prompt` prompt tokens took `seconds`."""
        if prompt:
            self._calm += 1
            if self._calm % _CALM == 0:
                self._cap = min(self._most, self._cap * 2)
            added = max(0.0, seconds - (self._usual(replies) or 0.0)) / prompt if replies else seconds / prompt
            # a rise is believed at once: one chunk too long is one gap too long
            old = self._per_token
            self._per_token = added if old is None or added > old else 0.7 * old + 0.3 * added
        elif replies:
            bucket = replies.bit_length()
            old = self._plain.get(bucket)
            self._plain[bucket] = seconds if old is None else 0.8 * old + 0.2 * seconds

    def shrink(self) -> bool:
        """Memory ran out in a step with a chunk: smaller ones from now on. False when they cannot get smaller."""
        if self._cap <= _LEAST:
            return False
        self._cap, self._calm = max(_LEAST, self._cap // 2), 0
        return True

    @property
    def seconds_per_prompt_token(self) -> float | None:
        return self._per_token

    def _usual(self, replies: int) -> float | None:
        """A plain step with as many replies, or the nearest smaller number that was measured."""
        bucket = replies.bit_length()
        below = [b for b in self._plain if b <= bucket]
        return self._plain[max(below)] if below else None
