"""An engine on a scope: everything that was asked of it for one purpose can be stopped at once, from any thread.

A voice waits in one thread for its next frames; whoever no longer wants to hear it is in another.
"""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from typing import Any, Protocol

from engine.tasks import Task, Work
from engine.types import Request


class EngineLike(Protocol):
    def submit(self, request: Request, *, admitted: bool = False) -> Any: ...
    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]: ...


class CancelScope:
    """Stands in for the engine. After `cut` it takes nothing more: who still asks gets CancelledError. Once the engine took
    a request, the rest of the work is not refused for a full queue: a voice would break off in the middle."""

    def __init__(self, engine: EngineLike) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._is_cut = False
        self._admitted = False  # a request of it was taken
        self._handles: list[Any] = []
        self._tasks: list[Task[Any]] = []

    @property
    def is_cancelled(self) -> bool:
        return self._is_cut

    def submit(self, request: Request, *, admitted: bool = False) -> Any:
        with self._lock:
            self._check()
            handle = self._engine.submit(request, admitted=admitted or self._admitted)
            self._admitted = True
            self._handles = [other for other in self._handles if not other.ended] + [handle]
            return handle

    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]:
        with self._lock:
            self._check()
            task = self._engine.task(model, work, admitted=admitted or self._admitted)
            self._tasks = [other for other in self._tasks if not other.future.done()] + [task]
            return task

    def _check(self) -> None:
        if self._is_cut:
            raise CancelledError

    def cut(self) -> None:
        with self._lock:
            self._is_cut = True
            handles, tasks = self._handles, self._tasks
            self._handles, self._tasks = [], []
        for handle in handles:
            handle.cancel()
        for task in tasks:
            task.cancel()
