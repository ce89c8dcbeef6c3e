"""The file of a library: which documents were read, their passages, the full-text index and the vectors, in SQLite.

Every document is one transaction, so that a process that is killed leaves whole documents or none. The full-text index is
contentless: it keeps words and their places, the passages themselves are stored once. Vectors are kept as signs, one bit a number,
which a search compares in memory, and as bytes, which it reads for the nearest alone.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from app.runtime.library.passages import DocumentPassage
from app.runtime.library.words import FREQUENT, indexed, words_in
from engine.errors import BadRequest, ErrorText

VERSION = 1
_CACHE = 8 << 10  # KiB of pages that SQLite keeps of a library
_SAMPLE = 3_000  # passages that are looked at to find frequent words
_SCHEMA = """
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files(
    id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, nbytes INTEGER NOT NULL, changed INTEGER NOT NULL, digest BLOB NOT NULL,
    title TEXT NOT NULL, pages INTEGER NOT NULL, error TEXT NOT NULL DEFAULT '', unread INTEGER NOT NULL DEFAULT 0,
    attributes TEXT NOT NULL DEFAULT '{}');
CREATE INDEX files_by_digest ON files(digest);
CREATE TABLE passages(
    id INTEGER PRIMARY KEY AUTOINCREMENT, file INTEGER NOT NULL, page INTEGER NOT NULL, unit TEXT NOT NULL, place TEXT NOT NULL,
    text TEXT NOT NULL, boxes TEXT NOT NULL DEFAULT '');
CREATE INDEX passages_by_file ON passages(file);
CREATE VIRTUAL TABLE words USING fts5(title, place, text, content='', tokenize='porter unicode61 remove_diacritics 2');
CREATE TABLE vectors(passage INTEGER PRIMARY KEY, signs BLOB NOT NULL, codes BLOB NOT NULL);
CREATE TABLE read_pages(digest BLOB NOT NULL, page INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY(digest, page)) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class IndexedFile:
    """A document of a library. `error`: why it could not be read. `unread`: pages that a model would have to read."""

    id: int
    path: str
    nbytes: int
    changed: int  # nanoseconds
    digest: bytes
    title: str
    pages: int
    error: str = ""
    unread: int = 0


@dataclass(frozen=True)
class FoundPassage:
    """A passage with the document that it is in, as a search returns it."""

    id: int
    path: str
    title: str
    page: int
    unit: str
    place: str
    text: str
    score: float = 0.0
    boxes: tuple[tuple[float, float, float, float], ...] = ()

    @property
    def where(self) -> str:
        """`report.pdf, page 3`; of a document without pages its headings."""
        if self.unit == "part":
            return f"{self.path}, {self.place}" if self.place else self.path
        return f"{self.path}, {self.unit} {self.page}"


def _version(db: sqlite3.Connection) -> int:
    """The version of the index, 0 where there is none yet. Raises BadRequest for a newer one; writes nothing."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > VERSION:
        raise BadRequest(ErrorText("The index was made by a newer version of Grus."), "library")
    return version


class LibraryStore:
    """One library's file. Each thread has a connection of its own."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._local = threading.local()
        self._all: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            with self.change() as db:
                self._prepare(db)
        except BadRequest:
            self.close()
            raise
        except sqlite3.DatabaseError as error:
            self.close()
            raise BadRequest(ErrorText("{path} is not the index of a library.", path=file), "library") from error

    @staticmethod
    def _prepare(db: sqlite3.Connection) -> None:
        if _version(db) == 0:
            for statement in filter(None, map(str.strip, _SCHEMA.split(";\n"))):
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {VERSION}")

    @property
    def db(self) -> sqlite3.Connection:
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = sqlite3.connect(self.file, timeout=60, isolation_level=None, check_same_thread=False)
            with self._lock:
                self._all.append(db)
            _version(db)  # before the journal's kind is written into a file that is to stay as it is
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(f"PRAGMA cache_size = -{_CACHE}")
            self._local.db = db
        return db

    @contextmanager
    def change(self) -> Iterator[sqlite3.Connection]:
        """A transaction: all of it is written, or nothing."""
        db = self.db
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def close(self) -> None:
        with self._lock:
            while self._all:
                self._all.pop().close()
        self._local = threading.local()

    # -- settings of the index

    def value(self, name: str) -> str:
        found = self.db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return "" if found is None else str(found[0])

    def put(self, db: sqlite3.Connection, name: str, value: str) -> None:
        db.execute("INSERT OR REPLACE INTO meta VALUES(?, ?)", (name, value))

    # -- files

    def files(self) -> list[IndexedFile]:
        rows = self.db.execute(
            "SELECT id, path, nbytes, changed, digest, title, pages, error, unread FROM files ORDER BY path"
        )
        return [IndexedFile(*row) for row in rows]

    def counts(self) -> tuple[int, int, int]:
        """Documents, pages, passages."""
        files, pages = self.db.execute("SELECT count(*), coalesce(sum(pages), 0) FROM files").fetchone()
        return files, pages, self.db.execute("SELECT count(*) FROM passages").fetchone()[0]

    def keep(self, file: IndexedFile, passages: Sequence[DocumentPassage], attributes: str = "{}") -> int:
        """A document with its passages, in the place of what its path had before. Returns its id."""
        with self.change() as db:
            known = db.execute("SELECT id FROM files WHERE path = ?", (file.path,)).fetchone()
            if known is not None:
                self._drop(db, known[0])
            db.execute(
                "INSERT INTO files(id, path, nbytes, changed, digest, title, pages, error, unread, attributes)"
                " VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (known[0] if known is not None else None, file.path, file.nbytes, file.changed, file.digest, file.title,
                 file.pages, file.error, file.unread, attributes),
            )  # fmt: skip
            id = int(db.execute("SELECT id FROM files WHERE path = ?", (file.path,)).fetchone()[0])
            title = _title_words(file.title, file.path)
            for one in passages:
                boxes = json.dumps([[round(side, 1) for side in box] for box in one.boxes]) if one.boxes else ""
                row = db.execute(
                    "INSERT INTO passages(file, page, unit, place, text, boxes) VALUES(?, ?, ?, ?, ?, ?)",
                    (id, one.page, one.unit, one.place, one.text, boxes),
                )
                db.execute(
                    "INSERT INTO words(rowid, title, place, text) VALUES(?, ?, ?, ?)",
                    (row.lastrowid, title, indexed(one.place), indexed(one.text)),
                )
            if not file.unread:
                db.execute("DELETE FROM read_pages WHERE digest = ?", (file.digest,))
        return id

    def move(self, id: int, path: str, nbytes: int, changed: int) -> None:
        """The same document under another path, or with another date."""
        with self.change() as db:
            old, title = db.execute("SELECT path, title FROM files WHERE id = ?", (id,)).fetchone()
            db.execute("UPDATE files SET path = ?, nbytes = ?, changed = ? WHERE id = ?", (path, nbytes, changed, id))
            before, after = _title_words(title, old), _title_words(title, path)
            if before != after:
                for passage, place, text in db.execute(
                    "SELECT id, place, text FROM passages WHERE file = ?", (id,)
                ).fetchall():
                    words = indexed(place), indexed(text)
                    db.execute(_FORGET, (passage, before, *words))
                    db.execute(
                        "INSERT INTO words(rowid, title, place, text) VALUES(?, ?, ?, ?)", (passage, after, *words)
                    )

    def remove(self, id: int) -> None:
        with self.change() as db:
            self._drop(db, id)

    def _drop(self, db: sqlite3.Connection, id: int) -> None:
        path, title = db.execute("SELECT path, title FROM files WHERE id = ?", (id,)).fetchone()
        words = _title_words(title, path)
        for passage, place, text in db.execute("SELECT id, place, text FROM passages WHERE file = ?", (id,)).fetchall():
            db.execute(_FORGET, (passage, words, indexed(place), indexed(text)))
        gone = db.execute("DELETE FROM vectors WHERE passage IN (SELECT id FROM passages WHERE file = ?)", (id,))
        if gone.rowcount:
            self._vectors_changed(db)
        db.execute("DELETE FROM passages WHERE file = ?", (id,))
        db.execute("DELETE FROM files WHERE id = ?", (id,))

    def attributes(self, path: str) -> dict[str, Any]:
        found = self.db.execute("SELECT attributes FROM files WHERE path = ?", (path,)).fetchone()
        return {} if found is None else json.loads(found[0])

    # -- pages that a model has read, kept until their document is complete

    def keep_page(self, digest: bytes, page: int, text: str) -> None:
        with self.change() as db:
            db.execute("INSERT OR REPLACE INTO read_pages VALUES(?, ?, ?)", (digest, page, text))

    def read_pages(self, digest: bytes) -> dict[int, str]:
        return dict(self.db.execute("SELECT page, json FROM read_pages WHERE digest = ?", (digest,)).fetchall())

    # -- passages

    def passages(self, ids: Sequence[int]) -> dict[int, FoundPassage]:
        marks = ",".join("?" * len(ids))
        rows = self.db.execute(
            "SELECT p.id, f.path, f.title, p.page, p.unit, p.place, p.text, p.boxes FROM passages p JOIN files f ON f.id = p.file"
            f" WHERE p.id IN ({marks})",
            list(ids),
        )
        return {row[0]: FoundPassage(*(*row[:7], 0.0, _boxes(row[7]))) for row in rows}

    def match(self, query: str, most: int, files: Sequence[str] | None = None) -> list[tuple[int, float]]:
        """Passages with the words of a query and their score by BM25, best first. `files`: of these documents alone, by path."""
        only = "" if files is None else f" AND rowid IN ({_IN_FILES})"
        rows = self.db.execute(
            f"SELECT rowid, -bm25(words, 1.0, 1.5, 1.0) AS score FROM words WHERE words MATCH ?{only} ORDER BY score DESC LIMIT ?",
            (query, most) if files is None else (query, json.dumps(list(files)), most),
        )
        return [(row[0], row[1]) for row in rows]

    def has_word(self, query: str) -> bool:
        """Whether any passage has what a query of one word finds."""
        return self.db.execute("SELECT 1 FROM words WHERE words MATCH ? LIMIT 1", (query,)).fetchone() is not None

    def texts(self, path: str) -> list[str]:
        """The passages of a document, in their order."""
        rows = self.db.execute(
            "SELECT text FROM passages WHERE file = (SELECT id FROM files WHERE path = ?) ORDER BY id", (path,)
        )
        return [row[0] for row in rows]

    def passages_in(self, files: Sequence[str]) -> list[int]:
        """The ids of the passages of these documents."""
        return [row[0] for row in self.db.execute(_IN_FILES, (json.dumps(list(files)),))]

    def find_frequent(self) -> None:
        """Keeps the share of passages that have each frequent word, by a sample."""
        rows = self.db.execute(
            "SELECT text FROM passages WHERE id IN (SELECT id FROM passages ORDER BY id % 7919 LIMIT ?)", (_SAMPLE,)
        )
        counts: Counter[str] = Counter()
        texts = 0
        for (text,) in rows:
            counts.update(words_in(text))
            texts += 1
        shares = {word: count / texts for word, count in counts.items() if texts > 50 and count > FREQUENT * texts}
        with self.change() as db:
            self.put(db, "words", json.dumps({"passages": self.counts()[2], "shares": shares}))

    def frequent(self) -> tuple[int, dict[str, float]]:
        """How many passages there are, and the shares of frequent words."""
        kept = json.loads(self.value("words") or "{}")
        return kept.get("passages", 0), kept.get("shares", {})

    # -- vectors

    def without_vectors(self, most: int, after: int = 0) -> list[tuple[int, str]]:
        """Passages behind the id `after` that have none, with what a model reads of them."""
        rows = self.db.execute(
            "SELECT p.id, f.title, p.place, p.text FROM passages p JOIN files f ON f.id = p.file"
            " WHERE p.id > ? AND NOT EXISTS (SELECT 1 FROM vectors v WHERE v.passage = p.id) ORDER BY p.id LIMIT ?",
            (after, most),
        )
        return [(id, "\n".join(filter(None, (title, place, text)))) for id, title, place, text in rows]

    def keep_vectors(self, ids: Sequence[int], vectors: np.ndarray) -> None:
        """Passages that are gone by now are left out."""
        largest = np.abs(vectors).max(1, keepdims=True)
        codes = np.round(vectors * (127 / np.where(largest, largest, 1))).astype(np.int8)
        signs = np.packbits(vectors > 0, axis=1)
        with self.change() as db:
            for id, sign, code in zip(ids, signs, codes):
                db.execute(
                    "INSERT OR REPLACE INTO vectors SELECT id, ?, ? FROM passages WHERE id = ?",
                    (sign.tobytes(), code.tobytes(), id),
                )
            self._vectors_changed(db)

    def forget_vectors(self, model: str) -> None:
        """Vectors of another model are of no use beside those of `model`."""
        with self.change() as db:
            db.execute("DELETE FROM vectors")
            self._vectors_changed(db)
            self.put(db, "model", model)

    def signs(self) -> tuple[np.ndarray, np.ndarray]:
        """Ids, and a row of bits for each."""
        rows = self.db.execute("SELECT passage, signs FROM vectors ORDER BY passage")
        ids, found = [], bytearray()
        for id, signs in rows:
            ids.append(id)
            found += signs
        return np.array(ids, np.int64), np.frombuffer(found, np.uint8).reshape(len(ids), -1 if ids else 0)

    def codes(self, ids: Sequence[int]) -> tuple[list[int], np.ndarray]:
        """Ids, and a row of bytes for each: of those that are still there."""
        marks = ",".join("?" * len(ids))
        rows = self.db.execute(f"SELECT passage, codes FROM vectors WHERE passage IN ({marks})", list(ids)).fetchall()
        joined = np.frombuffer(b"".join([codes for _, codes in rows]), np.int8)
        return [id for id, _ in rows], joined.reshape(len(rows), -1 if rows else 0)

    def vector_count(self) -> int:
        return int(self.db.execute("SELECT count(*) FROM vectors").fetchone()[0])

    def vector_version(self) -> str:
        """Changes whenever vectors do."""
        return self.value("vectors")

    def _vectors_changed(self, db: sqlite3.Connection) -> None:
        self.put(db, "vectors", uuid4().hex)


_IN_FILES = (
    "SELECT id FROM passages WHERE file IN (SELECT id FROM files WHERE path IN (SELECT value FROM json_each(?)))"
)
_FORGET = "INSERT INTO words(words, rowid, title, place, text) VALUES('delete', ?, ?, ?, ?)"


def _title_words(title: str, path: str) -> str:
    """A document's title and the words of its path, which belong to each of its passages."""
    return indexed(f"{title} {' '.join(Path(path).with_suffix('').parts)}".replace("_", " ").replace("-", " "))


def _boxes(text: str) -> tuple[tuple[float, float, float, float], ...]:
    return tuple((left, top, right, bottom) for left, top, right, bottom in json.loads(text)) if text else ()
