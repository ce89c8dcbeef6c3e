"""The document reader: opens pages, detects layouts and recognizes regions of several pages concurrently."""

from __future__ import annotations

import logging
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from engine.errors import GrusError, PasswordNeeded
from engine.media.documents import DOTS, PageImage, Source, check_pages, open_document, page_numbers
from engine.media.documents import Document as OpenDocument
from engine.pipelines.reading.elements import PageContent, RegionReader
from engine.pipelines.reading.layout import DetectedLayout, LayoutDetector, LayoutRegion, without_doubles
from engine.pipelines.reading.recognizer import CheckedRecognizer, RecognitionStream, Recognizer
from engine.pipelines.reading.results import Box, Document, Element, Page, Task
from engine.pipelines.reading.splitter import PageSplitter

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class ReadingProgress:
    pages_done: int
    pages_known: int  # of documents that have been opened
    documents_left: int  # that have not been opened yet
    seconds_left: float | None  # an estimate, once there is something to estimate from


@dataclass(frozen=True)
class DocumentOpened:
    document: int  # its place among the sources
    name: str
    pages: tuple[int, ...]  # numbers of those that will be read


@dataclass(frozen=True)
class PageSplit:
    """The regions of a page are known; reading them has begun. Boxes mean the page after it was turned."""

    document: int
    page: int
    regions: tuple[LayoutRegion, ...]
    turned: float


@dataclass(frozen=True)
class RegionText:
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
    progress: ReadingProgress


@dataclass(frozen=True)
class DocumentRead:
    """The last event of a document, of one that could not be opened the only one."""

    document: int
    result: Document
    progress: ReadingProgress


ReadingEvent: TypeAlias = DocumentOpened | PageSplit | RegionText | ElementRead | PageRead | DocumentRead


@dataclass(frozen=True)
class PageDone:
    document: int
    page: Page
    read_now: bool = True  # not taken over from an earlier run


@dataclass(frozen=True)
class Unopened:
    document: int
    name: str
    error: str
    locked: bool = False


@dataclass
class _Waiting:
    """A document some of whose pages have not left yet."""

    index: int
    name: str
    numbers: deque[int] = field(default_factory=deque)
    ready: dict[int, Page] = field(default_factory=dict)
    gone: list[Page] = field(default_factory=list)
    error: str | None = None
    locked: bool = False


class Ordering:
    def __init__(self, documents: int, clock: Callable[[], float]) -> None:
        self._left = documents
        self._unopened = documents
        self._clock = clock
        self._began = clock()
        self._documents: deque[_Waiting] = deque()
        self._done = self._known = self._read = 0

    @property
    def over(self) -> bool:
        """All documents have left."""
        return self._left == 0

    def take(self, event: ReadingEvent | PageDone | Unopened) -> Iterator[ReadingEvent]:
        if isinstance(event, Unopened):
            self._unopened -= 1
            self._documents.append(_Waiting(event.document, event.name, error=event.error, locked=event.locked))
        elif isinstance(event, DocumentOpened):
            self._unopened -= 1
            self._known += len(event.pages)
            self._documents.append(_Waiting(event.document, event.name, deque(event.pages)))
            yield event
        elif isinstance(event, PageDone):
            self._read += event.read_now
            waiting = next(w for w in self._documents if w.index == event.document)
            waiting.ready[event.page.number] = event.page
        else:
            yield event
        yield from self._leave()

    def _leave(self) -> Iterator[ReadingEvent]:
        while self._documents:
            first = self._documents[0]
            while first.numbers and first.numbers[0] in first.ready:
                page = first.ready.pop(first.numbers.popleft())
                first.gone.append(page)
                self._done += 1
                yield PageRead(first.index, page, self._progress())
            if first.numbers:
                return
            self._documents.popleft()
            self._left -= 1
            document = Document(first.name, tuple(first.gone), first.error, first.locked)
            yield DocumentRead(first.index, document, self._progress())

    def _progress(self) -> ReadingProgress:
        left = self._known - self._done
        seconds = (self._clock() - self._began) / self._read * left if self._read else None
        return ReadingProgress(self._done, self._known, self._unopened, seconds)


log = logging.getLogger("grus.reading")

TEXT_LAYER = "text layer"
_POLL = 0.1  # seconds until a thread that waits for room looks whether everything was stopped


@dataclass(frozen=True)
class ReadOptions:
    """What is to be read, and how."""

    task: Task | Literal["auto"] = "auto"
    pages: str | None = None  # as in 1-3,5
    text_layer: bool = False  # take the text that a PDF carries, where it does
    dots: int = DOTS  # an inch, for pages that are drawn
    together: int = 16  # regions that are recognized at once
    ahead: int = 3  # pages that are held in memory

    def check(self) -> None:
        check_pages(self.pages)


Password = Callable[[str, bool], "str | None"]  # (document, was there a wrong one) -> another try, or None to give up
Known = Callable[[int, int], "Page | None"]  # (document, page) -> what an earlier run has read of it
Keep = Callable[[int, int, int, str, "Image"], "str | None"]  # (document, page, order, kind, picture) -> its file


class DocumentReader:
    """Reads with one recognizer and one layout. Without a recognizer only text layers can be read."""

    def __init__(
        self, recognizer: Recognizer | None, layout: LayoutDetector | None, wishes: ReadOptions | None = None
    ) -> None:
        self.recognizer = recognizer
        self.layout = layout or PageSplitter()
        self.wishes = wishes or ReadOptions()
        self.wishes.check()

    def read(
        self,
        sources: Sequence[Source],
        *,
        password: Password = lambda name, wrong: None,
        known: Known = lambda document, page: None,
        keep: Keep = lambda document, page, order, kind, image: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> Iterator[ReadingEvent]:
        """Closing the iterator stops everything that runs."""
        run = _Run(self, sources, password, known, keep)
        ordering = Ordering(len(sources), clock)
        try:
            run.start()
            while not ordering.over:
                yield from ordering.take(run.next())
        finally:
            run.stop()


class _Run:
    """The threads behind one call."""

    def __init__(
        self, reader: DocumentReader, sources: Sequence[Source], password: Password, known: Known, keep: Keep
    ) -> None:
        self._reader = reader
        self._wishes = reader.wishes
        self._sources = sources
        self._password, self._known, self._keep = password, known, keep
        self._queue: queue.SimpleQueue[ReadingEvent | PageDone | Unopened | BaseException] = queue.SimpleQueue()
        self._stopping = threading.Event()
        self._room = threading.Semaphore(self._wishes.ahead)
        self._pool = ThreadPoolExecutor(self._wishes.together, thread_name_prefix="grus-region")
        self._opener = threading.Thread(target=self._open_all, name="grus-pages", daemon=True)
        self._lock = threading.Lock()
        self._readings: weakref.WeakSet[RecognitionStream] = weakref.WeakSet()

    def start(self) -> None:
        self._opener.start()

    def next(self) -> ReadingEvent | PageDone | Unopened:
        event = self._queue.get()
        if isinstance(event, BaseException):
            raise event
        return event

    def stop(self) -> None:
        with self._lock:
            self._stopping.set()
            running = list(self._readings)
        for reading in running:
            reading.cancel()
        if self._opener.ident is not None:
            self._opener.join()
        self._pool.shutdown(cancel_futures=True)

    # -- the thread that opens

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
            self._queue.put(Unopened(index, _name(source), str(error), isinstance(error, PasswordNeeded)))
            return
        try:
            try:
                numbers = page_numbers(self._wishes.pages, len(document))
            except GrusError as error:
                self._queue.put(Unopened(index, document.name, str(error)))
                return
            self._queue.put(DocumentOpened(index, document.name, tuple(numbers)))
            for number in numbers:
                done = self._known(index, number)
                if done is not None:
                    self._queue.put(PageDone(index, done, read_now=False))
                    continue
                while not self._room.acquire(timeout=_POLL):
                    if self._stopping.is_set():
                        return
                self._begin(document, index, number)
        finally:
            document.close()

    def _unlocked(self, source: Source) -> OpenDocument:
        password: str | None = None
        while True:
            try:
                return open_document(source, password=password, dots=self._wishes.dots)
            except PasswordNeeded:
                another = self._password(_name(source), password is not None)
                if another is None or another == password:
                    raise
                password = another

    def _begin(self, document: OpenDocument, index: int, number: int) -> None:
        try:
            opened = document.page(number, words=self._wishes.text_layer)
            found = self._split(opened)
            work = _PageWork(self, index, number, opened, found, self._notes(opened, found))
        except Exception as error:
            self._leave(index, Page(number, 0, 0, error=_said(error, f"page {number}")))
            return
        self._queue.put(PageSplit(index, number, work.regions, work.found.turned))
        if not work.regions:
            self.finish(work, ())
            return
        for region in work.regions:
            self._pool.submit(work.read, region)

    def _notes(self, opened: PageImage, found: DetectedLayout) -> tuple[str, ...]:
        notes = list(opened.notes)
        recognizer, task = self._reader.recognizer, self._wishes.task
        if recognizer is not None and task not in ("auto", "text"):
            if task not in recognizer.tasks:
                notes.append(
                    f"{recognizer.name} does not know the task {task}: the page is read as text. "
                    "PaddleOCR-VL 1.5 knows every task."
                )
            if not recognizer.by_line and (note := recognizer.note(found.image)):  # lines are seen whole
                notes.append(note)
        return (*notes, "The page is empty.") if not found.regions else tuple(notes)

    def _split(self, opened: PageImage) -> DetectedLayout:
        whole = Box(0, 0, *opened.image.size)
        if self._wishes.task not in ("auto", "text"):
            return DetectedLayout((LayoutRegion(whole, self._wishes.task, 0),), opened.image)
        if opened.words is not None and isinstance(self._reader.layout, PageSplitter):
            return PageSplitter(straighten=False).detect(opened.image)
        found = self._reader.layout.detect(opened.image)
        return replace(found, regions=without_doubles(found.regions))

    # -- for the work on a page, from threads of the pool

    def hear(self, event: ReadingEvent) -> None:
        self._queue.put(event)

    def region_reader(self, index: int, number: int) -> RegionReader:
        task = None if self._wishes.task == "auto" else self._wishes.task
        keep = self._keep
        return RegionReader(
            self._reader.recognizer, task, lambda order, kind, image: keep(index, number, order, kind, image)
        )

    def careful(self, hear: Callable[[str | None], None]) -> CheckedRecognizer | None:
        return (
            None if self._reader.recognizer is None else CheckedRecognizer(self._reader.recognizer, hear, self._track)
        )

    def _track(self, reading: RecognitionStream) -> bool:
        with self._lock:
            if self._stopping.is_set():
                return False
            self._readings.add(reading)
            return True

    def finish(self, work: _PageWork, elements: Sequence[Element], error: str | None = None) -> None:
        opened, found = work.opened, work.found
        ordered = sorted(elements, key=lambda element: element.order)
        page = Page(
            work.number,
            *found.image.size,
            tuple(replace(element, order=order) for order, element in enumerate(ordered)),
            self._reader.layout.name if self._wishes.task in ("auto", "text") else "whole page",
            self._read_by(opened),
            opened.dots,
            found.turned,
            work.notes,
            error,
        )
        self._leave(work.index, page)

    def _read_by(self, opened: PageImage) -> str:
        model = self._reader.recognizer.name if self._reader.recognizer is not None else ""
        return TEXT_LAYER if opened.words is not None else model

    def _leave(self, index: int, page: Page) -> None:
        self._queue.put(PageDone(index, page))
        self._room.release()


class _PageWork:
    """One page whose regions are being read."""

    def __init__(
        self, run: _Run, index: int, number: int, opened: PageImage, found: DetectedLayout, notes: tuple[str, ...]
    ) -> None:
        self.index, self.number, self.opened, self.found, self.notes = index, number, opened, found, notes
        self.regions = found.regions
        self._run = run
        self._sheet = PageContent(found.image, opened.words)
        self._reader = run.region_reader(index, number)
        self._lock = threading.Lock()
        self._elements: list[Element] = []
        self._left = len(found.regions)
        self._error: str | None = None

    def read(self, region: LayoutRegion) -> None:
        """One region, in a thread of the pool."""

        def hear(text: str | None) -> None:
            self._run.hear(RegionText(self.index, self.number, region.order, text))

        found: list[Element] = []
        error: str | None = None
        try:
            found = self._reader.read(self._sheet, region, self._run.careful(hear))
        except Exception as problem:
            error = _said(problem, f"page {self.number}")
        for element in found:
            self._run.hear(ElementRead(self.index, self.number, element))
        with self._lock:
            self._elements += found
            self._error = self._error or error
            self._left -= 1
            last = self._left == 0
        if last:
            self._run.finish(self, self._elements, self._error)


def _said(error: Exception, what: str) -> str:
    if isinstance(error, GrusError):
        return str(error)
    if isinstance(error, CancelledError):  # whoever stopped it knows
        return "RecognitionStream was stopped."
    log.exception("reading %s failed", what, exc_info=error)
    return f"RecognitionStream failed inside: {type(error).__name__}: {error}"


def _name(source: Source) -> str:
    with suppress(TypeError):
        import os

        return os.fspath(source) if not isinstance(source, bytes) else "bytes"
    return "image"
