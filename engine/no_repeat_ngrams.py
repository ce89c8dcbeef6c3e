"""Tokens that would repeat an n-gram of a text: they are banned from its next position (`SamplingParams.no_repeat_ngram_size`)."""

from __future__ import annotations

from collections.abc import Sequence


class RepeatedNgrams:
    """The n-grams of one growing text. `window`: those within its last so many tokens count; 0: all."""

    def __init__(self, size: int, window: int, ids: Sequence[int]) -> None:
        self._size, self._window = size, window
        self._ids: list[int] = []
        self._starts: dict[
            tuple[int, ...], dict[int, int]
        ] = {}  # all but the last token -> the last one -> where it began
        for id in ids[-window:] if window else ids:
            self.add(id)

    def add(self, id: int) -> None:
        self._ids.append(id)
        start = len(self._ids) - self._size
        if start >= 0:
            self._starts.setdefault(tuple(self._ids[start:-1]), {})[id] = start

    def banned(self, ahead: Sequence[int] = ()) -> list[int]:
        """What may not come next, behind draft tokens `ahead`."""
        ids = [*self._ids[-(self._size - 1) - len(ahead) :], *ahead] if ahead else self._ids
        total = len(self._ids) + len(ahead)
        if total < self._size - 1:
            return []
        begun = tuple(ids[len(ids) - self._size + 1 :])
        first = max(0, total - self._window) if self._window else 0
        found = [id for id, start in self._starts.get(begun, {}).items() if start >= first]
        for end in range(len(self._ids), total):  # n-grams that end in a draft token
            start = end - self._size + 1
            at = start - (total - len(ids))
            if start >= first and at >= 0 and tuple(ids[at : at + self._size - 1]) == begun:
                found.append(ids[at + self._size - 1])
        return found
