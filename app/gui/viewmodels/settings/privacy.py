"""What is stored, where, and how much of it; and how all of it is deleted."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.gui.texts import mark, tr
from app.gui.viewmodels.hook import Hook

if TYPE_CHECKING:
    from app.gui.places import Places
    from app.gui.preferences import Preferences
    from app.gui.store.worker import Store
    from app.window_engine import Runs


@dataclass(frozen=True)
class Stored:
    """One kind of things that are kept."""

    title: str  # English; shown through `tr`
    path: Path
    nbytes: int
    ours: bool = True  # whether Delete all deletes it


class Privacy:
    """`changed`: `stored` is known anew. `wiped()`: every pane forgets what it shows. `reread()`: it looks at what is left."""

    def __init__(
        self,
        places: Places,
        preferences: Preferences,
        store: Store,
        work: Runs,
        say: Callable[..., Any],
        wiped: Callable[[], Any],
        reread: Callable[[], Any],
    ) -> None:
        self._places, self._preferences, self._store, self._work = places, preferences, store, work
        self._say, self._wiped, self._reread = say, wiped, reread
        self.changed = Hook()
        self.stored: list[Stored] = []
        self.asking = False  # whether a person was asked if all shall be deleted

    def look(self) -> None:
        """Measure anew."""
        places, cache_dir = self._places, self._preferences.get("cache_dir")

        def got(stored: list[Stored]) -> None:
            self.stored = stored
            self.changed()

        self._work.run(lambda: measure(places, cache_dir), got, self._complain)

    def ask(self, asking: bool = True) -> None:
        """Deleting is two steps: ask, then do."""
        self.asking = asking
        self.changed()

    def delete_all(self) -> None:
        if not self.asking:
            return
        self.asking = False
        self._wiped()  # first, so that no pane shows or writes it any more

        def clear() -> None:
            database = self._places.database.name
            for entry in self._places.data.iterdir():
                if not entry.name.startswith(database):
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink(missing_ok=True)
            for entry in self._places.settings.glob("*.damaged-*"):
                entry.unlink(missing_ok=True)

        def done(_: None) -> None:
            self._preferences.forget()
            self._wiped()
            self._reread()
            self._say(tr("Everything is deleted. Models are still on this machine."), level="ok")
            self.look()

        def failed(sentence: str) -> None:
            self._reread()
            self._complain(sentence)
            self.look()

        self._store.wipe(lambda: self._work.run(clear, done, failed), failed)

    def _complain(self, sentence: str) -> None:
        self._say(sentence, level="error")


def measure(places: Places, cache_dir: str | None) -> list[Stored]:
    """Beside the UI thread: reads folders."""
    from engine.hub.cache import cache_folder

    database = [file for file in places.data.glob(f"{places.database.name}*") if file.is_file()]
    inside = {file.name for file in database}
    rest = [entry for entry in places.data.iterdir() if entry.name not in inside and entry != places.attachments]
    hub = cache_folder(cache_dir)
    return [
        Stored(mark("Conversations, results and voices"), places.database, sum(f.stat().st_size for f in database)),
        Stored(mark("Files dropped into messages"), places.attachments, _size(places.attachments)),
        Stored(mark("Everything else that panes keep"), places.data, sum(map(_size, rest))),
        Stored(mark("Settings"), places.preferences, _size(places.preferences)),
        Stored(mark("Models, shared with other programs"), hub, _size(hub), ours=False),
    ]


def _size(path: Path) -> int:
    if path.is_file() and not path.is_symlink():
        return path.stat().st_size
    if not path.is_dir():
        return 0
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file() and not file.is_symlink())
