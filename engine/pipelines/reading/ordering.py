"""Pages are finished in any order and leave in that of their documents, with progress and an estimate."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from engine.pipelines.reading.events import DocumentRead, Event, Opened, PageRead, Progress
from engine.pipelines.reading.result import Document, Page


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

    def take(self, event: Event | PageDone | Unopened) -> Iterator[Event]:
        if isinstance(event, Unopened):
            self._unopened -= 1
            self._documents.append(_Waiting(event.document, event.name, error=event.error, locked=event.locked))
        elif isinstance(event, Opened):
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

    def _leave(self) -> Iterator[Event]:
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

    def _progress(self) -> Progress:
        left = self._known - self._done
        seconds = (self._clock() - self._began) / self._read * left if self._read else None
        return Progress(self._done, self._known, self._unopened, seconds)
