"""Responses that may be continued or looked at later. In memory, or in a file on this machine where one is given."""

from __future__ import annotations

import json
import sqlite3
import threading
from dataclasses import dataclass
from typing import Any

KEPT = 1000


@dataclass(frozen=True)
class Stored:
    response: dict[str, Any]
    items: list[dict[str, Any]]  # the whole conversation up to and with the response


class Store:
    """The oldest are forgotten beyond `kept`. Any thread may call."""

    def __init__(self, path: str = ":memory:", kept: int = KEPT) -> None:
        self._kept = kept
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False)
        with self._database:
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS responses (id TEXT PRIMARY KEY, response TEXT NOT NULL, items TEXT NOT NULL)"
            )

    def put(self, response: dict[str, Any], items: list[dict[str, Any]]) -> None:
        row = (response["id"], json.dumps(response), json.dumps(items))
        with self._lock, self._database:
            self._database.execute("INSERT OR REPLACE INTO responses VALUES (?, ?, ?)", row)
            self._database.execute(
                "DELETE FROM responses WHERE rowid <= (SELECT max(rowid) FROM responses) - ?", (self._kept,)
            )

    def get(self, id: str) -> Stored | None:
        with self._lock:
            row = self._database.execute("SELECT response, items FROM responses WHERE id = ?", (id,)).fetchone()
        return Stored(json.loads(row[0]), json.loads(row[1])) if row is not None else None

    def delete(self, id: str) -> bool:
        with self._lock, self._database:
            return self._database.execute("DELETE FROM responses WHERE id = ?", (id,)).rowcount > 0

    def close(self) -> None:
        with self._lock:
            self._database.close()
