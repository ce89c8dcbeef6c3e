"""The formats by name, and what each needs. A writer is imported when it is used."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from engine.errors import BadRequest
from engine.pipelines.reading.result import Document, Page

if TYPE_CHECKING:
    from PIL.Image import Image

Format: TypeAlias = Literal["md", "txt", "json", "csv", "xlsx", "html", "pdf"]
FORMATS: tuple[Format, ...] = get_args(Format)
BINARY: frozenset[Format] = frozenset({"xlsx", "pdf"})  # nothing to print on a terminal
BY_PAGE: frozenset[Format] = frozenset({"md", "txt"})  # pages can be printed as they come
KEEPS_FIGURES: frozenset[Format] = frozenset({"md", "html"})

PageImages = Callable[[Page], "Image"]  # the page's pixels, as its boxes mean them


@dataclass(frozen=True)
class Style:
    margins: bool = False  # headers, footers and page numbers too
    rejoin: bool = False  # paragraphs as one line, words that a line's end has cut joined again


def format_of(name: str) -> Format:
    """By a file's ending or a person's word."""
    known: dict[str, Format] = {"markdown": "md", "text": "txt", "htm": "html", **{f: f for f in FORMATS}}
    found = known.get(name.lower().removeprefix("."))
    if found is None:
        raise BadRequest(f"There is no format {name or '(none)'}. Choose {', '.join(FORMATS)}.", "format")
    return found


def written(document: Document, kind: Format, style: Style, images: PageImages) -> list[bytes]:
    """The file, or several: CSV has one a table, and none without a table."""
    if kind == "csv":
        from engine.pipelines.reading.writers.csv import csv_of

        return [csv_of(table) for table in document.tables]
    if kind == "xlsx":
        from engine.pipelines.reading.writers.xlsx import workbook_of

        return [workbook_of(document.tables)]
    if kind == "pdf":
        from engine.pipelines.reading.writers.pdf import searchable_pdf

        return [searchable_pdf(document, images)]
    if kind == "html":
        from engine.pipelines.reading.writers.html import html_of

        return [html_of(document, style).encode()]
    if kind == "json":
        from engine.pipelines.reading.writers.json import json_of

        return [json_of(document).encode()]
    return [page_text(document.pages, kind, style).encode()]


def page_text(pages: tuple[Page, ...], kind: Format, style: Style) -> str:
    """Pages as text, in one of the formats whose pages stand for themselves."""
    from engine.pipelines.reading.writers.markdown import markdown_of
    from engine.pipelines.reading.writers.plain import plain_of

    write = markdown_of if kind == "md" else plain_of
    return "\n".join(text for page in pages if (text := write(page, style)))
