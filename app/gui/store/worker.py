"""One thread that owns the database. Others ask it questions; answers come back on the UI thread.

A question is a function of the connection. It runs alone, in a transaction of its own: whole or not at all, and on disk
when its answer arrives. Where the disk cannot be written, questions are answered from memory, in their order, and saved
as soon as it can be; the window receives both.

What is deleted can be brought back for `UNDO_SECONDS`. Then rows and files go, at the latest when the store closes, or when it
is next opened after the process was killed. Beside another process that has the store open, as `grus import` beside a window,
only rows that are past that time go: the others may be brought back there, and files without a row may be about to get one.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from app.gui.store import database
from app.gui.store.database import (
    Connection,
    NewerDatabase,
    OpenedDatabase,
    open_database,
    primary_code,
    unlink_database,
)
from app.gui.texts import mark, tr
from engine.errors import GrusError
from engine.file_lock import FileLock

# -- changes that cannot be saved now, and the sentence that says why
#
# They are kept in memory in their order, are visible to every question, and are saved as soon as the disk takes them. None of
# these errors means that the file is damaged.

_FULL = mark("the disk is full")
_IO = mark("the disk reports an error")
_READ_ONLY = mark("the file is read-only")
_LOCKED = mark("another program is using it")
_CLOSED = mark("the file cannot be opened")

_REASONS = {
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_IOERR: _IO,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_AUTH: _READ_ONLY,
    sqlite3.SQLITE_BUSY: _LOCKED,
    sqlite3.SQLITE_LOCKED: _LOCKED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_NOMEM: mark("there is not enough memory"),
    sqlite3.SQLITE_NOLFS: _IO,
    sqlite3.SQLITE_PROTOCOL: _LOCKED,
}
_OF_THE_SYSTEM = {
    errno.ENOSPC: _FULL, errno.EDQUOT: _FULL, errno.EIO: _IO, errno.EROFS: _READ_ONLY, errno.EACCES: _READ_ONLY,
    errno.EPERM: _READ_ONLY,
}  # fmt: skip


def passes(error: BaseException) -> bool:
    """Whether the same may work later: the disk, the rights or another program are in the way."""
    if isinstance(error, sqlite3.Error):
        return primary_code(error) in _REASONS
    return isinstance(error, OSError)


def reason(error: BaseException) -> str:
    """A clause: "the disk is full"."""
    if isinstance(error, sqlite3.Error):
        return tr(_REASONS[primary_code(error)]) if passes(error) else str(error)
    known = _OF_THE_SYSTEM.get(error.errno or 0) if isinstance(error, OSError) else None
    return tr(known) if known is not None else str(getattr(error, "strerror", None) or error)


def unsaved(error: BaseException) -> str:
    """The file is open, and cannot be written."""
    return tr("Grus cannot save: {reason}. Your changes are kept in memory until it can.", reason=reason(error))


def unopened(error: BaseException) -> str:
    """The file cannot be opened. It is not touched."""
    if isinstance(error, NewerDatabase):
        return tr(
            "Your conversations were saved by a newer version of Grus. Update Grus to open them. The file is unchanged."
        )
    return tr(
        "Your conversations cannot be opened: {reason}. The file is unchanged, and Grus will retry.",
        reason=reason(error),
    )


def may_open_later(error: BaseException) -> bool:
    """Whether only another program is in the way, which ends by itself."""
    return isinstance(error, sqlite3.Error) and _REASONS.get(primary_code(error)) == _LOCKED


class Unopened(GrusError):
    """The file of the conversations cannot be opened, and the program that asked does not wait."""

    code = "conversations_unopened"

    def __init__(self, error: BaseException) -> None:
        clause = f"Your conversations cannot be opened: {reason(error)}. The file is unchanged."
        super().__init__(unopened(error) if isinstance(error, NewerDatabase) else clause)


log = logging.getLogger("grus.store")
_T = TypeVar("_T")
Post = Callable[[Callable[[], None]], None]
_FIRST, _LONGEST = 1.0, 30.0  # seconds between two tries
MOST = 64 << 20  # characters and bytes that are kept in memory


class Closed(Exception):
    """The store is closed, and its file cannot be used."""


class NoRoom(OSError):
    """Neither the disk nor the memory takes more."""


class Saving:
    """Runs questions, each in a transaction. Watchers get a sentence through `post`: why nothing can be saved;
    an empty one: all is saved again. Everything but `watch`, `kept`, `wake` and `close` belongs to the store's thread."""

    def __init__(self, later: Callable[[float, Callable[[], Any]], None], post: Post, waits: bool) -> None:
        self._later, self._post, self._waits = later, post, waits
        self.db: Connection | None = None
        self._watcher: Callable[[str], Any] = lambda sentence: None
        self.sentence = ""  # why nothing can be saved
        self.reason = ""  # the clause in it
        self._reported = ""  # the last sentence sent to watchers
        self._pause = _FIRST
        self._again = 0.0  # when the next try is due
        self._scheduled = False
        self._waker = threading.Event()
        self._closing = False

    @property
    def troubled(self) -> bool:
        return bool(self.sentence)

    @property
    def kept(self) -> int:
        """Statements that are in memory alone."""
        return len(self.db.log) if self.troubled and self.db is not None else 0

    def answer(self, db: Connection, question: Callable[[Connection], _T]) -> _T:
        if not self.troubled:
            try:
                db.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                if not passes(error):
                    raise
                self._trouble(error)
            else:
                return self._alone(db, question)
        self._hold(db)
        found = self._inside(db, question)
        if time.monotonic() >= self._again:
            self.try_now()
        return found

    def try_now(self) -> None:
        """Save what is kept."""
        db = self.db
        if db is None or not self.troubled:
            return
        try:
            if not db.in_transaction:
                self._run_again(db)
            db.execute("COMMIT")
        except sqlite3.Error as error:
            _roll_back(db)
            self._trouble(error)
            with contextlib.suppress(sqlite3.Error):
                self._run_again(db)
        else:
            db.cut_log()
            self.recovered()

    def forget(self) -> None:
        """Give up what is kept: all of it is to be deleted."""
        if self.db is not None:
            _roll_back(self.db)
            self.db.cut_log()
            self.recovered()

    def show_error(self, sentence: str) -> None:
        if sentence != self.sentence:
            self.sentence = sentence
            if sentence:
                log.log(logging.WARNING if self._waits else logging.INFO, "%s", sentence)
            self._post(self._notify)

    def watch(self, watcher: Callable[[str], Any]) -> None:
        """Call `watcher(sentence)` on every change of the problem, and at once if nothing can be saved already."""
        self._watcher, self._reported = watcher, ""  # sentences before had no watcher
        self._post(self._notify)

    def _notify(self) -> None:
        if self._reported != self.sentence:
            self._reported = self.sentence
            self._watcher(self._reported)

    def recovered(self) -> None:
        self._pause, self._again = _FIRST, 0.0
        self.show_error("")

    def rest(self) -> None:
        """Wait until the next retry is due or requested. Raises Closed when the store is closing."""
        if not self._closing:
            self._waker.wait(self._pause)
        self._waker.clear()
        self._pause = min(_LONGEST, self._pause * 2)
        if self._closing:
            raise Closed

    def wake(self) -> None:
        self._waker.set()

    def close(self) -> None:
        self._closing = True
        self._waker.set()

    # -- inside

    def _trouble(self, error: BaseException) -> None:
        self.reason = reason(error)
        self.show_error(unsaved(error))
        self._again = time.monotonic() + self._pause
        if not self._scheduled and not self._closing:
            self._scheduled = True
            self._later(self._pause, self._due)
            self._pause = min(_LONGEST, self._pause * 2)

    def _due(self) -> None:
        self._scheduled = False
        self.try_now()

    def _alone(self, db: Connection, question: Callable[[Connection], _T]) -> _T:
        """A question in a transaction of its own. It runs once, whatever becomes of the commit."""
        try:
            found = question(db)
        except BaseException:
            _roll_back(db)
            db.cut_log()
            raise
        try:
            db.execute("COMMIT")
        except sqlite3.Error as error:
            _roll_back(db)
            if not passes(error):
                db.cut_log()
                raise
            self._trouble(error)
            self._hold(db)
        else:
            db.cut_log()
        return found

    def _hold(self, db: Connection) -> None:
        """A transaction with all that is not saved. Waits where not even that can be begun."""
        while not db.in_transaction:
            try:
                self._run_again(db)
            except sqlite3.Error as error:
                _roll_back(db)
                if not passes(error):
                    raise
                self.show_error(unsaved(error))
                self.rest()

    def _run_again(self, db: Connection) -> None:
        db.execute("BEGIN IMMEDIATE")
        db.replay()

    def _inside(self, db: Connection, question: Callable[[Connection], _T]) -> _T:
        """One question of several in the open transaction."""
        before = len(db.log)
        db.execute("SAVEPOINT question")
        try:
            found = question(db)
            if len(db.log) > before and db.logged > MOST:
                raise NoRoom(0, tr("there are too many unsaved changes"))
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK TO question")
                db.execute("RELEASE question")
            db.cut_log(before)
            raise
        db.execute("RELEASE question")
        return found


def _roll_back(db: Connection) -> None:
    if db.in_transaction:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")


_QUIET = 1.0  # seconds after which a VACUUM that was interrupted begins again
_STEPS = 1000  # of SQLite's machine, between two looks for waiting questions
_MOST_WAITING = 10_000  # questions, while the file cannot be opened
_SMALL = 256 << 20  # bytes; a larger file is not rewritten while a person waits for the end of the program


def at_once(work: Callable[[], None]) -> None:
    """A `Post` for those who have no UI thread."""
    work()


class AppStore:
    """`post` runs a callback on the UI thread. `failed(sentence)` receives errors of questions without a handler.

    While the file cannot be opened questions wait, as a person in the window may do something about it. With `waits=False`, for a
    command, they raise `Unopened`.
    """

    def __init__(
        self, file: Path, post: Post = at_once, failed: Callable[[str], None] | None = None, waits: bool = True
    ) -> None:
        self.file = file
        self.folder = file.parent
        self._post = post
        self._waits = waits
        self._failed = failed or (lambda sentence: None)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="grus-store")
        self._guard = threading.Lock()
        self._waiting = 0  # questions
        self._vacuuming: Connection | None = None
        self._timers: set[threading.Timer] = set()
        self._opened: Future[OpenedDatabase] = Future()
        self._began = time.time()
        self._lock = FileLock(file.with_name(f"{file.name}.lock"))
        self.saving = Saving(self._later, post, waits)
        self._submit(self._begin)

    def ask(
        self,
        question: Callable[[Connection], _T],
        then: Callable[[_T], Any] | None = None,
        failed: Callable[[str], Any] | None = None,
    ) -> Future[_T]:
        """Run `question(db)` on the store's thread, after all that were asked before."""

        def fail(sentence: str) -> None:
            self._post(lambda: (failed or self._failed)(sentence))

        def run() -> _T:
            try:
                answer = self.saving.answer(self._connection(), question)
            except (Closed, Unopened):
                raise
            except BaseException as error:
                if isinstance(error, sqlite3.Error | OSError):
                    why = reason(error) if passes(error) else error
                    fail(tr("Could not save: {error}.", error=why))
                else:
                    log.exception("a question to the store failed")
                raise
            finally:
                with self._guard:
                    self._waiting -= 1
            if then is not None:
                self._post(lambda: then(answer))
            return answer

        with self._guard:
            if full := self._waiting >= _MOST_WAITING:
                fail(tr("Could not save: {error}.", error=tr("there are too many unsaved changes")))
            else:
                self._waiting += 1
            if self._vacuuming is not None:
                self._vacuuming.interrupt()  # a person waits
        return _cancelled() if full else self._submit(run)

    def delete(self, question: Callable[[Connection], _T], then: Callable[[_T], Any] | None = None) -> None:
        """Ask a question that marks something as deleted. It goes for good after the undo time."""

        def mark(db: Connection) -> _T:
            answer = question(db)
            self._later(database.UNDO_SECONDS, self._purge_due)
            return answer

        self.ask(mark, then)

    def drop_files(self, *unwanted: str) -> None:
        """Delete copies that are no longer needed, unless a row refers to them."""

        def drop() -> None:
            unused = self.saving.answer(self._connection(), lambda db: database.unused(db, list(unwanted)))
            database.remove(self.folder, unused)

        self._submit(drop)

    def opened(self, then: Callable[[OpenedDatabase], Any]) -> None:
        """Call back with how the file was found, once it is open."""
        self._opened.add_done_callback(
            lambda future: None if future.cancelled() else self._post(lambda: then(future.result()))
        )

    def wait(self, timeout: float = 10) -> None:
        """Until everything asked so far is answered and on disk."""
        self._thread.submit(lambda: None).result(timeout)

    def save_now(self) -> None:
        """A person has made room: try again at once."""
        self.saving.wake()
        self._submit(self.saving.try_now)

    def wipe(self, then: Callable[[], Any], failed: Callable[[str], Any]) -> None:
        """Delete every row for good. Files are the caller's."""

        def run() -> None:
            try:
                self._wipe()
            except (sqlite3.Error, OSError) as error:
                sentence = tr("Could not delete: {error}.", error=error)
                self._post(lambda: failed(sentence))
            else:
                self._post(then)

        self._submit(run)

    def close(self) -> None:
        """What can still be saved is saved; what was deleted is gone."""
        self.saving.close()

        def end() -> None:
            if not self._opened.done() or self._opened.cancelled():
                return
            db, alone = self._opened.result().db, self._is_alone()
            try:
                if alone:
                    self._purge(float("inf"))
                self.saving.try_now()
                if alone and self.file.stat().st_size < _SMALL:
                    self._vacuum(at_close=True)
            except (sqlite3.Error, OSError, Closed) as error:
                log.warning("the end of the store: %s", error)
            finally:
                db.close()
            if alone:
                database.clear_dragged(self.folder)
            self._lock.release()

        self._submit(end)
        with self._guard:
            for timer in self._timers:
                timer.cancel()
        self._thread.shutdown(wait=True)
        self._opened.cancel()

    # -- on the store's thread

    def _begin(self) -> None:
        """What the last process could not do: it was killed, or an older Grus."""
        db = self._connection()
        if not self._is_alone():
            return
        self._purge(self._began)
        since, until = self.saving.answer(db, database.created), self._began - 1  # files have a coarse clock
        database.sweep(self.folder, self.saving.answer(db, lambda db: list(database.referenced(db))), since, until)
        database.clear_dragged(self.folder)
        if not self.saving.troubled:
            db.checkpoint()

    def _is_alone(self) -> bool:
        """Whether no other process has the store open; on a disk that cannot say so, too."""
        try:
            database.private_file(self._lock.file)
            return self._lock.take()
        except OSError as error:
            log.info("no lock: %s", error)
            return True

    def _connection(self) -> Connection:
        """Waits for as long as the file cannot be opened, or raises Unopened."""
        while not self._opened.done():
            try:
                opened = open_database(self.file)
            except (sqlite3.Error, OSError, NewerDatabase) as error:
                if not self._waits and not may_open_later(error):
                    raise Unopened(error) from None
                log.debug("the database cannot be opened: %s", error)
                self.saving.show_error(unopened(error))
                self.saving.rest()
            else:
                self.saving.db = opened.db
                self.saving.recovered()
                self._opened.set_result(opened)
        return self._opened.result().db

    def _purge_due(self) -> None:
        """The oldest first; what was marked since has its own time, whatever the clock did."""
        now = time.time()
        self._purge(now - database.UNDO_SECONDS)
        if (marked := self.saving.answer(self._connection(), database.next_due)) is not None:
            self._later(min(database.UNDO_SECONDS, max(0.1, marked + database.UNDO_SECONDS - now)), self._purge_due)

    def _purge(self, before: float) -> None:
        db = self._connection()
        unused = self.saving.answer(db, lambda db: database.purge(db, before))
        if unused is not None:
            database.remove(self.folder, unused)
            if self._is_alone():
                database.clear_dragged(self.folder)
            if not self.saving.troubled:
                db.checkpoint()
        self._later(0.0, self._vacuum)

    def _vacuum(self, at_close: bool = False) -> None:
        """Rewrite the file without what was deleted. A question that comes interrupts it, and it begins again later."""
        db = self._connection()
        if self.saving.troubled or not database.needs_vacuum(db):
            return
        with self._guard:
            waits = self._waiting > 0 and not at_close
            if not waits and not at_close:
                self._vacuuming = db
        try:
            if not waits:
                db.execute("PRAGMA cache_spill = ON")  # the whole file would not have room in memory
                db.execute("PRAGMA temp_store = FILE")
                if not at_close:  # a question may have come before there was anything to interrupt
                    db.set_progress_handler(lambda: self._waiting > 0, _STEPS)
                db.execute("VACUUM")
                waits = False
        except sqlite3.Error as error:
            log.info("the VACUUM did not end: %s", error)
            waits = True
        finally:
            with self._guard:
                self._vacuuming = None
            db.set_progress_handler(None, 0)
            db.execute("PRAGMA cache_spill = OFF")
            db.execute("PRAGMA temp_store = MEMORY")
        if waits:
            self._later(_QUIET, self._vacuum)
            return
        self.saving.answer(db, lambda db: database.want_vacuum(db, False))
        if not self.saving.troubled:
            db.checkpoint()

    def _wipe(self) -> None:
        db = self._connection()
        self.saving.forget()
        tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name != 'facts'"
        try:
            for (name,) in db.execute(tables).fetchall():
                db.execute(f'DELETE FROM "{name}"')
            db.execute("VACUUM")
            db.checkpoint()
        except sqlite3.Error as error:
            log.warning("rows could not be overwritten: %s; the file is deleted instead", error)
            db.close()
            self._opened = Future()
            unlink_database(self.file)
            self._connection()
        database.want_vacuum(self._connection(), False)

    # -- inside

    def _submit(self, job: Callable[[], _T]) -> Future[_T]:
        try:
            return self._thread.submit(job)
        except RuntimeError:  # closed: the question came too late
            return _cancelled()

    def _later(self, seconds: float, job: Callable[[], Any]) -> None:
        """On the store's thread, after this time."""

        def run() -> None:
            with self._guard:
                self._timers.discard(timer)
            self._submit(job)

        timer = threading.Timer(seconds, run)
        timer.daemon = True
        with self._guard:
            self._timers.add(timer)
        timer.start()


def _cancelled() -> Future[Any]:
    late: Future[Any] = Future()
    late.cancel()
    return late
