"""`grus index DIR`: reads a folder of documents and keeps it ready to be asked."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.commands.options import add_where, load_options, where_options

if TYPE_CHECKING:
    from app.runtime.library.folders import FolderLibrary
    from app.runtime.library.indexer import IndexTools

DESCRIPTION = """\
Reads a folder of documents, with all its folders, and indexes it on this machine. Run it again after files have come, changed,
moved or gone: only these are read. Work that was stopped continues where it was. Then ask: grus ask DIR "..."

  grus index ~/Papers
  grus index ~/Papers --embed BAAI/bge-m3      # finds by meaning too
  grus index ~/Papers --watch                  # and stays up to date until Ctrl-C

Full text needs no model. Scans and pictures are read by the small reader that Grus brings, or by --model."""

_CLEAR = "\r\x1b[K"
WATCHED = 5.0  # seconds between two looks at a folder


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "index",
        help="read a folder of documents, to ask it questions",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("folder", metavar="DIR", type=Path, help="a folder of documents")
    command.add_argument(
        "--library", metavar="FILE", type=Path, help="the index (default: among the application's data)"
    )
    command.add_argument("--embed", metavar="M", help="an embedding model: passages are found by their meaning too")
    command.add_argument(
        "--model", metavar="M", help="a vision model for scans (default: the small reader that Grus brings)"
    )
    command.add_argument("--no-ocr", action="store_true", help="leave scans and pictures out")
    command.add_argument("--watch", action="store_true", help="stay, and follow the folder's changes")
    command.add_argument("--quiet", action="store_true", help="no progress")
    add_where(command)
    command.set_defaults(command=index)


def index(options: argparse.Namespace) -> int:
    from app.runtime.library.folders import FolderLibrary

    with FolderLibrary(options.folder, options.library) as library, _tools(options, library) as tools:
        failed = _update(library, tools, options.quiet)
        files, pages, passages = library.store.counts()
        print(f"{files} documents, {pages} pages, {passages} passages. {_changes(library)}", file=sys.stderr)
        try:
            while options.watch:
                time.sleep(WATCHED)
                failed |= _update(library, tools, options.quiet)
        except KeyboardInterrupt:
            print(file=sys.stderr)
    return 2 if failed else 0


def _update(library: FolderLibrary, tools: IndexTools, quiet: bool) -> bool:
    """Whether a file could not be read."""
    live, failed, shown = sys.stderr.isatty() and not quiet, False, False
    for progress in library.update(tools):
        if progress.error:
            failed = True
            print(f"{_CLEAR if live else ''}{progress.name}: {progress.error}", file=sys.stderr)
        if live:
            left = f", {round(progress.seconds_left)} s left" if progress.seconds_left else ""
            doing = f"{progress.vectors_left} vectors left" if progress.vectors_left else f"{progress.name}{left}"
            sys.stderr.write(f"{_CLEAR}{progress.done} of {progress.total} files, {doing}")
            sys.stderr.flush()
            shown = True
    if shown:
        sys.stderr.write(_CLEAR)
    return failed


def _changes(library: FolderLibrary) -> str:
    report = library.report
    words = {"new": report.added, "changed": report.changed, "moved": report.moved, "removed": report.removed}
    summary = ", ".join(f"{count} {word}" for word, count in words.items() if count) or "Nothing changed"
    unread = sum(file.unread for file in library.store.files())
    more = f" {unread} pages without text were not read: they need the reader or --model." if unread else ""
    return f"{summary[:1].upper()}{summary[1:]}.{more}"


@contextmanager
def _tools(options: argparse.Namespace, library: FolderLibrary) -> Iterator[IndexTools]:
    """Models are loaded when a file first needs them, and let go at the end."""
    from app.runtime.library.indexer import IndexTools
    from app.runtime.reading import ReadingModels

    with ExitStack() as stack:
        opened: list[ReadingModels] = []

        def reading() -> ReadingModels:
            if not opened:
                label = options.model or "the reader"
                models = ReadingModels(options.model, None, where_options(options, label), required=False)
                opened.append(stack.enter_context(models))
            return opened[0]

        recognizer = (lambda: None) if options.no_ocr else (lambda: reading().recognizer)
        name = options.embed or library.store.value("model")
        embed = stack.enter_context(_embedding(name, options)) if name else None
        yield IndexTools(recognizer, embed=embed, embedder=name)


@contextmanager
def _embedding(name: str, options: argparse.Namespace) -> Iterator[Callable[[list[str]], Any]]:
    import grus

    with grus.EmbeddingModel(name, load_options(options)) as model:
        prompt = "document" if "document" in model.prompts else None
        yield lambda texts: model.embed(texts, prompt=prompt, truncate=True)
