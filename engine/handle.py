"""The reader's end of a request: a bounded queue of events, read by iteration or by `async for`.

The engine thread puts, one consumer takes, any thread may cancel. A full queue never blocks the engine: `put` says no,
and the engine ends the request. Knows nothing of how events come about.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator

import numpy as np

from engine.errors import GrusError
from engine.types import Done, Embedded, Event, Failed, Finished, FinishReason, Result, Text, Timings, TokenLogprob


class RequestHandle:
    """The engine's `Handle`."""

    def __init__(self, request: str, limit: int | None, cancel: Callable[[], None]) -> None:
        self.id = request
        self._limit = limit
        self._cancel: Callable[[], None] | None = cancel
        self._events: deque[Event] = deque()
        self._changed = threading.Condition()
        self._ended = False  # the last event was put
        self.timings: Timings | None = None  # ... and told these
        self._drained = False  # ... and taken
        self._waker: Callable[[], None] | None = None
        self.on_end: Callable[[], None] | None = None  # set by the engine before anything can end
        self._collected = _Collector(request)

    # -- the engine's side

    def put(self, event: Event) -> bool:
        """False when the queue is full (or the request has ended)."""
        with self._changed:
            if self._ended or (self._limit is not None and len(self._events) >= self._limit):
                return False
            self._events.append(event)
            self._wake()
            return True

    def end(self, event: Done | Failed) -> bool:
        """The last event: always fits. False when there was one already."""
        with self._changed:
            if self._ended:
                return False
            self._ended, self.timings = True, event.timings
            self._events.append(event)
            self._wake()
            # whoever keeps an ended request keeps its events, and not the engine, its models and their memory
            told, self.on_end, self._cancel = self.on_end, None, None
        if told is not None:
            told()
        return True

    def _wake(self) -> None:
        self._changed.notify_all()
        if self._waker is not None:
            self._waker()

    # -- the consumer's side

    def cancel(self) -> None:
        cancel = self._cancel
        if cancel is not None:
            cancel()

    @property
    def ended(self) -> bool:
        return self._ended

    def wait(self) -> None:
        """Until the request has ended, reading nothing."""
        with self._changed:
            self._changed.wait_for(lambda: self._ended)

    def _take(self, timeout: float | None) -> Event | None:
        """The next event, or None after the last one."""
        deadline = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while not self._events:
                if self._drained:
                    return None
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise TimeoutError(f"Request {self.id} has not ended yet.")
                self._changed.wait(left)
            return self._pop()

    def _pop(self) -> Event:
        event = self._events.popleft()
        self._drained = isinstance(event, Done | Failed)
        self._collected.add(event)
        return event

    def __iter__(self) -> Iterator[Event]:
        while (event := self._take(None)) is not None:
            yield event

    async def __aiter__(self) -> AsyncIterator[Event]:
        loop, ready = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            # the consumer's loop may be gone; the request then runs on until its queue is full
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(ready.set)

        with self._changed:
            self._waker = wake
        try:
            while True:
                with self._changed:
                    event = self._pop() if self._events else None
                    if event is None and self._drained:
                        return
                    ready.clear()
                if event is None:
                    await ready.wait()
                else:
                    yield event
        finally:
            with self._changed:
                self._waker = None

    def result(self, timeout: float | None = None) -> Result:
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._take(None if deadline is None else max(0.0, deadline - time.monotonic())) is not None:
            pass
        return self._collected.result()


class _Collector:
    """Folds events into a Result, so that `result` may be called at any time and again."""

    def __init__(self, request: str) -> None:
        self.request = request
        self._texts: dict[int, list[str]] = {}
        self._ids: list[int] = []
        self._logprobs: list[TokenLogprob] = []
        self._vector: np.ndarray | None = None
        self._reason: FinishReason | None = None  # of choice 0, which `Done` repeats when there is no other
        self._last: Done | Failed | None = None

    def add(self, event: Event) -> None:
        if isinstance(event, Text):
            self._texts.setdefault(event.index, []).append(event.text)
            if event.index == 0:
                self._ids.extend(event.ids)
                self._logprobs.extend(event.logprobs)
        elif isinstance(event, Embedded):
            self._vector = event.vector
        elif isinstance(event, Finished) and event.index == 0:
            self._reason = event.reason
        elif isinstance(event, Done | Failed):
            self._last = event

    def result(self) -> Result:
        last = self._last
        if isinstance(last, Failed):
            raise last.error
        assert last is not None
        texts = ["".join(self._texts.get(i, ())) for i in range(max(self._texts, default=0) + 1)]
        reason = self._reason or last.reason
        return Result(self.request, texts[0], self._ids, reason, last.timings, self._logprobs, texts, self._vector)


def outcome(begun: RequestHandle | GrusError, returned: bool) -> Result | GrusError:
    """What became of a request, or why it was not taken. `returned`: its error, which is raised otherwise."""
    if isinstance(begun, GrusError):
        return begun
    try:
        return begun.result()
    except GrusError as error:
        if returned:
            return error
        raise
