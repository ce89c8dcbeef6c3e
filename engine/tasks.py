"""Work beside requests: what touches a model's arrays but is no step of a sequence (an image encoder, a codec, a layout).

A piece of work is a generator that runs on the engine's thread and yields wherever running replies may step in between.
Tasks take turns, one piece each, so that a long one never blocks a short one. Knows nothing of what the work is.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import CancelledError, Future
from typing import Any, Generic, Protocol, TypeVar

from engine.errors import EngineFault, GrusError

log = logging.getLogger("grus.engine")
T = TypeVar("T")
Work = Callable[[Any], Generator[None, None, T]]  # of the loaded model


class Place(Protocol):
    """A loaded model, as work beside requests sees it: `engine.lane.Lane`."""

    tasks: set[Task[Any]]  # that have begun: the model is in use

    @property
    def loaded(self) -> Any: ...
    def touch(self) -> None: ...


class Places(Protocol):
    """Where models are found."""

    def lane(self, name: str) -> Place:
        """Raises what loading raises, or Busy."""


class Task(Generic[T]):
    """A piece of work that was asked for. Any thread may wait for it or cancel it."""

    def __init__(self, model: str, work: Work[T], wake: Callable[[], None] = lambda: None) -> None:
        self.model = model
        self.future: Future[T] = Future()
        self._work = work
        self._wake = wake
        self._cancelled = False
        self._running: Generator[None, None, T] | None = None

    def result(self, timeout: float | None = None) -> T:
        """Wait for the end. Raises what the work raised, or CancelledError."""
        return self.future.result(timeout)

    def cancel(self) -> None:
        """Stop at the next point where the work lets others in. Harmless when it has ended."""
        self._cancelled = True
        self._wake()

    @property
    def forgone(self) -> bool:
        """It was cancelled before it began."""
        return self._cancelled and self._running is None

    # -- on the engine's thread

    def advance(self, loaded: Any) -> bool:
        """Do the next piece. False when there is nothing more to do."""
        if self._cancelled:
            return self._end(CancelledError())
        try:
            if self._running is None:
                self._running = self._work(loaded)
            next(self._running)
        except StopIteration as end:
            self.future.set_result(end.value)
            return False
        except Exception as error:
            return self._end(wrapped(error))
        return True

    def fail(self, error: BaseException) -> None:
        self._end(error)

    def _end(self, error: BaseException) -> bool:
        if self._running is not None:
            self._running.close()
        if not self.future.done():
            self.future.set_exception(error)
        return False


def wrapped(error: Exception) -> GrusError:
    """Errors with a sentence for people go out as they are; others are the engine's own fault."""
    if isinstance(error, GrusError):
        return error
    log.error("work beside requests failed", exc_info=error)
    fault = EngineFault(f"The engine failed: {type(error).__name__}: {error}")
    fault.__cause__ = error
    return fault


class Tasks:
    """All tasks of an engine."""

    def __init__(self, lanes: Places, busy: type[Exception]) -> None:
        self._lanes = lanes
        self._busy = busy  # what `lane` raises while a model has no room until another one is idle
        self._queue: deque[Task[Any]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, task: Task[Any]) -> None:
        self._queue.append(task)

    def step(self) -> bool:
        """One piece of the first task that can go on; it then goes to the end of the line. False: none could."""
        for _ in range(len(self._queue)):
            task = self._queue.popleft()
            if task.future.done():  # its model was unloaded
                continue
            if task.forgone:  # no model is loaded for what nobody waits for
                task.fail(CancelledError())
                return True
            try:
                lane = self._lanes.lane(task.model)
            except self._busy:
                self._queue.append(task)
                continue
            except Exception as error:
                task.fail(wrapped(error))
                return True
            lane.tasks.add(task)
            if task.advance(lane.loaded):
                self._queue.append(task)
            else:
                lane.tasks.discard(task)
            lane.touch()
            return True
        return False

    def stop(self, error: GrusError) -> None:
        while self._queue:
            self._queue.popleft().fail(error)
