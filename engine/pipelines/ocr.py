"""From files to what is written in them. The door to `engine/pipelines/reading/`: sources in, events or files out.

`Session` reads documents and keeps what was read on disk as it comes: the output file is rewritten whole, never half, and a
journal holds every finished page, so that a run that was killed goes on where it stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import BadRequest
from engine.media.pages import Source, open_document
from engine.pipelines.reading.events import DocumentRead, Event, PageRead
from engine.pipelines.reading.journal import Journal, fingerprint
from engine.pipelines.reading.layout import Layout
from engine.pipelines.reading.reader import Password, Reader, Wishes
from engine.pipelines.reading.recognizer import Recognizer
from engine.pipelines.reading.result import Document, Page
from engine.pipelines.reading.saving import replace_file, turned_image
from engine.pipelines.reading.writers.formats import KEEPS_FIGURES, Format, Style, written

if TYPE_CHECKING:
    from PIL.Image import Image

PICTURES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".heic", ".heif")
_QUICK = 0.2  # seconds: what takes no longer is rewritten after every page ...
_SHARE = 0.05  # ... else it may take this part of the time; the journal has what the output does not have yet


def files_of(paths: Sequence[str | Path]) -> list[Path]:
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
class Target:
    """Where one document is written to."""

    path: Path
    format: Format

    @property
    def figures(self) -> Path:
        return self.path.with_name(f"{self.path.stem}_files")

    @property
    def journal(self) -> Path:
        return self.path.with_name(f".{self.path.name}.pages")


def targets(sources: Sequence[Path], out: Path, kind: Format) -> list[Target]:
    """One source is written to `out` itself, unless that is a folder; several go into it, each under its own name."""
    if len(sources) == 1 and not out.is_dir():
        return [Target(out, kind)]
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
        found.append(Target(out / f"{name}.{kind}", kind))
    return found


@dataclass
class Session:
    """One reader, and how what it reads is written."""

    recognizer: Recognizer | None
    layout: Layout | None = None
    wishes: Wishes = field(default_factory=Wishes)
    style: Style = field(default_factory=Style)
    password: Password = lambda name, wrong: None

    def __post_init__(self) -> None:
        self._reader = Reader(self.recognizer, self.layout, self.wishes)
        self._passwords: dict[str, str] = {}

    def events(self, sources: Sequence[Source]) -> Iterator[Event]:
        """Read, and write nothing."""
        return self._reader.read(sources, password=self._ask)

    def documents(self, sources: Sequence[Source]) -> list[Document]:
        """Read to the end. What could not be opened has its error."""
        return [event.result for event in self.events(sources) if isinstance(event, DocumentRead)]

    def save(self, sources: Sequence[Path], where: Sequence[Target]) -> Iterator[Event]:
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
            return turned_image(document.page(page.number).image, page.turned)

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
        self, session: Session, source: Path, target: Target, clock: Callable[[], float] = time.monotonic
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
        replace_file(file, out.getvalue())
        return f"{folder.name}/{file.name}"

    def _write(self, document: Document) -> None:
        session, target = self._session, self._target
        contents = written(document, target.format, session.style, lambda page: session.image_of(self._source, page))
        target.path.parent.mkdir(parents=True, exist_ok=True)
        for number, data in enumerate(contents, 1):
            name = target.path.name if number == 1 else f"{target.path.stem}-{number}{target.path.suffix}"
            replace_file(target.path.with_name(name), data)
