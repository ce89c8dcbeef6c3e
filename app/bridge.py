"""From the engine's threads to the window's: callbacks posted to the UI thread, and a reply's events a frame at a time.

The UI thread never waits here. Events are gathered as they come, and handed over at most once a frame of the screen,
however many tokens a second there are.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.explain import explained
from engine.errors import GrusError

log = logging.getLogger("grus.window")
_T = TypeVar("_T")
FRAME = 16  # milliseconds, where the screen does not say


class Poster(QObject):
    """Brings callbacks to the thread that made it. `post` may be called from any thread."""

    _posted = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._posted.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def post(self, work: Callable[[], None]) -> None:
        try:
            self._posted.emit(work)
        except RuntimeError:  # the window is gone, and with it the receiver
            log.debug("a callback came after the end")

    @Slot(object)
    def _run(self, work: Callable[[], None]) -> None:
        work()


class Work:
    """Runs jobs beside the UI thread; their outcome comes back to it.

    Jobs that wait for a disk, the network or the engine run side by side. Jobs that only think, in Python, run one after
    another: each would keep the interpreter from the UI thread for a while, and six at once six times as long.
    """

    def __init__(self, post: Callable[[Callable[[], None]], None], threads: int = 6) -> None:
        self.post = post
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="grus-work")
        self._thinker = ThreadPoolExecutor(1, thread_name_prefix="grus-thought")

    def run(
        self,
        job: Callable[[], _T],
        then: Callable[[_T], Any] | None = None,
        failed: Callable[[str], Any] | None = None,
    ) -> Future[_T]:
        """For what waits. `failed` gets one sentence."""
        return self._hand(self._pool, job, then, failed)

    def think(
        self,
        job: Callable[[], _T],
        then: Callable[[_T], Any] | None = None,
        failed: Callable[[str], Any] | None = None,
    ) -> Future[_T]:
        """For what computes in Python: parsing, colouring, drawing."""
        return self._hand(self._thinker, job, then, failed)

    def _hand(
        self,
        pool: ThreadPoolExecutor,
        job: Callable[[], _T],
        then: Callable[[_T], Any] | None,
        failed: Callable[[str], Any] | None,
    ) -> Future[_T]:
        def go() -> _T:
            try:
                answer = job()
            except BaseException as error:
                if not isinstance(error, GrusError | OSError):
                    log.exception("a job failed")
                if failed is not None:
                    sentence = explained(error)
                    self.post(lambda: failed(sentence))
                raise
            if then is not None:
                self.post(lambda: then(answer))
            return answer

        try:
            return pool.submit(go)
        except RuntimeError:  # closed: the window is closing, and no one waits for the result
            late: Future[_T] = Future()
            late.cancel()
            return late

    def close(self) -> None:
        for pool in (self._thinker, self._pool):
            pool.shutdown(wait=True, cancel_futures=True)


class Frames(QObject):
    """Gathers items from any thread; on the UI thread `deliver(items)` gets all that came since the last frame."""

    _wake = Signal()

    def __init__(self, deliver: Callable[[list[Any]], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._deliver = deliver
        self._items: deque[Any] = deque()
        self._guard = threading.Lock()
        self._sleeping = True
        self._frame = frame_interval()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._wake.connect(self._begin, Qt.ConnectionType.QueuedConnection)

    def put(self, item: Any) -> None:
        with self._guard:
            self._items.append(item)
            wake, self._sleeping = self._sleeping, False
        if wake:
            try:
                self._wake.emit()
            except RuntimeError:
                log.debug("an event came after the end")

    @Slot()
    def _begin(self) -> None:
        self._timer.start(self._frame)
        self._tick()

    @Slot()
    def _tick(self) -> None:
        """What takes longer than a frame to show leaves as long again for whatever else a person does."""
        with self._guard:
            items, self._items = list(self._items), deque()
            if not items:
                self._sleeping = True
                self._timer.stop()
        if items:
            began = time.perf_counter()
            self._deliver(items)
            took = 1000 * (time.perf_counter() - began)
            pause = max(self._frame, round(2 * took))
            if pause != self._timer.interval():
                self._timer.setInterval(pause)


def frame_interval() -> int:
    """Milliseconds between two frames of the screen."""
    from PySide6.QtGui import QGuiApplication

    screen = QGuiApplication.primaryScreen() if QGuiApplication.instance() is not None else None
    rate = screen.refreshRate() if screen is not None else 0.0
    return max(4, round(1000 / rate)) if rate >= 24 else FRAME
