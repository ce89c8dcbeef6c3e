"""The page splitter: layout detection without a model, from projection profiles and white space."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.pipelines.reading.ink import (
    TILE,
    degrees_askew,
    ink_of,
    rotated_page,
    tile_medians,
    without_rules,
    working_copy,
)
from engine.pipelines.reading.layout import DetectedLayout, LayoutRegion
from engine.pipelines.reading.results import Box, bounding_box

if TYPE_CHECKING:
    from PIL.Image import Image

Span = tuple[int, int]  # from, to (excluded)

_LEAST_LINES = 3
_SHORT, _LONG = 2, 6  # lines of a text's last column, and then of the one beside it
_PROSE = 0.5  # of a column's width that the middle one of its lines fills
_DEEPEST = 6  # columns within columns


def runs(filled: np.ndarray) -> list[Span]:
    """Where a row of booleans is true."""
    edges = np.flatnonzero(np.diff(np.pad(filled, 1).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2])]


def rows_of(ink: np.ndarray) -> np.ndarray:
    """Which rows hold ink."""
    return np.asarray(ink.any(axis=1))


def columns_of(ink: np.ndarray) -> np.ndarray:
    """Which columns of pixels hold ink."""
    return np.asarray(ink.any(axis=0))


def line_height(ink: np.ndarray) -> float:
    """The usual height of a line. Measured in strips, because the lines of two columns need not be level."""
    height, width = ink.shape
    strips = max(1, min(8, width // 60))
    tall: list[int] = []
    weight: list[int] = []
    for strip in np.array_split(ink, strips, axis=1):
        filled = strip.sum(axis=1)
        for top, bottom in runs(filled > 0):
            if bottom - top >= 4:
                tall.append(bottom - top)
                weight.append(int(filled[top:bottom].sum()))
    if not tall:
        return float(max(4, height))
    order = np.argsort(tall)
    below = np.cumsum(np.asarray(weight, np.float64)[order])
    return float(np.asarray(tall)[order][np.searchsorted(below, below[-1] / 2)])


def find_lines(ink: np.ndarray, usual: float) -> list[Span]:
    """The rows of each line in a column. Dots and accents join the line below, lines that touch are cut apart."""
    filled = ink.sum(axis=1)
    found: list[Span] = []
    for top, bottom in runs(filled > 0):
        found += _apart(filled, top, bottom, usual)
    joined: list[Span] = []
    for span in found:
        if joined:
            last = joined[-1]
            small = min(last[1] - last[0], span[1] - span[0]) < 0.4 * usual
            if small and span[0] - last[1] <= 0.25 * usual and span[1] - last[0] <= 1.5 * usual:
                joined[-1] = (last[0], span[1])
                continue
        joined.append(span)
    return joined


def _apart(filled: np.ndarray, top: int, bottom: int, usual: float) -> list[Span]:
    """Cut at the emptiest row near the middle, if hardly anything but tails of letters crosses it."""
    if bottom - top < 1.7 * usual:
        return [(top, bottom)]
    margin = int(max(0.6 * usual, (bottom - top) // 4 if bottom - top < 3 * usual else 0))
    if bottom - top <= 2 * margin:
        return [(top, bottom)]
    inside = filled[top + margin : bottom - margin]
    cut = top + margin + int(inside.argmin())
    thin = inside.min()
    # through the stems of one line of tall letters a cut is as dark as what lies above it
    parts = filled[top:cut], filled[cut:bottom]
    if thin > 0.15 * np.percentile(filled[top:bottom], 90) or any(thin > 0.4 * np.percentile(p, 75) for p in parts):
        return [(top, bottom)]
    return [*_apart(filled, top, cut, usual), *_apart(filled, cut, bottom, usual)]


def find_stacks(ink: np.ndarray, usual: float) -> list[tuple[Span, Span]]:
    """(rows, columns) of each stretch that is read from top to bottom, in reading order."""
    return _stacks(ink, usual, 0, 0, 0)


def _stacks(ink: np.ndarray, usual: float, top: int, left: int, depth: int) -> list[tuple[Span, Span]]:
    bands = runs(rows_of(ink))
    free = [~columns_of(ink[a:b]) for a, b in bands]
    found: list[tuple[Span, Span]] = []
    plain: list[Span] = []  # bands that wait to become one stack

    def end_plain() -> None:
        if plain:
            across = runs(columns_of(ink[plain[0][0] : plain[-1][1]]))
            found.append(((top + plain[0][0], top + plain[-1][1]), (left + across[0][0], left + across[-1][1])))
            plain.clear()

    at = 0
    while at < len(bands):
        last, gap = _together(ink, bands, free, at, usual) if depth < _DEEPEST else (at, None)
        if gap is None:
            plain.append(bands[at])
            at += 1
            continue
        end_plain()
        rows = slice(bands[at][0], bands[last][1])
        middle = (gap[0] + gap[1]) // 2
        found += _stacks(ink[rows, :middle], usual, top + rows.start, left, depth + 1)
        found += _stacks(ink[rows, middle:], usual, top + rows.start, left + middle, depth + 1)
        at = last + 1
    end_plain()
    return found


def _together(
    ink: np.ndarray, bands: list[Span], free: list[np.ndarray], at: int, usual: float
) -> tuple[int, Span | None]:
    """The most bands from `at` on that share a strip of white, if they are columns."""
    common = free[at]
    last = at
    while last + 1 < len(bands) and _strips(common & free[last + 1], usual):
        last += 1
        common = common & free[last]
    rows = ink[bands[at][0] : bands[last][1]]
    filled = runs(columns_of(rows))
    inner = [gap for gap in _strips(common, usual) if filled and filled[0][0] < gap[0] and gap[1] < filled[-1][1]]
    for gap in sorted(inner, key=lambda gap: gap[0] - gap[1]):
        middle = (gap[0] + gap[1]) // 2
        if _columns(rows[:, :middle], rows[:, middle:], usual):
            return last, gap
    return at, None


def _strips(free: np.ndarray, usual: float) -> list[Span]:
    """White that is wide enough to part columns and does not begin at the left edge."""
    return [(a, b) for a, b in runs(free) if b - a >= max(6.0, 0.8 * usual) and a > 0]


def _columns(left: np.ndarray, right: np.ndarray, usual: float) -> bool:
    counts = [len(find_lines(side, usual)) for side in (left, right)]
    # the last column of a text may be short where the one beside it is long
    enough = min(counts) >= _LEAST_LINES or (min(counts) >= _SHORT and max(counts) >= _LONG)
    return enough and _prose(left, usual) and _prose(right, usual)


def _prose(side: np.ndarray, usual: float) -> bool:
    lines = find_lines(side, usual)
    across = runs(columns_of(side))
    width = across[-1][1] - across[0][0]
    wide = []
    for top, bottom in lines:
        filled = runs(columns_of(side[top:bottom]))
        wide.append(filled[-1][1] - filled[0][0])
    # a column of cells is narrow, and each of its cells is a word or two
    return width >= 4 * usual and float(np.median(wide)) >= _PROSE * width


_OFF_PAPER = 24  # of 255
_UNEVEN = 8.0  # standard deviation of the ground
_LEAST_TILES = 9
_FILLED = 0.3  # of a row of a photograph that is not as light as paper


def photographs(grey: np.ndarray) -> list[tuple[slice, slice]]:
    """Rows and columns of each."""
    medians = tile_medians(grey)
    paper = float(np.median(medians))
    found = []
    for tiles in _patches(np.abs(medians - paper) > _OFF_PAPER):
        if len(tiles) < _LEAST_TILES or np.std([medians[tile] for tile in tiles]) < _UNEVEN or _shadow(tiles, medians):
            continue
        rows, columns = [tile[0] for tile in tiles], [tile[1] for tile in tiles]
        top, left = max(0, min(rows) - 1) * TILE, max(0, min(columns) - 1) * TILE
        area = grey[top : (max(rows) + 2) * TILE, left : (max(columns) + 2) * TILE]
        other = np.abs(area.astype(np.int16) - int(paper)) > _OFF_PAPER // 2
        down = np.flatnonzero(other.mean(axis=1) > _FILLED)
        across = np.flatnonzero(other.mean(axis=0) > _FILLED)
        if down.size and across.size:
            found.append(
                (
                    slice(top + int(down[0]), top + int(down[-1]) + 1),
                    slice(left + int(across[0]), left + int(across[-1]) + 1),
                )
            )
    return found


def _shadow(tiles: list[tuple[int, int]], medians: np.ndarray) -> bool:
    """Whether it falls in from an edge of the page and changes as slowly as light does, with words upon it."""
    y, x = np.asarray(tiles, np.float64).T
    down, across = medians.shape
    if y.min() > 0 and x.min() > 0 and y.max() < down - 1 and x.max() < across - 1:
        return False
    y, x = y / down, x / across
    slow = np.stack([np.ones_like(y), y, x, y * y, x * x, x * y], axis=1)
    seen = np.asarray([medians[tile] for tile in tiles])
    left = seen - slow @ np.linalg.lstsq(slow, seen, rcond=None)[0]
    return bool(np.median(np.abs(left)) < _UNEVEN / 2)


def _patches(marked: np.ndarray) -> list[list[tuple[int, int]]]:
    """Marked tiles that hang together by their sides."""
    left = {(int(y), int(x)) for y, x in np.argwhere(marked)}
    patches = []
    while left:
        patch, edge = [], [left.pop()]
        while edge:
            y, x = edge.pop()
            patch.append((y, x))
            beside = {(y - 1, x), (y + 1, x), (y, x - 1), (y, x + 1)} & left
            left -= beside
            edge += beside
        patches.append(patch)
    return patches


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


class PageSplitter:
    """Finds columns, blocks and lines by projection profiles and white space."""

    name = "built-in splitter"

    def __init__(self, straighten: bool = True) -> None:
        """`straighten`: turn a page whose lines are askew."""
        self._straighten = straighten

    def detect(self, page: Image) -> DetectedLayout:
        grey, factor = working_copy(page)
        ink = ink_of(grey)
        askew = degrees_askew(ink) if self._straighten else 0.0
        if askew:
            page = rotated_page(page, -askew)
            grey, factor = working_copy(page)
            ink = ink_of(grey)
        width, height = page.size
        ink = without_rules(ink)
        found = photographs(grey)
        for photograph in found:
            ink[photograph] = False
        usual = line_height(ink)
        for photograph in found:
            ink[photograph] = True  # one block, which is no line of text for its height
        blocks = _blocks(_lines(ink, usual))
        regions = [
            LayoutRegion(
                bounding_box(line.box for line in block).scaled(factor).within(width, height),
                label,
                order,
                level=level,
                lines=()
                if label == "figure"
                else tuple(line.box.scaled(factor).within(width, height) for line in block),
            )
            for order, (block, label, level) in enumerate(_labelled(blocks, ink.shape[0], ink.shape[1]))
        ]
        return DetectedLayout(tuple(regions), page, -askew or 0.0)


def lines_within(image: Image, box: Box) -> tuple[Box, ...]:
    """The lines of a region that something else found, in pixels of the page."""
    left, top, right, bottom = box.within(*image.size).pixels()
    if right - left < 2 or bottom - top < 2:
        return ()
    grey, factor = working_copy(image.crop((left, top, right, bottom)))
    ink = without_rules(ink_of(grey))
    usual = line_height(ink)
    found = []
    for a, b in find_lines(ink, usual):
        across = runs(columns_of(ink[a:b]))
        if ink[a:b].sum() >= _LEAST_INK:
            found.append(Box(across[0][0], a, across[-1][1], b).scaled(factor).moved(left, top))
    return tuple(found)


def _lines(ink: np.ndarray, usual: float) -> list[_Line]:
    head, tail = _edges(ink)
    body = ink.copy()
    body[:head] = body[tail:] = False
    stacks = find_stacks(body, usual)
    # what stands alone at an edge belongs to no column, though it may stand above or below just one
    stacks = [*_stack_of(ink, 0, head), *stacks, *_stack_of(ink, tail, len(ink))]
    found = []
    for (top, bottom), (left, right) in stacks:
        stack = ink[top:bottom, left:right]
        column = Box(left, top, right, bottom)
        for a, b in find_lines(stack, usual):
            across = runs(columns_of(stack[a:b]))
            if stack[a:b].sum() < _LEAST_INK:
                continue
            box = Box(across[0][0], a, across[-1][1], b).moved(left, top)
            found.append(_Line(box, *_letters(stack[a:b]), column))
    return found


def _stack_of(ink: np.ndarray, top: int, bottom: int) -> list[tuple[Span, Span]]:
    across = runs(columns_of(ink[top:bottom]))
    return [((top, bottom), (across[0][0], across[-1][1]))] if across else []


def _edges(ink: np.ndarray) -> tuple[int, int]:
    """Up to where, and from where on, a single line stands at the page's edge with clear white to the rest."""
    bands = runs(rows_of(ink))
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
        box = bounding_box(line.box for line in block)
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
