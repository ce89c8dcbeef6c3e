"""Word documents (docx): paragraphs, headings, lists, tables and notes in order; pages where Word last laid them out.

What was deleted in tracked changes is left out, fields show their last result, macros are never opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element as XmlElement

from engine.pipelines.reading.formats.blocks import PageBuilder, Row, whole_number
from engine.pipelines.reading.formats.packages import Package
from engine.pipelines.reading.results import Page

# deleted words, what is there twice, codes of fields, properties, the readings over words
_SKIPPED = frozenset({"Fallback", "del", "moveFrom", "instrText", "delText", "pPr", "rPr", "tblPr", "sectPr", "rt"})
_CODE = ("code", "verbatim", "preformatted")


def read_word(package: Package, main: str) -> tuple[Page, ...]:
    return _Word(package, main).pages()


class _Word:
    def __init__(self, package: Package, main: str) -> None:
        self._package = package
        relations = package.relations(main)
        parts: dict[str, list[str]] = {}
        for kind, name in relations.values():
            if name in package.names:
                parts.setdefault(kind, []).append(name)
        self._styles = _styles(package, parts)
        self._lists = _lists(package, parts)
        self._notes = {kind: _notes(package, parts, kind) for kind in ("footnotes", "endnotes")}
        self._margins = [(kind, name) for kind in ("header", "footer") for name in sorted(parts.get(kind, ()))]
        root = package.xml(main)
        self._body = root.find("body")
        rendered = root.find(".//lastRenderedPageBreak") is not None
        self._has_pages = rendered or any(e.get("type") == "page" for e in root.iter("br"))
        self._break = "lastRenderedPageBreak" if rendered else "br"
        self._counts: dict[str, list[int]] = {}  # the number of the last item of each depth
        self._begun: set[str] = set()  # lists that have an item
        self._out = PageBuilder("page" if self._has_pages else "part")

    def pages(self) -> tuple[Page, ...]:
        seen = set()
        for kind, name in self._margins:
            for paragraph in self._package.xml(name).iter("p"):
                text = self._text(paragraph)
                if text.strip() and (kind, text) not in seen:
                    seen.add((kind, text))
                    self._out.text(text, "header" if kind == "header" else "footer")
        if self._body is not None:
            self._blocks(self._body)
        return self._out.pages()

    def _blocks(self, parent: XmlElement) -> None:
        for child in parent:
            if child.tag == "p":
                self._paragraph(child)
            elif child.tag == "tbl":
                self._out.table(self._table(child))
            elif child.tag not in _SKIPPED:  # sdt, sdtContent, customXml, ins
                self._blocks(child)

    def _paragraph(self, paragraph: XmlElement) -> None:
        before, after = self._around_break(paragraph)
        if before is None:  # the page ends before its first word
            self._out.begin_page()
        style = self._styles.get(_value(paragraph, "pPr/pStyle"), {})
        text = self._text(paragraph)
        level = _heading_level(paragraph, style)
        place = _list_place(paragraph, style)
        if level and text.strip():
            self._out.heading(text, level)
        elif place is not None and place[0] in self._lists and text.strip():
            self._item(text, *place)
        elif any(word in style.get("name", "") for word in _CODE):
            self._out.code(text)
        else:
            self._out.text(text)
        for kind, mark in (("footnotes", "footnoteReference"), ("endnotes", "endnoteReference")):
            for reference in _outermost(paragraph, mark, "txbxContent"):
                self._out.text(self._notes[kind].get(reference.get("id", ""), ""), "footnote")
        for box in _outermost(paragraph, "txbxContent"):
            self._blocks(box)
        if before is not None and after:
            self._out.begin_page()

    def _around_break(self, paragraph: XmlElement) -> tuple[bool | None, bool]:
        """(None: a page ends before the first word; else False, whether one ends within or behind the paragraph)."""
        words = False
        for element in paragraph.iter():
            words = words or (element.tag == "t" and bool((element.text or "").strip()))
            if element.tag == self._break and (self._break != "br" or element.get("type") == "page"):
                return (False, True) if words else (None, False)
        first = paragraph.find("pPr/pageBreakBefore") is not None and self._has_pages and self._break == "br"
        return (None, False) if first else (False, False)

    def _item(self, text: str, key: str, depth: int) -> None:
        found = self._lists[key]
        counts = self._counts.setdefault(found.counted_as, [])
        if key not in self._begun and found.restarts:
            counts.clear()
        self._begun.add(key)
        del counts[depth + 1 :]
        counts.extend(found.levels.get(at, ("", 1))[1] - 1 for at in range(len(counts), depth + 1))
        counts[depth] += 1
        numbered = found.levels.get(depth, ("bullet", 1))[0] not in ("bullet", "none")
        self._out.item(text, depth, counts[depth] if numbered else None)

    def _text(self, paragraph: XmlElement) -> str:
        return "".join(_pieces(paragraph))

    def _table(self, table: XmlElement) -> list[Row]:
        """Cells that continue one above have no text of their own."""
        rows: list[list[list[Any]]] = []
        open_at: dict[int, list[Any]] = {}  # by column: the cell above that spans further
        for row in _within(table, "tr"):
            if row.find("trPr/del") is not None:
                continue
            cells: list[list[Any]] = []
            column = 0
            for cell in _within(row, "tc"):
                across = max(1, whole_number(_value(cell, "tcPr/gridSpan"), 1, 64))
                merged = cell.find("tcPr/vMerge")
                if merged is not None and merged.get("val", "continue") != "restart" and column in open_at:
                    open_at[column][1] += 1
                else:
                    made = [self._cell(cell), 1, across, row.find("trPr/tblHeader") is not None]
                    cells.append(made)
                    open_at.pop(column, None)
                    if merged is not None:
                        open_at[column] = made
                column += across
            rows.append(cells)
        return [[(text, down, across, head) for text, down, across, head in row] for row in rows]

    def _cell(self, cell: XmlElement) -> str:
        lines: list[str] = []
        _add_lines(cell, lines)
        return "\n".join(lines)


def _add_lines(parent: XmlElement, lines: list[str]) -> None:
    """The paragraphs in a cell, also those of text boxes and of tables in it."""
    for child in parent:
        if child.tag in _SKIPPED:
            continue
        if child.tag == "p" and (line := " ".join("".join(_pieces(child)).split())):
            lines.append(line)
        _add_lines(child, lines)


def _pieces(element: XmlElement) -> Iterator[str]:
    for child in element:
        if child.tag == "t":
            yield child.text or ""
        elif child.tag in ("tab", "ptab"):
            yield "\t"
        elif child.tag in ("br", "cr"):
            yield "\n"
        elif child.tag == "noBreakHyphen":
            yield "‑"
        elif child.tag == "p":  # of a text box or a nested table: read as a block of its own
            continue
        elif child.tag not in _SKIPPED and child.tag != "txbxContent":
            yield from _pieces(child)


def _within(parent: XmlElement, tag: str) -> Iterator[XmlElement]:
    """The rows of a table and the cells of a row, also those inside content controls; not those of a nested table."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in ("sdt", "sdtContent", "customXml", "ins"):
            yield from _within(child, tag)


def _outermost(element: XmlElement, tag: str, without: str = "") -> Iterator[XmlElement]:
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag not in _SKIPPED and child.tag != without:
            yield from _outermost(child, tag, without)


def _value(element: XmlElement, path: str) -> str:
    found = element.find(path)
    return "" if found is None else found.get("val", "")


def _heading_level(paragraph: XmlElement, style: dict[str, Any]) -> int:
    own = _value(paragraph, "pPr/outlineLvl")
    level = whole_number(own, 9) if own else style.get("level", 9)
    return level + 1 if level < 9 else 0


def _list_place(paragraph: XmlElement, style: dict[str, Any]) -> tuple[str, int] | None:
    """The list that a paragraph belongs to, and its depth."""
    own = paragraph.find("pPr/numPr")
    key = _value(own, "numId") if own is not None else style.get("list", "")
    depth = whole_number(_value(own, "ilvl"), 0) if own is not None else style.get("depth", 0)
    return (key, min(depth, 8)) if key and key != "0" else None


def _styles(package: Package, parts: dict[str, list[str]]) -> dict[str, dict[str, Any]]:
    """By id: its English name in lower case, the level of its heading from 0, and its list; what a style is based on counts."""
    own: dict[str, dict[str, Any]] = {}
    for part in parts.get("styles", ()):
        for style in package.xml(part).iter("style"):
            name = _value(style, "name").lower()
            found: dict[str, Any] = {"name": name, "base": _value(style, "basedOn")}
            level = whole_number(_value(style, "pPr/outlineLvl"), 9)
            if name in ("title", "subtitle"):
                level = 0 if name == "title" else 1
            elif name.startswith("heading ") and name[8:].isdigit():
                level = whole_number(name[8:], 10) - 1
            if level < 9:
                found["level"] = level
            if key := _value(style, "pPr/numPr/numId"):
                found |= {"list": key, "depth": whole_number(_value(style, "pPr/numPr/ilvl"), 0)}
            own[style.get("styleId", "")] = found
    whole: dict[str, dict[str, Any]] = {}
    for id, named in own.items():
        merged, base, steps = dict(named), named["base"], 0
        while base in own and steps < 20:
            merged = {**own[base], **merged}
            base, steps = own[base]["base"], steps + 1
        whole[id] = merged
    return whole


@dataclass(frozen=True)
class _List:
    """Lists that are made of the same one continue its numbers, unless they begin anew."""

    counted_as: str
    levels: dict[int, tuple[str, int]]  # by depth: the kind of its numbers, and the first one
    restarts: bool


def _lists(package: Package, parts: dict[str, list[str]]) -> dict[str, _List]:
    lists: dict[str, _List] = {}
    for part in parts.get("numbering", ()):
        root = package.xml(part)
        abstract = {
            kind.get("abstractNumId", ""): {
                whole_number(level.get("ilvl"), 0): _level(level) for level in kind.iter("lvl")
            }
            for kind in root.iter("abstractNum")
        }
        for num in root.iter("num"):
            name, restarts = _value(num, "abstractNumId"), False
            levels = dict(abstract.get(name, {}))
            for change in num.iter("lvlOverride"):
                depth = whole_number(change.get("ilvl"), 0)
                if (level := change.find("lvl")) is not None:
                    levels[depth] = _level(level)
                if change.find("startOverride") is not None:
                    restarts = True
                    start = whole_number(_value(change, "startOverride"), 1)
                    levels[depth] = (levels.get(depth, ("decimal", 1))[0], start)
            lists[num.get("numId", "")] = _List(name, levels, restarts)
    return lists


def _level(level: XmlElement) -> tuple[str, int]:
    return _value(level, "numFmt"), whole_number(_value(level, "start"), 1)


def _notes(package: Package, parts: dict[str, list[str]], kind: str) -> dict[str, str]:
    found = {}
    for part in parts.get(kind, ()):
        for note in package.xml(part).iter(kind[:-1]):
            found[note.get("id", "")] = "\n".join("".join(_pieces(p)) for p in note.iter("p"))
    return found
