"""Pages as a reply: what a model that reads by line says where a conversation shows it pictures.

The pictures are read as `grus read` reads a document, cut by the page splitter, and told as the events of one request:
region after region in reading order, each as soon as those before it are done. Independent of HTTP.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from engine.at_exit import join_at_exit
from engine.errors import EngineFault, EngineStopped, GrusError, UnreadableFile
from engine.loading import LoadedModel
from engine.pipelines.reading.reader import DocumentRead, ElementRead, PageRead, PageSplit, ReadingEvent
from engine.pipelines.reading.recognizer import VisionRecognizer
from engine.pipelines.reading.results import Element
from engine.pipelines.reading.session import ReadingSession
from engine.pipelines.reading.writers.formats import ExportOptions, element_text
from engine.types import Done, Failed, FinishReason, Request, RequestHandle, Started, Text, Timings, new_id

if TYPE_CHECKING:
    from PIL.Image import Image

log = logging.getLogger("grus.reading")


def page_reply(
    submit: Callable[..., RequestHandle], loaded: LoadedModel, pages: Sequence[Image], most: int | None = None
) -> RequestHandle:
    """Reads in a thread of its own. `submit` takes the requests for single lines, as `Engine.submit` does; `most`: tokens
    that are told."""
    reply = _Reply(_Lines(submit), loaded, pages, most)
    join_at_exit(threading.Thread(target=reply.run, name="grus-page-reply", daemon=True)).start()
    return reply.handle


class _Lines:
    """The engine as the lines of one reply see it: they are counted, and can be stopped together."""

    def __init__(self, submit: Callable[..., RequestHandle]) -> None:
        self._submit = submit
        self._lock = threading.Lock()
        self._handles: list[RequestHandle] = []
        self.stopped = False
        self.tokens = 0  # of all prompts
        self.problem: GrusError | None = None  # why a line was not taken

    def submit(self, request: Request) -> RequestHandle:
        with self._lock:
            if self.stopped:
                raise EngineStopped("The reading was stopped.")
            try:
                handle = self._submit(request, admitted=bool(self.tokens))  # a page that was begun is read to its end
            except GrusError as error:
                self.problem = self.problem or error
                raise
            self._handles.append(handle)
            self.tokens += len(request.prompt_ids)
            return handle

    def stop(self) -> None:
        with self._lock:
            self.stopped = True
            handles, self._handles = self._handles, []
        for handle in handles:
            handle.cancel()


class _Reply:
    def __init__(self, lines: _Lines, loaded: LoadedModel, pages: Sequence[Image], most: int | None) -> None:
        self.handle = RequestHandle(new_id(), None, lines.stop)
        self._lines, self._loaded, self._pages, self._most = lines, loaded, pages, most
        self._began = time.monotonic()
        self._first = 0.0  # seconds until the first text
        self._told = 0  # tokens

    def run(self) -> None:
        end: Done | Failed
        try:
            reason = self._read()
            end = Done(self.handle.id, "cancelled" if self._lines.stopped else reason, self._timings())
        except GrusError as error:
            end = Failed(self.handle.id, self._lines.problem or error, self._timings())
        except Exception as error:
            log.exception("A page's reply failed.")
            end = Failed(self.handle.id, EngineFault(f"Reading failed inside: {type(error).__name__}: {error}"))
        self.handle.end(end)

    def _timings(self) -> Timings:
        total = time.monotonic() - self._began
        return Timings(0.0, self._first, total, self._lines.tokens, output_tokens=self._told)

    def _read(self) -> FinishReason:
        self.handle.put(Started(self.handle.id, 0, 0))
        events = ReadingSession(VisionRecognizer(self._lines, self._loaded)).events(self._pages)
        order = _Order()
        with closing(events):  # type: ignore[type-var]
            for event in events:
                if self._lines.stopped:
                    return "cancelled"
                if isinstance(event, DocumentRead) and event.result.error is not None:
                    raise UnreadableFile(event.result.error)
                if isinstance(event, PageRead) and event.page.error is not None:
                    raise EngineFault(event.page.error)
                for element in order.take(event):
                    text = element_text(element, ExportOptions())
                    if text and not self._tell(("\n\n" if self._told else "") + text):
                        return "length"
        return "stop"

    def _tell(self, text: str) -> bool:
        """False: there was no room for all of it."""
        tokenizer = self._loaded.tokenizer
        ids = tokenizer.encode(text, add_special=False)
        room = len(ids) if self._most is None else self._most - self._told
        if len(ids) > room:
            ids = ids[:room]
            text = tokenizer.decode(ids)
        self._told += len(ids)
        self._first = self._first or time.monotonic() - self._began
        self.handle.put(Text(self.handle.id, text, ids))
        return self._most is None or self._told < self._most


class _Order:
    """Elements come as they are read, and leave in the order of reading: each once all before it have left."""

    def __init__(self) -> None:
        self._now = 0  # the picture whose turn it is
        self._due: dict[int, deque[int]] = {}  # by picture: its regions that have not left
        self._read: dict[tuple[int, int], Element] = {}
        self._left = 0  # elements of this picture that have

    def take(self, event: ReadingEvent) -> Iterator[Element]:
        if isinstance(event, PageSplit):
            self._due[event.document] = deque(sorted(region.order for region in event.regions))
        elif isinstance(event, ElementRead):
            self._read[event.document, event.element.order] = event.element
        elif isinstance(event, PageRead):
            yield from event.page.elements[self._left :]
            self._now, self._left = event.document + 1, 0
        due = self._due.get(self._now, deque())
        while due and (self._now, due[0]) in self._read:
            self._left += 1
            yield self._read[self._now, due.popleft()]
