"""OpenDocument: texts (odt), sheets (ods) and slides (odp), packed or as one flat XML file.

Texts keep headings, paragraphs, lists, tables and notes in order, with pages where the writer left soft page breaks. A cell of a sheet
shows its value in the form in which workbooks of Excel show theirs (`sheets.py`).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element as XmlElement

from engine.pipelines.reading.formats.blocks import PageBuilder, Row, whole_number
from engine.pipelines.reading.formats.packages import Package, damaged, protected
from engine.pipelines.reading.formats.sheets import SheetRows, clock_time, date_text, percent, plain_number
from engine.pipelines.reading.results import MOST_CELLS, Kind, Page

_SKIPPED = frozenset(
    {"tracked-changes", "annotation", "sequence-decls", "forms", "index-title-template", "variable-decls", "notes"}
)
_BESIDE = frozenset(
    {"note", "frame", "annotation", "annotation-end", "soft-page-break", "ruby-text"}
)  # not in the line
_CODE = ("preformatted", "source_20_code", "verbatim")
_MARGINS: dict[str, Kind] = {
    "footer": "footer",
    "date-time": "footer",
    "page-number": "page_number",
    "header": "header",
}
_TIME = re.compile(r"PT(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,6})(?:[.,]\d*)?S)?")
_MOST_SPACES = 1000
_MOST_ACROSS = 64
_MOST_AGAIN = 16_384  # columns of a sheet


def read_opendocument(package: Package) -> tuple[Page, ...]:
    if "META-INF/manifest.xml" in package.names:
        manifest = package.xml("META-INF/manifest.xml")
        if manifest.find(".//encryption-data") is not None:
            raise protected()
    named = package.xml("styles.xml") if "styles.xml" in package.names else None
    return read_flat_opendocument(package.xml("content.xml"), named)


def read_flat_opendocument(root: XmlElement, named: XmlElement | None = None) -> tuple[Page, ...]:
    """`named`: the styles that have names, where they are a part of their own."""
    styles = [root] if named is None else [named, root]
    body = root.find("body")
    for content in body if body is not None else ():
        if content.tag == "spreadsheet":
            return _sheets(content)
        if content.tag == "presentation":
            return _slides(styles, content)
        if content.tag == "text":
            out = PageBuilder("page" if root.find(".//soft-page-break") is not None else "part")
            _Reader(styles, out).blocks(content)
            return out.pages()
    raise damaged("body")


# -- texts


class _Reader:
    def __init__(self, styles: list[XmlElement], out: PageBuilder) -> None:
        self._out = out
        self._parents = {
            style.get("name", ""): style.get("parent-style-name", "")
            for style in styles[-1].iterfind("automatic-styles/style")
        }
        # by list: of each depth that is numbered, the first number
        self._first = {
            style.get("name", ""): {
                whole_number(level.get("level"), 1) - 1: whole_number(level.get("start-value"), 1)
                for level in style
                if level.tag == "list-level-style-number" and level.get("num-format") != ""
            }
            for root in styles
            for style in root.iter("list-style")
        }
        self._last: dict[tuple[str, int], int] = {}  # the last number of a list and a depth

    def _style(self, name: str) -> str:
        """The named style that an automatic one stands for."""
        return self._parents.get(name) or name

    def blocks(self, parent: XmlElement) -> None:
        for child in parent:
            if child.tag == "h":
                self._paragraph(child, max(1, whole_number(child.get("outline-level"), 1)))
            elif child.tag == "p":
                self._paragraph(child)
            elif child.tag == "list":
                self._list(child, 0, child.get("style-name", ""))
            elif child.tag == "table":
                self._out.table(_table(child))
            elif child.tag == "soft-page-break":
                self._out.begin_page()
            elif child.tag not in _SKIPPED:  # sections, indexes, frames
                self.blocks(child)

    def _paragraph(self, paragraph: XmlElement, level: int = 0) -> None:
        text = "".join(_pieces(paragraph))
        style = self._style(paragraph.get("style-name", ""))
        level = level or {"Title": 1, "Subtitle": 2}.get(style, 0)
        if level:
            self._out.heading(text, level)
        elif any(word in style.lower() for word in _CODE):
            self._out.code(text)
        else:
            self._out.text(text)
        self._beside(paragraph)
        if _has(paragraph, "soft-page-break"):
            self._out.begin_page()

    def _beside(self, paragraph: XmlElement) -> None:
        """The notes and text boxes of a paragraph; those in a box belong to the box's own paragraphs."""
        for child in paragraph:
            if child.tag == "note":
                lines = ("".join(_pieces(p)) for body in child.iterfind("note-body") for p in body.iter("p"))
                self._out.text("\n".join(lines), "footnote")
            elif child.tag == "frame":
                self.blocks(child)
            elif child.tag not in _SKIPPED:
                self._beside(child)

    def _list(self, items: XmlElement, depth: int, style: str) -> None:
        first = self._first.get(style, {}).get(depth)
        number = (first or 1) - 1
        if items.get("continue-numbering") == "true" or items.get("continue-list"):
            number = self._last.get((style, depth), number)
        for item in items:
            if item.tag not in ("list-item", "list-header"):
                continue
            is_item = item.tag == "list-item"  # and its first paragraph has the number
            number = whole_number(item.get("start-value"), number + is_item)
            for child in item:
                if child.tag == "h":
                    self._paragraph(child, max(1, whole_number(child.get("outline-level"), 1)))
                elif child.tag == "p" and is_item:
                    self._out.item("".join(_pieces(child)), depth, None if first is None else number)
                    self._beside(child)
                    is_item = False
                elif child.tag == "p":
                    self._paragraph(child)
                elif child.tag == "list":
                    self._list(child, depth + 1, child.get("style-name", style))
                elif child.tag == "soft-page-break":
                    self._out.begin_page()
                elif child.tag not in _SKIPPED:
                    self.blocks(child)
        self._last[style, depth] = number


def _has(paragraph: XmlElement, tag: str) -> bool:
    """Whether a paragraph holds this, outside the frames in it."""
    return any(child.tag == tag or (child.tag not in _BESIDE and _has(child, tag)) for child in paragraph)


def _pieces(element: XmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag == "s":
            yield " " * whole_number(child.get("c"), 1, _MOST_SPACES)
        elif child.tag == "tab":
            yield "\t"
        elif child.tag == "line-break":
            yield "\n"
        elif child.tag not in _BESIDE:
            yield from _pieces(child)
        yield child.tail or ""


def _table(table: XmlElement) -> list[Row]:
    rows: list[Row] = []
    cells = 0
    for row, heading in _rows(table):
        found: Row = []
        for cell in row:
            if cell.tag != "table-cell":  # a covered one belongs to the cell that spans it
                continue
            down, across = (_count(cell, f"number-{what}-spanned", _MOST_ACROSS) for what in ("rows", "columns"))
            again = _count(cell, "number-columns-repeated", _MOST_ACROSS)
            found += [(_cell_text(cell), down, across, heading)] * again
        cells += len(found)
        if cells > MOST_CELLS:
            break
        rows.append(found)
    return rows


def _rows(table: XmlElement, heading: bool = False) -> Iterator[tuple[XmlElement, bool]]:
    for child in table:
        if child.tag == "table-row":
            yield child, heading
        elif child.tag in ("table-rows", "table-header-rows", "table-row-group"):
            yield from _rows(child, child.tag == "table-header-rows")


def _count(element: XmlElement, name: str, most: int) -> int:
    return max(1, whole_number(element.get(name), 1, most))


def _cell_text(cell: XmlElement) -> str:
    lines: list[str] = []
    _add_lines(cell, lines)
    return "\n".join(lines)


def _add_lines(parent: XmlElement, lines: list[str]) -> None:
    for child in parent:
        if child.tag in _SKIPPED:
            continue
        if child.tag in ("p", "h") and (line := " ".join("".join(_pieces(child)).split())):
            lines.append(line)
        _add_lines(child, lines)


# -- sheets


def _sheets(content: XmlElement) -> tuple[Page, ...]:
    out = PageBuilder("sheet")
    for table in content.iterfind("table"):
        name = table.get("name", "")
        out.begin_page(name)
        out.heading(name, 1)
        _sheet(table, out)
        out.end_page()
    return out.pages()


def _sheet(table: XmlElement, out: PageBuilder) -> None:
    sheet = SheetRows()
    number = 0
    for row, _ in _rows(table):
        number += 1
        values: list[str] = []
        column = 0
        for cell in row:
            if cell.tag not in ("table-cell", "covered-table-cell"):
                continue
            value = _value(cell) if cell.tag == "table-cell" else ""
            down, across = (_count(cell, f"number-{what}-spanned", 1 << 20) for what in ("rows", "columns"))
            if down > 1 or across > 1:
                sheet.merge(number, column, number + down - 1, column + across - 1)
            again = min(_count(cell, "number-columns-repeated", _MOST_AGAIN), _MOST_AGAIN - column)
            if value:
                values += [*[""] * (column - len(values)), *[value] * again]
            column += again
        again = _count(row, "number-rows-repeated", 1 << 20)
        for at in range(again if values else 0):
            if not sheet.add(number + at, values):
                break
        number += again - 1
    sheet.end(out)


def _value(cell: XmlElement) -> str:
    kind = cell.get("value-type", "")
    try:
        if kind in ("float", "currency"):
            return plain_number(float(cell.get("value", "")))
        if kind == "percentage":
            return percent(float(cell.get("value", "")))
        if kind == "date":
            found = datetime.datetime.fromisoformat(cell.get("date-value", ""))
            return date_text(found, "T" in cell.get("date-value", ""))
    except ValueError:  # of a date beyond what Python knows, or of no number: as it is shown
        return _cell_text(cell)
    if kind == "time" and (time := _TIME.fullmatch(cell.get("time-value", ""))):
        return clock_time(int(time[1] or 0) * 3600 + int(time[2] or 0) * 60 + int(time[3] or 0))
    if kind == "boolean":
        return "TRUE" if cell.get("boolean-value") == "true" else "FALSE"
    return _cell_text(cell)


# -- slides


def _slides(styles: list[XmlElement], content: XmlElement) -> tuple[Page, ...]:
    out = PageBuilder("slide")
    reader = _Reader(styles, out)
    for page in content.iterfind("page"):
        shapes = list(_shapes(page))
        # a title may lie behind other shapes in the file, and stands above them on the slide
        for shape in sorted(shapes, key=lambda shape: shape.get("class") != "title"):
            kind = shape.get("class", "")
            if kind in ("title", "subtitle"):
                out.heading(" ".join(_cell_text(shape).split()), 1 if kind == "title" else 2)
            elif kind in _MARGINS:
                out.text(_cell_text(shape), _MARGINS[kind])
            else:
                reader.blocks(shape)
        for notes in page.iterfind("notes"):
            for shape in _shapes(notes):
                if shape.get("class") == "notes":
                    out.text(_cell_text(shape), "aside")
        out.end_page()
    return out.pages()


def _shapes(parent: XmlElement) -> Iterator[XmlElement]:
    for child in parent:
        if child.tag in ("g", "a"):
            yield from _shapes(child)
        elif child.tag not in _SKIPPED:
            yield child
