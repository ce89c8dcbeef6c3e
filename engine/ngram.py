"""One reply's guesses at its next tokens: from a prediction that came with its request, else from what it said before.

Knows tokens alone, and nothing of requests or steps.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

_LONGEST, _SHORTEST = 4, 2  # tokens that must repeat before the ones that followed are guessed
_PAUSE = 16  # tokens without guesses after several in a row were wrong


class PredictedOutput:
    """A text that a reply may repeat, and where in it the reply is. Lost where the two differ, it looks for the nearest
    place further on at which the reply's last tokens stand."""

    def __init__(self, text: Sequence[int], begin: int) -> None:
        """`begin`: the reply's first position."""
        self._text = list(text)
        self._places: dict[tuple[int, ...], list[int]] = {}  # run -> the positions after it, in order
        for at in range(_SHORTEST, len(self._text)):
            self._places.setdefault(tuple(self._text[at - _SHORTEST : at]), []).append(at)
        self._next = 0  # what the reply should say next, or where it was lost
        self._lost = False
        self._begin = self._seen = begin

    def propose(self, tokens: Sequence[int], length: int) -> list[int]:
        for end in range(self._seen + 1, len(tokens) + 1):
            self._follow(tokens, end)
        self._seen = len(tokens)
        return [] if self._lost else self._text[self._next : self._next + length]

    def _follow(self, tokens: Sequence[int], end: int) -> None:
        """Take in the reply's token before `end`."""
        if not self._lost and self._next < len(self._text) and self._text[self._next] == tokens[end - 1]:
            self._next += 1
            return
        places = self._places.get(tuple(tokens[end - _SHORTEST : end])) if end - self._begin >= _SHORTEST else None
        self._lost = places is None
        if places is not None:
            self._next = places[min(bisect_left(places, self._next), len(places) - 1)]


class DraftProposer:
    """One reply's guesses: from a prediction that came with it, else from its repetitions (where each short run of
    tokens was last seen); and how well guessing went."""

    def __init__(self, most: int, repeats: bool = True, prediction: PredictedOutput | None = None) -> None:
        self._most = most
        self._repeats = repeats
        self._prediction = prediction
        self._length = min(2, most)
        self._misses = 0
        self._silent_until = 0
        self._indexed = 0
        self._last: dict[tuple[int, ...], int] = {}  # run -> the position after it

    @property
    def length(self) -> int:
        return self._length

    def propose(self, tokens: Sequence[int]) -> list[int]:
        """What was predicted, or followed the same tokens earlier."""
        predicted = self._prediction.propose(tokens, self._length) if self._prediction is not None else []
        if self._repeats:
            self._index(tokens)
        if len(tokens) < self._silent_until:
            return []
        if predicted or not self._repeats:
            return predicted
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

    def learn(self, drafted: int, accepted: int, total: int) -> None:
        """`total`: tokens known so far."""
        if accepted == drafted:
            self._length, self._misses = min(self._most, self._length * 2), 0
        else:
            self._length = max(1, min(self._length, accepted + 1))
            self._misses = 0 if accepted else self._misses + 1
        if self._misses >= 3:
            self._misses, self._silent_until = 0, total + _PAUSE
