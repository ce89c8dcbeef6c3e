"""What cannot be saved now: kept in memory in its order, visible to every question, and saved when the disk takes it again.

Where a commit fails, SQLite rolls the transaction back. Its statements were recorded (`Connection.log`): they are run again in
a transaction that stays open, in memory alone, and so are those that follow. Its commit is tried again and again.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from app.gui.store.database import Connection
from app.gui.store.trouble import passes, unsaved
from app.gui.texts import tr

log = logging.getLogger("grus.store")
_T = TypeVar("_T")
_FIRST, _LONGEST = 1.0, 30.0  # seconds between two tries
MOST = 64 << 20  # characters and bytes that are kept in memory


class Closed(Exception):
    """The store is closed, and its file cannot be used."""


class NoRoom(OSError):
    """Neither the disk nor the memory takes more."""


class Saving:
    """Answers questions, each in a transaction. Who watches is told a sentence, through `post`: nothing can be saved, and why;
    an empty one: all is saved again. Everything but `watch`, `kept`, `wake` and `close` belongs to the store's thread."""

    def __init__(
        self, later: Callable[[float, Callable[[], Any]], None], post: Callable[[Callable[[], None]], None]
    ) -> None:
        self._later, self._post = later, post
        self.db: Connection | None = None
        self._told: Callable[[str], Any] = lambda sentence: None
        self.sentence = ""  # why nothing can be saved
        self._said = ""  # the last that who watches was told
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

    def complain(self, sentence: str) -> None:
        if sentence != self.sentence:
            self.sentence = sentence
            if sentence:
                log.warning("%s", sentence)
            self._post(self._tell)

    def watch(self, told: Callable[[str], Any]) -> None:
        """`told(sentence)` from now on, and at once where nothing can be saved already."""
        self._told, self._said = told, ""  # what was said before, nobody heard
        self._post(self._tell)

    def _tell(self) -> None:
        if self._said != self.sentence:
            self._said = self.sentence
            self._told(self._said)

    def recovered(self) -> None:
        self._pause, self._again = _FIRST, 0.0
        self.complain("")

    def rest(self) -> None:
        """Until the next try is due, or somebody asks for it. Raises Closed when the store is closing."""
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
        self.complain(unsaved(error))
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
                self.complain(unsaved(error))
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
