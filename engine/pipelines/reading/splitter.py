"""The layout that needs no model: from ink to lines, from lines to blocks, and what a block is by the looks of it.

Headings are told by the height of their letters, headers, footers and page numbers by standing alone at an edge, figures by
being no lines at all. Tables and formulas it cannot tell from text: that takes a layout model, and every result says which
of the two was used.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.pipelines.reading import columns
from engine.pipelines.reading.figures import photographs
from engine.pipelines.reading.geometry import Box, around
from engine.pipelines.reading.ink import degrees_askew, ink_of, without_rules, working_copy
from engine.pipelines.reading.layout import Found, Region
from engine.pipelines.reading.saving import turned_image

if TYPE_CHECKING:
    from PIL.Image import Image

_HEADING = 1.22  # times the usual height of letters
_TITLE = 1.9
_RISEN = 1.1  # times how far letters usually rise: no larger letters rise less
_FIGURE = 5.0  # times the usual line height: no line of text is that tall
_APART = 2.0  # times a line's height: white that no paragraph has between its lines
_EDGE = 0.08  # of the page's height, where headers and footers stand
_CLEAR = 1.5  # times a line's height: the white between it and the text
_LEAST_INK = 6  # pixels; less is dirt


@dataclass(frozen=True)
class _Line:
    box: Box
    letters: float  # height of letters without what rises above or hangs below
    rise: float  # of the tallest above the line that they stand on
    column: Box


class Splitter:
    """Finds columns, blocks and lines by projection profiles and white space."""

    name = "built-in splitter"

    def __init__(self, straighten: bool = True) -> None:
        """`straighten`: turn a page whose lines are askew."""
        self._straighten = straighten

    def detect(self, page: Image) -> Found:
        grey, factor = working_copy(page)
        ink = ink_of(grey)
        askew = degrees_askew(ink) if self._straighten else 0.0
        if askew:
            page = turned_image(page, -askew)
            grey, factor = working_copy(page)
            ink = ink_of(grey)
        width, height = page.size
        ink = without_rules(ink)
        found = photographs(grey)
        for photograph in found:
            ink[photograph] = False
        usual = columns.line_height(ink)
        for photograph in found:
            ink[photograph] = True  # one block, which is no line of text for its height
        blocks = _blocks(_lines(ink, usual))
        regions = [
            Region(
                around(line.box for line in block).scaled(factor).within(width, height),
                label,
                order,
                level=level,
                lines=()
                if label == "figure"
                else tuple(line.box.scaled(factor).within(width, height) for line in block),
            )
            for order, (block, label, level) in enumerate(_labelled(blocks, ink.shape[0], ink.shape[1]))
        ]
        return Found(tuple(regions), page, -askew or 0.0)


def lines_within(image: Image, box: Box) -> tuple[Box, ...]:
    """The lines of a region that something else found, in pixels of the page."""
    left, top, right, bottom = box.within(*image.size).pixels()
    if right - left < 2 or bottom - top < 2:
        return ()
    grey, factor = working_copy(image.crop((left, top, right, bottom)))
    ink = without_rules(ink_of(grey))
    usual = columns.line_height(ink)
    found = []
    for a, b in columns.find_lines(ink, usual):
        across = columns.runs(columns.columns_of(ink[a:b]))
        if ink[a:b].sum() >= _LEAST_INK:
            found.append(Box(across[0][0], a, across[-1][1], b).scaled(factor).moved(left, top))
    return tuple(found)


def _lines(ink: np.ndarray, usual: float) -> list[_Line]:
    head, tail = _edges(ink)
    body = ink.copy()
    body[:head] = body[tail:] = False
    stacks = columns.stacks(body, usual)
    # what stands alone at an edge belongs to no column, though it may stand above or below just one
    stacks = [*_stack_of(ink, 0, head), *stacks, *_stack_of(ink, tail, len(ink))]
    found = []
    for (top, bottom), (left, right) in stacks:
        stack = ink[top:bottom, left:right]
        column = Box(left, top, right, bottom)
        for a, b in columns.find_lines(stack, usual):
            across = columns.runs(columns.columns_of(stack[a:b]))
            if stack[a:b].sum() < _LEAST_INK:
                continue
            box = Box(across[0][0], a, across[-1][1], b).moved(left, top)
            found.append(_Line(box, *_letters(stack[a:b]), column))
    return found


def _stack_of(ink: np.ndarray, top: int, bottom: int) -> list[tuple[columns.Span, columns.Span]]:
    across = columns.runs(columns.columns_of(ink[top:bottom]))
    return [((top, bottom), (across[0][0], across[-1][1]))] if across else []


def _edges(ink: np.ndarray) -> tuple[int, int]:
    """Up to where, and from where on, a single line stands at the page's edge with clear white to the rest."""
    bands = columns.runs(columns.rows_of(ink))
    height = len(ink)
    if len(bands) < 3:
        return 0, height
    (a, b), (c, d) = bands[0], bands[-1]
    head = b if b < _EDGE * height and bands[1][0] - b >= _CLEAR * (b - a) else 0
    tail = c if c > (1 - _EDGE) * height and c - bands[-2][1] >= _CLEAR * (d - c) else height
    return head, tail


def _letters(line: np.ndarray) -> tuple[float, float]:
    """Rows that hold much of a line's ink, its letters without tails; and rows down to the last of these."""
    ink = line.sum(axis=1)
    filled = np.flatnonzero(ink >= 0.35 * np.percentile(ink, 90))
    return float(len(filled)), float(filled[-1] + 1)


def _blocks(lines: Sequence[_Line]) -> list[list[_Line]]:
    if not lines:
        return []
    gaps = [
        b.box.top - a.box.bottom
        for a, b in itertools.pairwise(lines)
        if b.column == a.column and b.box.top >= a.box.bottom
    ]
    usual_gap = float(np.median(gaps)) if gaps else 0.0
    usual = _usual_size(lines)
    blocks: list[list[_Line]] = []
    for line in lines:
        if blocks and _goes_on(blocks[-1], line, usual_gap, usual):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _goes_on(block: list[_Line], line: _Line, usual_gap: float, usual: _Size) -> bool:
    last = block[-1]
    if line.column != last.column:
        return False
    tall = max(last.letters, usual.letters)
    gap = line.box.top - last.box.bottom
    if gap > max(1.5 * usual_gap, usual_gap + 0.6 * tall) or gap > _APART * max(line.box.height, last.box.height):
        return False
    ratio = max(line.letters, last.letters) / min(line.letters, last.letters)
    if ratio > 1.6 or (ratio > 1.3 and usual.class_of([line]) != usual.class_of([last])):
        return False
    # a first line that is set in begins a paragraph, where the lines before it began at the edge
    edge = min(each.box.left for each in block)
    set_in = line.box.left - edge
    return len(block) < 2 or last.box.left - edge > tall or not 1.2 * tall < set_in < 6 * tall


@dataclass(frozen=True)
class _Size:
    """How large most of a page's text is."""

    letters: float
    rise: float

    def class_of(self, lines: Sequence[_Line]) -> int:
        """0: as most of the text, 1: larger, 2: much larger. Figures fill a line of theirs up to where others only rise to,
        so letters alone would make a heading of it."""
        letters = float(np.median([line.letters for line in lines])) / max(self.letters, 1e-6)
        rise = float(np.median([line.rise for line in lines])) / max(self.rise, 1e-6)
        return 0 if rise < _RISEN else 2 if letters >= _TITLE else 1 if letters >= _HEADING else 0


def _usual_size(lines: Sequence[_Line]) -> _Size:
    """Lines count by their length."""
    return _Size(_usual(lines, [line.letters for line in lines]), _usual(lines, [line.rise for line in lines]))


def _usual(lines: Sequence[_Line], heights: Sequence[float]) -> float:
    order = np.argsort(heights, kind="stable")
    weight = np.cumsum([lines[i].box.width for i in order])
    return heights[int(order[int(np.searchsorted(weight, weight[-1] / 2))])]


def _labelled(blocks: Sequence[list[_Line]], height: int, width: int) -> list[tuple[list[_Line], str, int]]:
    lines = [line for block in blocks for line in block]
    if not lines:
        return []
    usual = _usual_size(lines)
    usual_height = float(np.median([line.box.height for line in lines]))
    labelled = []
    for block in blocks:
        box = around(line.box for line in block)
        label, level = "text", 0
        if any(line.box.height > _FIGURE * usual_height and line.box.height > 0.05 * height for line in block) and (
            len(lines) > 1 or box.height > 0.3 * height
        ):
            label = "figure"
        elif (edge := _edge(block, blocks, height, width)) is not None:
            label = edge
        elif (size := usual.class_of(block)) and len(block) <= 4 and len(blocks) > 1:
            label, level = "heading", 3 - size
        labelled.append((block, label, level))
    return labelled


def _edge(block: list[_Line], blocks: Sequence[list[_Line]], height: int, width: int) -> str | None:
    """A single line at the top or bottom edge, with clear white to the text."""
    if len(block) > 1 or len(blocks) < 3:
        return None
    box = block[0].box
    others = [
        line.box
        for other in blocks
        if other is not block
        for line in other
        if line.box.bottom <= box.top or line.box.top >= box.bottom
    ]
    if not others:
        return None
    clear = _CLEAR * box.height
    if box.bottom < _EDGE * height and all(other.top - box.bottom >= clear for other in others):
        return "header"
    if box.top > (1 - _EDGE) * height and all(box.top - other.bottom >= clear for other in others):
        return "number" if box.width < 0.06 * width else "footer"
    return None
