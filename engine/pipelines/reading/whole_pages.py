"""What a model writes of a whole page as markdown becomes elements: headings, text, lists, tables, formulas, figures.

LaTeX is taken out before the markdown is parsed, for its backslashes mean something else there. A picture may be followed by its place, in
thousandths of the page: `![image](image_1.png)120,80,610,420`.
"""

from __future__ import annotations

import re
from dataclasses import replace

from engine.pipelines.reading.results import Box, Element

_MATH = re.compile(r"\$\$.+?\$\$|\\\[.+?\\\]|\\\(.+?\\\)|\$(?!\s)[^$\n]+?(?<!\s)\$(?!\d)", re.DOTALL)
_PICTURE = re.compile(r"!\[[^\]\n]*\]\([^)\n]*\)(?:\s*(\d{1,4}),\s*(\d{1,4}),\s*(\d{1,4}),\s*(\d{1,4}))?")
_FENCED = re.compile(r"\A\s*```(?:markdown|md)\s*\n(.*?)\n?```\s*\Z", re.DOTALL)
_OPEN, _CLOSE = "\ue000", "\ue001"  # around the number of what was taken out; of the private use area
_TAKEN = re.compile(f"{_OPEN}(\\d+){_CLOSE}")


def markdown_elements(text: str, page: Box) -> list[Element]:
    """In reading order, each with the box of the whole page; a figure has its own, if the model wrote one."""
    fenced = _FENCED.match(text)
    text = (fenced[1] if fenced else text).replace(_OPEN, "").replace(_CLOSE, "")
    taken: list[str] = []

    def out(found: re.Match[str]) -> str:
        taken.append(found[0])
        return f"{_OPEN}{len(taken) - 1}{_CLOSE}"

    found: list[Element] = []
    start = 0
    for picture in _PICTURE.finditer(text):
        found += _blocks(_MATH.sub(out, text[start : picture.start()]))
        found += _figure(picture, page)
        start = picture.end()
    found += _blocks(_MATH.sub(out, text[start:]))
    return [replace(_restored(element, taken), order=order) for order, element in enumerate(_with_box(found, page))]


def _blocks(text: str) -> list[Element]:
    from engine.pipelines.reading.formats.plain import read_markdown  # with parsers that an idle window does not need

    return [element for part in read_markdown(text) for element in part.elements] if text.strip() else []


def _with_box(elements: list[Element], page: Box) -> list[Element]:
    return [element if element.kind == "figure" else replace(element, box=page) for element in elements]


def _figure(picture: re.Match[str], page: Box) -> list[Element]:
    if picture[1] is None:
        return []
    left, top, right, bottom = (min(int(number), 1000) / 1000 for number in picture.groups())
    box = Box(left * page.width, top * page.height, right * page.width, bottom * page.height)
    box = box.moved(page.left, page.top)
    return [Element("figure", box, 0, label="image")] if box.width >= 1 and box.height >= 1 else []


def _restored(element: Element, taken: list[str]) -> Element:
    """With the formulas that were taken out. One that stands alone is a formula."""

    def back(text: str) -> str:
        return _TAKEN.sub(lambda mark: taken[int(mark[1])] if int(mark[1]) < len(taken) else "", text)

    alone = _TAKEN.fullmatch(element.text.strip())
    if alone and element.kind == "text" and taken[int(alone[1])].startswith(("$$", "\\[")):
        return replace(element, kind="formula", text=_inside(taken[int(alone[1])]))
    table = element.table
    if table is not None:
        table = replace(table, cells=tuple(replace(cell, text=back(cell.text)) for cell in table.cells))
    return replace(element, text=back(element.text), table=table)


def _inside(formula: str) -> str:
    return "\n".join(line for line in formula[2:-2].strip().splitlines() if line.strip())
