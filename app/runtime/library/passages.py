"""Cuts the pages of a document into passages: what a search finds and an answer cites."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from engine.pipelines.reading.results import MARGINAL, Element, Page

USUAL = 900  # characters of a passage
LONGEST = 1_400  # a paragraph that is longer is cut between sentences
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n")


@dataclass(frozen=True)
class DocumentPassage:
    """`place`: the headings above it. `boxes`: of its elements in pixels of the page, where a page's picture was read."""

    page: int
    unit: str
    place: str
    text: str
    boxes: tuple[tuple[float, float, float, float], ...] = ()


def title_of(pages: Sequence[Page]) -> str:
    """The first heading, else the first line."""
    first = ""
    for page in pages[:3]:
        for element in page.elements:
            if element.kind == "heading" and element.text.strip():
                return element.text.strip()[:200]
            if not first and element.kind not in MARGINAL:
                first = next((line.strip() for line in element.text.splitlines() if line.strip()), "")[:200]
    return first


def passages_of(pages: Iterable[Page]) -> Iterator[DocumentPassage]:
    """A passage never spans two pages, and ends at the next heading once it has text."""
    headings: list[tuple[int, str]] = []  # open ones: level and text
    for page in pages:
        gathered = _Gathered(page)
        for element in page.elements:
            if element.kind in MARGINAL or not element.text.strip():
                continue
            if element.kind == "heading":
                yield from gathered.taken(headings)
                headings = [(level, text) for level, text in headings if level < element.level]
                headings.append((element.level, element.text.strip()))
                continue
            for text in _pieces(element):
                if gathered.size + len(text) > USUAL:
                    yield from gathered.taken(headings)
                gathered.add(text, element)
        yield from gathered.taken(headings)
        if not any(element.kind not in (*MARGINAL, "heading") and element.text.strip() for element in page.elements):
            # a page of headings alone, such as a title slide
            titles = "\n".join(element.text for element in page.elements if element.kind == "heading")
            if titles.strip():
                yield DocumentPassage(page.number, page.unit, page.title, titles.strip())


class _Gathered:
    """The elements of a passage that is not complete."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._texts: list[str] = []
        self._boxes: dict[tuple[float, float, float, float], None] = {}
        self.size = 0

    def add(self, text: str, element: Element) -> None:
        self._texts.append(text)
        self.size += len(text)
        box = element.box
        if box.area > 0:
            self._boxes[box.left, box.top, box.right, box.bottom] = None

    def taken(self, headings: Sequence[tuple[int, str]]) -> Iterator[DocumentPassage]:
        if not self._texts:
            return
        place = " › ".join(text for _, text in headings)[-300:]
        page = self._page
        yield DocumentPassage(page.number, page.unit, place, "\n".join(self._texts), tuple(self._boxes))
        self._texts, self._boxes, self.size = [], {}, 0


def _pieces(element: Element) -> Iterator[str]:
    """A paragraph; a long one in pieces of whole sentences, a table in pieces of whole rows, its first row above each."""
    text = element.text.strip()
    if len(text) <= LONGEST:
        yield text
        return
    is_table = element.table is not None and element.table.rows > 2
    parts = text.splitlines() if is_table else [part for part in _SENTENCE.split(text) if part]
    head = parts[0][:300] if is_table else ""
    gathered: list[str] = []
    size = 0
    for part in (piece for whole in parts for piece in _cut(whole)):
        if gathered and size + len(part) > USUAL:
            yield ("\n" if is_table else " ").join(gathered)
            gathered, size = ([head], len(head)) if head else ([], 0)
        gathered.append(part)
        size += len(part)
    if gathered:
        yield ("\n" if is_table else " ").join(gathered)


def _cut(text: str) -> Iterator[str]:
    """Text without sentences, such as data, at a space where there is one."""
    while len(text) > LONGEST:
        at = text.rfind(" ", USUAL // 2, LONGEST)
        at = at if at > 0 else LONGEST
        yield text[:at]
        text = text[at:].lstrip()
    if text:
        yield text
