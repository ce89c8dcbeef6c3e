"""Reading order without a model: which stretches of a page are set in columns, and which lines follow which.

Works on ink alone: rows and columns of pixels without any are what separates. A stretch counts as columns when one strip
of white runs through at least three lines on both sides, or two beside many, and those lines fill their column as prose does; a
table of short cells does not, and is read row by row.
"""

from __future__ import annotations

import numpy as np

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


def stacks(ink: np.ndarray, usual: float) -> list[tuple[Span, Span]]:
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
