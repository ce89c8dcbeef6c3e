"""Layout detection: regions of a page with class and reading order, found by a layout model or by the page splitter.

The role of a region class says which kind of element it becomes, and which task reads it. The class names are those of
published layout models; unknown classes are read as text.

The page splitter needs no model: ink becomes lines, lines become blocks, blocks get a label by their looks: headings by letter
height, headers, footers and page numbers by their position, figures because they are no lines of text. Tables and formulas are
not told from text. Reading order follows columns: a stretch of the page counts as columns when a white strip runs through at
least three lines on both sides (or two beside six), and these lines fill their column as prose does. Tables of short cells do
not, and are read row by row.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from engine.pipelines.reading.ink import (
    TILE,
    Span,
    columns_of,
    ink_of,
    rows_of,
    runs,
    tile_medians,
    without_rules,
    working_copy,
)  # fmt: skip
from engine.pipelines.reading.results import Box, Kind, Task, bounding_box

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class LayoutRegion:
    box: Box
    label: str
    order: int
    score: float = 1.0
    level: int = 0  # of a heading, where the detector reports it
    lines: tuple[Box, ...] = ()  # the boxes of its lines, where the detector reports them


@dataclass(frozen=True)
class DetectedLayout:
    """The layout of one page."""

    regions: tuple[LayoutRegion, ...]
    image: Image  # the page in the coordinates of the boxes


class LayoutDetector(Protocol):
    name: str  # reported in every result

    def detect(self, page: Image) -> DetectedLayout: ...


# -- region classes


@dataclass(frozen=True)
class RegionRole:
    """What a region class becomes."""

    kind: Kind
    task: Task | None = "text"  # None: only its image is kept
    level: int = 0


_TEXT = RegionRole("text")
_ROLES: dict[str, RegionRole] = {
    "doc_title": RegionRole("heading", level=1),
    "title": RegionRole("heading", level=1),
    "paragraph_title": RegionRole("heading", level=2),
    "heading": RegionRole("heading", level=2),
    "figure_title": RegionRole("caption"),
    "table_title": RegionRole("caption"),
    "chart_title": RegionRole("caption"),
    "figure_table_chart_title": RegionRole("caption"),
    "caption": RegionRole("caption"),
    "footnote": RegionRole("footnote"),
    "vision_footnote": RegionRole("footnote"),
    "algorithm": RegionRole("code"),
    "code": RegionRole("code"),
    "aside_text": RegionRole("aside"),
    "formula_number": RegionRole("aside"),
    "page": RegionRole("text", "markdown"),
    "table": RegionRole("table", "table"),
    "formula": RegionRole("formula", "formula"),
    "display_formula": RegionRole("formula", "formula"),
    "inline_formula": RegionRole("formula", "formula"),
    "chart": RegionRole("chart", "chart"),
    "seal": RegionRole("seal", "seal"),
    "image": RegionRole("figure", None),
    "figure": RegionRole("figure", None),
    "header_image": RegionRole("header", None),
    "footer_image": RegionRole("footer", None),
    "header": RegionRole("header"),
    "footer": RegionRole("footer"),
    "number": RegionRole("page_number"),
}


def role_of(label: str) -> RegionRole:
    return _ROLES.get(label, _TEXT)


def without_duplicates(regions: tuple[LayoutRegion, ...]) -> tuple[LayoutRegion, ...]:
    """Drop regions that lie almost entirely inside a region of the same task: they would be read twice.

    A formula, a seal or a figure inside a text region stays."""
    kept: list[LayoutRegion] = []
    for region in sorted(regions, key=lambda r: -r.box.area):
        task = role_of(region.label).task
        duplicate = any(
            region.box.intersection(other.box) > 0.9 * region.box.area
            and role_of(other.label).task in (task, "table", "chart")
            for other in kept
        )
        if region.box.area > 0 and not duplicate:
            kept.append(region)
    return tuple(sorted(kept, key=lambda r: r.order))


# -- the page splitter, from projection profiles and white space

# headings, times the typical size of letters
_HEADING = 1.22
_TITLE = 1.9
_RISE = 1.1  # times the typical rise of letters above the baseline
_CELL_GAP, _WIDE_GAP = 2.0, 5.0  # times a line's height: two such gaps, or one wide one, make it a table's row

# blocks and edges
_FIGURE = 5.0  # times the typical line height: no line of text is that tall
_BLOCK_GAP = 2.0  # times a line's height: white between blocks
_EDGE = 0.08  # the part of the page height for headers and footers
_CLEAR = 1.5  # times a line's height: white between a header or footer and the text
_LEAST_INK = 6  # pixels; less is dirt

# columns
_LEAST_LINES = 3
_SHORT, _LONG = 2, 6  # lines of a short last column, and of the column beside it
_PROSE = 0.5  # the part of the column width that the median line fills
_MAX_DEPTH = 6  # of nested columns

# photographs
_OFF_PAPER = 24  # grey levels of 255
_UNEVEN = 8.0  # standard deviation of tile medians
_LEAST_TILES = 9
_FILLED = 0.3  # the part of a photograph's row that is not as light as paper


class PageSplitter:
    """Detects columns, blocks and lines by projection profiles and white space."""

    name = "built-in splitter"

    def detect(self, page: Image) -> DetectedLayout:
        grey, factor = working_copy(page)
        ink = ink_of(grey)
        ink = without_rules(ink)
        found = photographs(grey)
        for photograph in found:
            ink[photograph] = False
        typical = line_height(ink)
        for photograph in found:
            ink[photograph] = True  # one block, too tall for a line of text
        return DetectedLayout(regions_in(ink, typical, factor, page.size), page)


def regions_in(
    ink: np.ndarray, typical: float, factor: float, size: tuple[int, int], found: Sequence[Box] = ()
) -> tuple[LayoutRegion, ...]:
    """The regions of a page whose copy, `factor` times smaller, has this ink and lines of the height `typical`. `found`: boxes of the
    page that the ink stands for; a line is then as large as those in it."""
    width, height = size

    def box_of(line: _Line) -> Box:
        own = line.box.scaled(factor)
        inside = [box for box in found if own.contains(box.middle)]
        return (bounding_box(inside) if inside else own).within(width, height)

    regions = []
    labelled = _labelled(_blocks(_lines(ink, typical)), ink.shape[0], ink.shape[1])
    for order, (block, label, level) in enumerate(labelled):
        boxes = tuple(map(box_of, block))
        lines = () if label == "figure" else boxes
        regions.append(LayoutRegion(bounding_box(boxes), label, order, level=level, lines=lines))
    return tuple(regions)


def lines_within(image: Image, box: Box) -> tuple[Box, ...]:
    """The boxes of the lines inside a region, in pixels of the page."""
    left, top, right, bottom = box.within(*image.size).pixels()
    if right - left < 2 or bottom - top < 2:
        return ()
    grey, factor = working_copy(image.crop((left, top, right, bottom)))
    ink = without_rules(ink_of(grey))
    typical = line_height(ink)
    found = []
    for a, b in find_lines(ink, typical):
        across = runs(columns_of(ink[a:b]))
        if ink[a:b].sum() >= _LEAST_INK:
            found.append(Box(across[0][0], a, across[-1][1], b).scaled(factor).moved(left, top))
    return tuple(found)


# -- lines


@dataclass(frozen=True)
class _Line:
    box: Box
    letters: float  # x-height: rows without ascenders and descenders
    rise: float  # of the tallest letter above the baseline
    column: Box
    cells: bool = False  # whether white as wide as between the cells of a table parts it


def _lines(ink: np.ndarray, typical: float) -> list[_Line]:
    head, tail = _edges(ink)
    body = ink.copy()
    body[:head] = body[tail:] = False
    columns = find_columns(body, typical)
    # a header or footer belongs to no column, though it may stand above or below just one
    columns = [*_edge_column(ink, 0, head), *columns, *_edge_column(ink, tail, len(ink))]
    found = []
    for (top, bottom), (left, right) in columns:
        stack = ink[top:bottom, left:right]
        column = Box(left, top, right, bottom)
        for a, b in find_lines(stack, typical):
            across = runs(columns_of(stack[a:b]))
            if stack[a:b].sum() < _LEAST_INK:
                continue
            box = Box(across[0][0], a, across[-1][1], b).moved(left, top)
            found.append(_Line(box, *_letters(stack[a:b]), column, _is_row_of_cells(across, b - a)))
    return found


def _is_row_of_cells(across: Sequence[Span], height: int) -> bool:
    gaps = [right[0] - left[1] for left, right in itertools.pairwise(across)]
    return sum(gap >= _CELL_GAP * height for gap in gaps) > 1 or any(gap >= _WIDE_GAP * height for gap in gaps)


def _edge_column(ink: np.ndarray, top: int, bottom: int) -> list[tuple[Span, Span]]:
    across = runs(columns_of(ink[top:bottom]))
    return [((top, bottom), (across[0][0], across[-1][1]))] if across else []


def _edges(ink: np.ndarray) -> tuple[int, int]:
    """The end of the header and the start of the footer: single lines at the page's edges, clear of the rest."""
    bands = runs(rows_of(ink))
    height = len(ink)
    if len(bands) < 3:
        return 0, height
    (a, b), (c, d) = bands[0], bands[-1]
    head = b if b < _EDGE * height and bands[1][0] - b >= _CLEAR * (b - a) else 0
    tail = c if c > (1 - _EDGE) * height and c - bands[-2][1] >= _CLEAR * (d - c) else height
    return head, tail


def _letters(line: np.ndarray) -> tuple[float, float]:
    """The x-height of a line, from the rows with much ink, and the height of its tallest letter above the baseline."""
    ink = line.sum(axis=1)
    filled = np.flatnonzero(ink >= 0.35 * np.percentile(ink, 90))
    return float(len(filled)), float(filled[-1] + 1)


def line_height(ink: np.ndarray) -> float:
    """The typical height of a line, measured in vertical strips because lines of two columns need not be level."""
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


def find_lines(ink: np.ndarray, typical: float) -> list[Span]:
    """The rows of each line in a column. Dots and accents join the line below, touching lines are separated."""
    filled = ink.sum(axis=1)
    found: list[Span] = []
    for top, bottom in runs(filled > 0):
        found += _separated(filled, top, bottom, typical)
    joined: list[Span] = []
    for span in found:
        if joined:
            last = joined[-1]
            small = min(last[1] - last[0], span[1] - span[0]) < 0.4 * typical
            if small and span[0] - last[1] <= 0.25 * typical and span[1] - last[0] <= 1.5 * typical:
                joined[-1] = (last[0], span[1])
                continue
        joined.append(span)
    return joined


def _separated(filled: np.ndarray, top: int, bottom: int, typical: float) -> list[Span]:
    """Rows split at the emptiest row near their middle, if little more than descenders crosses it."""
    if bottom - top < 1.7 * typical:
        return [(top, bottom)]
    margin = int(max(0.6 * typical, (bottom - top) // 4 if bottom - top < 3 * typical else 0))
    if bottom - top <= 2 * margin:
        return [(top, bottom)]
    inside = filled[top + margin : bottom - margin]
    cut = top + margin + int(inside.argmin())
    thin = inside.min()
    # a split through one line of tall letters crosses their stems, as dark as the rows above
    parts = filled[top:cut], filled[cut:bottom]
    if thin > 0.15 * np.percentile(filled[top:bottom], 90) or any(thin > 0.4 * np.percentile(p, 75) for p in parts):
        return [(top, bottom)]
    return [*_separated(filled, top, cut, typical), *_separated(filled, cut, bottom, typical)]


# -- columns


def find_columns(ink: np.ndarray, typical: float) -> list[tuple[Span, Span]]:
    """The (rows, columns) of each stretch that is read from top to bottom, in reading order."""
    return _columns_within(ink, typical, 0, 0, 0)


def _columns_within(ink: np.ndarray, typical: float, top: int, left: int, depth: int) -> list[tuple[Span, Span]]:
    bands = runs(rows_of(ink))
    free = [~columns_of(ink[a:b]) for a, b in bands]
    found: list[tuple[Span, Span]] = []
    plain: list[Span] = []  # bands outside of columns, not yet emitted

    def emit_plain() -> None:
        if plain:
            across = runs(columns_of(ink[plain[0][0] : plain[-1][1]]))
            found.append(((top + plain[0][0], top + plain[-1][1]), (left + across[0][0], left + across[-1][1])))
            plain.clear()

    at = 0
    while at < len(bands):
        last, gap = _column_group(ink, bands, free, at, typical) if depth < _MAX_DEPTH else (at, None)
        if gap is None:
            plain.append(bands[at])
            at += 1
            continue
        emit_plain()
        rows = slice(bands[at][0], bands[last][1])
        middle = (gap[0] + gap[1]) // 2
        found += _columns_within(ink[rows, :middle], typical, top + rows.start, left, depth + 1)
        found += _columns_within(ink[rows, middle:], typical, top + rows.start, left + middle, depth + 1)
        at = last + 1
    emit_plain()
    return found


def _column_group(
    ink: np.ndarray, bands: list[Span], free: list[np.ndarray], at: int, typical: float
) -> tuple[int, Span | None]:
    """The last of the bands from `at` on that share a white strip, and the strip, if they are columns."""
    common = free[at]
    last = at
    while last + 1 < len(bands) and _white_strips(common & free[last + 1], typical):
        last += 1
        common = common & free[last]
    rows = ink[bands[at][0] : bands[last][1]]
    filled = runs(columns_of(rows))
    inner = [
        gap for gap in _white_strips(common, typical) if filled and filled[0][0] < gap[0] and gap[1] < filled[-1][1]
    ]
    for gap in sorted(inner, key=lambda gap: gap[0] - gap[1]):
        middle = (gap[0] + gap[1]) // 2
        if _are_columns(rows[:, :middle], rows[:, middle:], typical):
            return last, gap
    return at, None


def _white_strips(free: np.ndarray, typical: float) -> list[Span]:
    """White strips that are wide enough to separate columns and do not start at the left edge."""
    return [(a, b) for a, b in runs(free) if b - a >= max(6.0, 0.8 * typical) and a > 0]


def _are_columns(left: np.ndarray, right: np.ndarray, typical: float) -> bool:
    counts = [len(find_lines(side, typical)) for side in (left, right)]
    # the last column of a text may be short beside a long one
    enough = min(counts) >= _LEAST_LINES or (min(counts) >= _SHORT and max(counts) >= _LONG)
    return enough and _is_prose(left, typical) and _is_prose(right, typical)


def _is_prose(side: np.ndarray, typical: float) -> bool:
    lines = find_lines(side, typical)
    across = runs(columns_of(side))
    width = across[-1][1] - across[0][0]
    wide = []
    for top, bottom in lines:
        filled = runs(columns_of(side[top:bottom]))
        wide.append(filled[-1][1] - filled[0][0])
    # a table column is narrow, and its cells are a word or two
    return width >= 4 * typical and float(np.median(wide)) >= _PROSE * width


# -- blocks and their labels


def _blocks(lines: Sequence[_Line]) -> list[list[_Line]]:
    if not lines:
        return []
    gaps = [
        b.box.top - a.box.bottom
        for a, b in itertools.pairwise(lines)
        if b.column == a.column and b.box.top >= a.box.bottom
    ]
    typical_gap = float(np.median(gaps)) if gaps else 0.0
    typical = _typical_size(lines)
    blocks: list[list[_Line]] = []
    for line in lines:
        if blocks and _continues(blocks[-1], line, typical_gap, typical):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return blocks


def _continues(block: list[_Line], line: _Line, typical_gap: float, typical: _Size) -> bool:
    last = block[-1]
    if line.column != last.column:
        return False
    tall = max(last.letters, typical.letters)
    gap = line.box.top - last.box.bottom
    if gap > max(1.5 * typical_gap, typical_gap + 0.6 * tall) or gap > _BLOCK_GAP * max(
        line.box.height, last.box.height
    ):
        return False
    ratio = max(line.letters, last.letters) / min(line.letters, last.letters)
    if ratio > 1.6 or (ratio > 1.3 and typical.class_of([line]) != typical.class_of([last])):
        return False
    # an indented line starts a paragraph, if the lines before it start at the edge
    edge = min(each.box.left for each in block)
    indent = line.box.left - edge
    return len(block) < 2 or last.box.left - edge > tall or not 1.2 * tall < indent < 6 * tall


@dataclass(frozen=True)
class _Size:
    """The typical size of a page's text."""

    letters: float
    rise: float

    def class_of(self, lines: Sequence[_Line]) -> int:
        """0: typical, 1: larger, 2: much larger. A line of digits has a large x-height, so the rise counts too."""
        letters = float(np.median([line.letters for line in lines])) / max(self.letters, 1e-6)
        rise = float(np.median([line.rise for line in lines])) / max(self.rise, 1e-6)
        return 0 if rise < _RISE else 2 if letters >= _TITLE else 1 if letters >= _HEADING else 0


def _typical_size(lines: Sequence[_Line]) -> _Size:
    """Weighted by the width of the lines."""
    return _Size(_typical(lines, [line.letters for line in lines]), _typical(lines, [line.rise for line in lines]))


def _typical(lines: Sequence[_Line], heights: Sequence[float]) -> float:
    order = np.argsort(heights, kind="stable")
    weight = np.cumsum([lines[i].box.width for i in order])
    return heights[int(order[int(np.searchsorted(weight, weight[-1] / 2))])]


def _labelled(blocks: Sequence[list[_Line]], height: int, width: int) -> list[tuple[list[_Line], str, int]]:
    lines = [line for block in blocks for line in block]
    if not lines:
        return []
    typical = _typical_size(lines)
    typical_height = float(np.median([line.box.height for line in lines]))
    labelled = []
    for block in blocks:
        box = bounding_box(line.box for line in block)
        label, level = "text", 0
        if any(line.box.height > _FIGURE * typical_height and line.box.height > 0.05 * height for line in block) and (
            len(lines) > 1 or box.height > 0.3 * height
        ):
            label = "figure"
        elif (edge := _edge(block, blocks, height, width)) is not None:
            label = edge
        elif (
            (size := typical.class_of(block))
            and len(block) <= 4
            and len(blocks) > 1
            and not any(line.cells for line in block)
        ):
            label, level = "heading", 3 - size
        labelled.append((block, label, level))
    return labelled


def _edge(block: list[_Line], blocks: Sequence[list[_Line]], height: int, width: int) -> str | None:
    """The label of a header, footer or page number: a single line at an edge, clear of the text."""
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


# -- photographs


def photographs(grey: np.ndarray) -> list[tuple[slice, slice]]:
    """The rows and columns of each photograph: areas whose ground is neither the paper nor even."""
    medians = tile_medians(grey)
    paper = float(np.median(medians))
    found = []
    for tiles in _connected_tiles(np.abs(medians - paper) > _OFF_PAPER):
        if (
            len(tiles) < _LEAST_TILES
            or np.std([medians[tile] for tile in tiles]) < _UNEVEN
            or _is_shadow(tiles, medians)
        ):
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


def _is_shadow(tiles: list[tuple[int, int]], medians: np.ndarray) -> bool:
    """Whether tiles are a shadow: it touches an edge of the page and its grey is smooth (fits a quadratic surface)."""
    y, x = np.asarray(tiles, np.float64).T
    down, across = medians.shape
    if y.min() > 0 and x.min() > 0 and y.max() < down - 1 and x.max() < across - 1:
        return False
    y, x = y / down, x / across
    slow = np.stack([np.ones_like(y), y, x, y * y, x * x, x * y], axis=1)
    seen = np.asarray([medians[tile] for tile in tiles])
    left = seen - slow @ np.linalg.lstsq(slow, seen, rcond=None)[0]
    return bool(np.median(np.abs(left)) < _UNEVEN / 2)


def _connected_tiles(marked: np.ndarray) -> list[list[tuple[int, int]]]:
    """The 4-connected components of marked tiles."""
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
