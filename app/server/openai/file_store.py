"""Uploaded files and vector stores on disk: a folder with one SQLite file, the contents, and a library for each vector store.

A vector store is a library over a folder of links to the contents of its files, `ID/NAME` each, so that it is read, indexed, resumed and
searched by what does that for `grus index`. Every method waits for the disk: call it off the event loop.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from platformdirs import PlatformDirs

from app.runtime.library.pages import ENDINGS
from app.server.openai.schema_version import check_version, write_version
from engine.errors import BadRequest
from engine.types import new_id

MemberStatus = Literal["in_progress", "completed", "failed", "cancelled"]
DAY = 24 * 3600
VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS files(
    number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, name TEXT NOT NULL, purpose TEXT NOT NULL, nbytes INTEGER NOT NULL,
    created INTEGER NOT NULL, expires INTEGER);
CREATE TABLE IF NOT EXISTS stores(
    number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, name TEXT NOT NULL, description TEXT, metadata TEXT NOT NULL,
    created INTEGER NOT NULL, active INTEGER NOT NULL, days INTEGER, model TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS members(
    number INTEGER PRIMARY KEY, store TEXT NOT NULL, file TEXT NOT NULL, path TEXT NOT NULL, created INTEGER NOT NULL,
    attributes TEXT NOT NULL, batch TEXT NOT NULL, status TEXT NOT NULL, code TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '',
    nbytes INTEGER NOT NULL, UNIQUE(store, file));
CREATE TABLE IF NOT EXISTS batches(
    number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, store TEXT NOT NULL, created INTEGER NOT NULL, cancelled INTEGER NOT NULL DEFAULT 0)
"""


def default_folder() -> str:
    """The default path, in the user's data folder."""
    return str(Path(PlatformDirs("Grus", appauthor=False).user_data_dir) / "server" / "files")


@dataclass(frozen=True)
class UploadedFile:
    number: int
    id: str
    name: str
    purpose: str
    nbytes: int
    created: int
    expires: int | None


@dataclass(frozen=True)
class VectorStoreRecord:
    """`model`: the embedding model of its vectors, or nothing. `days`: it expires so long after it was last used."""

    number: int
    id: str
    name: str
    description: str | None
    metadata: dict[str, str]
    created: int
    active: int
    days: int | None
    model: str

    @property
    def expires(self) -> int | None:
        return None if self.days is None else self.active + self.days * DAY


@dataclass(frozen=True)
class StoreMember:
    """A file of a vector store. `path`: of its document in the library; empty where it is no document."""

    number: int
    store: str
    file: str
    path: str
    created: int
    attributes: dict[str, Any]
    batch: str
    status: MemberStatus
    code: str
    error: str
    nbytes: int


@dataclass(frozen=True)
class FileBatch:
    number: int
    id: str
    store: str
    created: int
    cancelled: int


@dataclass(frozen=True)
class NewMember:
    """A file that is to be part of a vector store."""

    file: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


class FileStore:
    """Thread-safe. Without a folder: a temporary one, deleted by `close`."""

    def __init__(self, folder: str = "", clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.RLock()
        self._temporary = (
            None if folder else tempfile.TemporaryDirectory(prefix="grus-files-", ignore_cleanup_errors=True)
        )
        self.folder = Path(folder).expanduser() if self._temporary is None else Path(self._temporary.name)
        file = self.folder / "files.sqlite3"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            self._database = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
            check_version(self._database, VERSION, self.folder, "files_dir")
            for statement in _SCHEMA.split(";\n"):
                self._database.execute(statement)
            write_version(self._database, VERSION)
        except (OSError, sqlite3.Error) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise BadRequest(f"The folder {self.folder} cannot be used for files: {why}.", "files_dir") from None

    def close(self) -> None:
        with self._lock:
            self._database.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            try:
                yield self._database
            except BaseException:
                self._database.execute("ROLLBACK")
                raise
            self._database.execute("COMMIT")

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._database.execute(query, values).fetchall()

    def _now(self) -> int:
        return int(self._clock())

    # -- files

    def upload(self, name: str, purpose: str, content: Any, seconds: int | None) -> UploadedFile:
        """`content`: an open file. `seconds`: after which it expires."""
        id, name = new_id("file"), _plain(Path(name.replace("\\", "/")).name)
        place = self.content(id)
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with place.open("xb") as out:
            os.chmod(place, 0o600)
            shutil.copyfileobj(content, out, 1 << 20)
        now, nbytes = self._now(), place.stat().st_size
        expires = None if seconds is None else now + seconds
        with self._change() as db:
            db.execute("INSERT INTO files(id, name, purpose, nbytes, created, expires) VALUES(?, ?, ?, ?, ?, ?)",
                       (id, name, purpose, nbytes, now, expires))  # fmt: skip
        found = self.file(id)
        assert found is not None
        return found

    def content(self, id: str) -> Path:
        return self.folder / "content" / id

    def files(self) -> list[UploadedFile]:
        """Oldest first, without those that have expired, which are deleted."""
        for (gone,) in self._rows("SELECT id FROM files WHERE expires <= ?", self._now()):
            self.delete_file(gone)
        return [UploadedFile(*row) for row in self._rows("SELECT * FROM files ORDER BY number")]

    def file(self, id: str) -> UploadedFile | None:
        row = self._rows("SELECT * FROM files WHERE id = ? AND coalesce(expires > ?, 1)", id, self._now())
        return UploadedFile(*row[0]) if row else None

    def delete_file(self, id: str) -> list[str]:
        """Its content too. Returns the vector stores that it leaves."""
        stores = [row[0] for row in self._rows("SELECT store FROM members WHERE file = ?", id)]
        for store in stores:
            self.remove_member(store, id)
        with self._change() as db:
            db.execute("DELETE FROM files WHERE id = ?", (id,))
        self.content(id).unlink(missing_ok=True)
        return stores

    # -- vector stores

    def create_store(
        self, name: str, description: str | None, metadata: Mapping[str, str], days: int | None, model: str
    ) -> VectorStoreRecord:
        id, now = new_id("vs", "_"), self._now()
        self.documents(id).mkdir(parents=True, mode=0o700)
        with self._change() as db:
            db.execute("INSERT INTO stores(id, name, description, metadata, created, active, days, model) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
                       (id, name, description, json.dumps(dict(metadata)), now, now, days, model))  # fmt: skip
        found = self.store(id)
        assert found is not None
        return found

    def documents(self, store: str) -> Path:
        """The folder that the library of a vector store reads."""
        return self.folder / "stores" / store / "documents"

    def index(self, store: str) -> Path:
        return self.folder / "stores" / store / "index.sqlite3"

    def stores(self) -> list[VectorStoreRecord]:
        return [_store(row) for row in self._rows("SELECT * FROM stores ORDER BY number")]

    def store(self, id: str) -> VectorStoreRecord | None:
        row = self._rows("SELECT * FROM stores WHERE id = ?", id)
        return _store(row[0]) if row else None

    def is_expired(self, store: VectorStoreRecord) -> bool:
        return store.expires is not None and store.expires <= self._now()

    def change_store(self, id: str, changes: Mapping[str, Any]) -> None:
        """Of `name`, `metadata`, `days`; it was used now."""
        with self._change() as db:
            for column in ("name", "metadata", "days"):
                if column in changes:
                    value = json.dumps(changes[column]) if column == "metadata" else changes[column]
                    db.execute(f"UPDATE stores SET {column} = ? WHERE id = ?", (value, id))
            db.execute("UPDATE stores SET active = ? WHERE id = ?", (self._now(), id))

    def delete_store(self, id: str) -> None:
        with self._change() as db:
            for table, column in (("members", "store"), ("batches", "store"), ("stores", "id")):
                db.execute(f"DELETE FROM {table} WHERE {column} = ?", (id,))

    def delete_library(self, store: str) -> None:
        """What is on disk of a vector store that was deleted."""
        shutil.rmtree(self.documents(store).parent, ignore_errors=True)

    # -- the files of a vector store

    def add_members(self, store: str, given: Sequence[NewMember], batched: bool) -> FileBatch | None:
        """What is no document fails at once. A file that is there already is read anew. Raises BadRequest for a file that is not."""
        files = []
        for one in given:
            if (file := self.file(one.file)) is None:
                raise BadRequest(f"There is no file {one.file[:100]!r}.", "file_id")
            files.append((one, file))
        batch, now = new_id("vsfb", "_") if batched else "", self._now()
        for _, file in files:
            self.remove_member(store, file.id)
        placed = [(one, file, self._place(store, file)) for one, file in files]
        with self._change() as db:
            for one, file, path in placed:
                why = "" if path else f"{file.name} is neither text nor a document that can be read."
                db.execute(
                    "INSERT INTO members(store, file, path, created, attributes, batch, status, code, error, nbytes)"
                    " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (store, file.id, path, now, json.dumps(dict(one.attributes)), batch, "failed" if why else "in_progress",
                     "unsupported_file" if why else "", why, file.nbytes),
                )  # fmt: skip
            if batched:
                db.execute("INSERT INTO batches(id, store, created) VALUES(?, ?, ?)", (batch, store, now))
            db.execute("UPDATE stores SET active = ? WHERE id = ?", (now, store))
        return self.batch(store, batch) if batched else None

    def _place(self, store: str, file: UploadedFile) -> str:
        """A link to its content, where the library finds it. Returns its path there; empty for what is no document."""
        name = file.name.lstrip(".~$") or "file"
        if Path(name).suffix.lower() not in ENDINGS:
            if not _is_text(self.content(file.id)):
                return ""
            name += ".txt"
        place = self.documents(store) / file.id / name
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(self.content(file.id), place)
        except OSError:  # a file system without links
            shutil.copyfile(self.content(file.id), place)
        return f"{file.id}/{name}"

    def members(self, store: str, batch: str = "") -> list[StoreMember]:
        """Oldest first."""
        query = "SELECT * FROM members WHERE store = ? AND (? = '' OR batch = ?) ORDER BY number"
        return [_member(row) for row in self._rows(query, store, batch, batch)]

    def member(self, store: str, file: str) -> StoreMember | None:
        row = self._rows("SELECT * FROM members WHERE store = ? AND file = ?", store, file)
        return _member(row[0]) if row else None

    def remove_member(self, store: str, file: str) -> bool:
        """False where it was none. The library follows with its next update."""
        shutil.rmtree(self.documents(store) / file, ignore_errors=True)
        with self._change() as db:
            return db.execute("DELETE FROM members WHERE store = ? AND file = ?", (store, file)).rowcount > 0

    def change_attributes(self, store: str, file: str, attributes: Mapping[str, Any]) -> None:
        with self._change() as db:
            db.execute("UPDATE members SET attributes = ? WHERE store = ? AND file = ?",
                       (json.dumps(dict(attributes)), store, file))  # fmt: skip

    def settle(self, store: str, paths: Sequence[str], status: MemberStatus, code: str = "", error: str = "") -> None:
        """The end of what was in progress for these documents."""
        with self._change() as db:
            db.executemany(
                "UPDATE members SET status = ?, code = ?, error = ? WHERE store = ? AND path = ? AND status = 'in_progress'",
                [(status, code, error, store, path) for path in paths],
            )

    def waiting(self) -> list[str]:
        """Vector stores with files in progress: where a server was stopped, the next one continues."""
        return [row[0] for row in self._rows("SELECT DISTINCT store FROM members WHERE status = 'in_progress'")]

    def batch(self, store: str, id: str) -> FileBatch | None:
        row = self._rows("SELECT * FROM batches WHERE store = ? AND id = ?", store, id)
        return FileBatch(*row[0]) if row else None

    def cancel_batch(self, batch: FileBatch) -> None:
        """Files that are not indexed yet are left out."""
        for member in self.members(batch.store, batch.id):
            if member.status == "in_progress":
                shutil.rmtree(self.documents(batch.store) / member.file, ignore_errors=True)
                self.settle(batch.store, [member.path], "cancelled")
        with self._change() as db:
            db.execute("UPDATE batches SET cancelled = 1 WHERE id = ?", (batch.id,))


def _plain(name: str) -> str:
    """As a file may be called on any disk: without control characters, of at most 200 bytes."""
    shown = "".join(sign for sign in name if sign.isprintable())
    return shown.encode(errors="ignore")[-200:].decode(errors="ignore") or "file"


def _store(row: tuple[Any, ...]) -> VectorStoreRecord:
    number, id, name, description, metadata, created, active, days, model = row
    return VectorStoreRecord(number, id, name, description, json.loads(metadata), created, active, days, model)


def _member(row: tuple[Any, ...]) -> StoreMember:
    number, store, file, path, created, attributes, *rest = row
    return StoreMember(number, store, file, path, created, json.loads(attributes), *rest)


def _is_text(file: Path) -> bool:
    """Whether a file of another ending, such as a program's source, is text."""
    data = file.read_bytes()[: 1 << 20]
    if not data or b"\0" in data:
        return False
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return len(data) == 1 << 20 and error.start > len(data) - 4  # a character that was cut
    return True
