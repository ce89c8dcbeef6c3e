"""Where on the page each word of a recognized text stands. Models give text without places; the ink has the places.

Lines of text meet lines of ink one to one where their numbers agree, and in proportion to their length where not. Inside a
line, the widest white gaps part the words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.pipelines.reading.columns import columns_of, runs
from engine.pipelines.reading.crops import cut
from engine.pipelines.reading.geometry import Box
from engine.pipelines.reading.ink import ink_of
from engine.pipelines.reading.result import Word

if TYPE_CHECKING:
    from PIL.Image import Image

Placed = tuple[tuple[Word, ...], ...]


def place(page: Image, box: Box, text: str, lines: Sequence[Box]) -> Placed:
    """Words by line of ink. Without any line the whole box is one."""
    said = [words for line in text.splitlines() if (words := line.split())]
    if not said:
        return ()
    where = list(lines) or [box]
    if len(said) != len(where):
        said = _shared_out([word for words in said for word in words], where)
    return tuple(_place_line(page, line, words) for words, line in zip(said, where) if words)


def _shared_out(words: Sequence[str], lines: Sequence[Box]) -> list[list[str]]:
    """Fill the lines one after the other, each up to its share of the width."""
    width = sum(line.width for line in lines) or 1.0
    signs = sum(len(word) + 1 for word in words)
    out: list[list[str]] = [[] for _ in lines]
    at, filled, edge = 0, 0.0, lines[0].width
    for word in words:
        middle = (filled + (len(word) + 1) / 2) * width / signs
        while middle > edge and at < len(lines) - 1:
            at += 1
            edge += lines[at].width
        out[at].append(word)
        filled += len(word) + 1
    return out


def _place_line(page: Image, line: Box, words: Sequence[str]) -> tuple[Word, ...]:
    if len(words) == 1:
        return (Word(words[0], line),)
    ink = columns_of(ink_of(np.asarray(cut(page, line).convert("L"))))
    left = line.pixels()[0]
    gaps = [gap for gap in runs(~ink) if gap[0] > 0 and gap[1] < len(ink)]
    widest = sorted(sorted(gaps, key=lambda gap: gap[0] - gap[1])[: len(words) - 1])
    edges = _by_gaps(widest, len(ink)) if len(widest) == len(words) - 1 else []
    if not edges or not _plausible(edges, words):
        edges = _by_length(words, line.width)
    return tuple(
        Word(word, Box(left + start, line.top, left + end, line.bottom)) for word, (start, end) in zip(words, edges)
    )


def _by_gaps(gaps: Sequence[tuple[int, int]], width: int) -> list[tuple[float, float]]:
    starts = [0, *(gap[1] for gap in gaps)]
    ends = [*(gap[0] for gap in gaps), width]
    return [(float(start), float(end)) for start, end in zip(starts, ends)]


def _by_length(words: Sequence[str], width: float) -> list[tuple[float, float]]:
    sign = width / max(1, sum(len(word) for word in words) + len(words) - 1)
    edges, at = [], 0.0
    for word in words:
        edges.append((at, at + len(word) * sign))
        at += (len(word) + 1) * sign
    return edges


def _plausible(edges: Sequence[tuple[float, float]], words: Sequence[str]) -> bool:
    """Letters differ in width, but not by a factor of five on average: such gaps were not those between the words."""
    usual = sum(end - start for start, end in edges) / sum(len(word) for word in words)
    return all(usual / 5 < (end - start) / len(word) < usual * 5 for (start, end), word in zip(edges, words))
