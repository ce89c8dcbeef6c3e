"""Plain text: paragraphs with an empty line between, tables with tabs."""

from __future__ import annotations

from engine.pipelines.reading.joining import items, rejoined
from engine.pipelines.reading.result import Element, Page
from engine.pipelines.reading.writers.formats import Style
from engine.pipelines.reading.writers.shown import is_shown, prose, shown


def plain_of(page: Page, style: Style) -> str:
    blocks = [text for element in shown(page, style) if (text := text_of(element, style))]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def text_of(element: Element, style: Style) -> str:
    """Empty for what a person is not shown."""
    if not is_shown(element, style):
        return ""
    if element.table is not None:
        return element.table.plain()
    if element.kind == "list":
        return "\n".join(rejoined(item) if style.rejoin else item for item in items(element.text))
    if element.kind in ("code", "formula"):
        return element.text
    return prose(element, style)
