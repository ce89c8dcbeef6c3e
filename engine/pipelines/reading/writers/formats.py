"""Output formats: their names and options, and the writers for plain text, Markdown, HTML, JSON and CSV.

`write_document` turns a `Document` into the bytes of one or more files. The PDF and XLSX writers have their own modules,
which are imported when they are used.
"""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args
from urllib.parse import quote

from engine.errors import BadRequest
from engine.pipelines.reading.results import (
    MARGINAL,
    Document,
    Element,
    Page,
    list_items,
    page_to_json,
    rejoined,
    without_bullet,
)  # fmt: skip
from engine.pipelines.reading.tables import Table

if TYPE_CHECKING:
    from engine.pipelines.reading.writers.pdf import PageImages

Format: TypeAlias = Literal["md", "txt", "json", "csv", "xlsx", "html", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
BINARY: frozenset[Format] = frozenset({"xlsx", "pdf"})  # not printable on a terminal
BY_PAGE: frozenset[Format] = frozenset({"md", "txt"})  # pages can be printed one by one
KEEPS_FIGURES: frozenset[Format] = frozenset({"md", "html"})


@dataclass(frozen=True)
class ExportOptions:
    margins: bool = False  # include headers, footers and page numbers
    rejoin: bool = False  # one line per paragraph, with words hyphenated at line ends joined


def format_of(name: str) -> Format:
    """The format with this name or file extension."""
    known: dict[str, Format] = {"markdown": "md", "text": "txt", "htm": "html", **{f: f for f in FORMATS}}
    found = known.get(name.lower().removeprefix("."))
    if found is None:
        raise BadRequest(f"There is no format {name or '(none)'}. Choose {', '.join(FORMATS)}.", "format")
    return found


def write_document(document: Document, kind: Format, style: ExportOptions, images: PageImages) -> list[bytes]:
    """The document as one file. CSV makes one file per table, so it may make several or none."""
    if kind == "csv":
        return [_table_csv(table) for table in document.tables]
    if kind == "xlsx":
        from engine.pipelines.reading.writers.xlsx import workbook_of

        return [workbook_of(document.tables)]
    if kind == "pdf":
        from engine.pipelines.reading.writers.pdf import searchable_pdf

        return [searchable_pdf(document, images)]
    if kind == "html":
        return [_document_html(document, style).encode()]
    if kind == "json":
        return [document_json(document).encode()]
    return [page_text(document.pages, kind, style).encode()]


def page_text(pages: tuple[Page, ...], kind: Format, style: ExportOptions) -> str:
    """Pages as Markdown or plain text, the formats in which a page is complete by itself."""
    write = _page_markdown if kind == "md" else _page_plain
    return "\n".join(text for page in pages if (text := write(page, style)))


# -- what all text formats share


def _visible_elements(page: Page, style: ExportOptions) -> list[Element]:
    return [
        element for element in sorted(page.elements, key=lambda element: element.order) if _is_visible(element, style)
    ]


def _is_visible(element: Element, style: ExportOptions) -> bool:
    has_content = bool(element.text) or element.figure is not None or element.kind == "figure"
    return has_content and (style.margins or element.kind not in MARGINAL)


def _prose(element: Element, style: ExportOptions) -> str:
    """The text of anything but tables, formulas and code."""
    if style.rejoin or element.kind == "heading":
        return rejoined(element.text)
    return "\n".join(line.strip() for line in element.text.splitlines() if line.strip())


# -- plain text: an empty line between paragraphs, tabs between table cells


def _page_plain(page: Page, style: ExportOptions) -> str:
    blocks = [text for element in _visible_elements(page, style) if (text := element_text(element, style))]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def element_text(element: Element, style: ExportOptions) -> str:
    """An element as plain text; empty for an element that the options hide."""
    if not _is_visible(element, style):
        return ""
    if element.table is not None:
        return element.table.plain()
    if element.kind == "list":
        return "\n".join(rejoined(item) if style.rejoin else item for item in list_items(element.text))
    if element.kind in ("code", "formula"):
        return element.text
    return _prose(element, style)


# -- Markdown: pipe tables (HTML where cells span), LaTeX between `$$`, links to saved figures

_MARKDOWN_SYNTAX = re.compile(r"^(\s*)(#{1,6}\s|>|```|~~~|[-+*]\s|={3,}\s*$|-{3,}\s*$)")
_NUMBERED = re.compile(r"^(\d{1,9})([.)]\s)")


def _page_markdown(page: Page, style: ExportOptions) -> str:
    blocks = []
    if page.error is not None:
        blocks.append(f"<!-- page {page.number}: {_comment(page.error)} -->")
    for element in _visible_elements(page, style):
        if element.doubt is not None:
            blocks.append(f"<!-- doubtful: {_comment(element.doubt)} -->")
        blocks.append(_markdown_block(element, style))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _markdown_block(element: Element, style: ExportOptions) -> str:
    link = f"![{element.kind}]({element.figure.replace(' ', '%20')})" if element.figure else f"[{element.kind}]"
    if element.kind == "figure":
        return link
    if element.table is not None:
        text = table_html(element.table) if element.table.spans else _pipe_table(element.table)
    else:
        text = _markdown_text(element, style)
    return f"{link}\n\n{text}" if element.figure else text


def _markdown_text(element: Element, style: ExportOptions) -> str:
    if element.kind == "heading":
        return f"{'#' * min(max(element.level, 1), 6)} {_prose(element, style)}"
    if element.kind == "formula":
        return f"$$\n{element.text}\n$$"
    if element.kind == "code":
        fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall(r"`+", element.text)), default=0))
        return f"{fence}\n{element.text}\n{fence}"
    if element.kind == "list":
        return "\n".join(_markdown_item(item, style) for item in list_items(element.text))
    if element.kind == "caption":
        return f"*{_escaped(rejoined(element.text)).replace('*', chr(92) + '*')}*"
    if element.kind in ("footnote", "aside", "seal"):
        return "\n".join(f"> {line}" for line in _prose(element, style).splitlines())
    return _escaped(_prose(element, style))


def _markdown_item(item: str, style: ExportOptions) -> str:
    text = without_bullet(item)
    lines = (item if text is None else text).splitlines()
    whole = [rejoined("\n".join(lines))] if style.rejoin else lines
    return ("" if text is None else "- ") + "\n  ".join(whole)


def _escaped(text: str) -> str:
    """Escape what would turn a line of prose into a heading, a quotation or a list."""
    lines = []
    for line in text.splitlines():
        line = _NUMBERED.sub(r"\1\\\2", line)
        found = _MARKDOWN_SYNTAX.match(line)
        lines.append(f"{found[1]}\\{line[len(found[1]) :]}" if found else line)
    return "\n".join(lines)


def _pipe_table(table: Table) -> str:
    rows = [["<br>".join(cell.replace("\\", "\\\\").replace("|", "\\|").splitlines()) for cell in row]
            for row in table.grid()]  # fmt: skip
    return "\n".join(f"| {' | '.join(row)} |" for row in [rows[0], ["---"] * table.columns, *rows[1:]])


def _comment(text: str) -> str:
    return text.replace("--", "- -")


# -- HTML: one page without scripts; recognized text is escaped, so that a document cannot inject any

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


def _document_html(document: Document, style: ExportOptions) -> str:
    sections = "".join(_section(page, style) for page in document.pages)
    return f"{_HEAD.format(title=escape(document.name))}{sections}</body>\n</html>\n"


def _section(page: Page, style: ExportOptions) -> str:
    error = f'<p class="doubtful">{escape(page.error)}</p>\n' if page.error is not None else ""
    blocks = "".join(_html_block(element, style) + "\n" for element in _visible_elements(page, style))
    return f'<section id="page-{page.number}">\n{error}{blocks}</section>\n'


def _html_block(element: Element, style: ExportOptions) -> str:
    block = _html_figure(element) + _html_text(element, style)
    if element.doubt is None:
        return block
    return f'<div class="doubtful" title="{escape(element.doubt)}">{block}</div>'


def _html_figure(element: Element) -> str:
    if element.figure is None:
        return "<p>[figure]</p>" if element.kind == "figure" else ""
    return f'<p><img src="{escape(quote(element.figure))}" alt="{element.kind}"></p>'


def _html_text(element: Element, style: ExportOptions) -> str:
    if element.kind == "figure":
        return ""
    if element.table is not None:
        return table_html(element.table)
    if element.kind == "heading":
        level = min(max(element.level, 1), 6)
        return f"<h{level}>{escape(_prose(element, style))}</h{level}>"
    if element.kind == "list":
        return _html_list(element, style)
    if element.kind == "formula":
        return f'<p class="formula">\\[{escape(element.text)}\\]</p>'
    if element.kind == "code":
        return f"<pre>{escape(element.text)}</pre>"
    if element.kind in ("footnote", "aside", "seal"):
        return f"<aside>{_html_lines(_prose(element, style))}</aside>"
    tag = _TAGS.get(element.kind, "p")
    return f"<{tag}>{_html_lines(_prose(element, style))}</{tag}>"


def _html_list(element: Element, style: ExportOptions) -> str:
    found = list_items(element.text)
    bullets = [without_bullet(item) for item in found]
    texts = [item if bullet is None else bullet for item, bullet in zip(found, bullets)]
    rows = "".join(f"<li>{_html_lines(rejoined(text) if style.rejoin else text)}</li>" for text in texts)
    # numbered items keep the numbers printed on the page
    return f"<ul>{rows}</ul>" if bullets[0] is not None else f'<ul style="list-style: none">{rows}</ul>'


def table_html(table: Table) -> str:
    rows: list[list[str]] = [[] for _ in range(table.rows)]
    for cell in table.cells:
        tag = "th" if cell.heading else "td"
        down = f' rowspan="{cell.rows}"' if cell.rows > 1 else ""
        across = f' colspan="{cell.columns}"' if cell.columns > 1 else ""
        rows[cell.row].append(f"<{tag}{down}{across}>{_html_lines(cell.text)}</{tag}>")
    return "<table>\n" + "".join(f"<tr>{''.join(row)}</tr>\n" for row in rows) + "</table>"


def _html_lines(text: str) -> str:
    return "<br>".join(escape(line) for line in text.splitlines())


# -- JSON: everything that is known of a document; docs/reading.md describes the fields

_NUMBERS = re.compile(r"\[\n([-\d.,\s]+)\]")


def document_json(document: Document, indent: int | None = 1) -> str:
    fields: dict[str, Any] = {"document": document.name, "pages": [page_to_json(page) for page in document.pages]}
    if document.error is not None:
        fields["error"] = document.error
    text = json.dumps(fields, ensure_ascii=False, indent=indent)
    # boxes on one line; no string holds a line break, so only lists of numbers match
    return _NUMBERS.sub(lambda found: f"[{' '.join(found[1].split())}]", text) + "\n"


# -- CSV (RFC 4180): the text of a spanning cell is in its first position


def _table_csv(table: Table) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out).writerows(table.grid())
    return out.getvalue().encode()
