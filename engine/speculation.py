"""Speculative decoding: draft tokens, verified by the model in the step that would have made the first of them anyway.

Every position is sampled with its own noise, and a draft token is accepted only while it equals what sampling chose. So
the output is the same as without speculation, only sooner. Draft tokens come from each sequence's own n-gram proposer
(`ngram.py`); where that has none, a draft model may propose some.
"""

from __future__ import annotations

import logging
from collections import abc
from dataclasses import dataclass, field

import numpy as np

from backends.base import Segment, Slot
from engine.loaded import Loaded
from engine.prefix_cache import SequenceMemory, common_prefix
from engine.sequence import Sequence

log = logging.getLogger("grus.engine")


class Speculation:
    """Speculative decoding with each sequence's own draft proposer."""

    draft_folder: str | None = None  # of the draft model

    @property
    def held_bytes(self) -> int:
        """Device memory that speculation itself needs."""
        return 0

    def warm(self, model: Loaded) -> None:
        """Make and verify a draft once, so that what is set up for it is no part of a reply, nor of what a policy measures."""

    def propose(self, sequences: abc.Sequence[Sequence]) -> dict[Sequence, list[int]]:
        """Draft tokens for a batch; sequences without any are left out."""
        drafts = {}
        for sequence in sequences:
            room = room_for_draft_tokens(sequence)
            if sequence.proposer is not None and room > 0 and (found := sequence.proposer.propose(sequence.tokens)):
                drafts[sequence] = found[:room]
        return drafts

    def learn(self, sequence: Sequence, drafted: int, accepted: int, made: int) -> None:
        """Record that a step made `made` tokens, and that `accepted` of `drafted` draft tokens were right."""
        if drafted and sequence.proposer is not None:
            sequence.proposer.learn(drafted, accepted, len(sequence.tokens) + made)

    def reads_hidden(self, sequence: Sequence) -> bool:
        """Whether `observe` is to be called with the hidden states of each step."""
        return False

    def observe(self, sequence: Sequence, start: int, hidden: np.ndarray) -> None:
        """A step was read: the model's hidden states from position `start` on."""

    def record(self, tokens: int, sequences: int, seconds: float) -> None:
        """A step without prompt tokens took `seconds`; `tokens` include draft tokens."""

    def drop(self, sequence: Sequence) -> None:
        """The sequence has lost its slot: free what belongs to it."""

    def close(self) -> None:
        """The model is being unloaded."""


def room_for_draft_tokens(sequence: Sequence) -> int:
    """Most useful draft tokens: within the slot's capacity, the reply's length limit and the lengths of one rope."""
    one_rope = sequence.own_slot.capacity if sequence.long or not sequence.long_from else sequence.long_from
    return min(
        one_rope - len(sequence.tokens),
        sequence.own_slot.capacity - len(sequence.tokens),
        sequence.output.limit - sequence.output.count - 1,
    )


_CHUNK = 512  # prompt tokens that the draft model computes in one step


@dataclass
class _Track:
    """A sequence in the draft model's KV cache."""

    slot: Slot
    length: int  # draft tokens to propose
    fed: list[int] = field(default_factory=list)  # as long as the slot
    marked: int = 0  # tokens at the checkpoint that the slot can roll back to


_PROBE = "The quick brown fox, 12.5 km: Müller's «déjà vu» 東京\n\tdef f(x): return {x}"


def same_vocabulary(one: Loaded, other: Loaded) -> bool:
    """Whether two models tokenize a probe text of many scripts alike."""
    if getattr(one, "tokenizer", None) is None or getattr(other, "tokenizer", None) is None:
        return False
    ours, theirs = (list(model.tokenizer.encode(_PROBE, add_special=False)) for model in (one, other))
    return ours == theirs


class DraftModelSpeculation(Speculation):
    """Speculative decoding with a draft model: a small second model of the same vocabulary.

    It follows each reply in a slot of its own, runs a few tokens ahead with the noise that the large model will use, and
    rolls back to the confirmed tokens afterwards. Its faults cost speed, never a request.
    """

    def __init__(self, loaded: Loaded, most: int, vocab: int) -> None:
        self._loaded = loaded
        self.draft_folder = str(folder) if (folder := getattr(loaded, "folder", None)) is not None else None
        self._most = most
        self._vocab = vocab  # of the large model; vocabularies of one family may be padded differently
        self.memory = SequenceMemory(loaded.kv)
        self._tracks: dict[Sequence, _Track] = {}
        self._predicted: set[Sequence] = set()  # sequences whose own proposer made the last draft
        loaded.runner.warm()

    @property
    def held_bytes(self) -> int:
        return self._loaded.weight_bytes + self.memory.used

    def propose(self, sequences: abc.Sequence[Sequence]) -> dict[Sequence, list[int]]:
        predicted = super().propose(sequences)
        self._predicted = set(predicted)
        return predicted | self._run_ahead([sequence for sequence in sequences if sequence not in predicted])

    def _run_ahead(self, sequences: abc.Sequence[Sequence]) -> dict[Sequence, list[int]]:
        try:
            return self._propose(sequences)
        except Exception as error:
            log.warning("the draft model failed, its draft tokens are left out: %r", error)
            for sequence in list(self._tracks):
                self.drop(sequence)
            return {}

    def _propose(self, sequences: abc.Sequence[Sequence]) -> dict[Sequence, list[int]]:
        following: dict[Sequence, tuple[_Track, int]] = {}
        for sequence in sequences:
            track = self._follow(sequence) if sequence.speculates else None
            if track is not None and (n := min(track.length, room_for_draft_tokens(sequence))) > 0:
                following[sequence] = (track, n)
        drafts: dict[Sequence, list[int]] = {sequence: [] for sequence in following}
        while active := [c for c, (_, n) in following.items() if len(drafts[c]) < n]:
            segments = []
            for sequence in active:
                track, made = following[sequence][0], drafts[sequence]
                ids = [*sequence.tokens, *made][len(track.fed) :]
                segments.append(
                    Segment(track.slot, ids, sample=sequence.sampler.at(sequence.sampled + len(made), made))
                )
                track.fed.extend(ids)
            tokens = self._loaded.runner.run(segments).read()
            for sequence in active:
                track, made = following[sequence][0], drafts[sequence]
                token = tokens[track.slot]
                if not made:
                    self.memory.kv.checkpoint(track.slot)
                    track.marked = len(track.fed)
                if token.nan or token.ids[0] >= self._vocab:
                    del following[sequence]
                else:
                    made.extend(token.ids)
        return {sequence: made for sequence, made in drafts.items() if made}

    def _follow(self, sequence: Sequence) -> _Track | None:
        """The sequence's track, rolled back to confirmed tokens. None when there is no memory for it."""
        tokens, kv = sequence.tokens, self.memory.kv
        track = self._tracks.get(sequence)
        if track is not None and (shared := common_prefix(track.fed, tokens)) < len(track.fed):
            if shared < track.marked:
                self.drop(sequence)
                track = None
            else:
                kept = kv.rollback(track.slot, shared - track.marked)
                del track.fed[track.marked + kept :]
        room = len(tokens) + self._most
        if track is None:
            slot = self.memory.open(room)
            if slot is None:
                return None
            track = self._tracks[sequence] = _Track(slot, min(2, self._most))
        if not self.memory.grow(track.slot, room):
            return None
        chunk = min(_CHUNK, self.memory.step_limit(track.slot))
        while len(tokens) - len(track.fed) > chunk:
            ids = tokens[len(track.fed) : len(track.fed) + chunk]
            self._loaded.runner.run([Segment(track.slot, ids)]).read()
            track.fed.extend(ids)
        return track

    def learn(self, sequence: Sequence, drafted: int, accepted: int, made: int) -> None:
        if sequence in self._predicted:
            super().learn(sequence, drafted, accepted, made)
            return
        track = self._tracks.get(sequence)
        if track is not None and drafted:
            track.length = min(self._most, track.length + 2) if accepted == drafted else max(1, accepted + 1)

    def drop(self, sequence: Sequence) -> None:
        track = self._tracks.pop(sequence, None)
        if track is not None:
            self.memory.close(track.slot)

    def close(self) -> None:
        for sequence in list(self._tracks):
            self.drop(sequence)
        self._loaded.close()
