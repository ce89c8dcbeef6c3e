"""Forgetting everything, for good: no row stays, and no page of the file still holds what was in it."""

from __future__ import annotations

import sqlite3


def wipe(db: sqlite3.Connection) -> None:
    """A question for the store. What was deleted is overwritten, and the file shrinks."""
    db.execute("PRAGMA secure_delete = ON")
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").fetchall()
    for (name,) in tables:
        db.execute(f'DELETE FROM "{name}"')
    db.execute("COMMIT")  # the two that follow do not run inside a transaction
    db.execute("VACUUM")
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    db.execute("BEGIN IMMEDIATE")
