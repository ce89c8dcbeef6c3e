"""`grus read FILE...`: pages into text, tables and searchable PDFs; progress on stderr. `--watch` reads what appears in a folder."""

from __future__ import annotations

import argparse
import getpass
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.commands.options import add_profile, add_where, check_profile, where_options

if TYPE_CHECKING:
    from app.runtime.reading import NoReadingModels, ReadingModels
    from engine.pipelines.reading.looks import Advise
    from engine.pipelines.reading.reader import ReadingEvent, ReadOptions
    from engine.pipelines.reading.session import OutputTarget, ReadingSession
    from engine.pipelines.reading.writers import ExportOptions, Format

DESCRIPTION = """\
Reads documents: PDFs, photographs, scans, folders of them. Pages are split into regions, the regions of many pages are
recognized together, and the result is put together in reading order. Word, PowerPoint, Excel, OpenDocument, RTF, HTML, EPUB,
FictionBook, e-mail, Markdown, CSV and text files carry their text, which is taken as it is.

  grus read letter.jpg
  grus read minutes.docx
  grus read report.pdf --pages 1-3,5 -o report.md
  grus read scans/ --format pdf -o searchable/
  grus read invoice.png --task table --format csv --model PaddlePaddle/PaddleOCR-VL
  grus read --watch inbox/ --format docx                           (inbox/scan.pdf -> inbox/scan.pdf.docx)

Without -o the text goes to standard output, page by page. With -o it is saved as it comes; a run that was stopped
resumes when it is started again. What could not be read is reported on standard error, and the rest is read."""

TASKS = ("auto", "text", "markdown", "table", "formula", "chart", "seal", "spotting")
FORMATS = ("md", "txt", "json", "csv", "xlsx", "html", "docx", "pdf")


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "read",
        help="read documents: text, tables, searchable PDFs",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("files", nargs="+", metavar="FILE", help="a document, an image, or a folder of them")
    command.add_argument(
        "--watch",
        action="store_true",
        help="read what appears in the folder FILE until Ctrl-C, each result beside its file or in the folder of -o",
    )
    what = command.add_argument_group("what is read")
    what.add_argument(
        "--task",
        choices=TASKS,
        default="auto",
        help="auto: each region as what it is, or the whole page where the model was trained so; text: everything as text; "
        "markdown: the whole page at once; the others take the whole page for one table, "
        "formula, chart or seal, or look for text with places (default: auto)",
    )
    what.add_argument("--pages", metavar="RANGE", help="such as 1-3,5 or 7- (default: all)")
    what.add_argument("--text-layer", action="store_true", help="take the text that a PDF carries, where it does")
    what.add_argument(
        "--password", metavar="TEXT", help="of protected PDFs; asked for on a terminal when it is missing"
    )
    what.add_argument(
        "--rotate",
        choices=("auto", "0", "90", "180", "270"),
        default="auto",
        help="degrees clockwise that pages are turned before they are read (default: auto, found out page by page)",
    )
    what.add_argument("--dpi", type=int, default=200, metavar="N", help="what PDF pages are drawn at (default: 200)")
    how = command.add_argument_group("what comes out")
    how.add_argument("-o", "--out", type=Path, metavar="OUT", help="a file, or a folder for several documents")
    how.add_argument("--format", choices=FORMATS, help="default: by the ending of OUT, else md")
    how.add_argument(
        "--margins", action="store_true", help="headers, footers and page numbers too (JSON always has them)"
    )
    how.add_argument(
        "--rejoin", action="store_true", help="paragraphs as one line; words cut at a line's end joined again"
    )
    how.add_argument("--quiet", action="store_true", help="no progress")
    models = command.add_argument_group("what reads")
    models.add_argument("--model", metavar="M", help="a vision model (default: the small reader that Grus brings)")
    models.add_argument("--layout", metavar="M", help="a layout model (default: a built-in splitter without a model)")
    add_profile(command)
    add_where(command)
    command.set_defaults(command=read)


def read(options: argparse.Namespace) -> int:
    from app.runtime.reading import needs_model
    from engine.errors import BadRequest
    from engine.pipelines.reading.reader import ReadOptions
    from engine.pipelines.reading.session import ReadingSession, expand_folders, output_targets
    from engine.pipelines.reading.writers import BINARY, ExportOptions

    if not 36 <= options.dpi <= 1200:
        raise BadRequest(f"--dpi must be between 36 and 1200, not {options.dpi}.", "dpi")
    rotate = None if options.rotate == "auto" else int(options.rotate)
    reading = ReadOptions(options.task, options.pages, options.text_layer, rotate, options.dpi)
    reading.check()
    style = ExportOptions(options.margins, options.rejoin)
    check_profile(options.profile)
    if options.watch:
        return _watch(options, reading, style)
    kind = _format(options)
    if kind in BINARY and options.out is None:
        raise BadRequest(f"{kind.upper()} is not for a terminal. Say where it goes with -o.", "out")
    files = expand_folders(options.files)
    where = output_targets(files, options.out, kind) if options.out is not None else None
    with _models(options, bool(options.model or options.layout or needs_model(files))) as models:
        password, advise = _Password(options.password), _advice(options, models)
        session = ReadingSession(models.recognizer, models.layout, reading, style, password, advise)
        teller = _Teller(len(files), options.quiet)
        _read(session, files, where, kind, teller)
    return teller.end()


def _models(options: argparse.Namespace, needed: bool) -> ReadingModels | NoReadingModels:
    from app.runtime.reading import NoReadingModels, ReadingModels

    if not needed:
        return NoReadingModels()
    where = where_options(options, options.model or "the reader")
    # text layers alone need no model; pages without one then say what is missing. In a watched folder so does each file
    required = not options.text_layer and not options.watch
    return ReadingModels(options.model, options.layout, where, required=required, profile=options.profile)


def _advice(options: argparse.Namespace, models: ReadingModels | NoReadingModels) -> Advise | None:
    """Of what the Reader is read with; who has chosen a model has chosen it."""
    if options.model or options.quiet or models.recognizer is None:
        return None
    from app.runtime.reading_advice import ReadingAdvice
    from engine.machine import look

    return ReadingAdvice(look(where_options(options, "the reader")))


def _read(
    session: ReadingSession, files: Sequence[Path], where: Sequence[OutputTarget] | None, kind: Format, teller: _Teller
) -> str | None:
    """Why the last document could not be opened."""
    from engine.pipelines.reading.reader import DocumentRead

    events = session.events(files) if where is None else session.save(files, where)
    printer = _Printer(session, kind, len(files)) if where is None else None
    error = None
    for event in events:
        teller.show(event)
        if printer is not None:
            printer.show(event)
        if (line := _written(event, kind, where)) is not None:
            teller.say(line)
        if isinstance(event, DocumentRead):
            error = event.result.error
    return error


def _watch(options: argparse.Namespace, reading: ReadOptions, style: ExportOptions) -> int:
    from app.runtime.reading import needs_model
    from engine.errors import BadRequest, GrusError
    from engine.pipelines.reading.session import ReadingSession
    from engine.pipelines.reading.watching import POLL, WatchedFolder, result_settings
    from engine.pipelines.reading.writers import format_of

    folder = Path(options.files[0])
    if len(options.files) != 1:
        raise BadRequest("--watch takes one folder.", "files")
    if not folder.is_dir():
        raise BadRequest(f"--watch takes one folder: there is none at {folder}.", "files")
    if options.out is not None and options.out.exists() and not options.out.is_dir():
        raise BadRequest(f"{options.out} is a file; the results of a watched folder go into a folder.", "out")
    kind = format_of(options.format or "md")
    settings = result_settings(options.model, options.layout, reading, style)
    watched = WatchedFolder(folder, options.out or folder, kind, settings)
    teller = _Teller(0, options.quiet)
    sessions: dict[bool, ReadingSession] = {}  # by whether pictures are read: models are loaded once they are needed
    with ExitStack() as stack:

        def session(needed: bool) -> ReadingSession:
            if needed not in sessions:
                models = _models(options, needed)
                stack.callback(models.close)
                password = _Password(options.password, asks=False)
                advise = _advice(options, models)
                sessions[needed] = ReadingSession(models.recognizer, models.layout, reading, style, password, advise)
            return sessions[needed]

        stack.enter_context(watched.held())
        chosen = bool(options.model or options.layout)
        try:
            if chosen:
                session(True)
            teller.say(f"Watching {folder}. Ctrl-C ends it.")
            while True:
                for file in watched.ready():
                    reader = session(chosen or needs_model([file.path]))
                    try:
                        error = _read(reader, [file.path], [watched.target(file)], kind, teller)
                    except GrusError as problem:  # of writing the result
                        teller.fail(f"{file.path}: {problem}")
                        watched.finish(file, str(problem), written=False)
                    else:
                        watched.finish(file, error)
                time.sleep(POLL)
        except KeyboardInterrupt:
            print(file=sys.stderr)
    return teller.end()


def _format(options: argparse.Namespace) -> Format:
    from engine.pipelines.reading.writers import format_of

    if options.format is not None:
        return format_of(options.format)
    if options.out is not None and options.out.suffix and not options.out.is_dir() and len(options.files) == 1:
        return format_of(options.out.suffix)
    return "md"


def _written(event: ReadingEvent, kind: Format, where: Any) -> str | None:
    """What became of a document. `where` None: it went to standard output."""
    from engine.pipelines.reading.reader import DocumentRead

    if not isinstance(event, DocumentRead) or event.result.error is not None:
        return None
    name, path = event.result.name, None if where is None else where[event.document].path
    if kind == "csv" and not event.result.tables:
        return f"{name}: no table was found." if path is None else f"{name}: no table was found, so there is no {path}."
    return None if path is None else f"{name} -> {path}"


class _Password:
    """What was given, else what is typed. Asked again after a wrong one."""

    def __init__(self, given: str | None, asks: bool = True) -> None:
        self._given, self._asks = given, asks

    def __call__(self, name: str, wrong: bool) -> str | None:
        if self._given is not None:
            return self._given  # a wrong one is not tried twice
        if not self._asks or not sys.stdin.isatty():
            return None
        asked = "The password is wrong. Password" if wrong else "Password"
        return getpass.getpass(f"{asked} of {name} (empty: skip it): ") or None


class _Printer:
    """To standard output: pages as they come where the format allows, else whole documents."""

    def __init__(self, session: ReadingSession, kind: Format, documents: int) -> None:
        self._session, self._kind, self._several = session, kind, documents > 1
        self._began = False  # this document has a page on the screen

    def show(self, event: ReadingEvent) -> None:
        from engine.pipelines.reading.reader import DocumentOpened, DocumentRead, PageRead
        from engine.pipelines.reading.writers import BY_PAGE, document_json, page_text, write_document

        if isinstance(event, DocumentOpened):
            self._began = False
        if isinstance(event, PageRead) and self._kind in BY_PAGE:
            text = page_text((event.page,), self._kind, self._session.style)
            if text:
                print(("\n" if self._began else "") + text, end="", flush=True)
                self._began = True
        elif isinstance(event, DocumentRead) and event.result.error is None and self._kind not in BY_PAGE:
            if self._kind == "json":
                # several documents are one object a line, so that a program can tell them apart
                print(document_json(event.result, None if self._several else 1), end="", flush=True)
                return
            contents = write_document(event.result, self._kind, self._session.style, lambda page: None)  # type: ignore[arg-type, return-value]
            print("\n".join(data.decode().replace("\r\n", "\n") for data in contents), end="", flush=True)


class _Teller:
    """Progress, and what went wrong, on standard error."""

    def __init__(self, documents: int, quiet: bool) -> None:
        self._documents = documents
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._names: dict[int, str] = {}
        self._failed = self._doubtful = self._pages = 0

    def show(self, event: ReadingEvent) -> None:
        from engine.pipelines.reading.reader import DocumentOpened, DocumentRead, PageRead

        if isinstance(event, DocumentOpened):
            self._names[event.document] = event.name
        elif isinstance(event, PageRead):
            self._page(event)
        elif isinstance(event, DocumentRead) and event.result.error is not None:
            self.fail(f"{event.result.name}: {event.result.error}")

    def fail(self, text: str) -> None:
        self._failed += 1
        self.say(text, always=True)

    def _page(self, event: Any) -> None:
        from engine.hub.download import clock

        page, progress, name = event.page, event.progress, self._names[event.document]
        self._pages += 1
        if page.error is not None:
            self._failed += 1
            self.say(f"{name}, page {page.number}: {page.error}", always=True)
        for note in page.notes:
            self.say(f"{name}, page {page.number}: {note}")
        doubtful = [element for element in page.elements if element.doubt is not None]
        self._doubtful += len(doubtful)
        for element in doubtful:
            self.say(f"{name}, page {page.number}, region {element.order + 1}: doubtful. {element.doubt}", always=True)
        left = f", {clock(progress.seconds_left)} left" if progress.seconds_left and not progress.documents_left else ""
        more = f", {progress.documents_left} documents to open" if progress.documents_left else ""
        self._progress(f"{progress.pages_done} of {progress.pages_known} pages{left}{more}")

    def _progress(self, text: str) -> None:
        if self._quiet:
            return
        if self._live:
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()
        else:
            print(text, file=sys.stderr)

    def say(self, text: str, *, always: bool = False) -> None:
        if always or not self._quiet:
            print(f"\r\x1b[K{text}" if self._live else text, file=sys.stderr)

    def end(self) -> int:
        """The exit code: 2 where something that was given could not be read."""
        if self._live and self._pages and not self._quiet:
            print(file=sys.stderr)
        if self._failed and max(self._documents, self._pages) > 1:  # else the one sentence says it
            what = "1 item" if self._failed == 1 else f"{self._failed} items"
            print(f"grus: {what} could not be read; the rest is done.", file=sys.stderr)
        return 2 if self._failed else 0
