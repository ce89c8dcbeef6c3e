"""FictionBook (fb2): a book as one XML file; its title, then sections with headings, paragraphs, verses and tables."""

from __future__ import annotations

from xml.etree.ElementTree import Element as XmlElement

from engine.pipelines.reading.formats.blocks import PageBuilder, whole_number
from engine.pipelines.reading.results import Kind, Page

_KINDS: dict[str, Kind] = {"cite": "aside", "epigraph": "aside"}


def read_fiction(root: XmlElement) -> tuple[Page, ...]:
    out = PageBuilder("part")
    title = root.find("description/title-info")
    if title is not None:
        out.heading(title.findtext("book-title") or "", 1)
        for author in title.iterfind("author"):
            out.text(" ".join(filter(None, (author.findtext(f"{part}-name") for part in ("first", "middle", "last")))))
    for body in root.iterfind("body"):
        _add(body, out, 1, "footnote" if body.get("name") else "text")
    return out.pages()


def _add(parent: XmlElement, out: PageBuilder, level: int, kind: Kind) -> None:
    for child in parent:
        text = "".join(child.itertext())
        if child.tag in ("p", "v", "text-author"):
            out.code(text) if any(part.tag == "code" for part in child) and not (
                child.text or ""
            ).strip() else out.text(text, kind)
        elif child.tag in ("title", "subtitle"):
            out.heading(text, level + (child.tag == "subtitle"))
        elif child.tag == "table":
            out.table([[_cell(cell) for cell in row] for row in child.iterfind("tr")])
        elif child.tag == "section":
            _add(child, out, level + 1, kind)
        elif child.tag != "image":  # poems and their stanzas, epigraphs, quotations
            _add(child, out, level, _KINDS.get(child.tag, kind))


def _cell(cell: XmlElement) -> tuple[str, int, int, bool]:
    down, across = (max(1, whole_number(cell.get(name), 1, 64)) for name in ("rowspan", "colspan"))
    return " ".join("".join(cell.itertext()).split()), down, across, cell.tag == "th"
