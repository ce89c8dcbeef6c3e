"""Facts that the database keeps about itself: ids that were given out, when it began, and whether it needs a VACUUM.

Every function is a question for the store: it takes the connection first.
"""

from __future__ import annotations

import sqlite3

_VACUUM, _CREATED = "vacuum", "created"


def next_id(db: sqlite3.Connection, table: str) -> int:
    """An id that no row of this table ever had. SQLite gives the id of a deleted row again, and whoever still holds
    the old one (a reply that is being written, an Undo) would change a stranger's row."""
    largest = db.execute(f"SELECT ifnull(max(id), 0) FROM {table}").fetchone()[0]
    id = max(largest, int(_fact(db, f"last.{table}"))) + 1
    _put(db, f"last.{table}", id)
    return id


def needs_vacuum(db: sqlite3.Connection) -> bool:
    return _fact(db, _VACUUM) > 0


def want_vacuum(db: sqlite3.Connection, wanted: bool = True) -> None:
    """Rows were deleted. `secure_delete` overwrites a row where it lies; copies of it that SQLite left in unused parts of
    other pages, when it moved rows between them, go with a VACUUM."""
    _put(db, _VACUUM, float(wanted))


def created(db: sqlite3.Connection) -> float:
    """When this file was begun; 0 for one that an older Grus began."""
    return _fact(db, _CREATED)


def put_created(db: sqlite3.Connection, when: float) -> None:
    _put(db, _CREATED, when)


def _fact(db: sqlite3.Connection, name: str) -> float:
    row = db.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
    return 0.0 if row is None else float(row[0])


def _put(db: sqlite3.Connection, name: str, value: float) -> None:
    db.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
