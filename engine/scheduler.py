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
from engine.prefix_cache import CachedPrefix, PrefixCache, PrefixMatch, SequenceMemory, thin_checkpoints
from engine.sequence import HostState, RequestState, Sequence
from engine.speculation import Speculation
from engine.types import Settings

_HOST_RATE = 4e9  # bytes a second between device and host, until it is measured
_CALM_STEPS = 64  # steps without preemption after which one more sequence may run
_TAIL = 16  # tokens before the end of a prompt at which a state checkpoint is kept: templates often change the last few
_NEAR = 32  # tokens between two checkpoints that are not worth a step of their own
_SCORED_CHUNK = 64  # prompt tokens a step when the host needs all their logits


@dataclass
class ScheduledSegment:
    """One sequence's part of a step: the segment that the backend computes, and what it is for."""

    sequence: Sequence
    segment: Segment
    start: int  # the slot's length before the step
    fed: int  # tokens, draft tokens not counted
    drafts: int  # draft tokens
    samples: bool  # whether it ends with sampling


class Scheduler:
    """Decides which sequences run, and plans each step."""

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
        self._sharing: dict[
            str, RequestState
        ] = {}  # requests whose prompt's snapshot is kept for their further sequences
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
        """Make room for what every running sequence computes next, by preemption where needed. `drain` reads the step in
        flight (False: there is none).

        Returns a sequence that does not fit even alone; the caller fails it and calls again.
        """
        for sequence in list(self.running):
            if sequence.outgrown:
                drain()
                self._restart_long(sequence)
            while sequence in self.running and not self._has_room(sequence):
                if drain():
                    continue
                victim = self.victim()
                if victim is not None:
                    self.preempt(victim)
                elif not self._drop_snapshots():
                    return sequence
        return None

    def _restart_long(self, sequence: Sequence) -> None:
        """Compute a text again that has outgrown the length up to which its model has one rope, with the other."""
        if sequence in self.running:
            sequence.long, cap = True, self.cap
            self.preempt(sequence, keep=False)
            self.cap = cap  # memory has not run out

    def _drop_snapshots(self) -> bool:
        """The last resort of a sequence that runs alone: free all checkpoints and prompt snapshots."""
        before = self.memory.snapshot_bytes
        for other in self.everyone():
            self._drop_checkpoints(other)
        for state in list(self._sharing.values()):
            self.drop_prompt_snapshot(state)
        return self.memory.snapshot_bytes < before

    def _has_room(self, sequence: Sequence) -> bool:
        slot = sequence.own_slot
        need = self.memory.rows(len(sequence.tokens) + sequence.unread, sequence.prompt_length)
        if slot.capacity >= need:
            return True
        return self.memory.grow(slot, self._room_for(sequence)) or self.allocator.grow(slot, need)

    def _room_for(self, sequence: Sequence) -> int:
        """Tokens to reserve: the known ones and some to come, but no more than the reply can have."""
        known = len(sequence.tokens) + sequence.unread
        some = max(known, min(known + self._quantum, sequence.prompt_length + sequence.output.limit))
        return self.memory.rows(some, sequence.prompt_length)

    def victim(self) -> Sequence | None:
        """The sequence to preempt: the longest output of those that decoded a quantum. None when only one runs."""
        if len(self.running) < 2:
            return None
        had_turn = [sequence for sequence in self.running if sequence.tokens_since_admission >= self._quantum]
        return max(reversed(had_turn or self.running), key=lambda sequence: sequence.sampled)

    def preempt(self, sequence: Sequence, keep: bool = True) -> None:
        """Preempt: free the sequence's slot. It resumes later from host memory (`keep`), or recomputes its tokens."""
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
        """Whether to recompute instead of swapping to the host: it is faster, or swapping is impossible."""
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
        if nbytes > 1 << 20:  # smaller copies measure the call's overhead
            self.copy_rate = 0.5 * self.copy_rate + 0.5 * nbytes / max(1e-6, time.perf_counter() - began)

    def free_slot(self, sequence: Sequence) -> None:
        """Close the sequence's slot with its checkpoints and its draft state."""
        self.speculation.drop(sequence)
        self._drop_checkpoints(sequence)
        if sequence.slot is not None:
            self.memory.close(sequence.slot)
            sequence.slot = None

    def retire(self, sequence: Sequence, keep: bool) -> None:
        """The sequence has ended: its slot enters the prefix cache (`keep`) or is closed."""
        self.speculation.drop(sequence)
        self.drop_host_state(sequence)
        slot = sequence.slot
        if slot is None:
            return
        if keep and self._settings.prefix_reuse and 0 < slot.length <= len(sequence.key):
            if slot.dropped:  # another prompt would have its tokens see what these did not
                self.memory.kv.truncate(slot, sequence.prompt_length)
            sequence.slot = None
            self.prefix_cache.insert(
                CachedPrefix(sequence.key[: slot.length], sequence.variant, slot, sequence.checkpoints)
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
        """Keep a state checkpoint after a prompt chunk was issued, so that other sequences can begin there."""
        sequence = scheduled.sequence
        if (
            not self.memory.may_forget(sequence.own_slot)
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
        kept = thin_checkpoints(sequence.checkpoints, self._settings.state_snapshots)
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

    # -- admission

    def finished_one(self) -> None:
        self.cap = min(self._settings.max_concurrent, self.cap + 1)

    def admit(self) -> tuple[list[Sequence], Sequence | None]:
        """Admit preempted and waiting sequences. Returns those that joined, and one that does not fit into empty memory."""
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
        """The further sequences of a request wait until the first has computed their common prompt."""
        first = sequence.parent.sequences[0]
        if sequence is first or first.ended or first.prompt_length < 2:
            return True
        if first.slot is None:
            return first.sampled > 0
        return first.slot.length >= first.prompt_length - 1

    # -- the next step

    def plan(self) -> list[ScheduledSegment]:
        """The batch of the next step: decoding sequences first, then prompt chunks in the order of admission."""
        suspect = next((sequence for sequence in self.running if sequence.isolated), None)
        running = self.running if suspect is None else [suspect]
        decoding = [sequence for sequence in running if self._is_decoding(sequence)]
        continuing = [c for c in decoding if not c.unread or c.output.count + c.unread < c.output.limit]
        drafts = self.speculation.propose(continuing) if suspect is None else {}
        batch = [self._decode_segment(sequence, drafts.get(sequence, [])) for sequence in continuing]
        budget = self.prefill_budget.tokens(len(batch))
        for sequence in running:
            if budget > 0 and sequence not in decoding and sequence.uncomputed > 0:
                scheduled = self._prefill_segment(sequence, budget)
                batch.append(scheduled)
                budget -= scheduled.fed
        return batch

    def _is_decoding(self, sequence: Sequence) -> bool:
        several = 0 if self.memory.drops else self._settings.max_draft
        return sequence.decoding and sequence.uncomputed <= several + 1

    def _decode_segment(self, sequence: Sequence, drafts: list[int]) -> ScheduledSegment:
        slot = sequence.own_slot
        masks: list[np.ndarray | None] = [None] * (len(drafts) + 1)
        if sequence.constraint is not None:
            drafts, masks = sequence.constraint.masks(drafts, sequence.tokens_left)
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
        segment.hidden = self.speculation.reads_hidden(sequence)
        self._place(sequence, segment)
        return ScheduledSegment(sequence, segment, slot.length, fed, len(drafts), samples=True)

    @staticmethod
    def _place(sequence: Sequence, segment: Segment) -> None:
        """Set the adapter, the prompt's length, multi-axis positions, and what is added to the inputs."""
        segment.adapter, segment.prompt = sequence.parent.request.adapter, sequence.prompt_length
        start, stop = segment.slot.length, segment.slot.length + len(segment)
        segment.pos, segment.add = sequence.positions(start, stop), sequence.track(start, stop)

    def _prefill_segment(self, sequence: Sequence, budget: int) -> ScheduledSegment:
        slot = sequence.own_slot
        start, end = slot.length, len(sequence.tokens)
        scored = sequence.parent.request.prompt_logprobs and start < sequence.prompt_length
        stop = min(end, start + (min(budget, _SCORED_CHUNK) if scored else budget))
        stop = min(stop, start + self.memory.step_limit(slot, sequence.prompt_length))
        if self.memory.may_forget(slot):
            stop = min([stop, *(b for b in self._checkpoint_positions(sequence) if b > start)])
        mutual = sequence.mutual_pictures and start in sequence.embedded
        if mutual:  # a picture is computed in one piece, however long the step should be
            stop = end
        ids, embeds = sequence.tokens[start:stop], None
        if sequence.embedded or sequence.frames is not None:
            stop, scheduled = sequence.same_kind(start, stop)
            ids, embeds = (
                ids[: stop - start],
                None if scheduled is None else sequence.parent.request.embeds[scheduled : scheduled + stop - start],
            )
        codes = None if embeds is not None else sequence.codes(start, stop)
        segment = Segment(slot, ids if embeds is None and codes is None else None, embeds, codes, mutual=mutual)
        self._place(sequence, segment)
        if scored:
            segment.want = range(min(stop, sequence.prompt_length - 1) - start) or None
        if sequence.pool is not None:
            segment.hidden = sequence.pool.wants(stop)
        elif stop == end:
            mask = (
                sequence.constraint.masks([], sequence.tokens_left)[1][0] if sequence.constraint is not None else None
            )
            segment.sample = sequence.sampler.at(sequence.sampled, (), mask)
        segment.hidden = segment.hidden or self.speculation.reads_hidden(sequence)
        return ScheduledSegment(sequence, segment, start, stop - start, 0, samples=segment.sample is not None)

    @staticmethod
    def _checkpoint_positions(sequence: Sequence) -> list[int]:
        tail = sequence.prompt_length - _TAIL
        # not where a cached prefix ends a little before: a stop there would be one more step through all weights for a few tokens
        checkpoints = [] if any(0 <= tail - one.length <= _NEAR for one in sequence.checkpoints) else [tail]
        if len(sequence.parent.sequences) > 1:
            checkpoints.append(sequence.prompt_length - 1)
        return checkpoints


class SlotAllocator:
    """Gives an admitted sequence its slot: continued from the prefix cache, copied, restored from the host, or new.

    `place` either gives the sequence a slot with room for `n` tokens or changes nothing.
    """

    def __init__(
        self, memory: SequenceMemory, prefix_cache: PrefixCache, reclaim: Callable[[], bool], reuse: bool
    ) -> None:
        self._memory = memory
        self._prefix_cache = prefix_cache
        self._reclaim = reclaim  # evicts a cached prefix of another model
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
            if self._fill(sequence, max(n, stored.length), snapshot, stored.shared):
                return True
            match = self._match(sequence, running)  # making room may have evicted the match
        if match is not None and self._reuse_match(sequence, n, match):
            return True
        if match is not None and running:
            return False
        sequence.slot = self.room(n)
        return sequence.slot is not None

    def room(self, n: int, spare: CachedPrefix | None = None) -> Slot | None:
        """A new slot; cached prefixes are evicted where needed."""
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
        return self._prefix_cache.match(sequence.key, sequence.variant, running)

    def _restore(self, sequence: Sequence, n: int) -> bool:
        saved = sequence.host_state
        assert saved is not None
        if not self._fill(sequence, n, self._memory.kv.import_snapshot(saved.length, saved.arrays), checkpoint=False):
            return False
        self.host_bytes -= saved.nbytes
        sequence.host_state = None
        return True

    def _fill(
        self, sequence: Sequence, n: int, snapshot: KVSnapshot, shared: int | None = None, checkpoint: bool = True
    ) -> bool:
        """Restore a snapshot into a new slot; `shared`: truncated to so many tokens."""
        slot, kv = self.room(n), self._memory.kv
        if slot is None:
            return False
        kv.restore(slot, snapshot)
        if shared is not None and shared < slot.length:
            if not kv.can_truncate(slot, shared):
                self._memory.close(slot)
                return False
            kv.truncate(slot, shared)
        sequence.slot = slot
        if checkpoint:
            self._prefix_cache.count_hit(sequence.own_slot.length)
            self.add_checkpoint(sequence)
        return True

    def _reuse_match(self, sequence: Sequence, n: int, match: PrefixMatch) -> bool:
        entry = match.cached
        if entry is None:
            slot = self.room(n)
            if slot is None:
                return False
            assert match.running is not None
            self._memory.kv.copy(match.running, slot, match.length)
        else:
            slot = None if match.takes_all else self._copy_cached(n, match, entry)
            if slot is None:
                if not self._continue_cached(sequence, n, match, entry):
                    return False
                slot = entry.slot
        sequence.slot = slot
        self._prefix_cache.count_hit(sequence.own_slot.length)
        if not any(b.length == slot.length for b in sequence.checkpoints):
            self.add_checkpoint(sequence)
        return True

    def _copy_cached(self, n: int, match: PrefixMatch, entry: CachedPrefix) -> Slot | None:
        """A new slot with a copy of the matched part, where memory has room for both."""
        slot = self._memory.open(n)
        if slot is None:
            return None
        kv = self._memory.kv
        if match.checkpoint is None:
            kv.copy(entry.slot, slot, match.length)
        else:
            # only a slot that *is* at the checkpoint can be copied: rewind it, copy, and restore it
            now = kv.snapshot(entry.slot)
            kv.restore(entry.slot, match.checkpoint)
            whole = kv.snapshot(entry.slot)
            kv.restore(entry.slot, now)
            kv.restore(slot, whole)
        self._prefix_cache.touch(entry)
        return slot

    def _continue_cached(self, sequence: Sequence, n: int, match: PrefixMatch, entry: CachedPrefix) -> bool:
        self._prefix_cache.take(entry)
        if not self.grow(entry.slot, n):
            self._prefix_cache.insert(entry)
            return False
        kv = self._memory.kv
        if match.length < entry.slot.length:
            if match.checkpoint is not None:
                kv.restore(entry.slot, match.checkpoint)
            else:
                kv.truncate(entry.slot, match.length)
        sequence.checkpoints = [checkpoint for checkpoint in entry.checkpoints if checkpoint.length <= match.length]
        lost = sum(checkpoint.nbytes for checkpoint in entry.checkpoints) - sum(
            checkpoint.nbytes for checkpoint in sequence.checkpoints
        )
        self._memory.snapshot_bytes -= lost
        return True

    def add_checkpoint(self, sequence: Sequence) -> None:
        """Keep a state checkpoint where the sequence may need one."""
        if (
            self._reuse
            and sequence.slot is not None
            and sequence.slot.length
            and self._memory.may_forget(sequence.slot)
        ):
            checkpoint = self._memory.kv.snapshot(sequence.slot, rows=False)
            sequence.checkpoints.append(checkpoint)
            self._memory.snapshot_bytes += checkpoint.nbytes


_MARGIN = 0.85  # of the allowed extra time: later chunks of a prompt cost more than the ones measured
_IDLE_SECONDS = 0.5  # longest chunk while nothing decodes: a new request waits for its end
_CALM = 32  # chunks without running out of memory after which the cap is doubled
_LEAST = 1  # prompt tokens in a step, however slow, so that every prompt makes progress


class PrefillBudget:
    """The chunked-prefill budget: how many prompt tokens the next step may carry, measured from past steps.

    A step with decoding sequences and a chunk must not take longer than `factor` times one without the chunk. Two things
    are measured: the time of a plain decode step (by the number of sequences, in powers of two), and the time that one
    prompt token adds.
    """

    def __init__(self, most: int, factor: float) -> None:
        self._most = most
        self._extra = (factor - 1.0) * _MARGIN
        self._plain: dict[int, float] = {}
        self._per_token: float | None = None
        self._cap = most  # lowered where memory ran out
        self._calm = 0  # chunks since then

    def tokens(self, replies: int) -> int:
        """Prompt tokens for the next step beside `replies` decoding sequences; 0: measure a plain step first."""
        if not replies:
            if not self._per_token:
                return self._cap
            return max(min(self._cap, int(_IDLE_SECONDS / self._per_token)), min(self._cap, 64))
        plain = self._plain.get(replies.bit_length())
        if plain is None:  # with that of fewer sequences, a prompt token would be charged for the further sequences
            return 0
        if self._per_token is None:
            return _LEAST
        if not self._per_token:
            return self._cap
        return max(_LEAST, min(self._cap, int(self._extra * plain / self._per_token)))

    def record(self, seconds: float, replies: int, prompt: int) -> None:
        """Record that a step with `replies` decoding sequences and `prompt` prompt tokens took `seconds`."""
        if prompt:
            self._calm += 1
            if self._calm % _CALM == 0:
                self._cap = min(self._most, self._cap * 2)
            added = max(0.0, seconds - (self._plain_seconds(replies) or 0.0)) / prompt if replies else seconds / prompt
            # a rise counts at once: one chunk too long is one gap too long
            old = self._per_token
            self._per_token = added if old is None or added > old else 0.7 * old + 0.3 * added
        elif replies:
            bucket = replies.bit_length()
            old = self._plain.get(bucket)
            self._plain[bucket] = seconds if old is None else 0.8 * old + 0.2 * seconds

    def shrink(self) -> bool:
        """Halve the cap after memory ran out in a step with a chunk. False when it cannot get smaller."""
        if self._cap <= _LEAST:
            return False
        self._cap, self._calm = max(_LEAST, self._cap // 2), 0
        return True

    @property
    def seconds_per_prompt_token(self) -> float | None:
        return self._per_token

    def _plain_seconds(self, replies: int) -> float | None:
        """Seconds of a plain step with as many sequences, or with the nearest smaller number that was measured."""
        bucket = replies.bit_length()
        below = [b for b in self._plain if b <= bucket]
        return self._plain[max(below)] if below else None
