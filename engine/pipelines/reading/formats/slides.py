"""Presentations (pptx): one page a slide, its title first, with its tables and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element as XmlElement

from engine.pipelines.reading.formats.blocks import PageBuilder, Row, whole_number
from engine.pipelines.reading.formats.packages import Package
from engine.pipelines.reading.results import Page

_TITLES = ("title", "ctrTitle")
_MARGINS = {"dt": "footer", "ftr": "footer", "sldNum": "page_number", "hdr": "header"}


def read_slides(package: Package, main: str) -> tuple[Page, ...]:
    out = PageBuilder("slide")
    relations = package.relations(main)
    for slide in package.xml(main).iterfind("sldIdLst/sldId"):
        kind, part = relations.get(slide.get("r:id", ""), ("", ""))
        if kind != "slide" or part not in package.names:
            continue
        _slide(package, part, out)
        out.end_page()
    return out.pages()


def _slide(package: Package, part: str, out: PageBuilder) -> None:
    shapes = list(_shapes(package.xml(part).find("cSld/spTree")))
    # a title may lie behind other shapes in the file, and stands above them on the slide
    for shape in sorted(shapes, key=lambda shape: _placeholder(shape) not in _TITLES):
        if shape.tag == "graphicFrame":
            for table in shape.iter("tbl"):
                out.table(_table(table))
            continue
        _text_shape(shape, out)
    for kind, notes in package.relations(part).values():
        if kind == "notesSlide" and notes in package.names:
            for shape in _shapes(package.xml(notes).find("cSld/spTree")):
                if _placeholder(shape) == "body":
                    out.text("\n".join(text for text, _, _ in _paragraphs(shape)), "aside")


def _text_shape(shape: XmlElement, out: PageBuilder) -> None:
    kind = _placeholder(shape)
    paragraphs = list(_paragraphs(shape))
    if kind in _TITLES:
        out.heading(" ".join(text for text, _, _ in paragraphs), 1)
    elif kind == "subTitle":
        out.heading(" ".join(text for text, _, _ in paragraphs), 2)
    elif kind in _MARGINS:
        out.text("\n".join(text for text, _, _ in paragraphs), "page_number" if kind == "sldNum" else "footer")
    else:
        is_list = kind is not None and len(paragraphs) > 1
        for text, depth, plain in paragraphs:
            if is_list and not plain:
                out.item(text, depth)
            else:
                out.text(text)


def _shapes(tree: XmlElement | None) -> Iterator[XmlElement]:
    for child in tree if tree is not None else ():
        if child.tag in ("sp", "graphicFrame"):
            yield child
        elif child.tag in ("grpSp", "AlternateContent", "Choice"):
            yield from _shapes(child)


def _placeholder(shape: XmlElement) -> str | None:
    """What a placeholder is for; None: the shape is none."""
    found = shape.find("nvSpPr/nvPr/ph")
    return None if found is None else found.get("type", "body")


def _paragraphs(shape: XmlElement) -> Iterator[tuple[str, int, bool]]:
    """(text, depth, whether it has no bullet)"""
    for paragraph in shape.iterfind("txBody/p"):
        text = "".join(_pieces(paragraph))
        if text.strip():
            properties = paragraph.find("pPr")
            level = properties.get("lvl", "0") if properties is not None else "0"
            plain = properties is not None and properties.find("buNone") is not None
            yield text, whole_number(level, 0, 8), plain


def _pieces(paragraph: XmlElement) -> Iterator[str]:
    for element in paragraph.iter():
        if element.tag == "t":
            yield element.text or ""
        elif element.tag == "br":
            yield "\n"


def _table(table: XmlElement) -> list[Row]:
    rows = []
    for row in table.iterfind("tr"):
        cells = []
        for cell in row.iterfind("tc"):
            if cell.get("hMerge") or cell.get("vMerge"):  # it belongs to the cell that spans it
                continue
            text = "\n".join(filter(None, ("".join(_pieces(p)).strip() for p in cell.iterfind("txBody/p"))))
            cells.append((text, _span(cell, "rowSpan"), _span(cell, "gridSpan"), False))
        rows.append(cells)
    return rows


def _span(cell: XmlElement, name: str) -> int:
    return max(1, whole_number(cell.get(name), 1, 64))
