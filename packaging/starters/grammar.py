"""A wording with choices in it: `how (do|can) i {add} a (|new) model` stands for every text that the choices allow.

`(a|b|)` is one of its parts, `{name}` one of the phrases of that name, which may hold choices themselves. Choosing is
done with a random generator that the caller brings, so that the same seed gives the same texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random

_NAME = re.compile(r"\{(\w+)\}")

Piece = str | list["Pieces"]  # a text as it is, or the parts of a choice
Pieces = list[Piece]


class Grammar:
    """Wordings over one set of named phrases."""

    def __init__(self, phrases: Mapping[str, Sequence[str]]) -> None:
        self._phrases = phrases
        self._parsed: dict[str, Pieces] = {}

    def say(self, wording: str, random: Random) -> str:
        """One of the texts that the wording stands for."""
        if wording not in self._parsed:
            self._parsed[wording] = _parse(wording)
        return " ".join(self._choose(self._parsed[wording], random).split())

    def _choose(self, pieces: Pieces, random: Random) -> str:
        said = []
        for piece in pieces:
            if isinstance(piece, str):
                said.append(_NAME.sub(lambda found: self._phrase(found[1], random), piece))
            else:
                said.append(self._choose(random.choice(piece), random))
        return "".join(said)

    def _phrase(self, name: str, random: Random) -> str:
        return self.say(random.choice(self._phrases[name]), random)


def _parse(wording: str) -> Pieces:
    """Raises ValueError for a bracket without its partner."""
    open_parts: list[list[Pieces]] = [[[]]]  # the parts of each choice that is still open, the whole wording first
    for token in re.split(r"([(|)])", wording):
        if token == "(":
            open_parts.append([[]])
        elif token == "|" and len(open_parts) > 1:
            open_parts[-1].append([])
        elif token == ")":
            if len(open_parts) == 1:
                raise ValueError(f"a bracket is closed that was not opened: {wording}")
            parts = open_parts.pop()
            open_parts[-1][-1].append(parts)
        elif token:
            open_parts[-1][-1].append(token)
    if len(open_parts) > 1:
        raise ValueError(f"a bracket is not closed: {wording}")
    return open_parts[0][0]
