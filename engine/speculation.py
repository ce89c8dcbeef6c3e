"""Guesses at a reply's next tokens, checked by the model in the step that would have made the first of them anyway.

Every row is sampled with its own noise and a guess counts only while it equals what sampling chose; so the tokens are
those that would have come without guessing, only sooner. A `Guesser` looks the last tokens up in what was said before
and adapts how far it looks ahead; `Speculation` does it for a batch. Another source (a draft model) may take its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.sequence import Choice

_LONGEST, _SHORTEST = 4, 2  # tokens that must repeat before the ones that followed are guessed
_PAUSE = 16  # tokens without guesses after several in a row were wrong


class Guesser:
    """One reply's repetitions: where each short run of tokens was last seen, and how well guessing went."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._length = min(2, most)
        self._misses = 0
        self._silent_until = 0
        self._indexed = 0
        self._last: dict[tuple[int, ...], int] = {}  # run -> the position after it

    @property
    def length(self) -> int:
        return self._length

    def propose(self, tokens: Sequence[int]) -> list[int]:
        """What followed the same tokens earlier."""
        self._index(tokens)
        if len(tokens) < self._silent_until:
            return []
        for size in range(_LONGEST, _SHORTEST - 1, -1):
            if len(tokens) > size and (at := self._last.get(tuple(tokens[-size:]))) is not None:
                return list(tokens[at : at + self._length])
        return []

    def _index(self, tokens: Sequence[int]) -> None:
        """All runs that end before the last token (the run at the very end has nothing after it yet)."""
        for end in range(max(self._indexed, _SHORTEST), len(tokens)):
            for size in range(_SHORTEST, min(_LONGEST, end) + 1):
                self._last[tuple(tokens[end - size : end])] = end
        self._indexed = max(self._indexed, len(tokens))

    def learn(self, guessed: int, accepted: int, total: int) -> None:
        """`total`: tokens known so far."""
        if accepted == guessed:
            self._length, self._misses = min(self._most, self._length * 2), 0
        else:
            self._length = max(1, min(self._length, accepted + 1))
            self._misses = 0 if accepted else self._misses + 1
        if self._misses >= 3:
            self._misses, self._silent_until = 0, total + _PAUSE


class Speculation:
    """Guesses for a batch, by n-grams."""

    @property
    def held_bytes(self) -> int:
        """Device memory that guessing itself needs."""
        return 0

    def propose(self, choices: Sequence[Choice]) -> dict[Choice, list[int]]:
        guesses = {}
        for choice in choices:
            room = room_for_guesses(choice)
            if choice.guesser is not None and room > 0 and (found := choice.guesser.propose(choice.tokens)):
                guesses[choice] = found[:room]
        return guesses

    def learn(self, choice: Choice, guessed: int, accepted: int, made: int) -> None:
        """A step brought `made` tokens; of `guessed` ones `accepted` were right."""
        if guessed and choice.guesser is not None:
            choice.guesser.learn(guessed, accepted, len(choice.tokens) + made)

    def forget(self, choice: Choice) -> None:
        """The choice has lost its slot."""

    def close(self) -> None:
        """The model is being unloaded."""


def room_for_guesses(choice: Choice) -> int:
    """Guesses beyond the slot's room or the reply's limit would be wasted."""
    return min(choice.own_slot.capacity - len(choice.tokens), choice.output.limit - choice.output.count - 1)
