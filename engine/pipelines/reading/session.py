"""Reading sessions: documents in, events or output files out; a journal makes an interrupted run resumable."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import BadRequest
from engine.media.documents import Source, open_document
from engine.pipelines.reading.ink import rotated_page
from engine.pipelines.reading.layout import LayoutDetector
from engine.pipelines.reading.reader import DocumentRead, DocumentReader, PageRead, Password, ReadingEvent, ReadOptions
from engine.pipelines.reading.recognizer import Recognizer
from engine.pipelines.reading.results import Document, Page, page_from_json, page_to_json
from engine.pipelines.reading.writers.formats import KEEPS_FIGURES, ExportOptions, Format, write_document

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".heic", ".heif")
_QUICK = 0.2  # seconds: what takes no longer is rewritten after every page ...
_SHARE = 0.05  # ... else it may take this part of the time; the journal has what the output does not have yet


def expand_folders(paths: Sequence[str | Path]) -> list[Path]:
    """Folders are replaced by the documents in them, sorted by name. What is not there is left for its own error."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(p for p in path.iterdir() if p.suffix.lower() in (".pdf", *PICTURES) and p.is_file())
        if not inside:
            raise BadRequest(f"There are no PDFs and no images in the folder {path}.", "files")
        found += inside
    return found


@dataclass
class OutputTarget:
    """Where one document is written to."""

    path: Path
    format: Format

    @property
    def figures(self) -> Path:
        return self.path.with_name(f"{self.path.stem}_files")

    @property
    def journal(self) -> Path:
        return self.path.with_name(f".{self.path.name}.pages")


def output_targets(sources: Sequence[Path], out: Path, kind: Format) -> list[OutputTarget]:
    """One source is written to `out` itself, unless that is a folder; several go into it, each under its own name."""
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
    """One reader, and how what it reads is written."""

    recognizer: Recognizer | None
    layout: LayoutDetector | None = None
    wishes: ReadOptions = field(default_factory=ReadOptions)
    style: ExportOptions = field(default_factory=ExportOptions)
    password: Password = lambda name, wrong: None

    def __post_init__(self) -> None:
        self._reader = DocumentReader(self.recognizer, self.layout, self.wishes)
        self._passwords: dict[str, str] = {}

    def events(self, sources: Sequence[Source]) -> Iterator[ReadingEvent]:
        """Read, and write nothing."""
        return self._reader.read(sources, password=self._ask)

    def documents(self, sources: Sequence[Source]) -> list[Document]:
        """Read to the end. What could not be opened has its error."""
        return [event.result for event in self.events(sources) if isinstance(event, DocumentRead)]

    def save(self, sources: Sequence[Path], where: Sequence[OutputTarget]) -> Iterator[ReadingEvent]:
        """Read, and write each document to its target as its pages come."""
        books = [_Book(self, source, target) for source, target in zip(sources, where)]
        stream = self._reader.read(
            sources,
            password=self._ask,
            known=lambda document, page: books[document].journal.page(page),
            keep=lambda document, page, order, kind, image: books[document].keep(page, order, kind, image),
        )
        with closing(stream):  # type: ignore[type-var]
            for event in stream:
                if isinstance(event, PageRead):
                    books[event.document].add(event.page)
                elif isinstance(event, DocumentRead) and event.result.error is None:
                    books[event.document].end(event.result)
                yield event

    def image_of(self, source: Source, page: Page) -> Image:
        """The pixels that a page's boxes mean."""
        with closing(open_document(source, password=self.password_of(source), dots=self.wishes.dots)) as document:
            return rotated_page(document.page(page.number).image, page.turned)

    def identity(self) -> str:
        """What else the result depends on, besides the source."""
        model = self.recognizer.name if self.recognizer is not None else ""
        layout = self._reader.layout.name
        wishes = self.wishes
        return f"{model}|{layout}|{wishes.task}|{wishes.text_layer}|{wishes.dots}"

    def password_of(self, source: Source) -> str | None:
        return self._passwords.get(str(source))

    def _ask(self, name: str, wrong: bool) -> str | None:
        answer = self.password(name, wrong)
        if answer is not None:
            self._passwords[name] = answer
        return answer


class _Book:
    """One document on its way to disk."""

    def __init__(
        self, session: ReadingSession, source: Path, target: OutputTarget, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._session, self._source, self._target, self._clock = session, source, target, clock
        self.journal = Journal(target.journal, fingerprint(source, session.identity()))
        self._pages: list[Page] = []
        self._next = 0.0  # when the output may be rewritten

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

    def keep(self, page: int, order: int, kind: str, image: Image) -> str | None:
        if self._target.format not in KEEPS_FIGURES:
            return None
        import io

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
_VERSION = 1  # of the form of the pages


def fingerprint(source: Path, settings: str) -> str:
    """Changes with the file's content and with the settings."""
    digest = hashlib.sha256(f"{_VERSION}|{settings}|".encode())
    try:
        with source.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError:
        return ""  # opening it will say what is wrong
    return digest.hexdigest()


class Journal:
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
    """None for what somebody else has damaged: that page is read again."""
    try:
        return page_from_json(json.loads(file.read_bytes()))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _bytes(shown: object) -> bytes:
    return json.dumps(shown, ensure_ascii=False).encode()


def write_atomically(path: Path, data: bytes) -> None:
    """Write beside it, then take its place: whoever looks sees the old file or the new one."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise BadRequest(f"{path} cannot be written: {error.strerror or error}.", "out") from error
