"""The result of reading: documents of pages of elements with their text and boxes, tables and their parsers, and the JSON form of a page.

Plain data that every writer starts from. Boxes are in pixels of the upright page, after its rotation by `Page.turned`
degrees.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any, Literal, TypeAlias

Task: TypeAlias = Literal["text", "markdown", "table", "formula", "chart", "seal", "spotting"]
TASKS: tuple[Task, ...] = ("text", "markdown", "table", "formula", "chart", "seal", "spotting")

Kind: TypeAlias = Literal[
    "heading", "text", "list", "code", "table", "formula", "chart", "seal", "figure", "caption", "footnote", "aside",
    "header", "footer", "page_number",
]  # fmt: skip
MARGINAL: frozenset[Kind] = frozenset({"header", "footer", "page_number"})  # not part of the running text


@dataclass(frozen=True)
class Box:
    """A rectangle on a page, in pixels: x to the right, y downwards."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    @property
    def area(self) -> float:
        return max(self.width, 0) * max(self.height, 0)

    @property
    def middle(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2

    def contains(self, point: tuple[float, float]) -> bool:
        return self.left <= point[0] <= self.right and self.top <= point[1] <= self.bottom

    def intersection(self, other: Box) -> float:
        """The area of the intersection."""
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across * down if across > 0 and down > 0 else 0.0

    def grown(self, by: float) -> Box:
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def within(self, width: float, height: float) -> Box:
        """The part inside a page of this size."""
        return Box(max(self.left, 0), max(self.top, 0), min(self.right, width), min(self.bottom, height))

    def moved(self, x: float, y: float) -> Box:
        return Box(self.left + x, self.top + y, self.right + x, self.bottom + y)

    def scaled(self, by: float) -> Box:
        return Box(self.left * by, self.top * by, self.right * by, self.bottom * by)

    def pixels(self) -> tuple[int, int, int, int]:
        """The smallest whole-pixel rectangle that covers the box."""
        return int(self.left), int(self.top), -int(-self.right // 1), -int(-self.bottom // 1)

    def rounded(self) -> list[float]:
        return [round(side, 1) for side in (self.left, self.top, self.right, self.bottom)]


def bounding_box(boxes: Iterable[Box]) -> Box:
    """The smallest box around at least one box."""
    found = list(boxes)
    return Box(
        min(box.left for box in found),
        min(box.top for box in found),
        max(box.right for box in found),
        max(box.bottom for box in found),
    )


@dataclass(frozen=True)
class PlacedWord:
    """A word and its box."""

    text: str
    box: Box


@dataclass(frozen=True)
class Element:
    """One region of a page with its content."""

    kind: Kind
    box: Box
    order: int  # in reading order, from 0
    text: str = ""
    label: str = ""  # the layout model's class
    score: float = 1.0  # the layout model's confidence in the region
    confidence: float | None = None  # of the text: exp of the mean token log probability; None: not recognized
    doubt: str | None = None  # why the text is doubtful
    level: int = 0  # of a heading, from 1
    table: Table | None = None
    lines: tuple[tuple[PlacedWord, ...], ...] = ()
    figure: str | None = None  # the file with the region's image


@dataclass(frozen=True)
class Page:
    number: int  # in the document, from 1
    width: int
    height: int
    elements: tuple[Element, ...] = ()
    splitter: str = ""  # the name of the layout detector
    reader: str = ""  # the name of the recognizer
    dots: float | None = None  # dots per inch, where known
    turned: float = 0.0  # degrees of counterclockwise rotation that made the lines level
    notes: tuple[str, ...] = ()
    error: str | None = None  # why the page could not be read
    unit: str = "page"  # or slide, sheet, chapter; part: of a document that has no pages
    title: str = ""  # of a sheet


@dataclass(frozen=True)
class Document:
    """What was read of one document."""

    name: str
    pages: tuple[Page, ...] = ()
    error: str | None = None  # why the document could not be opened
    locked: bool = False  # its password was missing or wrong

    @property
    def elements(self) -> Iterator[Element]:
        for page in self.pages:
            yield from page.elements

    @property
    def tables(self) -> list[Table]:
        return [element.table for element in self.elements if element.table is not None]


# -- JSON


def page_to_json(page: Page) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "page": page.number,
        "width": page.width,
        "height": page.height,
        "dots_per_inch": page.dots,
        "turned_degrees": page.turned,
        "splitter": page.splitter,
        "reader": page.reader,
        "notes": list(page.notes),
        "elements": [_element_to_json(element) for element in page.elements],
    }
    if page.unit != "page":
        fields |= {"unit": page.unit}
    if page.title:
        fields |= {"title": page.title}
    return fields | ({"error": page.error} if page.error is not None else {})


def page_from_json(fields: Mapping[str, Any]) -> Page:
    """The inverse of `page_to_json`. Raises KeyError, TypeError or ValueError for any other input."""
    return Page(
        fields["page"],
        fields["width"],
        fields["height"],
        tuple(_element_from_json(element) for element in fields["elements"]),
        fields["splitter"],
        fields["reader"],
        fields["dots_per_inch"],
        fields["turned_degrees"],
        tuple(fields["notes"]),
        fields.get("error"),
        fields.get("unit", "page"),
        fields.get("title", ""),
    )


def _element_to_json(element: Element) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "class": element.kind,
        "order": element.order,
        "box": element.box.rounded(),
        "text": element.text,
        "label": element.label,
        "layout_score": round(element.score, 4),
        "confidence": None if element.confidence is None else round(element.confidence, 4),
        "doubtful": element.doubt,
    }
    if element.level:
        fields["level"] = element.level
    if element.figure is not None:
        fields["figure"] = element.figure
    if element.table is not None:
        table = element.table
        fields["table"] = {
            "rows": table.rows,
            "columns": table.columns,
            "cells": [
                {"row": c.row, "column": c.column, "rows": c.rows, "columns": c.columns, "text": c.text,
                 "heading": c.heading}
                for c in table.cells
            ],
        }  # fmt: skip
    if element.lines:
        fields["lines"] = [[{"text": word.text, "box": word.box.rounded()} for word in line] for line in element.lines]
    return fields


def _element_from_json(fields: Mapping[str, Any]) -> Element:
    table = fields.get("table")
    return Element(
        fields["class"],
        Box(*fields["box"]),
        fields["order"],
        fields["text"],
        fields["label"],
        fields["layout_score"],
        fields["confidence"],
        fields["doubtful"],
        fields.get("level", 0),
        None if table is None else Table(table["rows"], table["columns"], tuple(Cell(**c) for c in table["cells"])),
        tuple(tuple(PlacedWord(word["text"], Box(*word["box"])) for word in line) for line in fields.get("lines", ())),
        fields.get("figure"),
    )


# -- text of lists and paragraphs

_BULLET = re.compile(r"^\s*[•◦▪‣●○■□·∙–—*-]\s+(?=\S)")
_NUMBERED = re.compile(r"^\s*(\d{1,3}|[a-zA-Z])[.)]\s+\S")
_HYPHENATED = re.compile(r"(\w)[-‐\u00ad]$")


def rejoined(text: str) -> str:
    """A paragraph as one line. `exam-` + `ple` becomes `example`; `well-` + `Known`, `1990-` + `2000` keep the hyphen."""
    out = ""
    for line in text.splitlines():
        line = line.strip()
        if not line:
            continue
        if out and (cut := _HYPHENATED.search(out)):
            hyphenated = cut[1].isalpha() and line[0].islower()
            out = (out[:-1] if hyphenated else out) + line
        else:
            out = f"{out} {line}" if out else line
    return out


def is_list(text: str) -> bool:
    """Whether the first line is a list item with a bullet, or one of several list items."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines or not _is_item(lines[0]):
        return False
    return bool(_BULLET.match(lines[0])) or sum(map(_is_item, lines)) > 1


def _is_item(line: str) -> bool:
    return bool(_BULLET.match(line) or _NUMBERED.match(line))


def list_items(text: str) -> list[str]:
    """The items of a list, each with its continuation lines."""
    found: list[list[str]] = []
    for line in text.splitlines():
        if _is_item(line) or not found:
            found.append([line.strip()])
        elif line.strip():
            found[-1].append(line.strip())
    return ["\n".join(item) for item in found]


def without_bullet(item: str) -> str | None:
    """The text of an item with a bullet; None for a numbered item."""
    found = _BULLET.match(item)
    return item[found.end() :] if found else None


# -- tables, and parsers for the forms in which models write them: OTSL, HTML and pipe tables. They keep spans and repair
# broken tables: a `Table` always tiles its grid, every position belongs to exactly one cell

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


@dataclass(frozen=True)
class TextDocument:
    """A document that carried its text, read to the end."""

    name: str
    pages: tuple[Page, ...]
