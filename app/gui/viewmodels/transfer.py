"""Export and import of all conversations, or of everything, as one archive (`store/archive.py`); import from other applications."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.gui.store import archive, conversations
from app.gui.store.worker import AppStore
from app.gui.texts import tr, trn
from app.gui.viewmodels.importing import ImportOutcome, import_export
from app.window_engine import JobRunner
from engine.errors import BadRequest

if TYPE_CHECKING:
    from app.gui.preferences import Preferences

_EVERY = 0.5  # seconds between two sentences about the progress
_NAMED = 5  # so many malformed conversations are named


class Transfer:
    """`imported()` after rows were added: panes reload what they show."""

    def __init__(
        self,
        store: AppStore,
        work: JobRunner,
        preferences: Preferences,
        data: Path,
        say: Callable[..., Any],
        imported: Callable[[], Any],
    ) -> None:
        self._store, self._work, self._preferences, self._data = store, work, preferences, data
        self._say, self._imported = say, imported

    def export(self, target: Path, everything: bool) -> None:
        settings = self._preferences.all()

        def pack(found: archive.Archive) -> None:
            self._work.run(lambda: archive.write(found, self._data, target), saved, self._show_error)

        def saved(file: Path) -> None:
            sentence = tr("Saved as {file}.", file=file)
            left_out = tr("It does not contain server keys, the Hugging Face token or models.")
            self._say(f"{sentence} {left_out}" if everything else sentence, level="ok")

        self._store.ask(lambda db: archive.collect(db, self._data, everything, settings), pack)

    def take(self, file: Path) -> None:
        """Add what an archive of Grus, or the export of another application, holds."""

        def look(is_archive: bool) -> None:
            if is_archive:
                self._take_archive(file)
            else:
                self.take_export(file)

        self._work.run(lambda: archive.is_archive(file), look, self._show_error)

    def take_export(self, file: Path) -> None:
        """Add the conversations of another application; Undo deletes them again."""
        reported = time.monotonic()

        def progress(done: int, total: int) -> None:
            nonlocal reported
            if time.monotonic() - reported > _EVERY:
                reported = time.monotonic()
                self._work.post(
                    lambda: self._say(tr("Importing: {done} of {total} conversations.", done=done, total=total))
                )

        def done(outcome: ImportOutcome) -> None:
            self._imported()
            sentence = trn("{n} conversation imported.", "{n} conversations imported.", len(outcome.added))
            if outcome.there:
                sentence += " " + trn("{n} was there already.", "{n} were there already.", outcome.there)
            if outcome.unreadable:
                names = ", ".join(outcome.unreadable[:_NAMED]) + ("…" if len(outcome.unreadable) > _NAMED else "")
                sentence += " " + tr("Left out, because they are malformed: {names}.", names=names)
            undo = (tr("Undo"), lambda: self._take_back(outcome.added)) if outcome.added else None
            self._say(sentence, level="warning" if outcome.unreadable else "ok", undo=undo)

        data = self._data / "attachments"
        self._work.run(lambda: import_export(file, self._store, data, progress), done, self._show_error)

    def _take_back(self, added: Sequence[int]) -> None:
        def delete(db: Any) -> None:
            for id in added:
                conversations.delete(db, id)

        self._store.delete(delete, lambda _: self._imported())

    def _take_archive(self, file: Path) -> None:
        def opened() -> archive.Archive:
            found = archive.read(file)
            archive.unpack(file, found, self._data)
            return found

        def add(found: archive.Archive) -> None:
            adding = self._store.ask(lambda db: archive.add(db, found, self._data), lambda count: done(found, count))
            adding.add_done_callback(refused)

        def refused(adding: Future[int]) -> None:
            problem = None if adding.cancelled() else adding.exception()
            if isinstance(problem, BadRequest):  # the store has reported others
                self._work.post(lambda: self._show_error(str(problem)))

        def done(found: archive.Archive, count: int) -> None:
            for key, value in found.settings.items():
                before = self._preferences.get(key)
                both = isinstance(before, dict) and isinstance(value, dict)
                self._preferences.put(key, {**before, **value} if both else value)
            self._imported()
            self._say(trn("{n} conversation imported.", "{n} conversations imported.", count), level="ok")

        self._work.run(opened, add, self._show_error)

    def _show_error(self, sentence: str) -> None:
        self._say(sentence, level="error")
