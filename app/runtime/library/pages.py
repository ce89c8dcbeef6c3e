"""Reads one document for a library: text that the file carries, text layers, and pictures of pages where a model is there for them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from engine.errors import UnreadableFile
from engine.media.documents import bytes_of, pdf_page_texts
from engine.pipelines.reading.formats.detection import DOCUMENTS, TEXTS
from engine.pipelines.reading.layout import LayoutDetector
from engine.pipelines.reading.reader import DocumentRead, DocumentReader, PageRead, ReadOptions
from engine.pipelines.reading.recognizer import Recognizer
from engine.pipelines.reading.results import Page, page_from_json, page_to_json
from engine.pipelines.reading.session import PICTURES

ENDINGS = frozenset((".pdf", *DOCUMENTS, *TEXTS, *PICTURES))
_LEAST_TEXT = 10  # characters; a page of a PDF with less is a scan
_MOST_UNREADABLE = 0.05  # share of signs without a meaning: a font without a map


@dataclass
class DocumentPages:
    """The pages of a document, and how many of them a model would have to read."""

    pages: list[Page] = field(default_factory=list)
    unread: int = 0


def read_document(
    path: Path,
    recognizer: Callable[[], Recognizer | None],
    layout: Callable[[], LayoutDetector | None],
    known: dict[int, str],
    keep: Callable[[int, str], None],
    check: Callable[[], None],
) -> DocumentPages:
    """`known` and `keep`: pages that a model read in an earlier run, and now, as JSON. `check` raises where the work was cancelled.
    Raises UnreadableFile."""
    from engine.pipelines.reading.formats.documents import open_text_document  # all readers: an idle window needs none

    text = open_text_document(path)
    if text is not None:
        return DocumentPages(list(text.pages))
    data = bytes_of(path)
    if not data:
        raise UnreadableFile("The file is empty.")
    pages: dict[int, Page] = {}
    missing: str | None = None  # the pages that are looked at; None: all
    if b"%PDF-" in data[:1024]:
        found = dict(enumerate(pdf_page_texts(data), 1))
        pages = {number: _page(number, text) for number, text in found.items() if _is_text(text)}
        wanted = [number for number in found if number not in pages]
        if not wanted:
            return DocumentPages([page for _, page in sorted(pages.items())])
        missing = ",".join(map(str, wanted))
    del data
    reader = recognizer()
    if reader is None:
        count = 1 if missing is None else missing.count(",") + 1
        return DocumentPages([page for _, page in sorted(pages.items())], count)
    for page in _looked_at(path, DocumentReader(reader, layout(), ReadOptions(pages=missing)), known, keep, check):
        pages[page.number] = page
    return DocumentPages([page for _, page in sorted(pages.items())])


def _looked_at(
    path: Path,
    reader: DocumentReader,
    known: dict[int, str],
    keep: Callable[[int, str], None],
    check: Callable[[], None],
) -> Iterator[Page]:
    earlier = {number: page_from_json(json.loads(text)) for number, text in known.items()}
    events = reader.read([path], known=lambda document, page: earlier.get(page))
    with closing(events):  # type: ignore[type-var]
        for event in events:
            check()
            if isinstance(event, PageRead):
                if event.page.number not in earlier and event.page.error is None:
                    keep(event.page.number, json.dumps(page_to_json(event.page), ensure_ascii=False))
                yield event.page
            elif isinstance(event, DocumentRead) and event.result.error is not None:
                raise UnreadableFile(event.result.error)


def _page(number: int, text: str) -> Page:
    """A page of a PDF as paragraphs; its lines stay lines."""
    from engine.pipelines.reading.formats.plain import read_text

    (page, *_) = read_text(text.replace("\r\n", "\n").replace("\f", "\n").replace("\ufffe", "-"))
    return Page(number, 0, 0, page.elements)


def _is_text(text: str) -> bool:
    signs = [sign for sign in text if not sign.isspace()]
    unreadable = sum(sign == "\ufffd" or "\ue000" <= sign <= "\uf8ff" for sign in signs)
    return len(signs) >= _LEAST_TEXT and unreadable <= _MOST_UNREADABLE * len(signs)
