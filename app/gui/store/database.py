"""The SQLite file: its tables (as migrations), facts about it, and opening it with WAL and an integrity check.

A damaged file is set aside under a new name, never overwritten. Damaged is what SQLite calls malformed or no database. A full
disk, an I/O error, a lock or missing permissions say nothing about the file: it stays where it is, and the error is raised.
Functions that take the connection first are questions for the store (`worker.py`).
"""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.gui.store.files import private_file

_VACUUM, _CREATED = "vacuum", "created"


def next_id(db: sqlite3.Connection, table: str) -> int:
    """An id that no row of this table ever had. SQLite gives the id of a deleted row again, and code that still holds
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


class NewerDatabase(Exception):
    """The file was written by a newer Grus."""


def migrate(db: sqlite3.Connection) -> None:
    """Bring the file to the newest version, each step whole or not at all."""
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > len(MIGRATIONS):
        raise NewerDatabase(
            f"This file was written by a newer Grus (version {version}, this one knows {len(MIGRATIONS)})."
        )
    for number in range(version, len(MIGRATIONS)):
        db.executescript(f"BEGIN; {MIGRATIONS[number]} PRAGMA user_version = {number + 1}; COMMIT;")
    if version == 0:
        want_vacuum(db, False)
        put_created(db, time.time())


log = logging.getLogger("grus.store")
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_NO_CHANGE = ("SELECT", "PRAGMA", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "VACUUM", "EXPLAIN")


class Connection(sqlite3.Connection):
    """Records the statements of the open transaction, so that they can be run again when its commit has failed."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.log: list[tuple[str, Any]] = []
        self.logged = 0  # characters and bytes in it

    def execute(self, sql: str, parameters: Any = (), /) -> sqlite3.Cursor:
        cursor = super().execute(sql, parameters)
        if self.in_transaction and not sql.lstrip().upper().startswith(_NO_CHANGE):
            self.log.append((sql, parameters))
            self.logged += _length(sql, parameters)
        return cursor

    def replay(self) -> None:
        """Run again what was recorded."""
        for sql, parameters in self.log:
            try:
                super().execute(sql, parameters)
            except sqlite3.IntegrityError as error:  # it depends on what another program has deleted meanwhile
                log.warning("a change cannot be made again: %s", error)

    def cut_log(self, length: int = 0) -> None:
        """Forget what was recorded behind this place."""
        for sql, parameters in self.log[length:]:
            self.logged -= _length(sql, parameters)
        del self.log[length:]

    def checkpoint(self) -> None:
        """Into the file with the WAL, which is empty then. Not while another program reads the file, or the disk is full."""
        try:
            super().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        except sqlite3.Error as error:
            log.info("the WAL stays: %s", error)


def _length(sql: str, parameters: Iterable[Any]) -> int:
    return len(sql) + sum(len(value) if isinstance(value, str | bytes) else 8 for value in parameters)


@dataclass
class OpenedDatabase:
    db: Connection
    set_aside: Path | None = None  # where the damaged file went
    why: str = ""


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says that the file is no database, or malformed."""
    return isinstance(error, sqlite3.Error) and primary_code(error) in _DAMAGED


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's error without its details; 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def open_database(file: Path) -> OpenedDatabase:
    """The file at this path, or a fresh one beside what was damaged. Raises sqlite3.Error, OSError and Newer."""
    private_file(file)
    try:
        return OpenedDatabase(_open(file))
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        aside = _set_aside(file)
        private_file(file)
        return OpenedDatabase(_open(file), aside, str(error))


def _open(file: Path) -> Connection:
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=2, factory=Connection)
    try:
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        db.execute("PRAGMA cache_spill = OFF")  # on a full disk, an open transaction lives in memory
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("PRAGMA journal_mode = WAL").fetchall()
        db.execute("PRAGMA synchronous = NORMAL")  # with WAL: safe against a killed process, and quick
        found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise _malformed(str(found))
        migrate(db)
        db.execute("PRAGMA foreign_keys = ON")
    except BaseException:
        db.close()
        raise
    return db


def _malformed(found: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(found)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error


def _set_aside(file: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = file.with_name(f"{file.stem}.damaged-{stamp}{file.suffix}")
    number = 1
    while aside.exists():
        number += 1
        aside = file.with_name(f"{file.stem}.damaged-{stamp}-{number}{file.suffix}")
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.replace(file.with_name(file.name + ending), aside.with_name(aside.name + ending))
    return aside


def unlink_database(file: Path) -> None:
    for ending in ("-wal", "-shm", "-journal", ""):
        file.with_name(file.name + ending).unlink(missing_ok=True)
