"""What happens while documents are read, in order: pages come in the order of their documents, however they were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from engine.pipelines.reading.layout import Region
from engine.pipelines.reading.result import Document, Element, Page


@dataclass(frozen=True)
class Progress:
    pages_done: int
    pages_known: int  # of documents that have been opened
    documents_left: int  # that have not been opened yet
    seconds_left: float | None  # an estimate, once there is something to estimate from


@dataclass(frozen=True)
class Opened:
    document: int  # its place among the sources
    name: str
    pages: tuple[int, ...]  # numbers of those that will be read


@dataclass(frozen=True)
class PageSplit:
    """The regions of a page are known; reading them has begun. Boxes mean the page after it was turned."""

    document: int
    page: int
    regions: tuple[Region, ...]
    turned: float


@dataclass(frozen=True)
class Heard:
    """A piece of a region's text, as the model writes it. None: what was heard of the region is void, it is read again."""

    document: int
    page: int
    order: int
    text: str | None


@dataclass(frozen=True)
class ElementRead:
    document: int
    page: int
    element: Element


@dataclass(frozen=True)
class PageRead:
    document: int
    page: Page
    progress: Progress


@dataclass(frozen=True)
class DocumentRead:
    """The last event of a document, of one that could not be opened the only one."""

    document: int
    result: Document
    progress: Progress


Event: TypeAlias = Opened | PageSplit | Heard | ElementRead | PageRead | DocumentRead
