"""What is being typed, and the files that wait beside it. Kept for every conversation, at every change."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from app.gui.store import kept
from app.gui.store.files import release
from app.gui.store.messages import Attachment
from app.gui.store.worker import Store
from app.gui.viewmodels.chat.attaching import attach, attach_bytes
from app.gui.viewmodels.hook import Hook
from app.window_engine import Runs

Hear = Callable[[Path, Callable[[str], Any], Callable[[str], Any]], Any]


class DraftModel:
    """`loaded`: another draft is here, text and all. `files_changed`: files came or went. `failed(sentence)`."""

    def __init__(self, store: Store, work: Runs, folder: Path, hear: Hear | None = None) -> None:
        """`hear` writes sound down, so that a model that reads can be told of it."""
        self._store, self._work, self._folder, self._hear = store, work, folder, hear
        self.loaded, self.files_changed, self.failed = Hook(), Hook(), Hook()
        self.place = "new"
        self.text = ""
        self.files: list[Attachment] = []
        self.reading = 0  # files that are being read
        self._guard = threading.Lock()
        self._changes: dict[str, tuple[str, tuple[Attachment, ...]]] = {}  # by place, not yet with the store

    def open(self, conversation: int | None) -> None:
        """The draft of a conversation, or that of the one that is not begun yet."""
        place = "new" if conversation is None else str(conversation)
        if place == self.place and (self.text or self.files):
            return
        self.place = place

        def got(draft: kept.Draft) -> None:
            if place == self.place:
                self.text, self.files = draft.text, list(draft.attachments)
                self.loaded()
                self.files_changed()

        self._store.ask(lambda db: kept.draft(db, place), got)

    def follow(self, conversation: int) -> None:
        """The conversation that was not begun yet has begun: what was typed since belongs to it."""
        if self.place == "new":
            self._write("new", "", ())
            self.place = str(conversation)
            self._keep()

    def type(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self._keep()

    def add(self, files: Sequence[Path]) -> None:
        for file in files:
            self._read(partial(attach, file, self._folder))

    def add_bytes(self, name: str, data: bytes) -> None:
        self._read(lambda: attach_bytes(name, data, self._folder))

    def remove(self, file: Attachment) -> None:
        self.files.remove(file)
        self.files_changed()
        self._keep()
        self._store.drop_files(file.path)

    def clear(self) -> None:
        """It was sent, and is out of the store with that."""
        self.text, self.files = "", []
        self.loaded()
        self.files_changed()

    def forget(self) -> None:
        """Everything was deleted: nothing is written that was typed before."""
        with self._guard:
            self._changes.clear()
        self.place = "new"
        self.clear()

    def _read(self, read: Callable[[], Attachment]) -> None:
        self.reading += 1
        self.files_changed()

        def taken(file: Attachment) -> None:
            self.reading -= 1
            self.files.append(file)
            self.files_changed()
            self._keep(lambda: release(file.path))

        def done(file: Attachment) -> None:
            if file.kind == "sound" and self._hear is not None:
                self._hear(
                    Path(file.path), lambda words: taken(replace(file, text=words)), lambda why: refused(file, why)
                )
            else:
                taken(file)

        def refused(file: Attachment, sentence: str) -> None:
            release(file.path)
            self._store.drop_files(file.path)
            failed(sentence)

        def failed(sentence: str) -> None:
            self.reading -= 1
            self.files_changed()
            self.failed(sentence)

        self._work.run(read, done, failed)

    def _keep(self, then: Callable[[], Any] | None = None) -> None:
        self._write(self.place, self.text, tuple(self.files), then)

    def _write(
        self, place: str, text: str, files: tuple[Attachment, ...], then: Callable[[], Any] | None = None
    ) -> None:
        """One write a place at a time: a fast typist does not fill the store's queue."""
        with self._guard:
            waits = place in self._changes
            self._changes[place] = (text, files)

        def write(db: Any) -> None:
            with self._guard:
                change = self._changes.pop(place, None)
            if change is not None:
                kept.keep_draft(db, place, *change)

        if not waits or then is not None:
            self._store.ask(write, lambda _: then() if then is not None else None)
