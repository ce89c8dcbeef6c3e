"""Markdown: headings, lists, pipe tables (HTML where cells span), LaTeX between `$$`, links to the pictures that were kept."""

from __future__ import annotations

import re

from engine.pipelines.reading.joining import items, rejoined, without_bullet
from engine.pipelines.reading.result import Element, Page
from engine.pipelines.reading.tables import Table
from engine.pipelines.reading.writers.formats import Style
from engine.pipelines.reading.writers.html import table_html
from engine.pipelines.reading.writers.shown import prose, shown

_MEANS_SOMETHING = re.compile(r"^(\s*)(#{1,6}\s|>|```|~~~|[-+*]\s|={3,}\s*$|-{3,}\s*$)")
_NUMBERED = re.compile(r"^(\d{1,9})([.)]\s)")


def markdown_of(page: Page, style: Style) -> str:
    blocks = []
    if page.error is not None:
        blocks.append(f"<!-- page {page.number}: {_comment(page.error)} -->")
    for element in shown(page, style):
        if element.doubt is not None:
            blocks.append(f"<!-- doubtful: {_comment(element.doubt)} -->")
        blocks.append(_block(element, style))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _block(element: Element, style: Style) -> str:
    picture = f"![{element.kind}]({element.figure.replace(' ', '%20')})" if element.figure else f"[{element.kind}]"
    if element.kind == "figure":
        return picture
    if element.table is not None:
        table = table_html(element.table) if element.table.spans else _pipes(element.table)
        return f"{picture}\n\n{table}" if element.figure else table
    text = _text(element, style)
    return f"{picture}\n\n{text}" if element.figure else text


def _text(element: Element, style: Style) -> str:
    if element.kind == "heading":
        return f"{'#' * min(max(element.level, 1), 6)} {prose(element, style)}"
    if element.kind == "formula":
        return f"$$\n{element.text}\n$$"
    if element.kind == "code":
        fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall(r"`+", element.text)), default=0))
        return f"{fence}\n{element.text}\n{fence}"
    if element.kind == "list":
        return "\n".join(_item(item, style) for item in items(element.text))
    if element.kind == "caption":
        return f"*{_escaped(rejoined(element.text)).replace('*', chr(92) + '*')}*"
    if element.kind in ("footnote", "aside", "seal"):
        return "\n".join(f"> {line}" for line in prose(element, style).splitlines())
    return _escaped(prose(element, style))


def _item(item: str, style: Style) -> str:
    text = without_bullet(item)
    lines = (item if text is None else text).splitlines()
    whole = [rejoined("\n".join(lines))] if style.rejoin else lines
    return ("" if text is None else "- ") + "\n  ".join(whole)


def _escaped(text: str) -> str:
    """A line of prose must not become a heading, a quotation or a list because of its first sign."""
    lines = []
    for line in text.splitlines():
        line = _NUMBERED.sub(r"\1\\\2", line)
        found = _MEANS_SOMETHING.match(line)
        lines.append(f"{found[1]}\\{line[len(found[1]) :]}" if found else line)
    return "\n".join(lines)


def _pipes(table: Table) -> str:
    rows = [[_cell(text) for text in row] for row in table.grid()]
    return "\n".join(_row(row) for row in [rows[0], ["---"] * table.columns, *rows[1:]])


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return "<br>".join(text.replace("\\", "\\\\").replace("|", "\\|").splitlines())


def _comment(text: str) -> str:
    return text.replace("--", "- -")
