"""One HTML page without scripts: what was read is escaped, so that no document can bring its own."""

from __future__ import annotations

from html import escape
from urllib.parse import quote

from engine.pipelines.reading.joining import items, rejoined, without_bullet
from engine.pipelines.reading.result import Document, Element, Page
from engine.pipelines.reading.tables import Table
from engine.pipelines.reading.writers.formats import Style
from engine.pipelines.reading.writers.shown import prose, shown

_HEAD = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
body {{ max-width: 72ch; margin: 2em auto; padding: 0 1em; font: 1em/1.45 system-ui, sans-serif; color: #18181b; }}
section + section {{ border-top: 1px solid #e4e4e7; margin-top: 2em; }}
table {{ border-collapse: collapse; }}
th, td {{ border: 1px solid #a1a1aa; padding: .2em .5em; text-align: left; vertical-align: top; }}
img {{ max-width: 100%; }}
pre, .formula {{ font-family: ui-monospace, monospace; white-space: pre-wrap; }}
.doubtful {{ border-left: 3px solid #c23b22; padding-left: .8em; }}
</style>
</head>
<body>
"""
_TAGS = {"caption": "figcaption", "code": "pre", "header": "header", "footer": "footer", "page_number": "footer"}


def html_of(document: Document, style: Style) -> str:
    sections = "".join(_section(page, style) for page in document.pages)
    return f"{_HEAD.format(title=escape(document.name))}{sections}</body>\n</html>\n"


def table_html(table: Table) -> str:
    rows: list[list[str]] = [[] for _ in range(table.rows)]
    for cell in table.cells:
        tag = "th" if cell.heading else "td"
        down = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
        across = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
        rows[cell.row].append(f"<{tag}{down}{across}>{_lines(cell.text)}</{tag}>")
    return "<table>\n" + "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows) + "</table>"


def _section(page: Page, style: Style) -> str:
    error = f'<p class="doubtful">{escape(page.error)}</p>\n' if page.error is not None else ""
    blocks = "".join(_block(element, style) + "\n" for element in shown(page, style))
    return f'<section id="page-{page.number}">\n{error}{blocks}</section>\n'


def _block(element: Element, style: Style) -> str:
    block = _picture(element) + _text(element, style)
    if element.doubt is None:
        return block
    return f'<div class="doubtful" title="{escape(element.doubt)}">{block}</div>'


def _picture(element: Element) -> str:
    if element.figure is None:
        return "<p>[figure]</p>" if element.kind == "figure" else ""
    return f'<p><img src="{escape(quote(element.figure))}" alt="{element.kind}"></p>'


def _text(element: Element, style: Style) -> str:
    if element.kind == "figure":
        return ""
    if element.table is not None:
        return table_html(element.table)
    if element.kind == "heading":
        level = min(max(element.level, 1), 6)
        return f"<h{level}>{escape(prose(element, style))}</h{level}>"
    if element.kind == "list":
        return _list(element, style)
    if element.kind == "formula":
        return f'<p class="formula">\\[{escape(element.text)}\\]</p>'
    if element.kind == "code":
        return f"<pre>{escape(element.text)}</pre>"
    if element.kind in ("footnote", "aside", "seal"):
        return f"<aside>{_lines(prose(element, style))}</aside>"
    tag = _TAGS.get(element.kind, "p")
    return f"<{tag}>{_lines(prose(element, style))}</{tag}>"


def _list(element: Element, style: Style) -> str:
    found = items(element.text)
    bullets = [without_bullet(item) for item in found]
    texts = [item if bullet is None else bullet for item, bullet in zip(found, bullets)]
    rows = "".join(f"<li>{_lines(rejoined(text) if style.rejoin else text)}</li>" for text in texts)
    # a numbered item shows the number that stands on the page
    return f"<ul>{rows}</ul>" if bullets[0] is not None else f'<ul style="list-style: none">{rows}</ul>'


def _lines(text: str) -> str:
    return "<br>".join(escape(line) for line in text.splitlines())
