"""Changes that cannot be saved now, and the sentence that says why.

They are kept in memory in their order, are visible to every question, and are saved as soon as the disk takes them. None of
these errors means that the file is damaged.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from app.gui.store.database import Connection, NewerDatabase, primary_code
from app.gui.texts import mark, tr

_FULL = mark("the disk is full")
_IO = mark("the disk reports an error")
_READ_ONLY = mark("it may only be read")
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
    sqlite3.SQLITE_NOMEM: mark("there is too little memory"),
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
    return tr("Nothing can be saved: {reason}. What you do is kept in memory until it can be.", reason=reason(error))


def unopened(error: BaseException) -> str:
    """The file cannot be opened. It is not touched."""
    if isinstance(error, NewerDatabase):
        return tr(
            "A newer Grus saved your conversations. Install it again to see them; this one leaves the file as it is."
        )
    return tr(
        "Your conversations cannot be opened: {reason}. The file stays as it is, and Grus tries again.",
        reason=reason(error),
    )


log = logging.getLogger("grus.store")
_T = TypeVar("_T")
_FIRST, _LONGEST = 1.0, 30.0  # seconds between two tries
MOST = 64 << 20  # characters and bytes that are kept in memory


class Closed(Exception):
    """The store is closed, and its file cannot be used."""


class NoRoom(OSError):
    """Neither the disk nor the memory takes more."""


class Saving:
    """Runs questions, each in a transaction. Watchers get a sentence through `post`: why nothing can be saved;
    an empty one: all is saved again. Everything but `watch`, `kept`, `wake` and `close` belongs to the store's thread."""

    def __init__(
        self, later: Callable[[float, Callable[[], Any]], None], post: Callable[[Callable[[], None]], None]
    ) -> None:
        self._later, self._post = later, post
        self.db: Connection | None = None
        self._told: Callable[[str], Any] = lambda sentence: None
        self.sentence = ""  # why nothing can be saved
        self._said = ""  # the last sentence sent to watchers
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
                log.warning("%s", sentence)
            self._post(self._tell)

    def watch(self, told: Callable[[str], Any]) -> None:
        """Call `told(sentence)` from now on, and at once if nothing can be saved already."""
        self._told, self._said = told, ""  # sentences before had no watcher
        self._post(self._tell)

    def _tell(self) -> None:
        if self._said != self.sentence:
            self._said = self.sentence
            self._told(self._said)

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
                raise NoRoom(0, tr("too much waits to be saved"))
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
