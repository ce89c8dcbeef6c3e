"""The store for a command: open while the command works. What could not be saved by then is lost, and is an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.gui.preferences import AppFolders, default_folders, places_under
from app.gui.store.worker import AppStore
from engine.errors import GrusError


class Unsaved(GrusError):
    """The file could not be written until the command ended. A window would keep the change in memory, and try again."""

    code = "conversations_unsaved"


@contextmanager
def opened_store(folder: Path | None) -> Iterator[tuple[AppStore, AppFolders]]:
    """The store of `--folder`, or of this person."""
    places = (places_under(folder.expanduser()) if folder else default_folders()).make()
    store = AppStore(places.database, waits=False)
    try:
        yield store, places
    finally:
        store.close()
    if store.saving.kept:
        raise Unsaved(f"Not saved: {store.saving.reason}. Fix that, then run the command again.")
