"""Opening the file: WAL, checks, migrations. A damaged file is set aside under a new name, never overwritten.

Damaged is what SQLite calls malformed or no database. A full disk, an I/O error, a lock or missing rights say nothing about
the file: it stays where it is, and the error is raised.
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
from app.gui.store.schema import migrate

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
class Opened:
    db: Connection
    set_aside: Path | None = None  # where the damaged file went
    why: str = ""


def is_damage(error: BaseException) -> bool:
    """Whether SQLite says that the file is no database, or malformed."""
    return isinstance(error, sqlite3.Error) and primary_code(error) in _DAMAGED


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's error without its details; 0 where there is none."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def open_database(file: Path) -> Opened:
    """The file at this path, or a fresh one beside what was damaged. Raises sqlite3.Error, OSError and Newer."""
    private_file(file)
    try:
        return Opened(_open(file))
    except sqlite3.Error as error:
        if not is_damage(error):
            raise
        aside = _set_aside(file)
        private_file(file)
        return Opened(_open(file), aside, str(error))


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
