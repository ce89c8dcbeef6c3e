"""Requests on the engine's thread until a lane has them: their model is found or loaded, or they wait for its room.

Also knows every request that runs by its id. Knows no threads: `engine.py` brings requests here, and `lane.py` does what
they ask for.
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
from engine.types import Done, Failed

log = logging.getLogger("grus.engine")


class Router:
    def __init__(self, manager: ModelManager, context: EngineContext) -> None:
        self._manager = manager
        self._context = context
        self._unplaced: deque[RequestState] = deque()  # their model has no room until another one is idle
        self._running: dict[str, RequestState] = {}  # wherever they are

    @property
    def waiting(self) -> int:
        return len(self._unplaced)

    @property
    def running(self) -> int:
        return len(self._running)

    def find(self, request: str) -> RequestState | None:
        """The request of this id, as long as it runs. May be asked on any thread."""
        return self._running.get(request)

    def add(self, state: RequestState) -> None:
        self._context.counters.total += 1
        if state.id in self._running:  # two that were called alike could not be told apart by those who cancel
            self._fail(state, BadRequest(f"A request with the id {state.id} is running already.", "id"))
            return
        self._running[state.id] = state
        state.handle.on_end = lambda: self._forget(state)
        self._place(state)

    def _forget(self, state: RequestState) -> None:
        del self._running[state.id]

    def place_waiting(self) -> None:
        """Try again with those whose model had no room."""
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
        """End a job that has not reached a lane."""
        state.over = True
        self._context.counters.failed += 1
        self._context.counters.requests.failed(error.code)
        state.handle.end(Failed(state.id, error, state.timings(self._context.clock())))

    def cancel(self, state: RequestState) -> None:
        if state.over:
            return
        state.cancelled = True
        executor = self._manager.executors.get(state.request.model)
        if executor is not None and state.id in executor.requests:
            executor.cancel(state)
        else:
            self._unplaced.remove(state)
            state.over = True
            now = self._context.clock()
            timings = state.timings(now)
            self._context.counters.cancelled += 1
            self._context.counters.requests.ended("cancelled", timings, now)
            state.handle.end(Done(state.id, "cancelled", timings))

    def stop(self, error: EngineStopped) -> None:
        """End those that wait for their model."""
        while self._unplaced:
            self._fail(self._unplaced.popleft(), error)


class TaskQueue:
    """All tasks of an engine."""

    def __init__(self, manager: ModelManager, trace: NullTracer) -> None:
        self._manager = manager
        self._trace = trace
        self._queue: deque[TaskRun] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    @property
    def waiting(self) -> int:
        """Tasks that wait for their turn: all but one, since tasks take turns. Any thread may ask."""
        return max(0, sum(run.counted for run in self._queue.copy()) - 1)

    def add(self, task: Task[Any]) -> None:
        self._queue.append(TaskRun(task))

    @property
    def hopeful(self) -> bool:
        """Whether the next work may have company that has not come yet."""
        if not self._queue or not self._queue[0].lonely:
            return False
        first, *others = self._queue
        return len(first.tasks) + sum(len(other.tasks) for other in others if first.joins(other)) < first.most

    def step(self) -> bool:
        """One piece of the first work that can go on; it then goes to the end of the line. False: none could."""
        for _ in range(len(self._queue)):
            run = self._queue.popleft()
            if run.over:  # its model was unloaded
                continue
            if run.forgone:  # no model is loaded for what nobody waits for
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
            self._gather(run)
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

    def _gather(self, run: TaskRun) -> None:
        """Those in line that may have their work done with this one's."""
        for other in list(self._queue):
            if run.joins(other):
                run.tasks += other.tasks
                self._queue.remove(other)

    def stop(self, error: GrusError) -> None:
        while self._queue:
            self._queue.popleft().fail(error)
