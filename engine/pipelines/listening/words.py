"""When each word of a segment was said, from when its tokens were.

Words follow each other without a gap: each ends half-way between its last token and the next word's first. Together they
cover their segment, and none is shorter than an eye or an ear could notice.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from engine.pipelines.listening.transcript import Segment, Word

SHORTEST = 0.02  # seconds; of a segment that has no room for that, each word gets the same share


def words_in_time(segment: Segment, ids: Sequence[int], times: np.ndarray,
                  decode: Callable[[Sequence[int]], str]) -> list[Word]:  # fmt: skip
    """`times`: for each token when it is said, as a share of the segment, never falling. The segment's text may be less than
    all that was written."""
    wanted = list(split(segment.text))
    if not wanted:
        return []
    ends = _complete(len(wanted), ids, decode)
    span = segment.end - segment.start

    def moment(end: int) -> float:
        return segment.start + span * float(times[end - 1] + times[end]) / 2

    least = min(SHORTEST, span / len(wanted))
    stop = segment.end if ends[-1] >= len(ids) else max(moment(ends[-1]), segment.start + least * len(wanted))
    known, borders = [0], [segment.start]
    for i, end in enumerate(ends[:-1], 1):
        # a token that begins several words, or tells no time of its own: its words share the time around it
        if not 0 < end < len(ids):
            continue
        border = moment(end)
        if borders[-1] + least * (i - known[-1]) <= border <= stop - least * (len(wanted) - i):
            known.append(i)
            borders.append(border)
    edges = np.interp(np.arange(len(wanted) + 1), [*known, len(wanted)], [*borders, stop]).tolist()
    return [Word(word, begin, end) for word, begin, end in zip(wanted, edges, edges[1:])]


def split(text: str) -> Iterator[str]:
    """Words stand between spaces; in scripts that write none, each sign is one."""
    for run in text.split():
        word = ""
        for sign in run:
            before = next((one for one in reversed(word) if one.isalnum()), "")  # marks belong to the sign beside them
            if before and sign.isalnum() and (_spaceless(sign) or _spaceless(before)):
                yield word
                word = ""
            word += sign
        yield word


def _spaceless(sign: str) -> bool:
    return unicodedata.name(sign, "").startswith(("CJK", "HIRAGANA", "KATAKANA"))


def _complete(count: int, ids: Sequence[int], decode: Callable[[Sequence[int]], str]) -> list[int]:
    """For each of the first `count` words: the number of tokens with which it is whole, because another one begins."""
    ends: list[int] = []
    for taken in range(1, len(ids) + 1):
        begun = sum(1 for _ in split(decode(ids[:taken])))
        while len(ends) < min(begun - 1, count):
            ends.append(taken - 1)
    return ends + [len(ids)] * (count - len(ends))
