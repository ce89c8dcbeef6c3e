"""One thread that owns the database. Others ask it questions; answers come back on the UI thread.

A question is a function of the connection. It runs alone, in a transaction of its own: whole or not at all, and on disk
when its answer arrives. Where the disk cannot be written, questions are answered from memory, in their order, and saved
as soon as it can be (`unsaved.py`); the window receives both.

What is deleted can be brought back for `UNDO_SECONDS`. Then rows and files go, at the latest when the store closes, or when it
is next opened after the process was killed.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from app.gui.store import database, deletion, files
from app.gui.store.database import Connection, NewerDatabase, OpenedDatabase, open_database, unlink_database
from app.gui.store.unsaved import Closed, Saving, passes, reason, unopened
from app.gui.texts import tr

log = logging.getLogger("grus.store")
_T = TypeVar("_T")
Post = Callable[[Callable[[], None]], None]
_QUIET = 1.0  # seconds after which a VACUUM that was interrupted begins again
_MOST_WAITING = 10_000  # questions, while the file cannot be opened
_SMALL = 256 << 20  # bytes; a larger file is not rewritten while a person waits for the end of the program


def at_once(work: Callable[[], None]) -> None:
    """A `Post` for those who have no UI thread."""
    work()


class AppStore:
    """`post` runs a callback on the UI thread. `failed(sentence)` receives errors of questions without a handler."""

    def __init__(self, file: Path, post: Post = at_once, failed: Callable[[str], None] | None = None) -> None:
        self.file = file
        self.folder = file.parent
        self._post = post
        self._failed = failed or (lambda sentence: None)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="grus-store")
        self._guard = threading.Lock()
        self._waiting = 0  # questions
        self._vacuuming: Connection | None = None
        self._timers: set[threading.Timer] = set()
        self._opened: Future[OpenedDatabase] = Future()
        self._began = time.time()
        self.saving = Saving(self._later, post)
        self._submit(self._begin)

    def ask(
        self,
        question: Callable[[Connection], _T],
        then: Callable[[_T], Any] | None = None,
        failed: Callable[[str], Any] | None = None,
    ) -> Future[_T]:
        """Run `question(db)` on the store's thread, after all that were asked before."""

        def tell(sentence: str) -> None:
            self._post(lambda: (failed or self._failed)(sentence))

        def run() -> _T:
            try:
                answer = self.saving.answer(self._connection(), question)
            except Closed:
                raise
            except BaseException as error:
                if isinstance(error, sqlite3.Error | OSError):
                    why = reason(error) if passes(error) else error
                    tell(tr("This could not be saved: {error}.", error=why))
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
                tell(tr("This could not be saved: {error}.", error=tr("too much waits to be saved")))
            else:
                self._waiting += 1
            if self._vacuuming is not None:
                self._vacuuming.interrupt()  # a person waits
        return _cancelled() if full else self._submit(run)

    def delete(self, question: Callable[[Connection], _T], then: Callable[[_T], Any] | None = None) -> None:
        """Ask a question that marks something as deleted. It goes for good after the undo time."""

        def mark(db: Connection) -> _T:
            answer = question(db)
            self._later(deletion.UNDO_SECONDS, self._purge_due)
            return answer

        self.ask(mark, then)

    def drop_files(self, *unwanted: str) -> None:
        """Delete copies that are no longer needed, unless a row refers to them."""

        def drop() -> None:
            unused = self.saving.answer(self._connection(), lambda db: deletion.unused(db, list(unwanted)))
            files.remove(self.folder, unused)

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
                sentence = tr("This could not be deleted: {error}.", error=error)
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
            db = self._opened.result().db
            try:
                self._purge(float("inf"))
                self.saving.try_now()
                if self.file.stat().st_size < _SMALL:
                    self._vacuum(at_close=True)
            except (sqlite3.Error, OSError, Closed) as error:
                log.warning("the end of the store: %s", error)
            finally:
                db.close()
            files.clear_dragged(self.folder)

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
        self._purge(self._began)
        since, until = self.saving.answer(db, database.created), self._began - 1  # files have a coarse clock
        files.sweep(self.folder, self.saving.answer(db, lambda db: list(deletion.referenced(db))), since, until)
        files.clear_dragged(self.folder)
        if not self.saving.troubled:
            db.checkpoint()

    def _connection(self) -> Connection:
        """Waits for as long as the file cannot be opened."""
        while not self._opened.done():
            try:
                opened = open_database(self.file)
            except (sqlite3.Error, OSError, NewerDatabase) as error:
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
        self._purge(now - deletion.UNDO_SECONDS)
        if (marked := self.saving.answer(self._connection(), deletion.next_due)) is not None:
            self._later(min(deletion.UNDO_SECONDS, max(0.1, marked + deletion.UNDO_SECONDS - now)), self._purge_due)

    def _purge(self, before: float) -> None:
        db = self._connection()
        unused = self.saving.answer(db, lambda db: deletion.purge(db, before))
        if unused is not None:
            files.remove(self.folder, unused)
            files.clear_dragged(self.folder)
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
                db.execute("VACUUM")
                waits = False
        except sqlite3.Error as error:
            log.info("the VACUUM did not end: %s", error)
            waits = True
        finally:
            with self._guard:
                self._vacuuming = None
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
