"""What was read: documents of pages of elements. Plain data that every writer starts from, and its form as JSON.

Boxes are pixels of the page as it was read: upright, and turned by `Page.turned` degrees where it lay askew.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from engine.pipelines.reading.geometry import Box
from engine.pipelines.reading.tables import Cell, Table

Task: TypeAlias = Literal["text", "table", "formula", "chart", "seal", "spotting"]
TASKS: tuple[Task, ...] = ("text", "table", "formula", "chart", "seal", "spotting")

Kind: TypeAlias = Literal[
    "heading", "text", "list", "code", "table", "formula", "chart", "seal", "figure", "caption", "footnote", "aside",
    "header", "footer", "page_number",
]  # fmt: skip
MARGINAL: frozenset[Kind] = frozenset({"header", "footer", "page_number"})  # repeated around the text, not part of it


@dataclass(frozen=True)
class Word:
    text: str
    box: Box


@dataclass(frozen=True)
class Element:
    """One region of a page and what stands in it."""

    kind: Kind
    box: Box
    order: int  # of reading, from 0
    text: str = ""
    label: str = ""  # what the layout model calls the region
    score: float = 1.0  # how sure the layout model is of the region
    confidence: float | None = None  # of the text: e to the mean log probability of its tokens; None: not recognized
    doubt: str | None = None  # why the text should not be trusted
    level: int = 0  # of a heading, from 1
    table: Table | None = None
    lines: tuple[tuple[Word, ...], ...] = ()  # where each word stands, line by line
    figure: str | None = None  # the file that its picture was kept in


@dataclass(frozen=True)
class Page:
    number: int  # in the document, from 1
    width: int
    height: int
    elements: tuple[Element, ...] = ()
    splitter: str = ""  # what found the regions
    reader: str = ""  # what read them
    dots: float | None = None  # an inch, where known
    turned: float = 0.0  # degrees, counterclockwise, that made the lines level
    notes: tuple[str, ...] = ()
    error: str | None = None  # why the page could not be read


@dataclass(frozen=True)
class Document:
    name: str
    pages: tuple[Page, ...] = ()
    error: str | None = None  # why the document could not be opened
    locked: bool = False  # ... it has a password, which was missing or wrong

    @property
    def elements(self) -> Iterator[Element]:
        for page in self.pages:
            yield from page.elements

    @property
    def tables(self) -> list[Table]:
        return [element.table for element in self.elements if element.table is not None]


def page_to_json(page: Page) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "page": page.number,
        "width": page.width,
        "height": page.height,
        "dots_per_inch": page.dots,
        "turned_degrees": page.turned,
        "splitter": page.splitter,
        "reader": page.reader,
        "notes": list(page.notes),
        "elements": [_element_to_json(element) for element in page.elements],
    }
    return shown | ({"error": page.error} if page.error is not None else {})


def page_from_json(found: Mapping[str, Any]) -> Page:
    """Raises KeyError, TypeError or ValueError for what `page_to_json` did not make."""
    return Page(
        found["page"],
        found["width"],
        found["height"],
        tuple(_element_from_json(element) for element in found["elements"]),
        found["splitter"],
        found["reader"],
        found["dots_per_inch"],
        found["turned_degrees"],
        tuple(found["notes"]),
        found.get("error"),
    )


def _element_to_json(element: Element) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "class": element.kind,
        "order": element.order,
        "box": element.box.rounded(),
        "text": element.text,
        "label": element.label,
        "layout_score": round(element.score, 4),
        "confidence": None if element.confidence is None else round(element.confidence, 4),
        "doubtful": element.doubt,
    }
    if element.level:
        shown["level"] = element.level
    if element.figure is not None:
        shown["figure"] = element.figure
    if element.table is not None:
        table = element.table
        shown["table"] = {
            "rows": table.rows,
            "columns": table.columns,
            "cells": [
                {"row": c.row, "column": c.column, "rows": c.rows, "columns": c.columns, "text": c.text,
                 "heading": c.heading}
                for c in table.cells
            ],
        }  # fmt: skip
    if element.lines:
        shown["lines"] = [[{"text": word.text, "box": word.box.rounded()} for word in line] for line in element.lines]
    return shown


def _element_from_json(found: Mapping[str, Any]) -> Element:
    table = found.get("table")
    return Element(
        found["class"],
        Box(*found["box"]),
        found["order"],
        found["text"],
        found["label"],
        found["layout_score"],
        found["confidence"],
        found["doubtful"],
        found.get("level", 0),
        None
        if table is None
        else Table(
            table["rows"],
            table["columns"],
            tuple(
                Cell(c["text"], c["row"], c["column"], c["rows"], c["columns"], c["heading"]) for c in table["cells"]
            ),
        ),
        tuple(tuple(Word(word["text"], Box(*word["box"])) for word in line) for line in found.get("lines", ())),
        found.get("figure"),
    )
