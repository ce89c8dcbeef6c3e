"""Reading sessions: documents in, events or output files out; or pages in, and a reply out.

`ReadingSession` reads documents and can save each one while its pages come in: the output file is always replaced as a
whole, and a journal holds every finished page, so that an interrupted run resumes where it stopped.
"""

from __future__ import annotations

import hashlib
import io
import json
import logging
import os
import shutil
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.at_exit import join_at_exit
from engine.errors import BadRequest, EngineFault, EngineStopped, ErrorText, GrusError, UnreadableFile
from engine.loading import LoadedModel
from engine.media.documents import Source, open_document
from engine.pipelines.reading.formats.detection import DOCUMENTS
from engine.pipelines.reading.layout import LayoutDetector
from engine.pipelines.reading.looks import Advise
from engine.pipelines.reading.reader import (
    DocumentRead,
    DocumentReader,
    ElementRead,
    PageRead,
    PageSplit,
    Password,
    ReadingEvent,
    ReadOptions,
)
from engine.pipelines.reading.recognizer import Recognizer, VisionRecognizer
from engine.pipelines.reading.results import Document, Element, Page, page_from_json, page_to_json
from engine.pipelines.reading.upright import rotated_page
from engine.pipelines.reading.writers import KEEPS_FIGURES, ExportOptions, Format, element_text, write_document
from engine.types import Done, Failed, FinishReason, Request, RequestHandle, Started, Text, Timings, new_id
from engine.whole_file import whole_file

if TYPE_CHECKING:
    from PIL.Image import Image


PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".heic", ".heif")
_QUICK = 0.2  # seconds; an output that is written faster than this is rewritten after every page ...
_SHARE = 0.05  # ... a slower one may take this share of the time; the journal has the pages in between


def expand_folders(paths: Sequence[str | Path]) -> list[Path]:
    """The paths, with each folder replaced by the documents in it, sorted by name. Missing files stay in the list."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            found.append(path)
            continue
        endings = (".pdf", *PICTURES, *DOCUMENTS)  # plain texts, which may be results of reading, are left out
        inside = sorted(p for p in path.iterdir() if p.suffix.lower() in endings and p.is_file())
        if not inside:
            raise BadRequest(
                ErrorText("There are no documents and no images in the folder {path}.", path=path), "files"
            )
        found += inside
    return found


@dataclass
class OutputTarget:
    """The output file of one document."""

    path: Path
    format: Format

    @property
    def figures(self) -> Path:
        return self.path.with_name(f"{self.path.stem}_files")

    @property
    def journal(self) -> Path:
        return self.path.with_name(f".{self.path.name}.pages")


def output_targets(sources: Sequence[Path], out: Path, kind: Format) -> list[OutputTarget]:
    """`out` itself for a single source unless `out` is a folder; else one file per source in the folder `out`."""
    if len(sources) == 1 and not out.is_dir():
        return [OutputTarget(out, kind)]
    if out.exists() and not out.is_dir():
        raise BadRequest(f"{out} is a file; several documents need a folder to be written to.", "out")
    taken: set[str] = set()
    found = []
    for source in sources:
        name, count = source.stem, 1
        while name.lower() in taken:
            count += 1
            name = f"{source.stem}-{count}"
        taken.add(name.lower())
        found.append(OutputTarget(out / f"{name}.{kind}", kind))
    return found


@dataclass
class ReadingSession:
    """A document reader and the options of its output."""

    recognizer: Recognizer | None
    layout: LayoutDetector | None = None
    options: ReadOptions = field(default_factory=ReadOptions)
    style: ExportOptions = field(default_factory=ExportOptions)
    password: Password = lambda name, wrong: None
    advise: Advise | None = None

    def __post_init__(self) -> None:
        self._reader = DocumentReader(self.recognizer, self.layout, self.options, self.advise)
        self._passwords: dict[str, str] = {}

    def events(self, sources: Sequence[Source]) -> Iterator[ReadingEvent]:
        """The events of reading; nothing is written."""
        return self._reader.read(sources, password=self._ask)

    def documents(self, sources: Sequence[Source]) -> list[Document]:
        """All documents, read to the end. One that could not be opened has an error."""
        return [event.result for event in self.events(sources) if isinstance(event, DocumentRead)]

    def save(self, sources: Sequence[Path], where: Sequence[OutputTarget]) -> Iterator[ReadingEvent]:
        """The events of reading; each document is written to its target as its pages come in."""
        writers = [_DocumentWriter(self, source, target) for source, target in zip(sources, where)]
        stream = self._reader.read(
            sources,
            password=self._ask,
            known=lambda document, page: writers[document].journal.page(page),
            save_figure=lambda document, page, order, kind, image: writers[document].save_figure(
                page, order, kind, image
            ),
        )
        with closing(stream):  # type: ignore[type-var]
            for event in stream:
                if isinstance(event, PageRead):
                    writers[event.document].add(event.page)
                elif isinstance(event, DocumentRead) and event.result.error is None:
                    writers[event.document].end(event.result)
                yield event

    def image_of(self, source: Source, page: Page) -> Image:
        """The pixels of a page, in the coordinates of its boxes."""
        with closing(open_document(source, password=self.password_of(source), dots=self.options.dots)) as document:
            return rotated_page(document.page(page.number).image, page.turned)

    def identity(self) -> str:
        """The settings that the result depends on, for the journal's fingerprint."""
        model = self.recognizer.name if self.recognizer is not None else ""
        layout = self._reader.layout.name
        options = self.options
        return f"{model}|{layout}|{options.task}|{options.text_layer}|{options.rotate}|{options.dots}"

    def password_of(self, source: Source) -> str | None:
        return self._passwords.get(str(source))

    def _ask(self, name: str, wrong: bool) -> str | None:
        answer = self.password(name, wrong)
        if answer is not None:
            self._passwords[name] = answer
        return answer


class _DocumentWriter:
    """Writes one document while its pages come in."""

    def __init__(
        self, session: ReadingSession, source: Path, target: OutputTarget, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._session, self._source, self._target, self._clock = session, source, target, clock
        self.journal = Journal(target.journal, fingerprint(source, session.identity()))
        self._pages: list[Page] = []
        self._next = 0.0  # the earliest time of the next rewrite

    def add(self, page: Page) -> None:
        self._pages.append(page)
        if self.journal.page(page.number) is None and page.error is None:
            self.journal.add(page)
        began = self._clock()
        if began >= self._next:
            self._write(Document(str(self._source), tuple(self._pages)))
            ended = self._clock()
            if ended - began > _QUICK:
                self._next = ended + (ended - began) / _SHARE

    def end(self, document: Document) -> None:
        self._write(document)
        self.journal.remove()

    def save_figure(self, page: int, order: int, kind: str, image: Image) -> str | None:
        if self._target.format not in KEEPS_FIGURES:
            return None
        out = io.BytesIO()
        image.save(out, "PNG")
        folder = self._target.figures
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"page-{page}-{kind}-{order + 1}.png"
        write_atomically(file, out.getvalue())
        return f"{folder.name}/{file.name}"

    def _write(self, document: Document) -> None:
        session, target = self._session, self._target
        contents = write_document(
            document, target.format, session.style, lambda page: session.image_of(self._source, page)
        )
        target.path.parent.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(contents, 1):
            name = target.path.name if number == 1 else f"{target.path.stem}-{number}{target.path.suffix}"
            write_atomically(target.path.with_name(name), data)


_OWNER = "journal.json"
_VERSION = 2  # of the page format, and of how pages are turned


def fingerprint(source: Path, settings: str) -> str:
    """A hash of the file's content and the settings."""
    digest = hashlib.sha256(f"{_VERSION}|{settings}|".encode())
    try:
        with source.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError:
        return ""  # opening the file will raise the error
    return digest.hexdigest()


class Journal:
    """The finished pages of a document on disk, in a folder with one JSON file per page.

    It is valid for one fingerprint; a journal with another one is discarded."""

    def __init__(self, folder: Path, fingerprint: str) -> None:
        self._folder = folder
        self._fingerprint = fingerprint
        self._pages: dict[int, Page] = {}
        self._ready = False
        if self._is_ours():
            self._ready = True
            for file in folder.glob("page-*.json"):
                page = _read(file)
                if page is not None:
                    self._pages[page.number] = page

    def page(self, number: int) -> Page | None:
        return self._pages.get(number)

    def add(self, page: Page) -> None:
        self._make_ready()
        write_atomically(self._folder / f"page-{page.number}.json", _bytes(page_to_json(page)))
        self._pages[page.number] = page

    def remove(self) -> None:
        if self._ready:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._ready = False

    def _make_ready(self) -> None:
        if not self._ready:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder.mkdir(parents=True)
            write_atomically(self._folder / _OWNER, _bytes({"of": self._fingerprint}))
            self._ready = True

    def _is_ours(self) -> bool:
        try:
            found = json.loads((self._folder / _OWNER).read_bytes())
        except (OSError, ValueError):
            return False
        return bool(self._fingerprint) and isinstance(found, dict) and found.get("of") == self._fingerprint


def _read(file: Path) -> Page | None:
    """A page of the journal; None for a damaged one, which is read again."""
    try:
        return page_from_json(json.loads(file.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _bytes(shown: object) -> bytes:
    return json.dumps(shown, ensure_ascii=False).encode()


def write_atomically(path: Path, data: bytes) -> None:
    """Readers see the old file or the new one, never a part, even where the machine loses power."""
    try:
        with whole_file(path) as part, part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise BadRequest(
            ErrorText("{path} cannot be written: {reason}.", path=path, reason=error.strerror or error), "out"
        ) from error


# -- pages as a reply: what a model that reads by line says where a conversation shows it pictures. They are cut by the page
# splitter; the elements are the events of one request, in reading order, each as soon as those before it are done

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
                raise EngineStopped(ErrorText("The reading was stopped."))
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
        self._emitted = 0  # tokens

    def run(self) -> None:
        end: Done | Failed
        try:
            reason = self._read()
            end = Done(self.handle.id, "cancelled" if self._lines.stopped else reason, self._timings())
        except GrusError as error:
            end = Failed(self.handle.id, self._lines.problem or error, self._timings())
        except Exception as error:
            log.exception("A page's reply failed.")
            end = Failed(
                self.handle.id,
                EngineFault(
                    ErrorText("Reading failed inside: {kind}: {error}", kind=type(error).__name__, error=error)
                ),
            )
        self.handle.end(end)

    def _timings(self) -> Timings:
        total = time.monotonic() - self._began
        return Timings(0.0, self._first, total, self._lines.tokens, output_tokens=self._emitted)

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
                    if text and not self._emit(("\n\n" if self._emitted else "") + text):
                        return "length"
        return "stop"

    def _emit(self, text: str) -> bool:
        """False: there was no room for all of it."""
        tokenizer = self._loaded.tokenizer
        ids = tokenizer.encode(text, add_special=False)
        room = len(ids) if self._most is None else self._most - self._emitted
        if len(ids) > room:
            ids = ids[:room]
            text = tokenizer.decode(ids)
        self._emitted += len(ids)
        self._first = self._first or time.monotonic() - self._began
        self.handle.put(Text(self.handle.id, text, ids))
        return self._most is None or self._emitted < self._most


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
