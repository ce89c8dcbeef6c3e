"""`Stream`: long work beside the UI thread that yields results as it proceeds, such as pages, sound or captions.

Results reach the UI thread at most once a frame. Imports neither Qt nor the engine.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from app.explain import explained
from engine.errors import GrusError

log = logging.getLogger("grus.window")


class Gathers(Protocol):
    def put(self, item: Any) -> None: ...


class Cancels(Protocol):
    def cancel(self) -> None: ...


class Streams(Protocol):
    """What runs such work (`app.window_engine.WindowEngine`)."""

    def stream(
        self, work: Callable[[Any], Iterator[Any]], hear: Callable[[list[Any]], Any], ended: Callable[[str], Any]
    ) -> Cancels: ...


class Stream:
    """Calls `receive(items)` with results and `ended(problem)` once at the end, both on the UI thread. An empty problem: success.

    After `cancel` neither is called any more. What the work waits for is cancelled, and its iterator is closed.
    """

    def __init__(
        self,
        work: Callable[[], Iterator[Any]],
        frames: Callable[[Callable[[list[Any]], None]], Gathers],
        receive: Callable[[list[Any]], Any],
        ended: Callable[[str], Any],
        over: Callable[[Stream], Any] = lambda stream: None,
        cancel: Callable[[], None] = lambda: None,
    ) -> None:
        """`cancel` ends what the work is waiting for."""
        self._work, self._receive, self._ended, self._over, self._cancel = work, receive, ended, over, cancel
        self._cancelled = threading.Event()
        self._gather = frames(self._deliver)

    def start(self) -> None:
        threading.Thread(target=self._run, name="grus-stream", daemon=True).start()

    def cancel(self) -> None:
        self._cancelled.set()
        self._cancel()

    def _run(self) -> None:
        problem = ""
        try:
            items = self._work()
            try:
                for item in items:
                    if self._cancelled.is_set():
                        break
                    self._gather.put(("item", item))
            finally:
                if (close := getattr(items, "close", None)) is not None:
                    close()
        except BaseException as error:
            problem = explained(error)
            if not isinstance(error, GrusError | OSError) and not self._cancelled.is_set():
                log.exception("long work failed")
        self._gather.put(("end", problem))

    def _deliver(self, items: list[Any]) -> None:
        given = [item for kind, item in items if kind == "item"]
        ends = [problem for kind, problem in items if kind == "end"]
        if given and not self._cancelled.is_set():
            self._receive(given)
        if ends:
            self._over(self)
            if not self._cancelled.is_set():
                self._ended(ends[0])
