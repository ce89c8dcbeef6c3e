"""Projects: folders of conversations with instructions, files, libraries, a model and tools, which hold for all conversations in them.

Every function is a question for the store: it takes the connection first.
"""

from __future__ import annotations

import json
import sqlite3
import time
from dataclasses import dataclass
from typing import Any

from app.gui.store.database import next_id
from app.gui.store.messages import Attachment

_TEXTS = ("name", "system", "model")
_LISTS = ("libraries", "tools")


@dataclass(frozen=True)
class Project:
    id: int
    name: str
    system: str = ""  # instructions, before the system prompt of a conversation
    model: str = ""  # of conversations that begin here; empty: the one chosen last
    files: tuple[Attachment, ...] = ()  # every conversation is given them
    libraries: tuple[str, ...] = ()  # folders whose documents are asked
    tools: tuple[str, ...] = ()  # servers and built-in tools that the model may call

    @property
    def empty(self) -> bool:
        """A folder alone."""
        return not (self.system.strip() or self.model or self.files or self.libraries or self.tools)


def listed(db: sqlite3.Connection) -> list[Project]:
    rows = db.execute("SELECT * FROM folders WHERE deleted IS NULL ORDER BY place, name COLLATE NOCASE, id")
    return [_project(row) for row in rows]


def project(db: sqlite3.Connection, id: int | None) -> Project | None:
    row = db.execute("SELECT * FROM folders WHERE id = ? AND deleted IS NULL", (id,)).fetchone()
    return None if row is None else _project(row)


def _project(row: sqlite3.Row) -> Project:
    files = tuple(Attachment(**file) for file in json.loads(row["attachments"]))
    lists = {name: tuple(json.loads(row[name])) for name in _LISTS}
    return Project(row["id"], row["name"], row["system"], row["model"], files, **lists)


def create(db: sqlite3.Connection, name: str) -> int:
    id = next_id(db, "folders")
    db.execute("INSERT INTO folders(id, name) VALUES (?, ?)", (id, name))
    return id


def configure(db: sqlite3.Connection, id: int, **values: Any) -> None:
    """Set `name`, `system`, `model`, `files`, `libraries` or `tools`."""
    for key, value in values.items():
        if key == "files":
            stored: Any = json.dumps([vars(file) for file in value], ensure_ascii=False)
            db.execute("UPDATE folders SET attachments = ? WHERE id = ?", (stored, id))
        elif key in (*_TEXTS, *_LISTS):
            stored = json.dumps(list(value)) if key in _LISTS else value
            db.execute(f"UPDATE folders SET {key} = ? WHERE id = ?", (stored, id))
        else:
            raise ValueError(f"a project has no {key}")


def delete(db: sqlite3.Connection, id: int) -> None:
    """Out of sight; `restore` brings it back until it is purged (`database.py`). Its conversations stay."""
    db.execute("UPDATE folders SET deleted = ? WHERE id = ?", (time.time(), id))


def restore(db: sqlite3.Connection, id: int) -> bool:
    """False when it is gone for good."""
    return db.execute("UPDATE folders SET deleted = NULL WHERE id = ?", (id,)).rowcount > 0
