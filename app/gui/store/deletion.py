"""Deleting for good: rows that were marked as deleted go after the undo time, and with them the files that were theirs.

Every function is a question for the store: it takes the connection first. None touches the disk's files: see `files.py`.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator

from app.gui.store.database import want_vacuum

UNDO_SECONDS = 15.0  # a deleted item can be brought back for so long: the sentence with its Undo stays for 10


def purge(db: sqlite3.Connection, before: float) -> list[str] | None:
    """Delete the rows that were marked before this time. Returns the files that no other row refers to; None: there
    was nothing to delete."""
    conversations = _ids(db, "conversations", before)
    files = [*_files_of_messages(db, before), *_files_of_results(db, before)]
    for id in conversations:
        files += _attached(db.execute("SELECT attachments FROM drafts WHERE place = ?", (str(id),)))
        db.execute("DELETE FROM drafts WHERE place = ?", (str(id),))
    gone = len(conversations)
    gone += db.execute("DELETE FROM conversations WHERE deleted < ?", (before,)).rowcount
    for table in ("messages", "results"):
        gone += db.execute(f"DELETE FROM {table} WHERE deleted < ?", (before,)).rowcount
    if not gone:
        return None
    want_vacuum(db)
    return unused(db, files)


def next_due(db: sqlite3.Connection) -> float | None:
    """When the next row was marked that waits for its purge."""
    parts = [f"SELECT min(deleted) AS at FROM {table}" for table in ("conversations", "messages", "results")]
    found: float | None = db.execute(f"SELECT min(at) FROM ({' UNION ALL '.join(parts)})").fetchone()[0]
    return found


def unused(db: sqlite3.Connection, files: list[str]) -> list[str]:
    """Those of the files that no row refers to any more. A row that can still be brought back counts."""
    if not files:
        return []
    used = set(referenced(db))
    return [file for file in dict.fromkeys(files) if file not in used]


def referenced(db: sqlite3.Connection) -> Iterator[str]:
    """Every file that a message, a draft or a result refers to."""
    yield from _attached(db.execute("SELECT attachments FROM messages WHERE attachments != '[]'"))
    yield from _attached(db.execute("SELECT attachments FROM drafts WHERE attachments != '[]'"))
    for row in db.execute("SELECT source, file FROM results"):
        yield from filter(None, row)


def _ids(db: sqlite3.Connection, table: str, before: float) -> list[int]:
    return [row[0] for row in db.execute(f"SELECT id FROM {table} WHERE deleted < ?", (before,))]


def _files_of_messages(db: sqlite3.Connection, before: float) -> Iterator[str]:
    return _attached(
        db.execute(
            "SELECT attachments FROM messages WHERE attachments != '[]' AND (deleted < ?"
            " OR conversation IN (SELECT id FROM conversations WHERE deleted < ?))",
            (before, before),
        )
    )


def _files_of_results(db: sqlite3.Connection, before: float) -> Iterator[str]:
    for row in db.execute("SELECT source, file FROM results WHERE deleted < ?", (before,)):
        yield from filter(None, row)


def _attached(rows: sqlite3.Cursor) -> Iterator[str]:
    for (attachments,) in rows:
        for attachment in json.loads(attachments):
            yield str(attachment["path"])
