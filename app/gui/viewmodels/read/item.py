"""A document in the Read pane: what was wished, what was read so far, and its form in the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from app.gui.store.kept import Result
from app.gui.texts import mark, seconds, tr, trn
from engine.pipelines.reading.results import Box, Document, Element, Page, page_from_json, page_to_json
from engine.pipelines.reading.tables import Table

State = Literal["waiting", "reading", "done", "stopped", "failed", "locked"]
KIND = "read"

TASKS = (
    ("auto", mark("Everything")),
    ("text", mark("Text alone")),
    ("table", mark("One table")),
    ("formula", mark("One formula")),
    ("chart", mark("One chart")),
    ("seal", mark("One seal")),
    ("spotting", mark("Text with its places")),
)
KINDS: dict[str, str] = {
    "heading": mark("Heading"),
    "text": mark("Text"),
    "list": mark("List"),
    "code": mark("Code"),
    "table": mark("Table"),
    "formula": mark("Formula"),
    "chart": mark("Chart"),
    "seal": mark("Seal"),
    "figure": mark("Picture"),
    "caption": mark("Caption"),
    "footnote": mark("Footnote"),
    "aside": mark("Aside"),
    "header": mark("Header"),
    "footer": mark("Footer"),
    "page_number": mark("Page number"),
}


@dataclass(frozen=True)
class Wish:
    """What is to be read, and with which model; an empty one is the first that there is."""

    task: str = "auto"
    pages: str = ""
    text_layer: bool = True
    model: str = ""


@dataclass
class Live:
    """A page that is being read: its regions, and what was heard of each so far."""

    boxes: dict[int, Box] = field(default_factory=dict)
    heard: dict[int, str] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)


@dataclass(eq=False)
class Item:
    source: Path
    title: str
    wish: Wish = Wish()
    id: int = 0  # in the store; 0: not yet there
    state: State = "waiting"
    numbers: tuple[int, ...] = ()  # of the pages that are wanted, once they are known
    read: dict[int, Page] = field(default_factory=dict)
    live: dict[int, Live] = field(default_factory=dict)
    left: float | None = None  # seconds, estimated
    error: str = ""
    password: str | None = None  # never stored
    shown: int = 0  # the page that is looked at; 0: the first

    @property
    def pages(self) -> list[Page]:
        return [page for _, page in sorted(self.read.items())]

    @property
    def document(self) -> Document:
        return Document(str(self.source), tuple(self.pages))

    @property
    def page_number(self) -> int:
        """Of the page that is looked at."""
        numbers = self.numbers or tuple(sorted(self.read))
        return self.shown if self.shown in numbers else numbers[0] if numbers else 1

    @property
    def share(self) -> float:
        """Of the pages, how much is read."""
        return len(self.read) / len(self.numbers) if self.numbers else 0.0

    def status(self) -> str:
        """One line about it."""
        if self.state == "reading":
            if not self.numbers:
                return tr("Opening")
            told = tr("{done} of {total} pages", done=len(self.read), total=len(self.numbers))
            return told if self.left is None else f"{told} · " + tr("{time} left", time=seconds(self.left))
        if self.state == "done":
            failed = sum(page.error is not None for page in self.pages)
            told = trn("{n} page", "{n} pages", len(self.read))
            return told + " · " + trn("{n} not read", "{n} not read", failed) if failed else told
        words = {
            "waiting": tr("Waiting"),
            "stopped": tr("Stopped after {done} of {total} pages", done=len(self.read), total=len(self.numbers)),
            "locked": tr("Protected by a password"),
        }
        return words.get(self.state, tr("Could not be read"))


def edited(page: Page, order: int, text: str) -> Page:
    """The page with another text for one of its elements. What a person wrote is not doubtful."""

    def change(element: Element) -> Element:
        return replace(element, text=text, doubt=None, lines=()) if element.order == order else element

    return replace(page, elements=tuple(change(element) for element in page.elements))


def edited_cell(page: Page, order: int, row: int, column: int, text: str) -> Page:
    def change(element: Element) -> Element:
        if element.order != order or element.table is None:
            return element
        cells = tuple(
            replace(cell, text=text) if (cell.row, cell.column) == (row, column) else cell
            for cell in element.table.cells
        )
        table = Table(element.table.rows, element.table.columns, cells)
        return replace(element, table=table, text=table.plain(), doubt=None)

    return replace(page, elements=tuple(change(element) for element in page.elements))


def to_result(item: Item) -> Result:
    body = {
        "wish": vars(item.wish),
        "numbers": list(item.numbers),
        "pages": [page_to_json(page) for page in item.pages],
        "error": item.error,
        "shown": item.shown,
    }
    return Result(item.id, KIND, item.title, str(item.source), body, state=item.state)


def from_result(result: Result) -> Item:
    """What was being read when the process ended was stopped by that."""
    body: Mapping[str, Any] = result.body
    read = [page_from_json(page) for page in body.get("pages", ())]
    state: Any = "stopped" if result.state in ("reading", "waiting") else result.state
    return Item(
        Path(result.source),
        result.title,
        Wish(**body.get("wish", {})),
        result.id,
        state,
        tuple(body.get("numbers", ())),
        {page.number: page for page in read},
        error=body.get("error", ""),
        shown=body.get("shown", 0),
    )
