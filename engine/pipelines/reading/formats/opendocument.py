"""OpenDocument texts (odt): headings, paragraphs, lists, tables and notes in order; pages where the writer left soft page breaks."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element as XmlElement

from engine.pipelines.reading.formats.blocks import PageBuilder
from engine.pipelines.reading.formats.packages import Package, protected
from engine.pipelines.reading.results import MOST_CELLS, Page, Table, from_rows

_SKIPPED = frozenset(
    {"tracked-changes", "annotation", "sequence-decls", "forms", "index-title-template", "variable-decls"}
)
_MOST_SPACES = 1000
_MOST_ACROSS = 64


def read_opendocument(package: Package) -> tuple[Page, ...]:
    if "META-INF/manifest.xml" in package.names:
        manifest = package.xml("META-INF/manifest.xml")
        if manifest.find(".//encryption-data") is not None:
            raise protected()
    root = package.xml("content.xml")
    body = root.find("body/text")
    reader = _Reader(root)
    if body is not None:
        reader.blocks(body)
    return reader.out.pages()


class _Reader:
    def __init__(self, root: XmlElement) -> None:
        self.out = PageBuilder("page" if root.find(".//soft-page-break") is not None else "part")
        self._parents = {
            s.get("name", ""): s.get("parent-style-name", "") for s in root.iterfind("automatic-styles/style")
        }
        self._numbered = {
            style.get("name", ""): len(style) > 0 and style[0].tag == "list-level-style-number"
            for style in root.iter("list-style")
        }

    def _style(self, name: str) -> str:
        """The named style that an automatic one stands for."""
        return self._parents.get(name) or name

    def blocks(self, parent: XmlElement) -> None:
        for child in parent:
            if child.tag == "h":
                level = child.get("outline-level", "1")
                self._paragraph(child, int(level) if level.isdigit() and len(level) < 3 else 1)
            elif child.tag == "p":
                self._paragraph(child)
            elif child.tag == "list":
                self._list(child, 0, child.get("style-name", ""))
            elif child.tag == "table":
                self.out.table(_table(child))
            elif child.tag == "soft-page-break":
                self.out.begin_page()
            elif child.tag not in _SKIPPED:  # sections, indexes, frames
                self.blocks(child)

    def _paragraph(self, paragraph: XmlElement, level: int = 0) -> None:
        text = "".join(_pieces(paragraph))
        style = self._style(paragraph.get("style-name", ""))
        level = level or {"Title": 1, "Subtitle": 2}.get(style, 0)
        if level:
            self.out.heading(text, level)
        elif style.startswith("Preformatted"):
            self.out.code(text)
        else:
            self.out.text(text)
        for note in paragraph.iter("note-body"):
            self.out.text("\n".join("".join(_pieces(p)) for p in note.iter("p")), "footnote")
        for box in paragraph.iter("text-box"):
            self.blocks(box)
        if paragraph.find(".//soft-page-break") is not None:
            self.out.begin_page()

    def _list(self, items: XmlElement, depth: int, style: str) -> None:
        number = 0
        for item in items:
            if item.tag not in ("list-item", "list-header"):
                continue
            number += 1
            for child in item:
                if child.tag in ("p", "h"):
                    self.out.item("".join(_pieces(child)), depth, number if self._numbered.get(style) else None)
                elif child.tag == "list":
                    self._list(child, depth + 1, child.get("style-name", style))
                elif child.tag == "soft-page-break":
                    self.out.begin_page()
                else:
                    self.blocks(child)


def _pieces(element: XmlElement) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        if child.tag == "s":
            count = child.get("c", "1")
            yield " " * min(int(count) if count.isdigit() and len(count) < 7 else 1, _MOST_SPACES)
        elif child.tag == "tab":
            yield "\t"
        elif child.tag == "line-break":
            yield "\n"
        elif child.tag not in ("note", "frame", "annotation", "annotation-end", "soft-page-break"):
            yield from _pieces(child)
        yield child.tail or ""


def _table(table: XmlElement) -> Table | None:
    rows, cells = [], 0
    for row, heading in _rows(table):
        found = []
        for cell in row:
            if cell.tag != "table-cell":  # a covered one belongs to the cell that spans it
                continue
            text = "\n".join(filter(None, (" ".join("".join(_pieces(p)).split()) for p in cell.iter("p"))))
            down, across = (_count(cell, f"number-{what}-spanned", _MOST_ACROSS) for what in ("rows", "columns"))
            again = _count(cell, "number-columns-repeated", _MOST_ACROSS)
            found += [(text, down, across, heading)] * again
        cells += len(found)
        if cells > MOST_CELLS:
            break
        rows.append(found)
    return from_rows(rows)


def _rows(table: XmlElement, heading: bool = False) -> Iterator[tuple[XmlElement, bool]]:
    for child in table:
        if child.tag == "table-row":
            yield child, heading
        elif child.tag in ("table-rows", "table-header-rows", "table-row-group"):
            yield from _rows(child, child.tag == "table-header-rows")


def _count(cell: XmlElement, name: str, most: int) -> int:
    text = cell.get(name, "1")
    return max(1, min(int(text) if text.isdigit() and len(text) < 7 else 1, most))
