"""Questions into tokens as the tokenizer does it, but that now and then a merge is left out, so that the Guide learns to
read words which it does not know from their parts. The library can leave merges out too, but not from a seed.
"""

from __future__ import annotations

import itertools
import json
import re
from random import Random

from tokenizers import Tokenizer

_MARKS = re.compile(r"(<\|\w+\|>)")


class Splitter:
    """`left_out`: how often a merge that could be made is not."""

    def __init__(self, tokenizer: Tokenizer, left_out: float) -> None:
        model = json.loads(tokenizer.to_str())["model"]
        self._ids: dict[str, int] = model["vocab"]
        self._ranks = {(one, other): rank for rank, (one, other) in enumerate(model["merges"])}
        self._tokenizer = tokenizer
        self._left_out = left_out

    def encode(self, text: str, random: Random) -> list[int]:
        ids: list[int] = []
        for piece in _MARKS.split(text):
            if _MARKS.fullmatch(piece):
                ids.append(self._tokenizer.token_to_id(piece))
                continue
            for word, _ in self._tokenizer.pre_tokenizer.pre_tokenize_str(piece):
                ids += self._word(word, random)
        return ids

    def _word(self, word: str, random: Random) -> list[int]:
        parts = list(word)
        while True:
            found = [
                (rank, at)
                for at, pair in enumerate(itertools.pairwise(parts))
                if (rank := self._ranks.get(pair)) is not None and random.random() >= self._left_out
            ]
            if not found:
                return [self._ids[part] for part in parts]
            at = min(found)[1]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
