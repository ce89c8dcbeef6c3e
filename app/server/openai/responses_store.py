"""Stored responses, which can be read and continued later: a SQLite file that only its owner can read.

Items are found by their ids too, in the newest response that holds them. Bounded by bytes and by age. Every method waits for the disk: call it off the event loop.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

from platformdirs import PlatformDirs

from app.server.openai.schema_version import check_version, write_version
from engine.errors import BadRequest

VERSION = 1
MOST_BYTES = 256 << 20
LONGEST = 30 * 24 * 3600.0  # seconds
log = logging.getLogger("grus.server")


def default_file() -> str:
    """The default path, in the user's data folder."""
    return str(Path(PlatformDirs("Grus", appauthor=False).user_data_dir) / "server" / "responses.sqlite3")


class RunningResponse(Protocol):
    """A response that is being made."""

    ended: bool

    def cancel(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class StoredResponse:
    response: dict[str, Any]
    items: list[dict[str, Any]]  # the whole conversation, the response included


class ResponseStore:
    """Deletes the oldest responses above `most` bytes, and those older than `longest` seconds. Thread-safe."""

    def __init__(self, path: str = "", most: int = MOST_BYTES, longest: float = LONGEST,
                 clock: Callable[[], float] = time.time) -> None:  # fmt: skip
        """Without a path: SQLite's own temporary file, which is gone with the process, however that ends."""
        self._most, self._longest, self._clock = most, longest, clock
        self._lock = threading.Lock()
        self.running: WeakValueDictionary[str, RunningResponse] = (
            WeakValueDictionary()
        )  # responses that are being made, by id
        file = Path(path).expanduser() if path else None
        try:
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
                os.chmod(file, 0o600)
            self._database = sqlite3.connect(file or "", check_same_thread=False)
            check_version(self._database, VERSION, file or "", "responses_file")
            self._prepare()
            write_version(self._database, VERSION)
        except (OSError, sqlite3.Error) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise BadRequest(
                f"The responses file {file or 'in the temporary folder'} cannot be used: {why}. Choose another one.",
                "responses_file",
            ) from None

    def _prepare(self) -> None:
        run = self._database.execute
        run("PRAGMA secure_delete = ON")  # deleted responses are overwritten on disk
        run("PRAGMA auto_vacuum = FULL")
        with self._database:
            run(
                "CREATE TABLE IF NOT EXISTS kept (number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, response TEXT NOT NULL,"
                " items TEXT NOT NULL, made REAL NOT NULL, nbytes INTEGER NOT NULL)"
            )
            if run("SELECT 1 FROM sqlite_master WHERE name = 'responses'").fetchone():  # the table of older versions
                run(
                    "INSERT OR IGNORE INTO kept (id, response, items, made, nbytes)"
                    " SELECT id, response, items, ?, length(response) + length(items) FROM responses ORDER BY rowid",
                    (self._clock(),),
                )
                run("DROP TABLE responses")
            run("CREATE TABLE IF NOT EXISTS held (item TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID")
            run("CREATE INDEX IF NOT EXISTS held_number ON held (number)")
            run(
                "CREATE TRIGGER IF NOT EXISTS let_go AFTER DELETE ON kept"
                " BEGIN DELETE FROM held WHERE number = old.number; END"
            )
            self._shrink(0)

    def put(self, response: dict[str, Any], items: list[dict[str, Any]]) -> None:
        """Store a response. A failure is logged and not raised: the client still gets its reply."""
        row = (response["id"], json.dumps(response), json.dumps(items))
        nbytes = sum(len(text.encode()) for text in row)
        if nbytes > self._most:
            log.warning("%s is not kept: it takes %d MiB.", response["id"], nbytes >> 20)
            return
        try:
            with self._lock, self._database:
                self._shrink(nbytes)
                number = self._database.execute(
                    "INSERT OR REPLACE INTO kept (id, response, items, made, nbytes) VALUES (?, ?, ?, ?, ?)",
                    (*row, self._clock(), nbytes),
                ).lastrowid
                self._database.executemany(
                    "INSERT OR REPLACE INTO held (item, number) VALUES (?, ?)",
                    [(item["id"], number) for item in items if "id" in item],
                )
        except sqlite3.Error as error:
            log.warning("%s could not be kept: %s", response["id"], error)

    def _shrink(self, coming: int) -> None:
        """Delete what is too old, then the oldest, until `coming` bytes fit."""
        run = self._database.execute
        run("DELETE FROM kept WHERE made < ?", (self._clock() - self._longest,))
        run(
            "DELETE FROM kept WHERE number IN (SELECT number FROM"
            " (SELECT number, sum(nbytes) OVER (ORDER BY number DESC) AS newer FROM kept) WHERE newer > ?)",
            (self._most - coming,),
        )

    def get(self, id: str) -> StoredResponse | None:
        with self._lock:
            row = self._database.execute(
                "SELECT response, items FROM kept WHERE id = ? AND made >= ?", (id, self._clock() - self._longest)
            ).fetchone()
        return StoredResponse(json.loads(row[0]), json.loads(row[1])) if row is not None else None

    def item(self, id: str) -> dict[str, Any] | None:
        """An item of a stored response."""
        with self._lock:
            row = self._database.execute(
                "SELECT items FROM kept JOIN held USING (number) WHERE item = ? AND made >= ?",
                (id, self._clock() - self._longest),
            ).fetchone()
        items: list[dict[str, Any]] = json.loads(row[0]) if row is not None else []
        return next((item for item in items if item.get("id") == id), None)

    def delete(self, id: str) -> bool:
        with self._lock, self._database:
            return self._database.execute("DELETE FROM kept WHERE id = ?", (id,)).rowcount > 0

    def close(self) -> None:
        with self._lock:
            self._database.close()
