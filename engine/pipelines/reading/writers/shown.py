"""Which elements of a page a person is shown, and the text of a paragraph. Shared by the formats for reading."""

from __future__ import annotations

from engine.pipelines.reading.joining import rejoined
from engine.pipelines.reading.result import MARGINAL, Element, Page
from engine.pipelines.reading.writers.formats import Style


def shown(page: Page, style: Style) -> list[Element]:
    return [element for element in sorted(page.elements, key=lambda element: element.order) if is_shown(element, style)]


def is_shown(element: Element, style: Style) -> bool:
    holds = bool(element.text) or element.figure is not None or element.kind == "figure"
    return holds and (style.margins or element.kind not in MARGINAL)


def prose(element: Element, style: Style) -> str:
    """The text of anything but tables, formulas and code."""
    if style.rejoin or element.kind == "heading":
        return rejoined(element.text)
    return "\n".join(line.strip() for line in element.text.splitlines() if line.strip())
