"""Work beside requests: what touches a model's arrays but is no step of a sequence (an image encoder, a codec, a layout).

A piece of work is a generator that runs on the engine's thread and yields wherever running replies may step in between.
Tasks take turns, one piece each, so that a long one never blocks a short one. Work that several tasks can have done together
(`Joint`) is begun for all that wait for it by then; the engine gives others a moment to come. Knows nothing of what the work is.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from engine.errors import EngineFault, GrusError

log = logging.getLogger("grus.engine")
T = TypeVar("T")
Work = Callable[[Any], Generator[None, None, T]]  # of the loaded model


@dataclass(frozen=True)
class Joint(Generic[T]):
    """Work of a kind that is cheaper in company. `together` does it for the parts of several tasks, and gives each its result
    in their order; tasks with the same `together` and the same model may be joined. Alone it is work like any other."""

    together: Callable[[Any, Sequence[Any]], Generator[None, None, Sequence[T]]]  # of the loaded model and the parts
    part: Any
    most: int  # tasks that gain by it

    def __call__(self, loaded: Any) -> Generator[None, None, T]:
        return (yield from self.together(loaded, [self.part]))[0]


class Task(Generic[T]):
    """A piece of work that was asked for. Any thread may wait for it or cancel it."""

    def __init__(
        self, model: str, work: Work[T], wake: Callable[[], None] = lambda: None, *, counted: bool = True
    ) -> None:
        """`counted`: it takes a place in the queue. An encoder's task stands for requests, which are counted instead."""
        self.model = model
        self.counted = counted
        self.work = work
        self.future: Future[T] = Future()
        self.cancelled = False
        self._wake = wake

    def result(self, timeout: float | None = None) -> T:
        """Wait for the end. Raises what the work raised, or CancelledError."""
        return self.future.result(timeout)

    def cancel(self) -> None:
        """Stop at the next point where the work lets others in. Harmless when it has ended."""
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
    """The work of one task, or of several that have it done together. On the engine's thread only."""

    def __init__(self, task: Task[Any]) -> None:
        self.tasks = [task]
        self._work: Generator[None, None, Any] | None = None

    @property
    def model(self) -> str:
        return self.tasks[0].model

    @property
    def over(self) -> bool:
        return all(task.future.done() for task in self.tasks)

    @property
    def forgone(self) -> bool:
        """It was cancelled before it began."""
        return self._work is None and all(task.cancelled for task in self.tasks)

    @property
    def what(self) -> str:
        """Its work's name, for a profile."""
        work: Any = self.tasks[0].work
        work = work.together if isinstance(work, Joint) else getattr(work, "func", work)
        return str(getattr(work, "__qualname__", type(work).__name__)).split(".<locals>")[0]

    @property
    def most(self) -> int:
        """Tasks that gain by being one work."""
        work = self.tasks[0].work
        return work.most if isinstance(work, Joint) else 1

    @property
    def lonely(self) -> bool:
        """It has not begun, and others may join it."""
        return self._work is None and not self.forgone and len(self.tasks) < self.most

    @property
    def counted(self) -> int:
        """Its tasks that take a place in the queue."""
        return sum(task.counted and not task.cancelled for task in self.tasks)

    def joins(self, other: TaskRun) -> bool:
        """Whether `other`, which waits, may have its work done here."""
        mine, theirs = self.tasks[0].work, other.tasks[0].work
        if self._work is not None or other._work is not None or self.model != other.model or other.forgone:
            return False
        if not isinstance(mine, Joint) or not isinstance(theirs, Joint) or mine.together is not theirs.together:
            return False
        return len(self.tasks) + len(other.tasks) <= self.most

    def advance(self, loaded: Any) -> bool:
        """Do the next piece. False when there is nothing more to do. Whoever was cancelled is waited for by nobody; the
        work goes on for the others."""
        for task in self.tasks:
            if task.cancelled:
                task.fail(CancelledError())
        if self.over:
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
        works: list[Any] = [task.work for task in self.tasks]  # all Joint, and alike
        return first.together(loaded, [work.part for work in works])  # type: ignore[no-any-return]

    def _close(self) -> None:
        if self._work is not None:
            self._work.close()


def wrapped(error: Exception) -> GrusError:
    """Errors with a sentence for people go out as they are; others are the engine's own fault."""
    if isinstance(error, GrusError):
        return error
    log.error("work beside requests failed", exc_info=error)
    fault = EngineFault(f"The engine failed: {type(error).__name__}: {error}")
    fault.__cause__ = error
    return fault
