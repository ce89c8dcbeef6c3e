"""The engine: accepts requests from any thread, runs all models on one thread, and emits events.

The engine's thread creates and evaluates every array. It loops: take calls from the inbox, let every loaded model do one
step, run one piece of a task, unload idle models, sleep when there is nothing to do. `Router` brings a request to its
model, `executor.py` runs the model's steps.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import psutil

from engine.at_exit import close_at_exit, note_native
from engine.errors import BadRequest, EngineFault, EngineStopped, ErrorText, GrusError, ModelNotFound, QueueFull
from engine.executor import ModelExecutor
from engine.loaded import Loaded, Loader
from engine.metrics import Counters, EngineContext, EngineStats, ModelStats, NullTracer, Rate, RequestMetrics, Tracer
from engine.model_manager import Busy, ModelManager
from engine.power import BatteryThreads
from engine.sequence import RequestState
from engine.tasks import Task, TaskRun, Work, wrapped
from engine.types import Request, RequestHandle, Result, Settings, outcome

# -- the router: requests and tasks wait here while their model has no room in memory; on the engine's thread only


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
            self._fail(
                state,
                EngineFault(
                    ErrorText(
                        "The model {name} could not be loaded: {kind}: {error}",
                        name=name,
                        kind=type(error).__name__,
                        error=error,
                    )
                ),
            )
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


log = logging.getLogger("grus.engine")
_T = TypeVar("_T")
_BATCH_WAIT = 0.001  # seconds to wait for further tasks of a batch
_MAX_SLEEP = 0.5  # seconds, so that idle deadlines of another clock are noticed


class Engine:
    """Serves many requests at once on one device.

    `load(name)` gives a loaded model; it is called on the engine's thread when one is first asked for (see `Loader`). With
    `start=False` nothing happens by itself: the caller is the engine's thread and calls `turn`.
    """

    def __init__(self, load: Callable[[str], Loaded], settings: Settings | None = None, *,
                 clock: Callable[[], float] = time.monotonic, profile: Path | None = None,
                 start: bool = True) -> None:  # fmt: skip
        self.settings = settings or Settings()
        self._clock = clock
        self._began = clock()
        self._profile = profile
        self._helper = ThreadPoolExecutor(1, thread_name_prefix="grus-helper")
        self._context = EngineContext(self.settings, clock, Tracer() if profile is not None else NullTracer(), Counters(),
                              Rate(self._began), Rate(self._began), Rate(self._began))  # fmt: skip
        loader = load if isinstance(load, Loader) else Loader(load)
        self._manager = ModelManager(loader, self._context, self._helper, self.wake, lambda task: self._tasks.add(task))
        self._battery_threads = BatteryThreads(self.settings.battery_threads, clock)
        self._tasks = TaskQueue(self._manager, self._context.trace)
        self._router = Router(self._manager, self._context)
        self._inbox: deque[Callable[[], None]] = deque()
        self._wakeup = threading.Event()
        self._stopping = False  # no new requests
        self._closing = threading.Lock()
        self._closed = False
        self._checked = True  # for leaked slots, since the last work
        self._thread = threading.Thread(target=self._live, name="grus-engine", daemon=True) if start else None
        if self._thread is not None:
            close_at_exit(self)
            self._thread.start()

    # -- from any thread

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        """Queue a request. Raises BadRequest, QueueFull or EngineStopped; other errors arrive as `Failed`. An `admitted` one is
        part of accepted work (the next sentence of speech) and is not rejected for a full queue."""
        return self._submit(request, self.settings.max_events, admitted)

    def _submit(self, request: Request, limit: int | None, admitted: bool = False) -> RequestHandle:
        request.sampling.check()
        handle = RequestHandle(request.id, limit, lambda: self._call(lambda: self._router.cancel(state)))
        seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(63)
        state = RequestState(request, handle, seed, self._clock())
        with self._closing:  # nothing may be queued once the engine has stopped
            self._check_open(admitted)
            self._call(lambda: self._router.add(state))
        return handle

    def batch(self, requests: Sequence[Request], *, errors: str = "raise") -> list[Result | GrusError]:
        """Run many requests and return their results in order; `errors="return"`: with the error of a failed one."""
        returned = errors == "return"
        begun: list[RequestHandle | GrusError] = []
        unfinished: deque[RequestHandle] = deque()  # may not have ended
        try:
            for request in requests:
                try:
                    begun.append(self._submit_in_turn(request, unfinished))
                except GrusError as error:
                    if not returned:
                        raise
                    begun.append(error)
            return [outcome(one, returned) for one in begun]
        except BaseException:
            for one in begun:
                if isinstance(one, RequestHandle):
                    one.cancel()
            raise

    def _submit_in_turn(self, request: Request, unfinished: deque[RequestHandle]) -> RequestHandle:
        """Submit; while the queue is full, wait for the oldest of `unfinished` to end."""
        while True:
            try:
                handle = self._submit(request, None)
            except QueueFull:
                if unfinished:
                    unfinished.popleft().wait()
                else:
                    time.sleep(0.01)  # the queue is full of others' requests
            else:
                unfinished.append(handle)
                return handle

    def task(self, model: str, work: Work[_T], *, admitted: bool = False) -> Task[_T]:
        """Run `work(loaded)` as a task on the engine's thread, interleaved with steps (see `tasks.py`). It counts against the
        same queue limit as requests, unless it is `admitted`."""
        task = Task(model, work, self.wake, counted=not admitted)
        with self._closing:
            self._check_open(admitted)
            self._call(lambda: self._tasks.add(task))
        return task

    def cancel(self, request: str) -> bool:
        """Cancel a request by id. False when it is not running."""
        state = self._router.find(request)
        if state is not None:
            state.handle.cancel()
        return state is not None

    def load(self, name: str, *, pin: bool = False, timeout: float | None = None) -> None:
        """Load a model now instead of at its first request. Raises what loading raises."""

        def work() -> None:
            try:
                self._manager.executor(name)
            except Busy:
                raise QueueFull(
                    ErrorText("There is no room for another model while those that are loaded work.")
                ) from None
            if pin:
                self._manager.pinned.add(name)

        self._ask(work, timeout)

    def pin(self, name: str, pinned: bool = True) -> None:
        """Pin a model: it is not unloaded to make room or when idle."""

        def work() -> None:
            self._executor_of(name)
            (self._manager.pinned.add if pinned else self._manager.pinned.discard)(name)

        self._ask(work, None)

    def unload(self, name: str, *, cancel: bool = False, timeout: float | None = None) -> None:
        """Unload a model after its requests have ended, or at once (`cancel`). Returns when it is unloaded."""

        def work() -> None:
            self._executor_of(name)
            if cancel:
                self._manager.unload(name)
            else:
                self._manager.closing.add(name)

        self._ask(work, timeout)
        deadline = None if timeout is None else time.monotonic() + timeout
        while name in self._manager.closing:
            if self._thread is None:
                self.turn()
                continue
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"The model {name} is still in use.")
            time.sleep(0.005)

    def keep(self, name: str, seconds: float | None) -> None:
        """Set a model's idle time before it is unloaded (None: only when its room is needed). Counts from now, and holds
        until it is unloaded; may be set before it is loaded."""
        if seconds is not None and not seconds >= 0:
            raise BadRequest(f"A model is kept for 0 seconds or more, not {seconds!r}.", "seconds")
        self._ask(lambda: self._manager.keep(name, seconds), None)

    def drop_adapter(self, model: str, key: str) -> None:
        """Free an adapter of a loaded model, once the requests that use it have ended."""

        def work() -> None:
            if (executor := self._manager.executors.get(model)) is not None:
                executor.drop_adapter(key)

        self._ask(work, None)

    def clear_prefix_cache(self, model: str | None = None) -> int:
        """Clear the prefix cache of a loaded model, or of all, including what is offloaded to disk. Returns how many
        prefixes there were."""

        def work() -> Future[int]:
            if model is not None:
                self._executor_of(model)
            return self._manager.clear_prefix_cache(model)

        return self._ask(work, None).result()

    def models(self) -> list[ModelStats]:
        return self._manager.stats(self._clock())

    def stats(self) -> EngineStats:
        now, counters, context = self._clock(), self._context.counters, self._context
        executors = list(self._manager.executors.values())
        models = self.models()
        return EngineStats(
            active=sum(m.active for m in models),
            waiting=self._waiting(),
            evicted=sum(m.evicted for m in models),
            total=counters.total,
            completed=counters.completed,
            cancelled=counters.cancelled,
            failed=counters.failed,
            evictions=counters.preemptions,
            kv_bytes=sum(m.kv_bytes for m in models),
            weight_bytes=sum(m.weight_bytes for m in models),
            memory_limit=self._manager.limit,
            host_bytes=sum(executor.scheduler.allocator.host_bytes for executor in executors),
            prefix_hits=counters.prefix_hits,
            prefix_tokens=counters.prefix_tokens,
            spilled_bytes=self._manager.offload.nbytes if self._manager.offload is not None else 0,
            prompt_tokens=counters.prompt_tokens,
            output_tokens=counters.output_tokens,
            drafted=counters.drafted,
            accepted=counters.accepted,
            steps=counters.steps,
            leaks=counters.leaks,
            tokens_per_second=context.tokens.read(now),
            prompt_tokens_per_second=context.prompt_tokens.read(now),
            requests_per_second=context.finished.read(now),
            avg_tokens_per_request=counters.requests.tokens_per_request,
            avg_decode_tokens_per_second=counters.requests.decode_rate,
            last_minute=counters.requests.last_minute(now),
            process_memory=psutil.Process().memory_info().rss,
            uptime=now - self._began,
            models=models,
        )

    @property
    def request_metrics(self) -> RequestMetrics:
        """Metrics of all requests since the start. Read only: the engine writes them."""
        return self._context.counters.requests

    @property
    def idle(self) -> bool:
        """Whether nothing is queued and nothing is running."""
        executors = list(self._manager.executors.values())
        waited_for = self._inbox or self._router.running or len(self._tasks)
        return not waited_for and not any(executor.busy for executor in executors)

    def close(self, grace: float = 0.0) -> None:
        """Reject new requests, let running ones continue for `grace` seconds, and end the rest with EngineStopped."""
        if self._closed:
            return
        with self._closing:
            self._stopping = True
        deadline = time.monotonic() + grace
        while not self.idle and time.monotonic() < deadline:
            if self._thread is None:
                self.turn()
            else:
                time.sleep(0.005)
        self._closed = True
        self.wake()
        if self._thread is None:
            self._shut_down()
        elif self._thread is not threading.current_thread():
            self._thread.join()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def wake(self) -> None:
        self._wakeup.set()

    def _call(self, work: Callable[[], None]) -> None:
        self._inbox.append(work)
        self.wake()

    def _ask(self, work: Callable[[], _T], timeout: float | None) -> _T:
        """Call `work` on the engine's thread and return its result."""
        answer: Future[_T] = Future()

        def run() -> None:
            try:
                answer.set_result(work())
            except BaseException as error:
                answer.set_exception(error)

        with self._closing:
            self._check_open(admitted=True)
            self._call(run)
        if self._thread is None:
            self.turn()
        return answer.result(timeout)

    def _check_open(self, admitted: bool) -> None:
        """Raise EngineStopped, or QueueFull at the queue limit. Called under the lock of all that add to the queue."""
        if self._stopping:
            raise EngineStopped(ErrorText("The engine has been stopped."))
        if not admitted and self._waiting() >= self.settings.max_queue:
            raise QueueFull(ErrorText("{n} requests are waiting already. Try again later.", n=self.settings.max_queue))

    def _waiting(self) -> int:
        """The number of requests and tasks that have not begun."""
        executors = list(self._manager.executors.values())
        in_lanes = sum(len(executor.scheduler.waiting) + executor.encoder.waiting for executor in executors)
        in_lanes += sum(executor.replicas.waiting for executor in executors if executor.replicas is not None)
        return len(self._inbox) + self._router.waiting + self._tasks.waiting + in_lanes

    # -- on the engine's thread

    def _live(self) -> None:
        note_native()
        try:
            while not self._closed:
                self._wakeup.clear()
                if not self.turn():
                    deadline = self._manager.next_deadline()
                    nap = _MAX_SLEEP if deadline is None else min(_MAX_SLEEP, max(0.001, deadline - self._clock()))
                    self._wakeup.wait(nap)
        except Exception:  # callers must not wait for a dead thread
            log.exception("the engine failed and stops")
            with self._closing:
                self._stopping = True
        self._shut_down()

    def turn(self) -> bool:
        """One iteration of the engine's loop: run the inbox, then one step of every model. False when nothing was done."""
        worked = bool(self._inbox)
        while self._inbox:
            self._inbox.popleft()()
        self._battery_threads.look(executor.loaded.backend for executor in self._manager.executors.values())
        for executor in list(self._manager.executors.values()):
            worked |= self._step(executor)
        self._gather_batch()
        worked |= self._tasks.step()
        left = self._manager.tidy(self._clock())
        executors = self._manager.executors.values()
        if self._router.waiting and (left or not all(executor.busy for executor in executors) or not executors):
            self._router.place_waiting()
        if worked:
            self._checked = False
        elif not self._checked:
            self.check()
        return worked

    def _gather_batch(self) -> None:
        """Wait for further tasks that can be batched with the next one: callers that received the same step submit theirs at
        nearly the same time."""
        while self._tasks.may_batch:
            time.sleep(_BATCH_WAIT)
            if not self._inbox:
                return
            while self._inbox:
                self._inbox.popleft()()

    def _step(self, executor: ModelExecutor) -> bool:
        if (lost := getattr(executor.loaded, "lost", None)) is not None:
            return self._give_up(executor, lost)
        self._manager.share_memory(executor)
        try:
            return executor.step()
        except Exception as error:
            if (lost := getattr(executor.loaded, "lost", None)) is not None:
                return self._give_up(executor, lost)
            log.exception("a step of %s failed in the engine itself", executor.loaded.name)
            fault = EngineFault(ErrorText("The engine failed: {kind}: {error}", kind=type(error).__name__, error=error))
            for state in list(executor.requests.values()):
                executor.fail(state, fault, keep=False)
            return True

    def _give_up(self, executor: ModelExecutor, reason: str) -> bool:
        """A rank of the model is lost: end its requests and unload it. The next request loads it again."""
        log.error("%s: %s", executor.loaded.name, reason)
        executor.abandon(EngineFault(reason))
        self._manager.unload(next(name for name, one in self._manager.executors.items() if one is executor))
        return True

    def check(self) -> int:
        """Close leaked slots of idle models. Returns how many there were."""
        self._checked = True
        return sum(executor.check() for executor in self._manager.executors.values() if not executor.busy)

    def _executor_of(self, name: str) -> ModelExecutor:
        executor = self._manager.executors.get(name)
        if executor is None:
            raise ModelNotFound(ErrorText("The model {name} is not loaded.", name=name))
        return executor

    def _shut_down(self) -> None:
        while self._inbox:
            self._inbox.popleft()()
        stopped = EngineStopped(ErrorText("The engine was stopped before the request ended."))
        self._router.stop(stopped)
        self._tasks.stop(stopped)
        for executor in self._manager.executors.values():
            executor.stop(str(stopped))
        self._manager.close()
        self._helper.shutdown()
        if self._profile is not None:
            self._context.trace.write(self._profile)
