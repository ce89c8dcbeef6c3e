"""Conversations: list, search, rename, pin, move to a project, duplicate, delete and take back.

Every function is a question for the store: it takes the connection first.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.gui.store import projects
from app.gui.store.database import next_id
from app.gui.store.projects import Project


@dataclass(frozen=True)
class ConversationSummary:
    """One line of the list."""

    id: int
    title: str
    project: int | None
    pinned: bool
    changed: float
    found: str = ""  # a piece of the text that matched a search
    message: int | None = None  # where it was found


@dataclass(frozen=True)
class ConversationHead:
    """All of a conversation but its messages."""

    id: int
    title: str
    named: bool  # by the person; else the title follows the first message
    leaf: int | None  # the last message of the branch that is shown
    model: str
    system: str
    sampling: Mapping[str, Any]
    libraries: tuple[str, ...] = ()  # folders whose documents are asked
    tools: tuple[str, ...] = ()  # servers and built-in tools that the model may call
    project: Project | None = None


def create(
    db: sqlite3.Connection,
    model: str = "",
    system: str = "",
    sampling: Mapping[str, Any] | None = None,
    folder: int | None = None,
    title: str = "",
    libraries: Sequence[str] = (),
    tools: Sequence[str] = (),
) -> int:
    now = time.time()
    id = next_id(db, "conversations")
    db.execute(
        "INSERT INTO conversations(id, title, named, folder, model, system, sampling, libraries, tools, created, changed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            id,
            title,
            bool(title),
            folder,
            model,
            system,
            json.dumps(dict(sampling or {})),
            json.dumps(list(libraries)),
            json.dumps(list(tools)),
            now,
            now,
        ),
    )
    return id


def head(db: sqlite3.Connection, id: int) -> ConversationHead | None:
    row = db.execute("SELECT * FROM conversations WHERE id = ? AND deleted IS NULL", (id,)).fetchone()
    if row is None:
        return None
    return ConversationHead(
        row["id"],
        row["title"],
        bool(row["named"]),
        row["leaf"],
        row["model"],
        row["system"],
        json.loads(row["sampling"]),
        tuple(json.loads(row["libraries"])),
        tuple(json.loads(row["tools"])),
        projects.project(db, row["folder"]),
    )


def listed(db: sqlite3.Connection) -> list[ConversationSummary]:
    """All that are not deleted: pinned first, then the newest."""
    rows = db.execute("SELECT * FROM conversations WHERE deleted IS NULL ORDER BY pinned DESC, changed DESC, id DESC")
    return [_summary(row) for row in rows]


def search(db: sqlite3.Connection, words: str) -> list[ConversationSummary]:
    """Those whose title or messages hold every word, with a piece of text around the first one found."""
    wanted = words.split()
    if not wanted:
        return listed(db)
    matching = [row for row in listed(db) if all(_holds(db, row, word) for word in wanted)]
    return [_with_excerpt(db, row, wanted[0]) for row in matching]


def _holds(db: sqlite3.Connection, summary: ConversationSummary, word: str) -> bool:
    return word.casefold() in summary.title.casefold() or _message_with(db, summary.id, word) is not None


def _message_with(db: sqlite3.Connection, conversation: int, word: str) -> tuple[int, str] | None:
    """The first message with a word: its id and its text."""
    # LIKE folds the case of ASCII only; what it cannot see is found by the second look
    pattern = "%" + word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    row = db.execute(
        "SELECT id, text FROM messages WHERE conversation = ? AND deleted IS NULL AND text LIKE ? ESCAPE '\\' ORDER BY id LIMIT 1",
        (conversation, pattern),
    ).fetchone()
    if row is not None:
        return row["id"], str(row["text"])
    if word.isascii():
        return None
    texts = db.execute(
        "SELECT id, text FROM messages WHERE conversation = ? AND deleted IS NULL ORDER BY id", (conversation,)
    )
    return next(((r["id"], str(r["text"])) for r in texts if word.casefold() in r["text"].casefold()), None)


def _with_excerpt(db: sqlite3.Connection, summary: ConversationSummary, word: str) -> ConversationSummary:
    found = _message_with(db, summary.id, word)
    if found is None:
        return summary
    message, text = found
    at = max(0, text.casefold().find(word.casefold()))
    start = max(0, at - 24)
    excerpt = " ".join(text[start : at + 80].split())
    return ConversationSummary(
        summary.id,
        summary.title,
        summary.project,
        summary.pinned,
        summary.changed,
        ("…" if start else "") + excerpt,
        message,
    )


def _summary(row: sqlite3.Row) -> ConversationSummary:
    return ConversationSummary(row["id"], row["title"], row["folder"], bool(row["pinned"]), row["changed"])


def touch(db: sqlite3.Connection, id: int) -> None:
    db.execute("UPDATE conversations SET changed = ? WHERE id = ?", (time.time(), id))


def rename(db: sqlite3.Connection, id: int, title: str, by_person: bool = True) -> None:
    db.execute("UPDATE conversations SET title = ?, named = ? WHERE id = ?", (title, by_person, id))


def pin(db: sqlite3.Connection, id: int, pinned: bool) -> None:
    db.execute("UPDATE conversations SET pinned = ? WHERE id = ?", (pinned, id))


def move(db: sqlite3.Connection, id: int, folder: int | None) -> None:
    db.execute("UPDATE conversations SET folder = ? WHERE id = ?", (folder, id))


def configure(db: sqlite3.Connection, id: int, **values: Any) -> None:
    """Set `model`, `system`, `sampling`, `libraries` or `tools` of one conversation."""
    for key, value in values.items():
        if key not in ("model", "system", "sampling", "libraries", "tools"):
            raise ValueError(f"a conversation has no {key}")
        stored = json.dumps(value) if key in ("sampling", "libraries", "tools") else value
        db.execute(f"UPDATE conversations SET {key} = ? WHERE id = ?", (stored, id))


def delete(db: sqlite3.Connection, id: int) -> None:
    """Out of sight; `restore` brings it back until it is purged (`database.py`)."""
    db.execute("UPDATE conversations SET deleted = ? WHERE id = ?", (time.time(), id))


def restore(db: sqlite3.Connection, id: int) -> bool:
    """False when it is gone for good."""
    return db.execute("UPDATE conversations SET deleted = NULL WHERE id = ?", (id,)).rowcount > 0


def duplicate(db: sqlite3.Connection, id: int, title: str) -> int:
    """A copy with every branch."""
    now = time.time()
    copy = next_id(db, "conversations")
    db.execute(
        "INSERT INTO conversations(id, title, named, folder, model, system, sampling, libraries, tools, created, changed)"
        " SELECT ?, ?, 1, folder, model, system, sampling, libraries, tools, ?, ? FROM conversations WHERE id = ?",
        (copy, title, now, now, id),
    )
    new_ids: dict[int, int] = {}
    every = "SELECT * FROM messages WHERE conversation = ? AND deleted IS NULL ORDER BY id"
    for message in db.execute(every, (id,)).fetchall():
        values = {key: message[key] for key in message.keys()}  # noqa: SIM118 (a Row iterates values)
        values["id"] = new_ids[message["id"]] = next_id(db, "messages")
        values["conversation"] = copy
        values["parent"] = new_ids.get(message["parent"])
        names = ", ".join(values)
        marks = ", ".join("?" * len(values))
        db.execute(f"INSERT INTO messages({names}) VALUES ({marks})", tuple(values.values()))
    leaf = db.execute("SELECT leaf FROM conversations WHERE id = ?", (id,)).fetchone()["leaf"]
    db.execute("UPDATE conversations SET leaf = ? WHERE id = ?", (new_ids.get(leaf), copy))
    return copy
