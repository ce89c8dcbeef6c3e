"""Collects the headings, paragraphs, lists and tables of a document into pages."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import ErrorText, UnreadableFile
from engine.pipelines.reading.results import Box, Element, Kind, Page, Table, from_rows

BY_FILE = "document"  # what found the elements of a page and read them: the file itself
MOST_CHARACTERS = 12_000  # of a part of a document without pages; it ends at the next heading or paragraph
MOST_ELEMENTS_OF_A_PART = 150
_ROWS_OF_A_TEXT = 100  # of a table without a grid
MOST_TEXT = 64 << 20  # characters of a document
MOST_BLOCKS = 500_000  # and paragraphs, items and rows
_NOWHERE = Box(0, 0, 0, 0)
Row = list[tuple[str, int, int, bool]]  # the text of each cell, the rows and columns it spans, whether it is a heading


def whole_number(text: str | None, default: int, most: int = 9_999_999) -> int:
    """A number of at most seven digits from 0 to 9. Files have others too: `int` takes digits of every script, and refuses some
    that `isdigit` takes."""
    return min(int(text), most) if text and text.isascii() and text.isdigit() and len(text) < 8 else default


def larger() -> UnreadableFile:
    return UnreadableFile(ErrorText("The file is larger than can be read here."))


class PageBuilder:
    """Takes blocks in reading order. `unit`: what a page is called. A document without pages is cut into parts."""

    def __init__(self, unit: str = "part") -> None:
        self._unit = unit
        self._pages: list[Page] = []
        self._elements: list[Element] = []
        self._title = ""
        self._notes: list[str] = []
        self._items: list[str] = []
        self._size = 0
        self._text = self._blocks = 0  # of the whole document

    @property
    def empty(self) -> bool:
        """Whether this page has nothing yet."""
        return not self._elements and not self._items

    def begin_page(self, title: str = "") -> None:
        """What comes now is on a new page, unless this one has nothing yet."""
        if not self.empty:
            self.end_page()
        self._title = title

    def end_page(self) -> None:
        """The page is complete, even where nothing is on it."""
        self._end_list()
        self._pages.append(
            Page(len(self._pages) + 1, 0, 0, tuple(self._elements), BY_FILE, BY_FILE, notes=tuple(self._notes),
                 unit=self._unit, title=self._title)
        )  # fmt: skip
        self._elements, self._notes, self._title, self._size = [], [], "", 0

    def pages(self) -> tuple[Page, ...]:
        if not self.empty or self._notes or not self._pages:
            self.end_page()
        return tuple(self._pages)

    def note(self, note: str) -> None:
        self._notes.append(note)

    def heading(self, text: str, level: int) -> None:
        self._add("heading", " ".join(text.split()), level=max(1, min(level, 6)))

    def text(self, text: str, kind: Kind = "text") -> None:
        self._add(kind, _tidy(text))

    def code(self, text: str) -> None:
        self._add("code", text.strip("\n"))

    def item(self, text: str, depth: int = 0, number: int | None = None) -> None:
        """An item of a list; items that follow each other are one list."""
        text = " ".join(text.split())
        if text:
            self._count(text)
            self._items.append(f"{'  ' * min(depth, 8)}{'-' if number is None else f'{number}.'} {text}")
            self._size += len(text)

    def table(self, rows: Sequence[Row]) -> None:
        """As text, a row a line, where its grid would be larger than a table can be."""
        if not any(cell[0] for row in rows for cell in row):
            return
        table = from_rows(rows)
        if table is not None:
            self._count("", len(rows))
            self._add("table", table.plain(), table=table)
            return
        for at in range(0, len(rows), _ROWS_OF_A_TEXT):
            lines = (
                "\t".join(" ".join(cell[0].split()) for cell in row).rstrip() for row in rows[at : at + _ROWS_OF_A_TEXT]
            )
            self._add("text", "\n".join(line for line in lines if line))

    def plain_table(self, rows: Sequence[Sequence[str]], heading: bool = False) -> None:
        """A table without spans. Empty rows at the end and empty columns on the right are left out."""
        full = [list(row) for row in rows]
        while full and not any(full[-1]):
            full.pop()
        width = max((at + 1 for row in full for at, text in enumerate(row) if text), default=0)
        self.table([[(text, 1, 1, heading and not at) for text in row[:width]] for at, row in enumerate(full)])

    def _count(self, text: str, blocks: int = 1) -> None:
        self._text += len(text)
        self._blocks += blocks
        if self._text > MOST_TEXT or self._blocks > MOST_BLOCKS:
            raise larger()

    def _add(self, kind: Kind, text: str, level: int = 0, table: Table | None = None) -> None:
        self._end_list()
        if not text.strip():
            return
        if table is None:
            self._count(text)
        if self._unit == "part" and self._elements and self._is_full(kind):
            self.end_page()
        self._elements.append(
            Element(kind, _NOWHERE, len(self._elements), text, level=level, table=table),
        )
        self._size += len(text)

    def _end_list(self) -> None:
        if self._items:
            items, self._items = self._items, []
            self._add("list", "\n".join(items))

    def _is_full(self, kind: Kind) -> bool:
        most = MOST_CHARACTERS // 2 if kind == "heading" else MOST_CHARACTERS
        return self._size > most or len(self._elements) >= MOST_ELEMENTS_OF_A_PART


def shortened(rows: int) -> str:
    return ErrorText("Only the first {rows} rows are read.", rows=rows)


def _tidy(text: str) -> str:
    """Without spaces at the ends of lines, and without empty lines."""
    return "\n".join(line for line in (" ".join(line.split()) for line in text.splitlines()) if line)
