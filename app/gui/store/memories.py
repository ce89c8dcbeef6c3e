"""Facts that a person lets Grus keep for all conversations, each with the conversation that it came from.

Every function is a question for the store: it takes the connection first.
"""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass

from app.gui.store.database import next_id, want_vacuum


@dataclass(frozen=True)
class KeptFact:
    """`conversation` is None where a person typed the fact, or that conversation is gone."""

    id: int
    text: str
    conversation: int | None = None
    title: str = ""  # of the conversation
    created: float = 0.0


def listed(db: sqlite3.Connection) -> list[KeptFact]:
    """Newest first."""
    rows = db.execute(
        "SELECT m.id, m.text, c.id, ifnull(c.title, ''), m.created FROM memories m"
        " LEFT JOIN conversations c ON c.id = m.conversation AND c.deleted IS NULL"
        " WHERE m.deleted IS NULL ORDER BY m.created DESC, m.id DESC"
    )
    return [KeptFact(*row) for row in rows]


def add(db: sqlite3.Connection, text: str, conversation: int | None = None) -> int:
    """The id of the fact; of the one that is there where it is there already."""
    there = db.execute("SELECT id FROM memories WHERE text = ? AND deleted IS NULL", (text,)).fetchone()
    if there is not None:
        return int(there[0])
    id = next_id(db, "memories")
    db.execute(
        "INSERT INTO memories(id, text, conversation, created) VALUES (?, ?, ?, ?)",
        (id, text, conversation, time.time()),
    )
    return id


def change(db: sqlite3.Connection, id: int, text: str) -> None:
    if db.execute("UPDATE memories SET text = ? WHERE id = ? AND text != ?", (text, id, text)).rowcount:
        want_vacuum(db)  # what it said before is gone, too


def delete(db: sqlite3.Connection, id: int) -> bool:
    """Out of sight; `restore` brings it back until it is purged (`database.py`). False: there is no such fact."""
    marked = db.execute("UPDATE memories SET deleted = ? WHERE id = ? AND deleted IS NULL", (time.time(), id))
    return marked.rowcount > 0


def restore(db: sqlite3.Connection, id: int) -> bool:
    """False when it is gone for good."""
    return db.execute("UPDATE memories SET deleted = NULL WHERE id = ?", (id,)).rowcount > 0
