"""Which version of its tables a store on disk has."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from engine.errors import BadRequest


def check_version(db: sqlite3.Connection, newest: int, file: Path | str, field: str) -> None:
    """Raises BadRequest for a file of a newer Grus; writes nothing. Files from before versions were written are version 0."""
    if int(db.execute("PRAGMA user_version").fetchone()[0]) > newest:
        raise BadRequest(
            f"{file} was written by a newer Grus and stays as it is. Update Grus, or choose another place.", field
        )


def write_version(db: sqlite3.Connection, newest: int) -> None:
    db.execute(f"PRAGMA user_version = {newest}")
