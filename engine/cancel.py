"""`CancelScope`: an engine for one piece of work, whose requests and tasks can be cancelled together from any thread.

A voice waits in one thread for its next frames; the Stop button is in another.
"""

from __future__ import annotations

import threading
from concurrent.futures import CancelledError
from typing import Any, Protocol

from engine.tasks import Task, Work
from engine.types import Request


class EngineLike(Protocol):
    """What pipelines use of an engine: the engine itself, a model service, or a scope over one of them."""

    def submit(self, request: Request, *, admitted: bool = False) -> Any: ...
    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]: ...


class CancelScope:
    """Stands in for the engine. After `cancel` it takes nothing more: `submit` and `task` raise CancelledError. Once the
    engine took a request, the rest of the work is not refused for a full queue: a voice would break off in the middle."""

    def __init__(self, engine: EngineLike) -> None:
        self._engine = engine
        self._lock = threading.Lock()
        self._cancelled = False
        self._admitted = False  # a request of it was taken
        self._handles: list[Any] = []
        self._tasks: list[Task[Any]] = []

    @classmethod
    def over(cls, engine: Any) -> CancelScope:
        """The engine, where it is a scope already, else a new scope over it."""
        return engine if isinstance(engine, cls) else cls(engine)

    @property
    def is_cancelled(self) -> bool:
        return self._cancelled

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
        if self._cancelled:
            raise CancelledError

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
            handles, tasks = self._handles, self._tasks
            self._handles, self._tasks = [], []
        for handle in handles:
            handle.cancel()
        for task in tasks:
            task.cancel()
