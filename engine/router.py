"""The router: hands requests and tasks to the executor of their model, which is loaded when it must be.

Requests and tasks wait here while their model has no room in memory. Runs on the engine's thread only.
"""

from __future__ import annotations

import logging
from collections import deque
from concurrent.futures import CancelledError
from typing import Any

from engine.errors import BadRequest, EngineFault, EngineStopped, GrusError
from engine.metrics import EngineContext, NullTracer
from engine.model_manager import Busy, ModelManager
from engine.sequence import RequestState
from engine.tasks import Task, TaskRun, wrapped

log = logging.getLogger("grus.engine")


class Router:
    """Routes requests to their model's executor, and finds running requests by id."""

    def __init__(self, manager: ModelManager, context: EngineContext) -> None:
        self._manager = manager
        self._context = context
        self._unplaced: deque[RequestState] = deque()  # their model does not fit until another one is idle
        self._running: dict[str, RequestState] = {}  # by id, until they end

    @property
    def waiting(self) -> int:
        return len(self._unplaced)

    @property
    def running(self) -> int:
        return len(self._running)

    def find(self, request: str) -> RequestState | None:
        """The running request with this id. May be called on any thread."""
        return self._running.get(request)

    def add(self, state: RequestState) -> None:
        self._context.counters.total += 1
        if state.id in self._running:  # else `cancel` would be ambiguous
            self._fail(state, BadRequest(f"A request with the id {state.id} is running already.", "id"))
            return
        self._running[state.id] = state
        state.handle.on_end = lambda: self._remove(state)
        self._place(state)

    def _remove(self, state: RequestState) -> None:
        del self._running[state.id]

    def place_waiting(self) -> None:
        """Retry the requests whose model had no room."""
        for _ in range(len(self._unplaced)):
            self._place(self._unplaced.popleft())

    def _place(self, state: RequestState) -> None:
        if state.over:
            return
        name = state.request.model
        if name in self._manager.closing:
            self._unplaced.append(state)
            return
        try:
            executor = self._manager.executor(name)
        except Busy:
            self._unplaced.append(state)
        except GrusError as error:
            self._fail(state, error)
        except Exception as error:
            log.exception("%s: loading %s failed", state.id, name)
            self._fail(state, EngineFault(f"The model {name} could not be loaded: {type(error).__name__}: {error}"))
        else:
            executor.add(state)

    def _fail(self, state: RequestState, error: GrusError) -> None:
        """End a request that has not reached an executor."""
        state.end(self._context.counters, self._context.clock(), error)

    def cancel(self, state: RequestState) -> None:
        if state.over:
            return
        state.cancelled = True
        executor = self._manager.executors.get(state.request.model)
        if executor is not None and state.id in executor.requests:
            executor.cancel(state)
        else:
            self._unplaced.remove(state)
            state.end(self._context.counters, self._context.clock())

    def stop(self, error: EngineStopped) -> None:
        """End the requests that wait for their model."""
        while self._unplaced:
            self._fail(self._unplaced.popleft(), error)


class TaskQueue:
    """The queue of all tasks of an engine: they take turns, one piece of work each."""

    def __init__(self, manager: ModelManager, trace: NullTracer) -> None:
        self._manager = manager
        self._trace = trace
        self._queue: deque[TaskRun] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def waiting(self) -> int:
        """Tasks that wait for their turn (all but one). May be called on any thread."""
        return max(0, sum(run.counted for run in self._queue.copy()) - 1)

    def add(self, task: Task[Any]) -> None:
        self._queue.append(TaskRun(task))

    @property
    def may_batch(self) -> bool:
        """Whether the next task could be batched with others that have not arrived yet."""
        if not self._queue or not self._queue[0].has_room:
            return False
        first, *others = self._queue
        return len(first.tasks) + sum(len(other.tasks) for other in others if first.can_batch(other)) < first.max_batch

    def step(self) -> bool:
        """Run one piece of the first task that can run, and put it at the end of the queue. False when none could."""
        for _ in range(len(self._queue)):
            run = self._queue.popleft()
            if run.done:  # its model was unloaded
                continue
            if run.cancelled_early:  # a model is not loaded for a cancelled task
                run.fail(CancelledError())
                return True
            try:
                executor = self._manager.executor(run.model)
            except Busy:
                self._queue.append(run)
                continue
            except Exception as error:
                run.fail(wrapped(error))
                return True
            self._batch(run)
            executor.tasks.add(run)
            with self._trace.span("task", model=run.model, what=run.what):
                more = run.advance(executor.loaded)
            if more:
                self._queue.append(run)
            else:
                executor.tasks.discard(run)
            executor.touch()
            return True
        return False

    def _batch(self, run: TaskRun) -> None:
        """Add the queued tasks that can be batched with this one."""
        for other in list(self._queue):
            if run.can_batch(other):
                run.tasks += other.tasks
                self._queue.remove(other)

    def stop(self, error: GrusError) -> None:
        while self._queue:
            self._queue.popleft().fail(error)
