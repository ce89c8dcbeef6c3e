"""Drafts, presets and results (pages read, speech made, transcripts).

Every function is a question for the store: it takes the connection first. `StoredResult.body` belongs to the pane and is stored
as JSON.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.gui.store.database import next_id
from app.gui.store.messages import Attachment

LIBRARY = "library"  # the kind of a result that is a folder of documents; conversations name them, too


@dataclass(frozen=True)
class Draft:
    text: str = ""
    attachments: tuple[Attachment, ...] = ()


def draft(db: sqlite3.Connection, place: str) -> Draft:
    row = db.execute("SELECT * FROM drafts WHERE place = ?", (place,)).fetchone()
    if row is None:
        return Draft()
    return Draft(row["text"], tuple(Attachment(**a) for a in json.loads(row["attachments"])))


def keep_draft(db: sqlite3.Connection, place: str, text: str, attachments: Sequence[Attachment] = ()) -> None:
    if not text and not attachments:
        db.execute("DELETE FROM drafts WHERE place = ?", (place,))
        return
    stored = json.dumps([vars(a) for a in attachments], ensure_ascii=False)
    db.execute("INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?)", (place, text, stored, time.time()))


@dataclass(frozen=True)
class Preset:
    name: str
    sampling: Mapping[str, Any]
    system: str | None = None  # None: leaves the system prompt alone


def presets(db: sqlite3.Connection) -> list[Preset]:
    rows = db.execute("SELECT * FROM presets ORDER BY name COLLATE NOCASE")
    return [Preset(row["name"], json.loads(row["sampling"]), row["system"]) for row in rows]


def keep_preset(db: sqlite3.Connection, preset: Preset) -> None:
    db.execute(
        "INSERT OR REPLACE INTO presets VALUES (?, ?, ?)",
        (preset.name, json.dumps(dict(preset.sampling)), preset.system),
    )


def drop_preset(db: sqlite3.Connection, name: str) -> None:
    db.execute("DELETE FROM presets WHERE name = ?", (name,))


@dataclass(frozen=True)
class StoredResult:
    """Something that was made: `kind` names the pane ("read", "speak", "listen")."""

    id: int
    kind: str
    title: str
    source: str = ""  # the file it was made from
    body: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""  # the file that was made
    state: str = "done"
    created: float = 0.0


def add_result(db: sqlite3.Connection, result: StoredResult) -> int:
    now = time.time()
    id = next_id(db, "results")
    db.execute(
        "INSERT INTO results(id, kind, title, source, body, file, state, created, changed)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (id, result.kind, result.title, result.source, _json(result.body), result.file, result.state, now, now),
    )
    return id


def update_result(db: sqlite3.Connection, result: StoredResult) -> None:
    db.execute(
        "UPDATE results SET title = ?, source = ?, body = ?, file = ?, state = ?, changed = ? WHERE id = ?",
        (result.title, result.source, _json(result.body), result.file, result.state, time.time(), result.id),
    )


def results(db: sqlite3.Connection, kind: str, limit: int = 500) -> list[StoredResult]:
    """Newest first."""
    rows = db.execute(
        "SELECT * FROM results WHERE kind = ? AND deleted IS NULL ORDER BY created DESC, id DESC LIMIT ?", (kind, limit)
    )
    return [
        StoredResult(
            r["id"], r["kind"], r["title"], r["source"], json.loads(r["body"]), r["file"], r["state"], r["created"]
        )
        for r in rows
    ]


def delete_result(db: sqlite3.Connection, id: int, deleted: bool = True) -> bool:
    """Out of sight, or (`deleted=False`) back again. False when it is gone for good."""
    return (
        db.execute("UPDATE results SET deleted = ? WHERE id = ?", (time.time() if deleted else None, id)).rowcount > 0
    )


def _json(value: Mapping[str, Any]) -> str:
    return json.dumps(dict(value), ensure_ascii=False)
