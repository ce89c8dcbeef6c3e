"""Export and import of all conversations, or of everything, as one archive (`store/archive.py`)."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.gui.store import archive
from app.gui.store.worker import AppStore
from app.gui.texts import tr, trn
from app.window_engine import JobRunner
from engine.errors import BadRequest

if TYPE_CHECKING:
    from app.gui.preferences import Preferences


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
            told = tr("Saved as {file}.", file=file)
            left_out = tr("It does not contain server keys, the Hugging Face token or models.")
            self._say(f"{told} {left_out}" if everything else told, level="ok")

        self._store.ask(lambda db: archive.collect(db, self._data, everything, settings), pack)

    def take(self, file: Path) -> None:
        """Add what the archive holds."""

        def opened() -> archive.Archive:
            found = archive.read(file)
            archive.unpack(file, found, self._data)
            return found

        def add(found: archive.Archive) -> None:
            adding = self._store.ask(lambda db: archive.add(db, found, self._data), lambda count: done(found, count))
            adding.add_done_callback(refused)

        def refused(adding: Future[int]) -> None:
            problem = None if adding.cancelled() else adding.exception()
            if isinstance(problem, BadRequest):  # the store has told of others
                self._work.post(lambda: self._show_error(str(problem)))

        def done(found: archive.Archive, conversations: int) -> None:
            for key, value in found.settings.items():
                before = self._preferences.get(key)
                both = isinstance(before, dict) and isinstance(value, dict)
                self._preferences.put(key, {**before, **value} if both else value)
            self._imported()
            self._say(trn("{n} conversation imported.", "{n} conversations imported.", conversations), level="ok")

        self._work.run(opened, add, self._show_error)

    def _show_error(self, sentence: str) -> None:
        self._say(sentence, level="error")
