"""DocTags, what Granite-Docling and SmolDocling write of a page: elements with their places, tables as OTSL, formulas as LaTeX.

An element is `<text><loc_20><loc_30><loc_480><loc_60>Some words</text>`; places are of 500 steps. What is cut off at the end counts as it is.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import replace

from engine.pipelines.reading.results import Box, Element, Kind, bounding_box, from_otsl

STEPS = 500  # of a page's width and height
_LOCATION = re.compile(r"<loc_(\d{1,3})>")
_PLACE = re.compile(r"\s*<loc_(\d{1,3})><loc_(\d{1,3})><loc_(\d{1,3})><loc_(\d{1,3})>")
_KINDS: dict[str, tuple[Kind, int]] = {
    "title": ("heading", 1),
    **{f"section_header_level_{level}": ("heading", min(level + 1, 6)) for level in range(1, 7)},
    "text": ("text", 0),
    "paragraph": ("text", 0),
    "inline": ("text", 0),
    "reference": ("text", 0),
    "checkbox_selected": ("list", 0),
    "checkbox_unselected": ("list", 0),
    "caption": ("caption", 0),
    "footnote": ("footnote", 0),
    "formula": ("formula", 0),
    "code": ("code", 0),
    "otsl": ("table", 0),
    "document_index": ("table", 0),
    "chart": ("chart", 0),
    "picture": ("figure", 0),
    "page_header": ("header", 0),
    "page_footer": ("footer", 0),
    "ordered_list": ("list", 0),
    "unordered_list": ("list", 0),
    "list_item": ("list", 0),
    "key_value_region": ("text", 0),
    "form": ("text", 0),
}
_BLOCK = re.compile(rf"<({'|'.join(_KINDS)})>(.*?)(?:</\1>|\Z)", re.DOTALL)
_ITEM = re.compile(r"<list_item>(.*?)(?:</list_item>|(?=<list_item>)|\Z)", re.DOTALL)
_CELLS = re.compile(r"<(?:fcel|ecel|lcel|ucel|xcel|ched|rhed|srow|nl)>")
_CELL = r"fcel|ecel|lcel|ucel|xcel|ched|rhed|srow|nl"
_TAG = re.compile(rf"</?(?!(?:{_CELL})>)[A-Za-z_][\w+#.-]{{0,40}}>")
_ANY_TAG = re.compile(r"</?[A-Za-z_][\w+#.-]{0,40}>")


def is_doctags(text: str) -> bool:
    return "<doctag>" in text or _LOCATION.search(text) is not None


def without_tags(text: str) -> str:
    """What a region's DocTags say: text, LaTeX, or the cells of a table."""
    cells = _CELLS.search(text) is not None
    return (_TAG.sub("", text) if cells else html.unescape(_ANY_TAG.sub("", text))).strip()


def doctags_elements(text: str, page: Box) -> list[Element]:
    """In reading order. One without a place has the box of the page."""
    found = [element for block in _BLOCK.finditer(text) for element in _elements(block[1], block[2], page)]
    return [replace(element, order=order) for order, element in enumerate(found)]


def _elements(tag: str, content: str, page: Box) -> Iterator[Element]:
    kind, level = _KINDS[tag]
    box = _box(content, page)
    for inner in re.finditer(r"<caption>(.*?)(?:</caption>|\Z)", content, re.DOTALL) if tag != "caption" else ():
        yield Element("caption", _box(inner[1], page), 0, _words(inner[1]), "caption")
        content = content.replace(inner[0], "", 1)
    if kind in ("table", "chart", "figure") and _CELLS.search(content):
        table = from_otsl(_TAG.sub("", content))
        if table is not None:
            yield Element("chart" if kind == "figure" else kind, box, 0, table.plain(), tag, table=table)
        return
    if kind == "figure":
        yield Element("figure", box, 0, label=tag)
        return
    if tag in ("ordered_list", "unordered_list"):
        items = [_words(item[1]) for item in _ITEM.finditer(content)]
        marks = (f"{i}. " if tag == "ordered_list" else "- " for i in range(1, len(items) + 1))
        lines = [mark + item for mark, item in zip(marks, items) if item]
        places = [_box(item[1], page) for item in _ITEM.finditer(content)]
        box = box if box != page or not places else bounding_box(places)
        text = "\n".join(lines)
    else:
        text = _words(content, kept=kind in ("code", "formula"))
        text = f"- {text}" if text and kind == "list" else text
    if text:
        yield Element(kind, box, 0, text, tag, level=level)


def _box(content: str, page: Box) -> Box:
    place = _PLACE.match(content)
    if place is None:
        return page
    left, top, right, bottom = (min(int(step), STEPS) / STEPS for step in place.groups())
    box = Box(left * page.width, top * page.height, right * page.width, bottom * page.height)
    return box.moved(page.left, page.top) if box.width > 0 and box.height > 0 else page


def _words(content: str, kept: bool = False) -> str:
    """Without tags. `kept`: with its line breaks."""
    text = html.unescape(_ANY_TAG.sub("", content)).strip()
    return text if kept else " ".join(text.split())
