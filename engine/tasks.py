"""Tasks: work on a model's arrays that is not a step of a sequence (an image encoder, a codec, a page layout).

A task is a generator that runs on the engine's thread and yields wherever steps of requests may run in between
(cooperative scheduling). Tasks take turns, one piece each, so that a long one never blocks a short one. Work that is
cheaper in a batch (`Joint`) is begun for all tasks that wait for it; the engine waits a moment for further ones.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from engine.errors import EngineFault, ErrorText, GrusError

if TYPE_CHECKING:
    from engine.types import Request

log = logging.getLogger("grus.engine")
T = TypeVar("T")
Work = Callable[[Any], Generator[None, None, T]]  # of the loaded model


@dataclass(frozen=True)
class Joint(Generic[T]):
    """Work that can be batched. `together` computes the parts of several tasks and returns their results in order; tasks
    with the same `together` and the same model may be batched. A single one runs like any other work."""

    together: Callable[[Any, Sequence[Any]], Generator[None, None, Sequence[T]]]  # of the loaded model and the parts
    part: Any
    most: int  # largest useful batch

    def __call__(self, loaded: Any) -> Generator[None, None, T]:
        return (yield from self.together(loaded, [self.part]))[0]


class Task(Generic[T]):
    """A submitted piece of work. Any thread may wait for it or cancel it."""

    def __init__(
        self, model: str, work: Work[T], wake: Callable[[], None] = lambda: None, *, counted: bool = True
    ) -> None:
        """`counted`: the task counts against the queue limit. An encoder's task does not: its requests are counted."""
        self.model = model
        self.counted = counted
        self.work = work
        self.future: Future[T] = Future()
        self.cancelled = False
        self._wake = wake

    def result(self, timeout: float | None = None) -> T:
        """Wait for the result. Raises what the work raised, or CancelledError."""
        return self.future.result(timeout)

    def cancel(self) -> None:
        """Stop the work where it next yields. No effect after its end."""
        self.cancelled = True
        self._wake()

    # -- on the engine's thread

    def end(self, result: T) -> None:
        if not self.future.done():
            self.future.set_result(result)

    def fail(self, error: BaseException) -> None:
        if not self.future.done():
            self.future.set_exception(error)


class TaskRun:
    """The running work of one task or of a batch of tasks. Used on the engine's thread only."""

    def __init__(self, task: Task[Any]) -> None:
        self.tasks = [task]
        self._work: Generator[None, None, Any] | None = None

    @property
    def model(self) -> str:
        return self.tasks[0].model

    @property
    def done(self) -> bool:
        return all(task.future.done() for task in self.tasks)

    @property
    def cancelled_early(self) -> bool:
        """Whether all its tasks were cancelled before the work began."""
        return self._work is None and all(task.cancelled for task in self.tasks)

    @property
    def what(self) -> str:
        """The name of the work, for the trace."""
        work: Any = self.tasks[0].work
        work = work.together if isinstance(work, Joint) else getattr(work, "func", work)
        return str(getattr(work, "__qualname__", type(work).__name__)).split(".<locals>")[0]

    @property
    def max_batch(self) -> int:
        """The largest useful batch."""
        work = self.tasks[0].work
        return work.most if isinstance(work, Joint) else 1

    @property
    def has_room(self) -> bool:
        """Whether the work has not begun and the batch is not full."""
        return self._work is None and not self.cancelled_early and len(self.tasks) < self.max_batch

    @property
    def counted(self) -> int:
        """The number of its tasks that count against the queue limit."""
        return sum(task.counted and not task.cancelled for task in self.tasks)

    def can_batch(self, other: TaskRun) -> bool:
        """Whether the queued `other` can become part of this batch."""
        mine, theirs = self.tasks[0].work, other.tasks[0].work
        if self._work is not None or other._work is not None or self.model != other.model or other.cancelled_early:
            return False
        if not isinstance(mine, Joint) or not isinstance(theirs, Joint) or mine.together is not theirs.together:
            return False
        return len(self.tasks) + len(other.tasks) <= self.max_batch

    def advance(self, loaded: Any) -> bool:
        """Run the work until it yields. False when it has ended. A cancelled task ends at once; the work continues for
        the others of the batch."""
        for task in self.tasks:
            if task.cancelled:
                task.fail(CancelledError())
        if self.done:
            self._close()
            return False
        try:
            if self._work is None:
                self._work = self._begin(loaded)
            next(self._work)
        except StopIteration as end:
            for task, result in zip(self.tasks, end.value if len(self.tasks) > 1 else [end.value]):
                task.end(result)
            return False
        except Exception as error:
            self.fail(wrapped(error))
            return False
        return True

    def fail(self, error: BaseException) -> None:
        self._close()
        for task in self.tasks:
            task.fail(error)

    def _begin(self, loaded: Any) -> Generator[None, None, Any]:
        first: Any = self.tasks[0].work
        if len(self.tasks) == 1:
            return first(loaded)  # type: ignore[no-any-return]
        works: list[Any] = [task.work for task in self.tasks]  # all Joint, with the same `together`
        return first.together(loaded, [work.part for work in works])  # type: ignore[no-any-return]

    def _close(self) -> None:
        if self._work is not None:
            self._work.close()


def wrapped(error: Exception) -> GrusError:
    """A GrusError as it is; any other exception as an EngineFault, logged."""
    if isinstance(error, GrusError):
        return error
    log.error("a task failed", exc_info=error)
    fault = EngineFault(ErrorText("The engine failed: {kind}: {error}", kind=type(error).__name__, error=error))
    fault.__cause__ = error
    return fault


# -- `CancelScope`: an engine for one piece of work, whose requests and tasks can be cancelled together from any thread
#
# A voice waits in one thread for its next frames; the Stop button is in another.


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
