"""What DeepSeek-OCR and Unlimited-OCR write of a page: markdown in parts, each with its kind and its place before it.

A part is `<|ref|>text<|/ref|><|det|>[[84, 52, 612, 92]]<|/det|>` (of Unlimited-OCR `<|det|>text [84, 52, 612, 92]<|/det|>`) and its
markdown; places are in thousandths of the page, from 0 to 999.
"""

from __future__ import annotations

import re
from dataclasses import replace

from engine.pipelines.reading.results import Box, Element, Kind, bounding_box
from engine.pipelines.reading.whole_pages import markdown_elements

LAST = 999  # of a page's width and height
_MARK = re.compile(
    r"(?:<\|ref\|>(?P<before>[^<\n]{0,60})<\|/ref\|>\s*)?"
    r"<\|det\|>(?P<label>[^\W\d][\w-]{0,60} )?(?P<places>[\[\]\d,\s]{0,2000})<\|/det\|>"
)
_PLACE = re.compile(r"\[\s*(\d{1,4})\s*,\s*(\d{1,4})\s*,\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\]")
_TAG = re.compile(r"<\|/?(?:ref|det|grounding)\|>|<PAGE>")
_FIGURES = frozenset({"image", "figure", "picture"})
# kinds that markdown does not tell from text
_KINDS: dict[str, tuple[Kind, int]] = {
    "title": ("heading", 1),
    "sub_title": ("heading", 2),
    "image_caption": ("caption", 0),
    "figure_caption": ("caption", 0),
    "table_caption": ("caption", 0),
    "table_footnote": ("footnote", 0),
    "footnote": ("footnote", 0),
    "page_footnote": ("footnote", 0),
    "header": ("header", 0),
    "footer": ("footer", 0),
    "page_number": ("page_number", 0),
    "equation": ("formula", 0),
    "formula": ("formula", 0),
}


def is_grounded(text: str) -> bool:
    return _MARK.search(text) is not None


def without_places(text: str) -> str:
    return _TAG.sub("", _MARK.sub("", text)).strip()


def grounded_elements(text: str, page: Box) -> list[Element]:
    """In the order in which they are written, which is that of reading."""
    marks = list(_MARK.finditer(text))
    first = marks[0].start() if marks else len(text)
    found = markdown_elements(without_places(text[:first]), page)
    for mark, following in zip(marks, [*marks[1:], None]):
        said = without_places(text[mark.end() : following.start() if following else len(text)])
        label = mark["label"] or mark["before"] or ""
        found += _part(label.strip().lower(), _box(mark["places"], page), said)
    return [replace(element, order=order) for order, element in enumerate(found)]


def _part(label: str, box: Box, said: str) -> list[Element]:
    if label in _FIGURES:
        figure = [Element("figure", box, 0, label=label)] if box.width >= 1 and box.height >= 1 else []
        return figure + [replace(one, label=label) for one in markdown_elements(said, box)]
    parts = [replace(one, label=label) for one in markdown_elements(said, box)]
    kind, level = _KINDS.get(label, ("text", 0))
    if kind == "text":
        return parts
    return [replace(one, kind=kind, level=level) if one.kind == "text" else one for one in parts]


def _box(places: str, page: Box) -> Box:
    """Around all places of a part; the page's where none can be read."""
    found = [[min(int(number), LAST) / LAST for number in place] for place in _PLACE.findall(places)]
    boxes = [
        Box(min(l, r) * page.width, min(t, b) * page.height, max(l, r) * page.width, max(t, b) * page.height)
        for l, t, r, b in found
    ]
    return bounding_box(boxes).moved(page.left, page.top) if boxes else page
