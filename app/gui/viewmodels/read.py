"""The Read pane's behaviour: a queue of documents, several read at once; everything is saved as it arrives."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.explain import explained
from app.gui.store.database import release
from app.gui.store.records import StoredResult
from app.gui.store.worker import AppStore
from app.gui.texts import in_language, mark, seconds, tr, trn
from app.gui.viewmodels.chat.draft import attach_bytes
from app.gui.viewmodels.results import ListedResult, Results
from app.gui.viewmodels.signal import Signal
from app.window_engine import JobRunner, StreamRunner
from engine.errors import BadRequest
from engine.media.documents import open_document
from engine.pipelines.reading.formats.detection import DOCUMENTS, TEXTS
from engine.pipelines.reading.results import MARGINAL, Box, Document, Element, Page, Table, page_from_json, page_to_json
from engine.pipelines.reading.session import PICTURES, output_targets, write_atomically
from engine.pipelines.reading.upright import rotated_page
from engine.pipelines.reading.writers import FORMATS, KEEPS_FIGURES, ExportOptions, Format, page_text, write_document

if TYPE_CHECKING:
    from PIL.Image import Image

    from engine.machine import Machine
    from engine.pipelines.reading.recognizer import Recognizer

_LIKE, _LEAST = 60, 12  # characters by which a passage is known, and of a region that is part of it
State = Literal["waiting", "reading", "done", "stopped", "failed", "locked"]
KIND = "read"
ENDINGS = (".pdf", *DOCUMENTS, *TEXTS, *PICTURES)

TASKS = (
    ("auto", mark("Everything")),
    ("text", mark("Text only")),
    ("markdown", mark("Whole page")),
    ("table", mark("One table")),
    ("formula", mark("One formula")),
    ("chart", mark("One chart")),
    ("seal", mark("One seal")),
    ("spotting", mark("Text with positions")),
)
KINDS: dict[str, str] = {
    "heading": mark("Heading"),
    "text": mark("Text"),
    "list": mark("List"),
    "code": mark("Code"),
    "table": mark("Table"),
    "formula": mark("Formula"),
    "chart": mark("Chart"),
    "seal": mark("Seal"),
    "figure": mark("Picture"),
    "caption": mark("Caption"),
    "footnote": mark("Footnote"),
    "aside": mark("Side note"),
    "header": mark("Header"),
    "footer": mark("Footer"),
    "page_number": mark("Page number"),
}


@dataclass(frozen=True)
class ReadSettings:
    """What is to be read, and with which model; an empty one is the first that there is."""

    task: str = "auto"
    pages: str = ""
    text_layer: bool = True
    model: str = ""


@dataclass
class PageInProgress:
    """A page that is being read: its regions, and the text of each so far."""

    boxes: dict[int, Box] = field(default_factory=dict)
    turned: float = 0.0
    texts: dict[int, str] = field(default_factory=dict)
    done: set[int] = field(default_factory=set)


@dataclass(eq=False)
class ReadDocument(ListedResult):
    source: Path
    title: str
    settings: ReadSettings = ReadSettings()
    id: int = 0  # in the store; 0: not yet there
    state: State = "waiting"
    numbers: tuple[int, ...] = ()  # of the pages that are wanted, once they are known
    read: dict[int, Page] = field(default_factory=dict)
    live: dict[int, PageInProgress] = field(default_factory=dict)
    left: float | None = None  # seconds, estimated
    error: str = ""
    password: str | None = None  # never stored
    shown: int = 0  # the page that is looked at; 0: the first
    rotations: dict[int, int] = field(default_factory=dict)  # degrees clockwise, of pages that were rotated by hand

    @property
    def pages(self) -> list[Page]:
        return [page for _, page in sorted(self.read.items())]

    @property
    def document(self) -> Document:
        return Document(str(self.source), tuple(self.pages))

    @property
    def page_number(self) -> int:
        """Of the page that is looked at."""
        numbers = self.numbers or tuple(sorted(self.read))
        return self.shown if self.shown in numbers else numbers[0] if numbers else 1

    @property
    def share(self) -> float | None:
        """Of the pages, how much is read; None: nothing is being read."""
        if self.state != "reading":
            return None
        return len(self.read) / len(self.numbers) if self.numbers else 0.0

    def status(self) -> str:
        """One line about it."""
        if self.state == "reading":
            if not self.numbers:
                return tr("Opening")
            sentence = tr("{done} of {total} pages", done=len(self.read), total=len(self.numbers))
            return sentence if self.left is None else f"{sentence} · " + tr("{time} left", time=seconds(self.left))
        if self.state == "done":
            failed = sum(page.error is not None for page in self.pages)
            sentence = trn("{n} page", "{n} pages", len(self.read))
            return sentence + " · " + trn("{n} not read", "{n} not read", failed) if failed else sentence
        words = {
            "waiting": tr("Waiting"),
            "stopped": tr("Stopped after {done} of {total} pages", done=len(self.read), total=len(self.numbers)),
            "locked": tr("Password-protected"),
        }
        return words.get(self.state, tr("Could not be read"))

    def tooltip(self) -> str:
        return f"{self.source}\n{self.error or self.status()}"


def region_with(page: Page, passage: str) -> int | None:
    """The first region of a page whose text is in a passage, or that holds the beginning of it."""
    wanted = " ".join(passage.split())
    for element in page.elements:
        text = " ".join(element.text.split())
        if element.kind not in MARGINAL and text and (_is_in(text, wanted) or wanted[:_LIKE] in text):
            return element.order
    return None


def _is_in(text: str, passage: str) -> bool:
    """A single word of a page may be in any passage."""
    return text in passage and (len(text) >= _LEAST or text == passage)


def edited(page: Page, order: int, text: str) -> Page:
    """The page with another text for one of its elements. What a person wrote is not doubtful."""

    def change(element: Element) -> Element:
        return replace(element, text=text, doubt=None, lines=()) if element.order == order else element

    return replace(page, elements=tuple(change(element) for element in page.elements))


def edited_cell(page: Page, order: int, row: int, column: int, text: str) -> Page:
    def change(element: Element) -> Element:
        if element.order != order or element.table is None:
            return element
        cells = tuple(
            replace(cell, text=text) if (cell.row, cell.column) == (row, column) else cell
            for cell in element.table.cells
        )
        table = Table(element.table.rows, element.table.columns, cells)
        return replace(element, table=table, text=table.plain(), doubt=None)

    return replace(page, elements=tuple(change(element) for element in page.elements))


def to_result(item: ReadDocument) -> StoredResult:
    body = {
        "wish": vars(item.settings),
        "numbers": list(item.numbers),
        "pages": [page_to_json(page) for page in item.pages],
        "error": item.error,
        "shown": item.shown,
        "rotations": [[number, degrees] for number, degrees in item.rotations.items()],
    }
    return StoredResult(item.id, KIND, item.title, str(item.source), body, state=item.state)


def from_result(result: StoredResult) -> ReadDocument:
    """A document that was being read when the process ended becomes stopped."""
    body: Mapping[str, Any] = result.body
    read = [page_from_json(page) for page in body.get("pages", ())]
    state: Any = "stopped" if result.state in ("reading", "waiting") else result.state
    return ReadDocument(
        Path(result.source),
        result.title,
        ReadSettings(**body.get("wish", {})),
        result.id,
        state,
        tuple(body.get("numbers", ())),
        {page.number: page for page in read},
        error=body.get("error", ""),
        shown=body.get("shown", 0),
        rotations=dict(body.get("rotations", ())),
    )


TOGETHER = 3  # documents that are read at once: their regions share the device


class ReadResults(Results[ReadDocument]):
    """`page_changed(item, number)`: a page changed. `text_changed(item, number, order)`: a region has more text."""

    kind = KIND

    def __init__(
        self, store: AppStore, streams: StreamRunner, work: JobRunner, say: Callable[..., Any], pictures: Path
    ) -> None:
        super().__init__(store, streams, say)
        self._work, self._pictures = work, pictures
        self.page_changed, self.text_changed = Signal(), Signal()
        self.settings = ReadSettings()  # for what comes next
        self.machine: Callable[[], Machine | None] = lambda: (
            None
        )  # where it is known, the Reader's pages say what suits them better

    def to_record(self, item: ReadDocument) -> StoredResult:
        return to_result(item)

    def from_record(self, record: StoredResult) -> ReadDocument:
        return from_result(record)

    def file_of(self, item: ReadDocument) -> Path:
        return item.source

    # -- the queue

    def add(self, files: Sequence[Path]) -> None:
        """Folders are replaced by the documents in them."""

        def found(documents: list[Path]) -> None:
            for number, file in enumerate(documents):
                self._enqueue(ReadDocument(file, file.name, self.settings), choose=number == 0)

        self._work.run(lambda: _documents(files), found, self._show_error)

    def open_at(self, file: Path, page: int) -> None:
        """A document at a page. One that was read before is not read again; of a long PDF that page alone is read."""
        known = next((item for item in self.items if item.source == file and page in (item.numbers or [page])), None)
        if known is None:
            pages = str(page) if file.suffix.lower() == ".pdf" else ""
            known = ReadDocument(file, file.name, replace(self.settings, task="auto", pages=pages), shown=page)
            self._enqueue(known)
            return
        known.shown = page
        self._keep(known)
        if known is self.current:
            self.shown()
        else:
            self.choose(known)

    def add_bytes(self, name: str, data: bytes) -> None:
        """A picture that was pasted or taken of the screen: a copy is kept."""

        def kept_as(attachment: Any) -> None:
            self._enqueue(
                ReadDocument(Path(attachment.path), name, self.settings), then=lambda: release(attachment.path)
            )

        self._work.run(lambda: attach_bytes(f"{name}.png", data, self._pictures), kept_as, self._show_error)

    def _enqueue(self, item: ReadDocument, choose: bool = True, then: Callable[[], Any] = lambda: None) -> None:
        def stored() -> None:
            then()
            self._begin_next()

        self._insert(item, stored, then)
        self.listed()
        if choose:
            self.choose(item)

    def cancel(self, item: ReadDocument) -> bool:
        """False when it neither ran nor waited."""
        if item.state not in ("reading", "waiting"):
            return False
        self._cancel_running(item)
        self._settle(item, "stopped")
        self._begin_next()
        return True

    def again(self, item: ReadDocument, settings: ReadSettings | None = None) -> None:
        """Read it from the beginning, optionally with other settings."""
        self.cancel(item)
        item.settings = settings or item.settings
        item.read, item.numbers = {}, ()
        self.go_on(item)

    def rotate(self, item: ReadDocument, by: int = 90) -> None:
        """Turn the page that is looked at clockwise, and read it anew."""
        page = item.read.get(item.page_number)
        if page is None:
            return
        self.cancel(item)
        shown = -90 * round(page.turned / 90)  # clockwise
        item.rotations[page.number] = (shown + by) % 360
        del item.read[page.number]
        self.go_on(item)

    def go_on(self, item: ReadDocument, password: str | None = None) -> None:
        """Read what is missing."""
        if item.state in ("reading", "waiting"):
            return
        for number in [number for number, page in item.read.items() if page.error is not None]:
            del item.read[number]
        item.password = password if password is not None else item.password
        item.error, item.left = "", None
        item.state = "waiting"
        self.changed(item)
        self.page_changed(item, item.page_number)
        self._begin_next()

    def turn(self, by: int) -> None:
        """To another page."""
        item = self.current
        if item is None or item.page_number not in item.numbers:
            return
        at = item.numbers.index(item.page_number) + by
        if 0 <= at < len(item.numbers):
            item.shown = item.numbers[at]
            self._keep(item)
            self.shown()

    # -- edits

    def edit(self, item: ReadDocument, number: int, order: int, text: str) -> None:
        page = item.read.get(number)
        if page is not None:
            item.read[number] = edited(page, order, text)
            self._keep(item)

    def edit_cell(self, item: ReadDocument, number: int, order: int, row: int, column: int, text: str) -> None:
        page = item.read.get(number)
        if page is not None:
            item.read[number] = edited_cell(page, order, row, column, text)
            self._keep(item)

    # -- reading

    def _begin_next(self) -> None:
        waiting = [item for item in reversed(self.items) if item.state == "waiting" and item.id]
        for item in waiting[: TOGETHER - len(self._running)]:
            self._begin(item)

    def _begin(self, item: ReadDocument) -> None:
        item.state = "reading"
        item.live = {}
        known = dict(item.read)

        def receive(events: list[Any]) -> None:
            for event in events:
                self._take(item, event)

        def ended(problem: str) -> None:
            if problem:
                item.error = problem
            if item.state == "reading":
                self._settle(item, "failed" if item.error else "done")
            self._begin_next()

        machine = self.machine()
        self._start(item, lambda core: _events(core, item, known, machine), receive, ended)
        self.changed(item)

    def _take(self, item: ReadDocument, event: Any) -> None:
        from engine.pipelines.reading.reader import (
            DocumentOpened,
            DocumentRead,
            ElementRead,
            PageRead,
            PageSplit,
            RegionText,
        )

        if isinstance(event, DocumentOpened):
            item.numbers = event.pages
            if item is self.current:
                self.shown()
        elif isinstance(event, PageSplit):
            item.live[event.page] = PageInProgress({region.order: region.box for region in event.regions}, event.turned)
            self.page_changed(item, event.page)
            return
        elif isinstance(event, RegionText):
            live = item.live.setdefault(event.page, PageInProgress())
            live.texts[event.order] = "" if event.text is None else live.texts.get(event.order, "") + event.text
            self.text_changed(item, event.page, event.order)
            return
        elif isinstance(event, ElementRead):
            element = event.element
            live = item.live.setdefault(event.page, PageInProgress())
            live.texts[element.order] = element.table.plain() if element.table is not None else element.text
            live.done.add(element.order)
            self.text_changed(item, event.page, element.order)
            return
        elif isinstance(event, PageRead):
            item.live.pop(event.page.number, None)
            item.read[event.page.number] = event.page
            item.left = event.progress.seconds_left
            self._keep(item)
            self.page_changed(item, event.page.number)
        elif isinstance(event, DocumentRead) and event.result.error is not None:
            item.error = in_language(event.result.error)
            if event.result.locked:
                self._settle(item, "locked")
        self.changed(item)

    def _settle(self, item: ReadDocument, state: Any) -> None:
        item.state, item.left, item.live = state, None, {}
        self._keep(item)
        self.changed(item)
        self.page_changed(item, item.page_number)
        if item is self.current:
            self.shown()


def _documents(files: Sequence[Path]) -> list[Path]:
    from engine.pipelines.reading.session import expand_folders

    return expand_folders(files)


def recognizer_for(core: Any, source: Path, settings: ReadSettings) -> Recognizer | None:
    """What reads the pages of a document that are looked at; None where it carries its text. Raises where a model is missing."""
    from app.runtime import pipelines
    from engine.pipelines.reading.formats.detection import carries_text

    if carries_text(source):
        return None
    try:
        return pipelines.recognizer(core, settings.model)
    except BadRequest:
        if not settings.text_layer or source.suffix.lower() != ".pdf":
            raise
        return None  # what text the PDF carries can be taken without a model


def _events(core: Any, item: ReadDocument, known: dict[int, Any], machine: Machine | None = None) -> Iterator[Any]:
    """JobRunner off the UI thread: the events of reading one document."""
    from app.runtime import pipelines
    from app.runtime.reading_advice import ReadingAdvice
    from engine.pipelines.reading.formats.detection import carries_text
    from engine.pipelines.reading.reader import DocumentReader, ReadOptions
    from engine.starter import READER

    settings, password = item.settings, item.password
    layers = settings.text_layer and item.source.suffix.lower() == ".pdf"
    has_text = carries_text(item.source)
    recognizer = recognizer_for(core, item.source, settings)
    task: Any = settings.task
    options = ReadOptions(task, settings.pages.strip() or None, layers, dict(item.rotations))
    by_default = machine is not None and recognizer is not None and recognizer.name == READER
    advise = ReadingAdvice(machine) if by_default and machine is not None else None
    reader = DocumentReader(recognizer, None if has_text else pipelines.layout(core), options, advise)
    yield from reader.read(
        [item.source],
        password=lambda name, wrong: None if wrong else password,
        known=lambda document, page: known.get(page),
    )


# -- pages as pixels, and documents exported to files in every format. Reads the disk; runs off the UI thread

_SMALL = 2400  # pixels on the longer side: more cannot be seen


@dataclass(frozen=True)
class Pixels:
    """A picture that crosses threads: rows of red, green and blue, and the size of the page that boxes mean."""

    width: int
    height: int
    data: bytes
    page: tuple[int, int]


def page_image(source: Path, number: int, turned: float = 0.0, password: str | None = None) -> Image:
    """At the size that boxes mean."""
    with closing(open_document(source, password=password)) as document:
        return rotated_page(document.page(number).image, turned)


def pixels(source: Path, number: int, turned: float, password: str | None, most: int = _SMALL) -> Pixels:
    image = page_image(source, number, turned, password)
    size = image.size
    if max(size) > most:
        image = image.copy()
        image.thumbnail((most, most))
    shown = image.convert("RGB")
    return Pixels(shown.width, shown.height, shown.tobytes(), size)


__all__ = ["FORMATS", "as_markdown", "export", "export_all"]
_PICTURES = frozenset({"figure", "chart", "seal"})


def as_markdown(pages: Sequence[Page]) -> str:
    return page_text(tuple(pages), "md", ExportOptions())


def export(item: ReadDocument, kind: Format, target: Path) -> Path:
    """Where it was written to. Several tables are several CSV files. Raises BadRequest where there is nothing to write."""
    document = _with_figures(item, target) if kind in KEEPS_FIGURES else item.document
    if not document.pages:
        raise BadRequest(tr("{title} has not been read yet.", title=item.title))
    contents = write_document(document, kind, ExportOptions(), lambda page: _image(item, page))
    if not contents or (kind == "xlsx" and not document.tables):
        raise BadRequest(tr("No table was found in {title}. Choose another format.", title=item.title))
    for number, data in enumerate(contents, 1):
        name = target.name if number == 1 else f"{target.stem}-{number}{target.suffix}"
        write_atomically(target.with_name(name), data)
    return target


def export_all(items: Sequence[ReadDocument], kind: Format, folder: Path) -> tuple[int, list[str]]:
    """How many were written, and a sentence for each that could not be."""
    folder.mkdir(parents=True, exist_ok=True)
    problems: list[str] = []
    for item, target in zip(items, output_targets([Path(item.title) for item in items], folder, kind)):
        try:
            export(item, kind, target.path)
        except (BadRequest, OSError) as error:
            problems.append(explained(error))
    return len(items) - len(problems), problems


def _image(item: ReadDocument, page: Page):  # type: ignore[no-untyped-def]
    return page_image(item.source, page.number, page.turned, item.password)


def _with_figures(item: ReadDocument, target: Path) -> Document:
    """Pictures on the pages are cut out and kept beside the file."""
    folder = target.with_name(f"{target.stem}_files")

    def kept(page: Page) -> Page:
        if not any(element.kind in _PICTURES for element in page.elements):
            return page
        image = _image(item, page)

        def keep(element: Element) -> Element:
            if element.kind not in _PICTURES:
                return element
            out = io.BytesIO()
            image.crop(element.box.within(*image.size).pixels()).save(out, "PNG")
            folder.mkdir(parents=True, exist_ok=True)
            file = folder / f"page-{page.number}-{element.kind}-{element.order + 1}.png"
            write_atomically(file, out.getvalue())
            return replace(element, figure=f"{folder.name}/{file.name}")

        return replace(page, elements=tuple(keep(element) for element in page.elements))

    return Document(str(item.source), tuple(kept(page) for page in item.pages))
