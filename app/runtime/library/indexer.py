"""Brings a library up to date with its folder: new, changed, moved and deleted files, then vectors.

Each file is one transaction, and a scanned page that was read is kept at once, so that work that was stopped or killed continues where it
was. A file is known by its content: one that was moved is not read again.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.runtime.library.pages import ENDINGS, read_document
from app.runtime.library.passages import passages_of, title_of
from app.runtime.library.store import IndexedFile, LibraryStore
from engine.errors import BadRequest, ErrorText, GrusError
from engine.pipelines.reading.layout import LayoutDetector
from engine.pipelines.reading.recognizer import Recognizer

TOGETHER = 32  # passages that become vectors at once
_WORST = 4 << 30  # bytes of a file; a larger one is no document


@dataclass(frozen=True)
class IndexProgress:
    """`name`: the file that was done last. `error`: why that one could not be read."""

    done: int
    total: int
    name: str = ""
    error: str = ""
    vectors_left: int = 0
    seconds_left: float | None = None


@dataclass(frozen=True)
class IndexReport:
    """What changed."""

    added: int = 0
    changed: int = 0
    moved: int = 0
    removed: int = 0
    failed: int = 0
    unread: int = 0  # pages that no model was there to read
    vectors: int = 0


class IndexingCancelled(Exception):
    """Somebody stopped the work; what was done is kept."""


class IndexControl:
    """Pauses, continues and cancels, from any thread."""

    def __init__(self) -> None:
        self._running = threading.Event()
        self._running.set()
        self._cancelled = False

    @property
    def paused(self) -> bool:
        return not self._running.is_set()

    def pause(self) -> None:
        self._running.clear()

    def resume(self) -> None:
        self._running.set()

    def cancel(self) -> None:
        self._cancelled = True
        self._running.set()

    def check(self) -> None:
        """Waits while paused. Raises IndexingCancelled."""
        self._running.wait()
        if self._cancelled:
            raise IndexingCancelled


@dataclass(frozen=True)
class IndexTools:
    """The models that a library is made with, each None where there is none: they are asked for when they are first needed."""

    recognizer: Callable[[], Recognizer | None] = lambda: None
    layout: Callable[[], LayoutDetector | None] = lambda: None
    embed: Callable[[list[str]], np.ndarray] | None = None
    embedder: str = ""  # the name of the model behind `embed`


class Indexer:
    """Updates one library."""

    def __init__(self, folder: Path, store: LibraryStore, tools: IndexTools | None = None) -> None:
        self._folder, self._store, self._tools = folder, store, tools or IndexTools()
        self.report = IndexReport()

    def run(self, control: IndexControl | None = None) -> Iterator[IndexProgress]:
        """The progress, file by file; `report` has the sum at the end. Raises IndexingCancelled."""
        control = control or IndexControl()
        if not self._folder.is_dir():  # a disk that was taken out is no deletion of all its documents
            raise BadRequest(ErrorText("There is no folder {path}.", path=self._folder), "folder")
        began = time.monotonic()
        there = dict(_files(self._folder))
        known = {file.path: file for file in self._store.files()}
        fresh = [
            path for path, (nbytes, changed) in there.items() if not self._is_current(known.get(path), nbytes, changed)
        ]
        gone = {file.path: file for path, file in known.items() if path not in there}
        for at, path in enumerate(fresh, 1):
            control.check()
            error = self._take(path, known.get(path), gone, control)
            took = time.monotonic() - began
            yield IndexProgress(at, len(fresh), path, error, seconds_left=took / at * (len(fresh) - at))
        for file in gone.values():
            control.check()
            self._store.remove(file.id)
            self.report = replace(self.report, removed=self.report.removed + 1)
        report = self.report
        if report.added or report.changed or report.removed:
            self._store.find_frequent()
        yield from self._embed(control, len(fresh))

    def _is_current(self, known: IndexedFile | None, nbytes: int, changed: int) -> bool:
        if known is None or (known.nbytes, known.changed) != (nbytes, changed):
            return False
        return not known.unread or self._tools.recognizer() is None

    def _take(self, path: str, known: IndexedFile | None, gone: dict[str, IndexedFile], control: IndexControl) -> str:
        """One file that is new, changed or moved. Returns why it could not be read."""
        place = self._folder / path
        try:
            stat = place.stat()
            digest = _digest(place)
        except OSError as error:  # it was deleted meanwhile, or may not be read
            self.report = replace(self.report, failed=self.report.failed + 1)
            return error.strerror or str(error)
        if known is not None and known.digest == digest and not known.unread:
            self._store.move(known.id, path, stat.st_size, stat.st_mtime_ns)
            return known.error
        moved = next((file for file in gone.values() if file.digest == digest and not file.unread), None)
        if known is None and moved is not None:
            del gone[moved.path]
            self._store.move(moved.id, path, stat.st_size, stat.st_mtime_ns)
            self.report = replace(self.report, moved=self.report.moved + 1)
            return moved.error
        why, pages, unread = "", [], 0
        try:
            read = read_document(
                place,
                self._tools.recognizer,
                self._tools.layout,
                self._store.read_pages(digest),
                lambda number, text: self._store.keep_page(digest, number, text),
                control.check,
            )
            pages, unread = read.pages, read.unread
        except GrusError as problem:
            why = problem.text
        passages = list(passages_of(pages))
        file = IndexedFile(
            0, path, stat.st_size, stat.st_mtime_ns, digest, title_of(pages), len(pages) + unread, why, unread
        )
        self._store.keep(file, passages)
        report = self.report
        self.report = replace(
            report,
            added=report.added + (known is None),
            changed=report.changed + (known is not None),
            failed=report.failed + bool(why),
            unread=report.unread + unread,
        )
        return why

    def _embed(self, control: IndexControl, files: int) -> Iterator[IndexProgress]:
        embed, model = self._tools.embed, self._tools.embedder
        if embed is None:
            return
        if self._store.value("model") != model:
            self._store.forget_vectors(model)
        left = self._store.counts()[2] - self._store.vector_count()
        last = 0
        while batch := self._store.without_vectors(TOGETHER, last):
            control.check()
            ids, texts = zip(*batch)
            self._store.keep_vectors(ids, embed(list(texts)))
            left, last = left - len(ids), ids[-1]
            self.report = replace(self.report, vectors=self.report.vectors + len(ids))
            yield IndexProgress(files, files, vectors_left=max(0, left))


def _files(folder: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    """Documents below a folder by their path in it, with size and date. Hidden ones and links are left out."""
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(root, name)
            if name.startswith((".", "~$")) or path.suffix.lower() not in ENDINGS or path.is_symlink():
                continue
            try:
                stat: Any = path.stat()
            except OSError:
                continue
            if stat.st_size <= _WORST:
                yield path.relative_to(folder).as_posix(), (stat.st_size, stat.st_mtime_ns)


def _digest(path: Path) -> bytes:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()
