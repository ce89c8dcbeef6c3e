"""Guesses from a small second model of the same vocabulary.

It follows each reply in a slot of its own, runs a few tokens ahead with the very noise that the large model will use,
and returns to the confirmed tokens afterwards. Trouble in here costs speed, never a request.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from backends.base import Segment, Slot
from engine.budget import Memory
from engine.loaded import Loaded
from engine.prefix import common
from engine.sequence import Choice
from engine.speculation import Speculation, room_for_guesses

log = logging.getLogger("grus.engine")

_CHUNK = 512  # prompt tokens that the draft model catches up in one go


@dataclass
class _Track:
    """One reply as the draft model knows it."""

    slot: Slot
    length: int  # guesses to make
    fed: list[int] = field(default_factory=list)  # as long as the slot
    marked: int = 0  # tokens at the point that the slot can return to


_PROBE = "The quick brown fox, 12.5 km: Müller's «déjà vu» 東京\n\tdef f(x): return {x}"


def same_vocabulary(one: Loaded, other: Loaded) -> bool:
    """Whether tokens of one model mean the same to the other, as far as a text of many kinds tells."""
    if getattr(one, "tokenizer", None) is None or getattr(other, "tokenizer", None) is None:
        return False
    ours, theirs = (list(model.tokenizer.encode(_PROBE, add_special=False)) for model in (one, other))
    return ours == theirs


class DraftModel(Speculation):
    def __init__(self, loaded: Loaded, most: int, vocab: int) -> None:
        self._loaded = loaded
        self._most = most
        self._vocab = vocab  # of the large model: of one family, sizes may be padded differently
        self.memory = Memory(loaded.kv)
        self._tracks: dict[Choice, _Track] = {}
        self._predicted: set[Choice] = set()  # whose guesses came from their own prediction the last time
        loaded.runner.warm()

    @property
    def held_bytes(self) -> int:
        return self._loaded.weight_bytes + self.memory.used

    def propose(self, choices: Sequence[Choice]) -> dict[Choice, list[int]]:
        predicted = super().propose(choices)
        self._predicted = set(predicted)
        return predicted | self._run_ahead([choice for choice in choices if choice not in predicted])

    def _run_ahead(self, choices: Sequence[Choice]) -> dict[Choice, list[int]]:
        try:
            return self._propose(choices)
        except Exception as error:
            log.warning("the draft model failed, its guesses are left out: %r", error)
            for choice in list(self._tracks):
                self.forget(choice)
            return {}

    def _propose(self, choices: Sequence[Choice]) -> dict[Choice, list[int]]:
        following: dict[Choice, tuple[_Track, int]] = {}
        for choice in choices:
            track = self._follow(choice) if choice.speculates else None
            if track is not None and (n := min(track.length, room_for_guesses(choice))) > 0:
                following[choice] = (track, n)
        guesses: dict[Choice, list[int]] = {choice: [] for choice in following}
        while active := [c for c, (_, n) in following.items() if len(guesses[c]) < n]:
            segments = []
            for choice in active:
                track, made = following[choice][0], guesses[choice]
                ids = [*choice.tokens, *made][len(track.fed) :]
                segments.append(Segment(track.slot, ids, sample=choice.chooser.at(choice.sampled + len(made), made)))
                track.fed.extend(ids)
            tokens = self._loaded.runner.run(segments).read()
            for choice in active:
                track, made = following[choice][0], guesses[choice]
                token = tokens[track.slot]
                if not made:
                    self.memory.kv.checkpoint(track.slot)
                    track.marked = len(track.fed)
                if token.nan or token.ids[0] >= self._vocab:
                    del following[choice]
                else:
                    made.extend(token.ids)
        return {choice: made for choice, made in guesses.items() if made}

    def _follow(self, choice: Choice) -> _Track | None:
        """The reply's track, holding nothing but confirmed tokens. None while it cannot keep up."""
        tokens, kv = choice.tokens, self.memory.kv
        track = self._tracks.get(choice)
        if track is not None and (shared := common(track.fed, tokens)) < len(track.fed):
            if shared < track.marked:
                self.forget(choice)
                track = None
            else:
                kept = kv.rollback(track.slot, shared - track.marked)
                del track.fed[track.marked + kept :]
        room = len(tokens) + self._most
        if track is None:
            slot = self.memory.open(room)
            if slot is None:
                return None
            track = self._tracks[choice] = _Track(slot, min(2, self._most))
        if not self.memory.grow(track.slot, room):
            return None
        while len(tokens) - len(track.fed) > _CHUNK:
            ids = tokens[len(track.fed) : len(track.fed) + _CHUNK]
            self._loaded.runner.run([Segment(track.slot, ids)]).read()
            track.fed.extend(ids)
        return track

    def learn(self, choice: Choice, guessed: int, accepted: int, made: int) -> None:
        if choice in self._predicted:
            super().learn(choice, guessed, accepted, made)
            return
        track = self._tracks.get(choice)
        if track is not None and guessed:
            track.length = min(self._most, track.length + 2) if accepted == guessed else max(1, accepted + 1)

    def forget(self, choice: Choice) -> None:
        track = self._tracks.pop(choice, None)
        if track is not None:
            self.memory.close(track.slot)

    def close(self) -> None:
        for choice in list(self._tracks):
            self.forget(choice)
        self._loaded.close()
