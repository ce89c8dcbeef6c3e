"""The document reader: reads many documents concurrently and emits events in the order of their pages.

Three kinds of threads: one opens pages and detects their layouts, a few pages ahead; a pool reads regions, each thread
mostly waiting for the recognizer; the caller's thread takes events from a queue and puts pages into order. A file or a page
that fails becomes an error in its result, and the others are read on.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from engine.errors import BadRequest, ErrorText, GrusError, PasswordNeeded
from engine.media.documents import DPI, PageImage, Source, SourceDocument, check_pages, open_document, page_numbers
from engine.media.text_layer import QUARTER_TURNS, QuarterTurn
from engine.pipelines.reading.elements import PageContent, RegionReader
from engine.pipelines.reading.layout import (
    DetectedLayout,
    LayoutDetector,
    LayoutRegion,
    PageSplitter,
    lines_within,
    without_duplicates,
)
from engine.pipelines.reading.looks import Advise, looks_of
from engine.pipelines.reading.recognizer import CheckedRecognizer, RecognitionStream, Recognizer, confidence_in_lines
from engine.pipelines.reading.results import Box, Document, Element, Page, Task, TextDocument
from engine.pipelines.reading.upright import UprightPage, upright
from engine.trim import trim_soon

if TYPE_CHECKING:
    from PIL.Image import Image

log = logging.getLogger("grus.reading")

TEXT_LAYER = "text layer"
_POLL = 0.1  # seconds between checks for cancellation while waiting for a free page slot


@dataclass(frozen=True)
class ReadOptions:
    """What is read, and how."""

    task: Task | Literal["auto"] = "auto"
    pages: str | None = None  # as in 1-3,5
    text_layer: bool = False  # use the text layer of PDF pages that have one
    rotate: int | Mapping[int, int] | None = None  # degrees clockwise, of all pages or by page; None: found out
    dots: int = DPI  # per inch, for rendered PDF pages
    concurrency: int = 16  # regions recognized concurrently
    pages_ahead: int = 3  # pages held in memory

    def check(self) -> None:
        check_pages(self.pages)
        for degrees in self.rotate.values() if isinstance(self.rotate, Mapping) else (self.rotate or 0,):
            if degrees not in QUARTER_TURNS:
                raise BadRequest(f"Pages are rotated by 0, 90, 180 or 270 degrees, not {degrees}.", "rotate")

    def turn_of(self, page: int) -> QuarterTurn | None:
        """The counterclockwise turn of a page; None: to be found out."""
        degrees = self.rotate.get(page) if isinstance(self.rotate, Mapping) else self.rotate
        return None if degrees is None else QUARTER_TURNS[-degrees // 90 % 4]


# -- events


@dataclass(frozen=True)
class ReadingProgress:
    pages_done: int
    pages_known: int  # of the documents opened so far
    documents_left: int  # not opened yet
    seconds_left: float | None  # estimated, once a page was read


@dataclass(frozen=True)
class DocumentOpened:
    document: int  # index into the sources
    name: str
    pages: tuple[int, ...]  # the numbers of the pages to be read


@dataclass(frozen=True)
class PageSplit:
    """The layout of a page was detected. Boxes are in the coordinates of the rotated page."""

    document: int
    page: int
    regions: tuple[LayoutRegion, ...]
    turned: float


@dataclass(frozen=True)
class RegionText:
    """A piece of a region's text as it is generated. None: the text of the region so far is dropped, it is read again."""

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
    progress: ReadingProgress


@dataclass(frozen=True)
class DocumentRead:
    """The last event of a document, and the only one of a document that could not be opened."""

    document: int
    result: Document
    progress: ReadingProgress


ReadingEvent: TypeAlias = DocumentOpened | PageSplit | RegionText | ElementRead | PageRead | DocumentRead

Password = Callable[[str, bool], "str | None"]  # (document, whether one was wrong) -> the next try, or None
KnownPage = Callable[[int, int], "Page | None"]  # (document, page) -> its result from an earlier run
SaveFigure = Callable[[int, int, int, str, "Image"], "str | None"]  # (document, page, order, kind, image) -> file name


# -- the reader


class DocumentReader:
    """Reads documents with one recognizer and one layout detector. Without a recognizer it reads text layers only."""

    def __init__(
        self,
        recognizer: Recognizer | None,
        layout: LayoutDetector | None,
        options: ReadOptions | None = None,
        advise: Advise | None = None,
    ) -> None:
        """`advise`: asked about each page that was read from its picture; what it says joins the page's notes."""
        self.recognizer, self.advise = recognizer, advise
        self.layout = layout or PageSplitter()
        self.options = options or ReadOptions()
        self.options.check()

    def read(
        self,
        sources: Sequence[Source],
        *,
        password: Password = lambda name, wrong: None,
        known: KnownPage = lambda document, page: None,
        save_figure: SaveFigure = lambda document, page, order, kind, image: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> Iterator[ReadingEvent]:
        """The events of reading all sources. Closing the iterator cancels all work."""
        run = _Run(self, sources, password, known, save_figure)
        order = _PageOrder(len(sources), clock)
        try:
            run.start()
            while not order.complete:
                yield from order.take(run.next())
        finally:
            run.stop()


class _Run:
    """The threads of one call of `DocumentReader.read`."""

    def __init__(
        self,
        reader: DocumentReader,
        sources: Sequence[Source],
        password: Password,
        known: KnownPage,
        save_figure: SaveFigure,
    ) -> None:
        self._reader = reader
        self._options = reader.options
        self._sources = sources
        self._password, self._known, self._save_figure = password, known, save_figure
        self._task = self._chosen_task()
        self._queue: queue.SimpleQueue[ReadingEvent | _PageDone | _OpenFailed | BaseException] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._page_slots = threading.Semaphore(self._options.pages_ahead)
        self._pool = ThreadPoolExecutor(self._options.concurrency, thread_name_prefix="grus-region")
        self._opener = threading.Thread(target=self._open_all, name="grus-pages", daemon=True)
        self._lock = threading.Lock()
        self._streams: weakref.WeakSet[RecognitionStream] = weakref.WeakSet()

    def start(self) -> None:
        self._opener.start()

    def next(self) -> ReadingEvent | _PageDone | _OpenFailed:
        event = self._queue.get()
        if isinstance(event, BaseException):
            raise event
        return event

    def stop(self) -> None:
        with self._lock:
            self._stopping.set()
            running = list(self._streams)
        for stream in running:
            stream.cancel()
        if self._opener.ident is not None:
            self._opener.join()
        self._pool.shutdown(cancel_futures=True)
        trim_soon()  # of the pixels of many pages

    def _chosen_task(self) -> Task | Literal["auto"]:
        """Pages are given to a model as it was trained: whole, or in regions."""
        recognizer, task = self._reader.recognizer, self._options.task
        if task == "auto" and recognizer is not None and recognizer.whole_pages:
            return "markdown"
        if task == "markdown" and (recognizer is None or task not in recognizer.tasks):
            return "auto"
        return task

    # -- on the thread that opens pages

    def _open_all(self) -> None:
        try:
            for index, source in enumerate(self._sources):
                self._open(index, source)
        except BaseException as error:
            self._queue.put(error)

    def _open(self, index: int, source: Source) -> None:
        if self._stopping.is_set():
            return
        try:
            document = self._unlocked(source)
        except GrusError as error:
            self._queue.put(_OpenFailed(index, _name(source), error.text, isinstance(error, PasswordNeeded)))
            return
        if isinstance(document, TextDocument):
            self._take(index, document)
            return
        try:
            try:
                numbers = page_numbers(self._options.pages, len(document))
            except GrusError as error:
                self._queue.put(_OpenFailed(index, document.name, error.text))
                return
            self._queue.put(DocumentOpened(index, document.name, tuple(numbers)))
            for number in numbers:
                done = self._known(index, number)
                if done is not None:
                    self._queue.put(_PageDone(index, done, read_now=False))
                    continue
                while not self._page_slots.acquire(timeout=_POLL):
                    if self._stopping.is_set():
                        return
                self._begin(document, index, number)
        finally:
            document.close()

    def _take(self, index: int, document: TextDocument) -> None:
        """Pages that the file itself has as text."""
        try:
            numbers = page_numbers(self._options.pages, len(document.pages))
        except GrusError as error:
            self._queue.put(_OpenFailed(index, document.name, error.text))
            return
        self._queue.put(DocumentOpened(index, document.name, tuple(numbers)))
        for number in numbers:
            known = self._known(index, number)
            self._queue.put(_PageDone(index, known or document.pages[number - 1], read_now=known is None))

    def _unlocked(self, source: Source) -> SourceDocument | TextDocument:
        from engine.pipelines.reading.formats.documents import (
            open_text_document,  # all readers, which an idle window needs not
        )

        text = open_text_document(source)
        if text is not None:
            return text
        password: str | None = None
        while True:
            try:
                return open_document(source, password=password, dots=self._options.dots)
            except PasswordNeeded:
                next_password = self._password(_name(source), password is not None)
                if next_password is None or next_password == password:
                    raise
                password = next_password

    def _begin(self, document: SourceDocument, index: int, number: int) -> None:
        try:
            opened = document.page(number, words=self._options.text_layer)
            page = upright(opened, self._options.turn_of(number), self._confidence)
            found = self._detect(page.opened)
            work = _PageWork(self, index, number, page, found, self._notes(page, found))
        except Exception as error:
            self._finish_page(index, Page(number, 0, 0, error=_message(error, f"page {number}")))
            return
        self._queue.put(PageSplit(index, number, work.regions, page.turned))
        if not work.regions:
            self.finish(work, ())
            return
        for region in work.regions:
            self._pool.submit(work.read, region)

    def _confidence(self, lines: Sequence[Image]) -> float | None:
        recognizer = self._reader.recognizer
        return None if recognizer is None else confidence_in_lines(recognizer, lines, self._track)

    def _notes(self, page: UprightPage, found: DetectedLayout) -> tuple[str, ...]:
        notes = [*page.opened.notes, *page.notes]
        recognizer, task = self._reader.recognizer, self._options.task
        if recognizer is not None and task == "markdown" != self._task:
            notes.append(ErrorText("{model} does not write whole pages: its regions are read.", model=recognizer.name))
        elif recognizer is not None and self._task not in ("auto", "text"):
            if self._task not in recognizer.tasks:
                notes.append(
                    ErrorText(
                        "{model} does not know the task {task}: the page is read as text. PaddleOCR-VL 1.5 knows every "
                        "task.",
                        model=recognizer.name,
                        task=task,
                    )
                )
            if not recognizer.by_line and (note := recognizer.note(found.image)):  # lines are never scaled down
                notes.append(note)
        return (*notes, ErrorText("The page is empty.")) if not found.regions else tuple(notes)

    def _detect(self, opened: PageImage) -> DetectedLayout:
        whole = Box(0, 0, *opened.image.size)
        if self._task not in ("auto", "text", "markdown"):
            return DetectedLayout((LayoutRegion(whole, self._task, 0),), opened.image)
        found = self._reader.layout.detect(opened.image)
        regions = without_duplicates(found.regions)
        if self._task == "markdown" and regions and opened.words is None:
            # the model reads the page at once; the regions say where its words may lie
            lines = tuple(line for region in regions for line in region.lines or lines_within(found.image, region.box))
            regions = (LayoutRegion(whole, "page", 0, lines=lines),)
        return replace(found, regions=regions)

    # -- called by the pool's threads

    def emit(self, event: ReadingEvent) -> None:
        self._queue.put(event)

    def region_reader(self, index: int, number: int) -> RegionReader:
        task = None if self._task == "auto" or self._task == "markdown" else self._task
        save_figure = self._save_figure
        return RegionReader(
            self._reader.recognizer, task, lambda order, kind, image: save_figure(index, number, order, kind, image)
        )

    def checked(self, on_text: Callable[[str | None], None]) -> CheckedRecognizer | None:
        return (
            None
            if self._reader.recognizer is None
            else CheckedRecognizer(self._reader.recognizer, on_text, self._track)
        )

    def _track(self, stream: RecognitionStream) -> bool:
        with self._lock:
            if self._stopping.is_set():
                return False
            self._streams.add(stream)
            return True

    def finish(self, work: _PageWork, elements: Sequence[Element], error: str | None = None) -> None:
        opened, found = work.page.opened, work.found
        ordered = sorted(elements, key=lambda element: element.order)
        page = Page(
            work.number,
            *found.image.size,
            tuple(replace(element, order=order) for order, element in enumerate(ordered)),
            self._reader.layout.name if self._task in ("auto", "text") else "whole page",
            self._read_by(opened),
            opened.dots,
            work.page.turned,
            (*work.notes, *self._advice(work, ordered, error)),
            error,
        )
        self._finish_page(work.index, page)

    def _advice(self, work: _PageWork, elements: Sequence[Element], error: str | None) -> list[ErrorText]:
        advise = self._reader.advise
        if advise is None or error is not None or self._reader.recognizer is None or work.page.opened.words is not None:
            return []
        said = advise(looks_of(work.found.image, elements))
        return [] if said is None else [said]

    def _read_by(self, opened: PageImage) -> str:
        model = self._reader.recognizer.name if self._reader.recognizer is not None else ""
        return TEXT_LAYER if opened.words is not None else model

    def _finish_page(self, index: int, page: Page) -> None:
        self._queue.put(_PageDone(index, page))
        self._page_slots.release()


class _PageWork:
    """A page whose regions are being read."""

    def __init__(
        self, run: _Run, index: int, number: int, page: UprightPage, found: DetectedLayout, notes: tuple[str, ...]
    ) -> None:
        self.index, self.number, self.page, self.found, self.notes = index, number, page, found, notes
        self.regions = found.regions
        self._run = run
        self._sheet = PageContent(found.image, page.opened.words)
        self._reader = run.region_reader(index, number)
        self._lock = threading.Lock()
        self._elements: list[Element] = []
        self._left = len(found.regions)
        self._error: str | None = None

    def read(self, region: LayoutRegion) -> None:
        """Read one region, on a thread of the pool."""

        def on_text(text: str | None) -> None:
            self._run.emit(RegionText(self.index, self.number, region.order, text))

        found: list[Element] = []
        error: str | None = None
        try:
            found = self._reader.read(self._sheet, region, self._run.checked(on_text))
        except Exception as problem:
            error = _message(problem, f"page {self.number}")
        for element in found:
            self._run.emit(ElementRead(self.index, self.number, element))
        with self._lock:
            self._elements += found
            self._error = self._error or error
            self._left -= 1
            last = self._left == 0
        if last:
            self._run.finish(self, self._elements, self._error)


def _message(error: Exception, what: str) -> str:
    if isinstance(error, GrusError):
        return error.text
    if isinstance(error, CancelledError):  # cancelled by the caller
        return ErrorText("The reading was stopped.")
    log.exception("reading %s failed", what, exc_info=error)
    return ErrorText("Reading failed inside: {kind}: {error}", kind=type(error).__name__, error=error)


def _name(source: Source) -> str:
    with suppress(TypeError):
        return os.fspath(source) if not isinstance(source, bytes) else "bytes"
    return "image"


# -- the order of pages


@dataclass(frozen=True)
class _PageDone:
    document: int
    page: Page
    read_now: bool = True  # in this run


@dataclass(frozen=True)
class _OpenFailed:
    document: int
    name: str
    error: str
    locked: bool = False


@dataclass
class _Pending:
    """A document with pages that are not emitted yet."""

    index: int
    name: str
    numbers: deque[int] = field(default_factory=deque)
    ready: dict[int, Page] = field(default_factory=dict)
    emitted: list[Page] = field(default_factory=list)
    error: str | None = None
    locked: bool = False


class _PageOrder:
    """Puts pages that are finished in any order into the order of their documents, with progress."""

    def __init__(self, documents: int, clock: Callable[[], float]) -> None:
        self._left = documents
        self._unopened = documents
        self._clock = clock
        self._began = clock()
        self._documents: deque[_Pending] = deque()
        self._done = self._known = self._read = 0

    @property
    def complete(self) -> bool:
        """Whether all documents are complete."""
        return self._left == 0

    def take(self, event: ReadingEvent | _PageDone | _OpenFailed) -> Iterator[ReadingEvent]:
        if isinstance(event, _OpenFailed):
            self._unopened -= 1
            self._documents.append(_Pending(event.document, event.name, error=event.error, locked=event.locked))
        elif isinstance(event, DocumentOpened):
            self._unopened -= 1
            self._known += len(event.pages)
            self._documents.append(_Pending(event.document, event.name, deque(event.pages)))
            yield event
        elif isinstance(event, _PageDone):
            self._read += event.read_now
            waiting = next(w for w in self._documents if w.index == event.document)
            waiting.ready[event.page.number] = event.page
        else:
            yield event
        yield from self._emit()

    def _emit(self) -> Iterator[ReadingEvent]:
        while self._documents:
            first = self._documents[0]
            while first.numbers and first.numbers[0] in first.ready:
                page = first.ready.pop(first.numbers.popleft())
                first.emitted.append(page)
                self._done += 1
                yield PageRead(first.index, page, self._progress())
            if first.numbers:
                return
            self._documents.popleft()
            self._left -= 1
            document = Document(first.name, tuple(first.emitted), first.error, first.locked)
            yield DocumentRead(first.index, document, self._progress())

    def _progress(self) -> ReadingProgress:
        left = self._known - self._done
        seconds = (self._clock() - self._began) / self._read * left if self._read else None
        return ReadingProgress(self._done, self._known, self._unopened, seconds)
