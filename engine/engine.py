"""The engine: requests in from any thread, one thread that owns every array, events out.

`Engine` is the face. Its thread does the same thing for ever: take in what was asked, let every loaded model do one
step in turn, look after idle models, sleep when there is nothing to do. How a request comes to its model is in
`arrivals.py`, how a step works in `lane.py`.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import psutil

from engine.at_exit import close_at_exit, note_native
from engine.errors import BadRequest, EngineFault, EngineStopped, GrusError, ModelNotFound, QueueFull
from engine.executor import ModelExecutor
from engine.loaded import Loaded, Loader
from engine.metrics import Counters, EngineContext, EngineStats, ModelStats, NullTracer, Rate, RequestMetrics, Tracer
from engine.model_manager import Busy, ModelManager
from engine.router import Router, TaskQueue
from engine.sequence import RequestState
from engine.settings import Settings
from engine.tasks import Task, Work
from engine.types import Request, RequestHandle, Result, outcome

log = logging.getLogger("grus.engine")
_T = TypeVar("_T")
_MOMENT = 0.001  # seconds in which a thread that heard of a step asks for what follows
_NAP = 0.5  # seconds; the longest sleep, so that an idle deadline by another clock is seen


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
        self._tasks = TaskQueue(self._manager, self._context.trace)
        self._router = Router(self._manager, self._context)
        self._inbox: deque[Callable[[], None]] = deque()
        self._wakeup = threading.Event()
        self._stopping = False  # no new requests
        self._closing = threading.Lock()
        self._over = False
        self._checked = True  # since there was work last
        self._thread = threading.Thread(target=self._live, name="grus-engine", daemon=True) if start else None
        if self._thread is not None:
            close_at_exit(self)
            self._thread.start()

    # -- from any thread

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        """Queue a request. Raises BadRequest, QueueFull or EngineStopped; all else arrives as `Failed`. One that is `admitted`,
        as part of work that was taken already (the next sentence of a voice), is not refused for a full queue."""
        return self._submit(request, self.settings.max_events, admitted)

    def _submit(self, request: Request, limit: int | None, admitted: bool = False) -> RequestHandle:
        request.sampling.check()
        handle = RequestHandle(request.id, limit, lambda: self._call(lambda: self._router.cancel(state)))
        seed = request.sampling.seed if request.sampling.seed is not None else secrets.randbits(63)
        state = RequestState(request, handle, seed, self._clock())
        with self._closing:  # once the engine stops, nothing may be put where nobody looks any more
            self._check_open(admitted)
            self._call(lambda: self._router.add(state))
        return handle

    def batch(self, requests: Sequence[Request], *, errors: str = "raise") -> list[Result | GrusError]:
        """Run many requests; their results in order. `errors="return"` puts a failed one's error into its place."""
        returned = errors == "return"
        begun: list[RequestHandle | GrusError] = []
        unheard: deque[RequestHandle] = deque()  # not known to have ended
        try:
            for request in requests:
                try:
                    begun.append(self._submit_in_turn(request, unheard))
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

    def _submit_in_turn(self, request: Request, unheard: deque[RequestHandle]) -> RequestHandle:
        """Where the queue is full, wait for the oldest of `unheard` to end."""
        while True:
            try:
                handle = self._submit(request, None)
            except QueueFull:
                if unheard:
                    unheard.popleft().wait()
                else:
                    time.sleep(0.01)  # others fill the queue
            else:
                unheard.append(handle)
                return handle

    def task(self, model: str, work: Work[_T], *, admitted: bool = False) -> Task[_T]:
        """Let `work(loaded)` run beside requests, on the engine's thread: what needs a model's arrays but is no reply.
        Takes a place in the same queue, and is refused as `submit` refuses; one that is `admitted` takes none."""
        task = Task(model, work, self.wake, counted=not admitted)
        with self._closing:
            self._check_open(admitted)
            self._call(lambda: self._tasks.add(task))
        return task

    def cancel(self, request: str) -> bool:
        """Cancel by id. False when no such request is running."""
        state = self._router.find(request)
        if state is not None:
            state.handle.cancel()
        return state is not None

    def load(self, name: str, *, pin: bool = False, timeout: float | None = None) -> None:
        """Load now instead of at the first request. Raises what loading raises."""

        def work() -> None:
            try:
                self._manager.executor(name)
            except Busy:
                raise QueueFull("There is no room for another model while those that are loaded work.") from None
            if pin:
                self._manager.pinned.add(name)

        self._ask(work, timeout)

    def pin(self, name: str, pinned: bool = True) -> None:
        """A pinned model is never unloaded to make room or for being idle."""

        def work() -> None:
            self._executor_of(name)
            (self._manager.pinned.add if pinned else self._manager.pinned.discard)(name)

        self._ask(work, None)

    def unload(self, name: str, *, cancel: bool = False, timeout: float | None = None) -> None:
        """Unload, after the model's requests have ended or (`cancel`) at once. Returns when it is gone."""

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
        """Unload a model when it was not used for so long (None: only when its room is needed). Counts from now, and
        until it is unloaded; a model that is not loaded yet will be kept so when it is."""
        if seconds is not None and not seconds >= 0:
            raise BadRequest(f"A model is kept for 0 seconds or more, not {seconds!r}.", "seconds")
        self._ask(lambda: self._manager.keep(name, seconds), None)

    def clear_prefix_cache(self, model: str | None = None) -> int:
        """Drop the idle prefixes of a loaded model, or of all, and those on disk. Returns how many there were."""

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
            memory_limit=self._manager.limit.nbytes,
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
        """Of all requests since the start. To read; only the engine writes it."""
        return self._context.counters.requests

    @property
    def idle(self) -> bool:
        """Nothing is asked for and nothing is running."""
        executors = list(self._manager.executors.values())
        waited_for = self._inbox or self._router.running or len(self._tasks)
        return not waited_for and not any(executor.busy for executor in executors)

    def close(self, grace: float = 0.0) -> None:
        """Take no more requests; let those that run go on for `grace` seconds; end the rest with EngineStopped."""
        if self._over:
            return
        with self._closing:
            self._stopping = True
        deadline = time.monotonic() + grace
        while not self.idle and time.monotonic() < deadline:
            if self._thread is None:
                self.turn()
            else:
                time.sleep(0.005)
        self._over = True
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
        """Do something on the engine's thread and wait for it."""
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
        """Raise EngineStopped, or QueueFull where as much waits as may. Under the lock of all that add to it."""
        if self._stopping:
            raise EngineStopped("The engine has been stopped.")
        if not admitted and self._waiting() >= self.settings.max_queue:
            raise QueueFull(f"{self.settings.max_queue} requests are waiting already. Try again later.")

    def _waiting(self) -> int:
        """What was asked for and has not begun."""
        executors = list(self._manager.executors.values())
        in_lanes = sum(len(executor.scheduler.waiting) + executor.encoder.waiting for executor in executors)
        return len(self._inbox) + self._router.waiting + self._tasks.waiting + in_lanes

    # -- on the engine's thread

    def _live(self) -> None:
        note_native()
        try:
            while not self._over:
                self._wakeup.clear()
                if not self.turn():
                    deadline = self._manager.next_deadline()
                    nap = _NAP if deadline is None else min(_NAP, max(0.001, deadline - self._clock()))
                    self._wakeup.wait(nap)
        except Exception:  # nobody may wait for a thread that is gone
            log.exception("the engine met a fault of its own, and stops")
            with self._closing:
                self._stopping = True
        self._shut_down()

    def turn(self) -> bool:
        """Take in what was asked and let every model do one step. False when there was nothing to do."""
        worked = bool(self._inbox)
        while self._inbox:
            self._inbox.popleft()()
        for executor in list(self._manager.executors.values()):
            worked |= self._step(executor)
        self._linger()
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

    def _linger(self) -> None:
        """Work that is cheaper in company is asked for by several at once: by all who heard of the same step. The first of
        them waits for the others as long as more come."""
        while self._tasks.hopeful:
            time.sleep(_MOMENT)
            if not self._inbox:
                return
            while self._inbox:
                self._inbox.popleft()()

    def _step(self, executor: ModelExecutor) -> bool:
        self._manager.share_memory(executor)
        try:
            return executor.step()
        except Exception as error:
            log.exception("a step of %s failed in the engine itself", executor.loaded.name)
            fault = EngineFault(f"The engine failed: {type(error).__name__}: {error}")
            for state in list(executor.requests.values()):
                executor.fail(state, fault, keep=False)
            return True

    def check(self) -> int:
        """Look for slots without an owner in models that do nothing. Returns how many were found (and closed)."""
        self._checked = True
        return sum(executor.check() for executor in self._manager.executors.values() if not executor.busy)

    def _executor_of(self, name: str) -> ModelExecutor:
        executor = self._manager.executors.get(name)
        if executor is None:
            raise ModelNotFound(f"The model {name} is not loaded.")
        return executor

    def _shut_down(self) -> None:
        while self._inbox:
            self._inbox.popleft()()
        stopped = EngineStopped("The engine was stopped before the request ended.")
        self._router.stop(stopped)
        self._tasks.stop(stopped)
        for executor in self._manager.executors.values():
            executor.stop(str(stopped))
        self._manager.close()
        self._helper.shutdown()
        if self._profile is not None:
            self._context.trace.write(self._profile)
