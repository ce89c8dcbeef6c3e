"""Removing an item from a list of results: gone at once, with an Undo; its row and files are deleted for good later."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from app.gui.store import kept
from app.gui.store.files import OWN_FOLDERS
from app.gui.store.worker import Store
from app.gui.texts import tr


class Row(Protocol):
    """An item of a list. `id` is 0 until it is stored."""

    id: int
    title: str


def delete_row(store: Store, item: Row) -> None:
    if item.id:
        store.delete(lambda db: kept.delete_result(db, item.id))


def removed(store: Store, item: Row, file: Path, say: Callable[..., Any], put_back: Callable[[], Any]) -> None:
    """Delete the row, and say so. `file`: what the item is of, Grus's own copy or a file of the person's. `put_back` shows
    the item again."""
    delete_row(store, item)

    def restored(there: bool) -> None:
        if there:
            put_back()

    def undo() -> None:
        if item.id:
            store.ask(lambda db: kept.delete_result(db, item.id, False), restored)
        else:
            put_back()

    own = any(file.parent == store.folder / folder for folder in OWN_FOLDERS)
    if own:
        told = tr("“{title}” was deleted.", title=item.title)
    else:
        told = tr("“{title}” was removed from the list. The file is where it was.", title=item.title)
    say(told, undo=(tr("Undo"), undo))
