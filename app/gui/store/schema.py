"""The tables, as a list of migrations. A migration that was released is never changed: a new one follows it."""

from __future__ import annotations

import sqlite3
import time

from app.gui.store.upkeep import put_created, want_vacuum

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE folders (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        place REAL NOT NULL DEFAULT 0
    );
    CREATE TABLE conversations (
        id INTEGER PRIMARY KEY,
        title TEXT NOT NULL DEFAULT '',
        named INTEGER NOT NULL DEFAULT 0,
        folder INTEGER REFERENCES folders(id) ON DELETE SET NULL,
        pinned INTEGER NOT NULL DEFAULT 0,
        deleted REAL,
        leaf INTEGER,
        model TEXT NOT NULL DEFAULT '',
        system TEXT NOT NULL DEFAULT '',
        sampling TEXT NOT NULL DEFAULT '{}',
        created REAL NOT NULL,
        changed REAL NOT NULL
    );
    CREATE TABLE messages (
        id INTEGER PRIMARY KEY,
        conversation INTEGER NOT NULL REFERENCES conversations(id) ON DELETE CASCADE,
        parent INTEGER REFERENCES messages(id) ON DELETE CASCADE,
        role TEXT NOT NULL,
        text TEXT NOT NULL DEFAULT '',
        reasoning TEXT NOT NULL DEFAULT '',
        calls TEXT NOT NULL DEFAULT '[]',
        attachments TEXT NOT NULL DEFAULT '[]',
        figures TEXT NOT NULL DEFAULT '{}',
        model TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT 'done',
        error TEXT NOT NULL DEFAULT '',
        created REAL NOT NULL
    );
    CREATE INDEX messages_of_conversation ON messages(conversation);
    CREATE INDEX messages_of_parent ON messages(parent);
    CREATE TABLE drafts (
        place TEXT PRIMARY KEY,
        text TEXT NOT NULL,
        attachments TEXT NOT NULL DEFAULT '[]',
        changed REAL NOT NULL
    );
    CREATE TABLE presets (
        name TEXT PRIMARY KEY,
        sampling TEXT NOT NULL,
        system TEXT
    );
    CREATE TABLE results (
        id INTEGER PRIMARY KEY,
        kind TEXT NOT NULL,
        title TEXT NOT NULL,
        source TEXT NOT NULL DEFAULT '',
        body TEXT NOT NULL,
        file TEXT NOT NULL DEFAULT '',
        state TEXT NOT NULL DEFAULT 'done',
        deleted REAL,
        created REAL NOT NULL,
        changed REAL NOT NULL
    );
    CREATE INDEX results_of_kind ON results(kind, created);
    CREATE TABLE voices (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        body TEXT NOT NULL,
        sample TEXT NOT NULL DEFAULT '',
        deleted REAL,
        created REAL NOT NULL
    );
    """,
    # a message can be brought back like a conversation; what was deleted by an older Grus is still in unused pages
    """
    ALTER TABLE messages ADD COLUMN deleted REAL;
    CREATE TABLE facts (name TEXT PRIMARY KEY, value REAL NOT NULL);
    INSERT INTO facts VALUES ('vacuum', 1);
    """,
)


class Newer(Exception):
    """The file was written by a newer Grus."""


def migrate(db: sqlite3.Connection) -> None:
    """Bring the file to the newest version, each step whole or not at all."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise Newer(f"This file was written by a newer Grus (version {version}, this one knows {len(MIGRATIONS)}).")
    for number in range(version, len(MIGRATIONS)):
        db.executescript(f"BEGIN; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")
    if version == 0:
        want_vacuum(db, False)
        put_created(db, time.time())
