"""Tables, and parsers for the forms in which models write them: OTSL, HTML and pipe tables.

A `Table` always tiles its grid: every position belongs to exactly one cell. Parsers keep spans and repair broken tables.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

MOST_CELLS = 200_000  # the limit for spans of broken tables

_OTSL = re.compile(r"<(fcel|ecel|lcel|ucel|xcel|ched|rhed|srow|nl)>")
_HEADINGS = ("ched", "rhed", "srow")
_RULE = re.compile(r"[\s|:+-]*-[\s|:+-]*")


@dataclass(frozen=True)
class Cell:
    text: str
    row: int
    column: int
    rows: int = 1  # spanned
    columns: int = 1
    heading: bool = False


@dataclass(frozen=True)
class Table:
    rows: int
    columns: int
    cells: tuple[Cell, ...]  # by row, then by column

    @property
    def spans(self) -> bool:
        return any(cell.rows > 1 or cell.columns > 1 for cell in self.cells)

    def grid(self) -> list[list[str]]:
        """Texts by row and column; the text of a spanning cell is in its first position."""
        grid = [[""] * self.columns for _ in range(self.rows)]
        for cell in self.cells:
            grid[cell.row][cell.column] = cell.text
        return grid

    def plain(self) -> str:
        """One line per row, with tabs between cells."""
        return "\n".join("\t".join(" ".join(text.split()) for text in row) for row in self.grid())


def read_table(text: str) -> Table | None:
    """The table in a model's output, in any of the forms; None without one."""
    if _OTSL.search(text):
        return from_otsl(text)
    if re.search(r"<t[dhr]\b|<table\b", text, re.IGNORECASE):
        return from_html(text)
    return from_bars(text)


def from_otsl(text: str) -> Table | None:
    """`<fcel>` a cell, `<ecel>` an empty one, `<lcel>` a continuation from the left, `<ucel>` from above, `<xcel>` from both."""
    rows: list[list[tuple[str, str]]] = [[]]
    marks = list(_OTSL.finditer(text))
    for mark, next in zip(marks, [*marks[1:], None]):
        if mark[1] == "nl":
            rows.append([])
        else:
            content = text[mark.end() : next.start() if next else None]
            rows[-1].append((mark[1], html.unescape(content.strip())))
    rows = [row for row in rows if row]
    width = max((len(row) for row in rows), default=0)
    if not width or len(rows) * width > MOST_CELLS:
        return None
    full = [row + [("ecel", "")] * (width - len(row)) for row in rows]

    def continues(row: int, column: int, *kinds: str) -> bool:
        return row < len(full) and column < width and full[row][column][0] in kinds

    cells, taken = [], _Taken(len(full), width)
    for row, column in taken.free():
        kind, content = full[row][column]
        across, down = 1, 1
        if kind not in ("lcel", "ucel", "xcel"):  # a continuation of nothing is an empty cell
            while continues(row, column + across, "lcel") and taken.are_free(row, column + across, 1, 1):
                across += 1
            while continues(row + down, column, "ucel") and taken.are_free(row + down, column, 1, across) and all(
                continues(row + down, column + step, "xcel", "ucel", "lcel") for step in range(1, across)
            ):  # fmt: skip
                down += 1
        taken.take(row, column, down, across)
        cells.append(Cell(content, row, column, down, across, kind in _HEADINGS))
    return Table(len(full), width, tuple(cells))


def from_html(text: str) -> Table | None:
    found = _Rows()
    found.feed(text)
    found.close()
    return from_rows(found.rows)


def from_bars(text: str) -> Table | None:
    """A table of lines with cells between `|`, as in Markdown and from chart models."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if not lines or sum("|" in line for line in lines) < max(1, len(lines) - 1):
        return None
    rows = []
    for line in lines:
        if _RULE.fullmatch(line):
            continue
        inside = line.removeprefix("|").removesuffix("|") if line.startswith("|") else line
        rows.append([(cell.replace("\\|", "|").strip(), 1, 1, False) for cell in re.split(r"(?<!\\)\|", inside)])
    return from_rows(rows)


def from_rows(rows: Sequence[Iterable[tuple[str, int, int, bool]]]) -> Table | None:
    """A table from rows of (text, rows, columns, heading), laid out as in a browser; spans that do not fit are cut."""
    placed: list[Cell] = []
    taken: set[tuple[int, int]] = set()
    for row, cells in enumerate(rows):
        column = 0
        for text, down, across, heading in cells:
            while (row, column) in taken:
                column += 1
            down = max(1, min(down, len(rows) - row))
            across = max(1, across)
            if len(taken) + down * across > MOST_CELLS:
                return None
            fits = next((step for step in range(1, across) if (row, column + step) in taken), across)
            places = {(row + y, column + x) for y in range(down) for x in range(fits)}
            if places & taken:  # an earlier cell spans into the rows below
                down, places = 1, {(row, column + x) for x in range(fits)}
            taken |= places
            placed.append(Cell(text, row, column, down, fits, heading))
            column += fits
    height, width = len(rows), max((x for _, x in taken), default=-1) + 1
    if not width or height * width > MOST_CELLS:
        return None
    empty = [Cell("", y, x) for y in range(height) for x in range(width) if (y, x) not in taken]
    return Table(height, width, tuple(sorted([*placed, *empty], key=lambda cell: (cell.row, cell.column))))


class _Taken:
    """Which positions of a grid belong to a cell."""

    def __init__(self, rows: int, columns: int) -> None:
        self._grid = [[False] * columns for _ in range(rows)]

    def free(self) -> Iterable[tuple[int, int]]:
        for y, line in enumerate(self._grid):
            for x in range(len(line)):
                if not line[x]:
                    yield y, x

    def are_free(self, row: int, column: int, down: int, across: int) -> bool:
        return not any(self._grid[y][x] for y in range(row, row + down) for x in range(column, column + across))

    def take(self, row: int, column: int, down: int, across: int) -> None:
        for y in range(row, row + down):
            self._grid[y][column : column + across] = [True] * across


class _Rows(HTMLParser):
    """Cells by row; other content between the tags is text of the open cell."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[tuple[str, int, int, bool]]] = []
        self._open: tuple[int, int, bool] | None = None
        self._content: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._end()
            self.rows.append([])
        elif tag in ("td", "th"):
            self._end()
            given = dict(attributes)
            if not self.rows:
                self.rows.append([])
            self._open = _span(given.get("rowspan")), _span(given.get("colspan")), tag == "th"
        elif tag == "br":
            self._content.append("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._end()

    def handle_data(self, data: str) -> None:
        if self._open:
            self._content.append(data)

    def close(self) -> None:
        super().close()
        self._end()

    def _end(self) -> None:
        if self._open:
            self.rows[-1].append(("".join(self._content).strip(), *self._open))
        self._open = None
        self._content.clear()


def _span(text: str | None) -> int:
    return min(int(text), 1000) if text and text.isdecimal() else 1
