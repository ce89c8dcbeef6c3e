"""Opening the file: WAL, checks, migrations. A damaged file is set aside under a new name, never overwritten."""

from __future__ import annotations

import os
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from app.gui.store.schema import Newer, migrate


@dataclass
class Opened:
    db: sqlite3.Connection
    set_aside: Path | None = None  # where the damaged (or newer) file went
    why: str = ""


def open_database(file: Path) -> Opened:
    """The file at this path, or a fresh one beside what was damaged."""
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        return Opened(_open(file))
    except (sqlite3.DatabaseError, Newer) as error:
        if isinstance(error, sqlite3.OperationalError) and "locked" in str(error):
            raise
        aside = _set_aside(file)
        return Opened(_open(file), aside, str(error))


def _open(file: Path) -> sqlite3.Connection:
    db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=10)
    try:
        db.row_factory = sqlite3.Row
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")  # with WAL: safe against a killed process, and quick
        db.execute("PRAGMA foreign_keys = ON")
        found = db.execute("PRAGMA quick_check(1)").fetchone()[0]
        if found != "ok":
            raise sqlite3.DatabaseError(str(found))
        migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def _set_aside(file: Path) -> Path:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    aside = file.with_name(f"{file.stem}.damaged-{stamp}{file.suffix}")
    number = 1
    while aside.exists():
        number += 1
        aside = file.with_name(f"{file.stem}.damaged-{stamp}-{number}{file.suffix}")
    for ending in ("", "-wal", "-shm"):
        part = file.with_name(file.name + ending)
        if part.exists():
            os.replace(part, aside.with_name(aside.name + ending))
    return aside
