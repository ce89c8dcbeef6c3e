"""Speculative decoding with a head that reads the model's hidden states: a checkpoint's own for multi-token prediction
(`engine/models/mtp.py`), or an EAGLE-3 head (`engine/models/eagle3.py`).

The head reads the model's hidden states, which come to the host with each step, and keeps keys and values of every position in a
KV cache of its own: a `_Track` is one sequence's part of it. Row p joins the hidden state at position p and the token after it. A
draft begins with the rows that are not computed yet, the last of which gives the first draft token; further ones come from the
head's own hidden states, and their rows are dropped again. Drafts are verified as all others are, so they change no token.
"""

from __future__ import annotations

import logging
import time
from collections import abc
from dataclasses import dataclass, field, replace

import numpy as np

from backends.base import Sampling, Segment, Slot
from engine.draft_policy import DraftPolicy
from engine.loaded import DraftHead, Loaded
from engine.prefix_cache import SequenceMemory, common_prefix
from engine.sequence import Sequence
from engine.speculation import Speculation, room_for_draft_tokens

log = logging.getLogger("grus.engine")

_LONGEST = 5  # draft tokens
_FEW = 8  # rows that are computed together with the first draft token
_MOST_WAITING = 64  # hidden states that wait for a draft
_KEPT = 16  # tracks of sequences that have ended or were preempted
_FAULTS = 3  # after which the head is not asked again


@dataclass(eq=False)
class _Track:
    """A sequence in the head's KV cache."""

    slot: Slot
    start: int  # position of the first row: where the sequence began in a cached prefix
    waiting: list[np.ndarray] = field(default_factory=list)  # hidden states of the positions behind the rows
    key: list[int] = field(default_factory=list)  # of a track whose sequence has gone: its tokens
    variant: str | None = None

    @property
    def rows_end(self) -> int:
        return self.start + self.slot.length

    @property
    def end(self) -> int:
        """Behind the last position whose hidden state is known."""
        return self.rows_end + sum(map(len, self.waiting))


class DraftHeadSpeculation(Speculation):
    """Speculative decoding with a checkpoint's own head. Its faults cost speed, never a request."""

    def __init__(self, head: DraftHead, most: int, clock: abc.Callable[[], float] = time.perf_counter) -> None:
        self._head = head
        self._most = min(most, _LONGEST)
        self._clock = clock
        self.memory = SequenceMemory(head.kv)
        self.policy: DraftPolicy[Sequence] = DraftPolicy(self._most)
        self._tracks: dict[Sequence, _Track] = {}
        self._kept: list[_Track] = []  # least recently used first
        self._batch = 0  # sequences of the last plan
        self._predicted: set[Sequence] = set()
        self._faults = 0

    @property
    def held_bytes(self) -> int:
        return self.memory.used

    def warm(self, model: Loaded) -> None:
        slot, own = model.kv.open(8), self._open(8)
        try:
            if slot is not None and own is not None:
                self._warm(model, slot, own)
        except Exception as error:
            self._failed(error)
        finally:
            if slot is not None:
                model.kv.close(slot)
            if own is not None:
                self.memory.close(own)

    def _warm(self, model: Loaded, slot: Slot, own: Slot) -> None:
        head, plain = self._head, Sampling()
        prompt = Segment(slot, [0, 0, 0], sample=plain, hidden=True)
        hidden = model.runner.run([prompt]).read()[slot].hidden
        assert hidden is not None
        head.prefill.run([Segment(own, [0], add=head.beside(hidden[:1]))]).read()
        first = Segment(own, [0, 0], add=head.beside(hidden[1:]), sample=plain, hidden=True)
        made = head.runner.run([first]).read()[own].hidden
        assert made is not None
        head.runner.run([Segment(own, [0], add=head.own(made[-1:]), sample=plain, hidden=True)]).read()
        draft = Segment(slot, [0, 0, 0], sample=plain, samples=[plain, plain], draft=2, hidden=True)
        model.runner.run([draft]).read()

    def reads_hidden(self, sequence: Sequence) -> bool:
        return sequence.speculates and sequence.pool is None and self._faults < _FAULTS

    # -- hidden states

    def observe(self, sequence: Sequence, start: int, hidden: np.ndarray) -> None:
        """A step has computed `hidden` at the positions from `start` on; those of rejected draft tokens are left out."""
        if not self.reads_hidden(sequence):
            return
        try:
            self._observe(sequence, start, hidden[: sequence.own_slot.length - start])
        except Exception as error:
            self._failed(error)

    def _observe(self, sequence: Sequence, start: int, hidden: np.ndarray) -> None:
        track = self._tracks.get(sequence)
        if track is not None and track.end != start:  # it was preempted, or a step came without its hidden states
            self.drop(sequence)
            track = None
        if track is None:
            track = self._begin(sequence, start)
            if track is None:
                return
        track.waiting.append(hidden)
        if track.end - track.rows_end > _MOST_WAITING:
            if self.policy.drafts:
                self._store(sequence, track, min(track.end, len(sequence.tokens) - 1))
            else:
                self._begin_later(track)

    def _begin(self, sequence: Sequence, start: int) -> _Track | None:
        track = self._matching(sequence, start) if start else None
        if track is None:
            slot = self._open(1)
            track = None if slot is None else _Track(slot, start)
        if track is not None:
            self._tracks[sequence] = track
        return track

    def _matching(self, sequence: Sequence, start: int) -> _Track | None:
        """What is known of the first `start` tokens from a sequence that began alike. The row before `start` may have been joined
        with another next token."""

        def begins_alike(track: _Track, key: list[int], variant: str | None) -> bool:
            reaches = variant == sequence.variant and track.start < start <= track.end
            return reaches and common_prefix(key, sequence.key) >= start

        for track in reversed(self._kept):
            if begins_alike(track, track.key, track.variant):
                self._kept.remove(track)
                self._cut(track, start)
                return track
        for other, track in self._tracks.items():
            if begins_alike(track, other.key, other.variant):
                slot = self._open(max(1, track.slot.length))
                if slot is None:
                    return None
                self.memory.kv.copy(track.slot, slot, track.slot.length)
                copied = _Track(slot, track.start, list(track.waiting))
                self._cut(copied, start)
                return copied
        return None

    def _cut(self, track: _Track, end: int) -> None:
        """Forget what lies from position `end` on."""
        if end <= track.rows_end:
            track.waiting = []
            self.memory.kv.truncate(track.slot, end - track.start)
        elif track.waiting:
            track.waiting = [np.concatenate(track.waiting)[: end - track.rows_end]]
        track.key = []

    def _open(self, n: int) -> Slot | None:
        while (slot := self.memory.open(n)) is None and self._kept:
            self.memory.close(self._kept.pop(0).slot)
        return slot

    def _grow(self, track: _Track, n: int) -> bool:
        while not self.memory.grow(track.slot, n):
            if not self._kept:
                return False
            self.memory.close(self._kept.pop(0).slot)
        return True

    def _store(self, sequence: Sequence, track: _Track, end: int) -> None:
        """Compute the rows up to position `end` without drafting."""
        while track.rows_end < end:
            count = min(end - track.rows_end, 512)
            if not self._grow(track, track.slot.length + count):
                self.drop(sequence)
                return
            self._head.prefill.run([self._segment(sequence, track, count)]).read()

    def _begin_later(self, track: _Track) -> None:
        """Drop the rows, and the hidden states but for the last: where drafts do not pay, rows for them are a loss. A draft that is
        tried nevertheless sees less of the text."""
        end, last = track.end, np.concatenate(track.waiting)[-_FEW:]
        self.memory.kv.truncate(track.slot, 0)
        track.start, track.waiting = end - len(last), [last.copy()]

    def _segment(self, sequence: Sequence, track: _Track, count: int) -> Segment:
        """The next `count` rows, whose hidden states wait no longer."""
        first = track.rows_end
        hidden = track.waiting[0] if len(track.waiting) == 1 else np.concatenate(track.waiting)
        track.waiting = [hidden[count:]] if len(hidden) > count else []
        ids = sequence.tokens[first + 1 : first + 1 + count]
        segment = Segment(track.slot, ids, add=self._head.beside(hidden[:count]))
        segment.pos = self._positions(sequence, track, first, count)
        return segment

    @staticmethod
    def _positions(sequence: Sequence, track: _Track, first: int, count: int) -> np.ndarray | None:
        found = sequence.positions(first, first + count)
        return np.arange(first, first + count, dtype=np.int32) if found is None and track.start else found

    # -- drafts

    def propose(self, sequences: abc.Sequence[Sequence]) -> dict[Sequence, list[int]]:
        predicted = super().propose(sequences)
        self._predicted, self._batch = set(predicted), len(sequences)
        if self._faults >= _FAULTS:
            return predicted
        ready = [sequence for sequence in sequences if sequence not in predicted and self._is_ready(sequence)]
        room = {sequence: room_for_draft_tokens(sequence) if sequence in ready else 0 for sequence in sequences}
        chosen = self.policy.choose(room)
        try:
            return predicted | self._draft({sequence: n for sequence, n in chosen.items() if sequence in ready})
        except Exception as error:
            self._failed(error)
            return predicted

    def _is_ready(self, sequence: Sequence) -> bool:
        """Whether the hidden states up to the last token are known."""
        track = self._tracks.get(sequence)
        return track is not None and not sequence.unread and track.rows_end < track.end == len(sequence.tokens) - 1

    def _draft(self, lengths: abc.Mapping[Sequence, int]) -> dict[Sequence, list[int]]:
        drafts: dict[Sequence, list[int]] = {}
        for sequence, length in lengths.items():
            track = self._tracks[sequence]
            if track.end - track.rows_end > _FEW:
                began = self._clock()
                self._store(sequence, track, track.end - 1)
                self.policy.record_upkeep(self._clock() - began)
            if sequence in self._tracks and self._grow(track, track.end - track.start + length):
                drafts[sequence] = []
        known = {sequence: self._tracks[sequence].end - self._tracks[sequence].start for sequence in drafts}
        hidden: dict[Sequence, np.ndarray] = {}
        while active := [sequence for sequence, made in drafts.items() if len(made) < lengths[sequence]]:
            began = self._clock()
            segments = {sequence: self._next(sequence, drafts[sequence], hidden.get(sequence)) for sequence in active}
            outputs = self._head.runner.run(list(segments.values())).read()
            for sequence, segment in segments.items():
                token = outputs[segment.slot]
                if token.nan or token.hidden is None:
                    raise ValueError("the head has produced no number")
                drafts[sequence] += self._of_model(token.ids)
                hidden[sequence] = token.hidden[-1:]
            self.policy.record_round(len(active), self._clock() - began)
        for sequence, length in known.items():
            self.memory.kv.truncate(self._tracks[sequence].slot, length)
        return drafts

    def _next(self, sequence: Sequence, made: list[int], hidden: np.ndarray | None) -> Segment:
        track = self._tracks[sequence]
        if hidden is None:
            segment = self._segment(sequence, track, track.end - track.rows_end)
        else:
            segment = Segment(track.slot, made[-1:], add=self._head.own(hidden))
            segment.pos = self._positions(sequence, track, track.rows_end, 1)
        sampling = _plain(sequence.sampler.at(sequence.sampled + len(made), made))
        if (
            self._head.target_ids is not None
        ):  # draws are made of the noise of the model's tokens, which have other numbers
            sampling = replace(sampling, temperature=0.0)
        segment.sample, segment.hidden = sampling, True
        return segment

    def _of_model(self, ids: list[int]) -> list[int]:
        names = self._head.target_ids
        return ids if names is None else [int(names[i]) for i in ids]

    def learn(self, sequence: Sequence, drafted: int, accepted: int, made: int) -> None:
        if sequence in self._predicted:
            super().learn(sequence, drafted, accepted, made)
        elif drafted:
            self.policy.learn(sequence, drafted, accepted, self._batch)

    def record(self, tokens: int, sequences: int, seconds: float) -> None:
        self.policy.record_step(tokens, sequences, seconds)

    # -- ends

    def drop(self, sequence: Sequence) -> None:
        self.policy.drop(sequence)
        track = self._tracks.pop(sequence, None)
        if track is None:
            return
        track.key, track.variant = sequence.key[: track.end + 1], sequence.variant
        self._kept.append(track)
        if len(self._kept) > _KEPT:
            self.memory.close(self._kept.pop(0).slot)

    def _failed(self, error: Exception) -> None:
        self._faults += 1
        log.warning("the head for multi-token prediction failed, its draft tokens are left out: %r", error)
        for track in [*self._tracks.values(), *self._kept]:
            self.memory.close(track.slot)
        self._tracks.clear()
        self._kept.clear()

    def close(self) -> None:
        self._tracks.clear()
        self._kept.clear()


def _plain(sampling: Sampling) -> Sampling:
    """Without what names tokens, of which the head may have fewer, and without what only the reply needs."""
    return replace(
        sampling,
        repetition=1.0,
        presence=0.0,
        frequency=0.0,
        seen=None,
        repeated=None,
        bias=None,
        mask=None,
        together_from=None,
        logprobs=None,
    )
