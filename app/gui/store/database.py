"""The SQLite file: its tables (as migrations), facts about it, and opening it with WAL and an integrity check.

A damaged file is set aside under a new name, never overwritten. Damaged is what SQLite calls malformed or no database. A full
disk, an I/O error, a lock or missing permissions say nothing about the file: it stays where it is, and the error is raised.
Functions that take the connection first are questions for the store (`worker.py`).
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_VACUUM, _CREATED = "vacuum", "created"
_MARKED = ("conversations", "messages", "results", "folders", "memories")  # rows that are marked, and purged later


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
    # the libraries that a conversation asks, and the passages that a reply was given
    """
    ALTER TABLE conversations ADD COLUMN libraries TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE messages ADD COLUMN passages TEXT NOT NULL DEFAULT '[]';
    """,
    # the tools that a model may call in a conversation
    """
    ALTER TABLE conversations ADD COLUMN tools TEXT NOT NULL DEFAULT '[]';
    """,
    # a folder of conversations is a project: what holds for all of them; one that is removed can be brought back
    """
    ALTER TABLE folders ADD COLUMN system TEXT NOT NULL DEFAULT '';
    ALTER TABLE folders ADD COLUMN model TEXT NOT NULL DEFAULT '';
    ALTER TABLE folders ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE folders ADD COLUMN libraries TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE folders ADD COLUMN tools TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE folders ADD COLUMN deleted REAL;
    """,
    # facts that a person lets Grus keep; one outlives the conversation that it came from
    """
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY,
        text TEXT NOT NULL,
        conversation INTEGER REFERENCES conversations(id) ON DELETE SET NULL,
        deleted REAL,
        created REAL NOT NULL
    );
    """,
)


class NewerDatabase(Exception):
    """The file was written by a newer Grus."""


def checked_version(db: sqlite3.Connection) -> int:
    """The version of the file. Raises NewerDatabase; writes nothing."""
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise NewerDatabase(
            f"This file was written by a newer Grus (version {version}; this one opens up to {len(MIGRATIONS)})."
        )
    return version


def migrate(db: sqlite3.Connection) -> None:
    """Bring the file to the newest version, each step whole or not at all."""
    version = checked_version(db)
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
        checked_version(db)  # before the journal's kind is written into a file that is to stay as it is
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


# -- the files that Grus made beside its database: who may read them, which are in use, and how they are deleted
#
# Files of a person, elsewhere on the disk, are never touched, whatever a row says. Deleting is unlinking: what the disk keeps
# of an unlinked file is the file system's business.

OWN_FOLDERS = ("attachments", "recordings", "spoken")  # beside the database; every file in them is Grus's own
INDEXES = "libraries"  # of folders of documents
DRAGGED = "dragged"  # results that were dragged out of the window
_FILE, _FOLDER = 0o600, 0o700

_guard = threading.RLock()
_in_use: Counter[str] = Counter()  # by a job of this process, and not yet in a row


# -- who may read them


def private_folder(folder: Path) -> Path:
    """The folder, made if it is missing; only its owner may open it."""
    folder.mkdir(parents=True, exist_ok=True, mode=_FOLDER)
    _restrict(folder, _FOLDER)
    return folder


def private_file(file: Path) -> Path:
    """The file, empty if it was missing; only its owner may read it."""
    private_folder(file.parent)
    os.close(os.open(file, os.O_RDWR | os.O_CREAT, _FILE))
    _restrict(file, _FILE)
    return file


def repair(folders: Iterable[Path]) -> None:
    """Everything in these folders for their owner alone: earlier versions left it to be read by everyone."""
    for folder in folders:
        for inside, _, names in os.walk(folder):
            _restrict(Path(inside), _FOLDER)
            for name in names:
                _restrict(Path(inside, name), _FILE)


def _restrict(path: Path, mode: int) -> None:
    if os.name == "nt":
        return  # a user's folders are their own there
    with contextlib.suppress(OSError):  # gone meanwhile, or of another owner
        if not path.is_symlink() and path.stat().st_mode & 0o777 != mode:
            path.chmod(mode)


# -- which are in use


def keep_bytes(data: bytes, path: Path) -> Path:
    """Write a file whose name says what is in it, once. It is in use until `release`."""
    with _guard:
        _in_use[str(path)] += 1
        try:
            os.utime(path)  # there already, and now as young as its next user
        except FileNotFoundError:
            fresh = path.with_name(f"{path.name}.{os.getpid()}")
            try:
                private_file(fresh).write_bytes(data)
                os.replace(fresh, path)
            except OSError:
                fresh.unlink(missing_ok=True)
                release(path)
                raise
    return path


def release(path: Path | str) -> None:
    """A row refers to it now, or it is no longer needed."""
    with _guard:
        _in_use[str(path)] -= 1
        if _in_use[str(path)] <= 0:
            del _in_use[str(path)]


# -- how they are deleted


def remove(data: Path, files: Iterable[str]) -> None:
    """Delete those that are Grus's own and not in use. `data`: the database's folder."""
    with _guard:
        for file in files:
            if _is_own(data, Path(file)) and file not in _in_use:
                _unlink(Path(file))
                if Path(file).parent.name == INDEXES:
                    for ending in ("-wal", "-shm"):
                        _unlink(Path(file + ending))


def sweep(data: Path, referenced: Iterable[str], since: float, until: float) -> None:
    """Delete what no row refers to: files that a process wrote and was killed before it could store their row.

    Only files that were written between the database's beginning and this process's: an older one belongs to a database
    that was set aside or moved away, a newer one may be in use.
    """
    if any(data.glob("*.damaged-*")):
        return  # its rows may refer to any of them
    used = {_key(Path(file)) for file in referenced}
    for folder in OWN_FOLDERS:
        for file in _children(data / folder):
            with _guard, contextlib.suppress(OSError):
                orphan = file.is_file() and not file.is_symlink() and _key(file) not in used
                if orphan and since <= file.stat().st_mtime < until and str(file) not in _in_use:
                    _unlink(file)
    for rest in (*_children(data / "voices", ".new-*"), *_children(data / "voices", ".old-*")):
        with contextlib.suppress(OSError):
            if rest.stat().st_mtime < until:
                shutil.rmtree(rest, ignore_errors=True)


def clear_dragged(data: Path) -> None:
    """Copies of results that were dragged out of the window."""
    shutil.rmtree(data / DRAGGED, ignore_errors=True)


def _key(file: Path) -> tuple[str, str]:
    """The data folder may be moved: rows then hold the old paths."""
    return file.parent.name, file.name


def _is_own(data: Path, file: Path) -> bool:
    """An index of a library is, too; `sweep` leaves those alone, for the command line makes them without a row."""
    with contextlib.suppress(OSError):
        place = file.resolve()
        return any(place.parent == (data / folder).resolve() for folder in (*OWN_FOLDERS, INDEXES)) and file.is_file()
    return False


def _children(folder: Path, pattern: str = "*") -> list[Path]:
    with contextlib.suppress(OSError):
        return list(folder.glob(pattern))
    return []


def _unlink(file: Path) -> None:
    with contextlib.suppress(OSError):  # open elsewhere (Windows): the next start finds it without a row
        file.unlink()


# -- deleting for good: rows that were marked as deleted go after the undo time, and with them the files that were theirs
#
# Every function is a question for the store: it takes the connection first. None touches the disk's files.

UNDO_SECONDS = 15.0  # a deleted item can be brought back for so long: the sentence with its Undo stays for 10


def purge(db: sqlite3.Connection, before: float) -> list[str] | None:
    """Delete the rows that were marked before this time. Returns the files that no other row refers to; None: there
    was nothing to delete."""
    conversations = _ids(db, "conversations", before)
    files = [*_files_of_messages(db, before), *_files_of_results(db, before)]
    files += _attached(db.execute("SELECT attachments FROM folders WHERE deleted < ?", (before,)))
    for id in conversations:
        files += _attached(db.execute("SELECT attachments FROM drafts WHERE place = ?", (str(id),)))
        db.execute("DELETE FROM drafts WHERE place = ?", (str(id),))
    gone = len(conversations)
    gone += db.execute("DELETE FROM conversations WHERE deleted < ?", (before,)).rowcount
    for table in _MARKED[1:]:
        gone += db.execute(f"DELETE FROM {table} WHERE deleted < ?", (before,)).rowcount
    if not gone:
        return None
    want_vacuum(db)
    return unused(db, files)


def next_due(db: sqlite3.Connection) -> float | None:
    """When the next row was marked that waits for its purge."""
    parts = [f"SELECT min(deleted) AS at FROM {table}" for table in _MARKED]
    found: float | None = db.execute(f"SELECT min(at) FROM ({' UNION ALL '.join(parts)})").fetchone()[0]
    return found


def unused(db: sqlite3.Connection, files: list[str]) -> list[str]:
    """Those of the files that no row refers to any more. A row that can still be brought back counts."""
    if not files:
        return []
    used = set(referenced(db))
    return [file for file in dict.fromkeys(files) if file not in used]


def referenced(db: sqlite3.Connection) -> Iterator[str]:
    """Every file that a message, a draft, a project or a result refers to."""
    yield from _attached(db.execute("SELECT attachments FROM messages WHERE attachments != '[]'"))
    yield from _attached(db.execute("SELECT attachments FROM drafts WHERE attachments != '[]'"))
    yield from _attached(db.execute("SELECT attachments FROM folders WHERE attachments != '[]'"))
    for row in db.execute("SELECT source, file FROM results"):
        yield from filter(None, row)


def _ids(db: sqlite3.Connection, table: str, before: float) -> list[int]:
    return [row[0] for row in db.execute(f"SELECT id FROM {table} WHERE deleted < ?", (before,))]


def _files_of_messages(db: sqlite3.Connection, before: float) -> Iterator[str]:
    return _attached(
        db.execute(
            "SELECT attachments FROM messages WHERE attachments != '[]' AND (deleted < ?"
            " OR conversation IN (SELECT id FROM conversations WHERE deleted < ?))",
            (before, before),
        )
    )


def _files_of_results(db: sqlite3.Connection, before: float) -> Iterator[str]:
    for row in db.execute("SELECT source, file FROM results WHERE deleted < ?", (before,)):
        yield from filter(None, row)


def _attached(rows: sqlite3.Cursor) -> Iterator[str]:
    for (attachments,) in rows:
        for attachment in json.loads(attachments):
            yield str(attachment["path"])
