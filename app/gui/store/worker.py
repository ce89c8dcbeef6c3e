"""One thread that owns the database. Others ask it questions; answers come back on the UI thread.

A question is a function of the connection. It runs alone, in a transaction of its own: whole or not at all, and on disk
when its answer arrives.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from app.gui.store.database import Opened, open_database
from app.gui.texts import tr

log = logging.getLogger("grus.store")
_T = TypeVar("_T")
Post = Callable[[Callable[[], None]], None]


def at_once(work: Callable[[], None]) -> None:
    """A `Post` for those who have no UI thread."""
    work()


class Store:
    """`post` brings a callback to the UI thread. `failed(sentence)` hears of questions that nobody else looks after."""

    def __init__(self, file: Path, post: Post = at_once, failed: Callable[[str], None] | None = None) -> None:
        self.file = file
        self._post = post
        self._failed = failed or (lambda sentence: None)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="grus-store")
        self._opening: Future[Opened] = self._thread.submit(open_database, file)

    def ask(
        self,
        question: Callable[[sqlite3.Connection], _T],
        then: Callable[[_T], Any] | None = None,
        failed: Callable[[str], Any] | None = None,
    ) -> Future[_T]:
        """Run `question(db)` on the store's thread, after all that were asked before."""

        def run() -> _T:
            db = self._opening.result().db
            db.execute("BEGIN IMMEDIATE")
            try:
                answer = question(db)
                db.execute("COMMIT")
            except BaseException as error:
                db.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error | OSError):
                    sentence = tr("This could not be saved: {error}.", error=error)
                    self._post(lambda: (failed or self._failed)(sentence))
                else:
                    log.exception("a question to the store failed")
                raise
            if then is not None:
                self._post(lambda: then(answer))
            return answer

        try:
            return self._thread.submit(run)
        except RuntimeError:  # closed: whoever asks now is late, and nobody waits for the answer
            late: Future[_T] = Future()
            late.cancel()
            return late

    def opened(self, then: Callable[[Opened], Any]) -> None:
        """Tell how the file was found, once it is open."""
        self._opening.add_done_callback(lambda future: self._post(lambda: then(future.result())))

    def wait(self, timeout: float = 10) -> None:
        """Until everything asked so far is answered and on disk."""
        self._thread.submit(lambda: None).result(timeout)

    def close(self) -> None:
        def end() -> None:
            if not self._opening.exception():
                self._opening.result().db.close()

        self._thread.submit(end)
        self._thread.shutdown(wait=True)
