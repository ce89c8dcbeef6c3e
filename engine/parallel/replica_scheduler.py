"""Gives each request of a model to one of its replicas: to the one whose prefix cache holds the most of the prompt, unless others
have much less to do. Replica 0 is the executor of this process.

Requests wait here until a replica has room in its batch, so that those that wait are not bound to one. Runs on the engine's
thread; what replicas' listeners report is queued for it.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from engine.errors import EngineFault, ErrorText, GrusError, SlowConsumer
from engine.metrics import EngineContext
from engine.parallel.replicas import PromptHistory, Replica, Replicas
from engine.prefix_cache import common_prefix
from engine.sequence import RequestState
from engine.types import Done, Embedded, Event, Failed, Finished, Frames, PromptScores, Request, Text

log = logging.getLogger("grus.engine")
LEAST_SHARED = 32  # tokens; for fewer the less busy replica is better
WAITING_BEYOND = 2  # sequences sent to another process beyond its batch, so that it never waits for this one


def prompt_key(request: Request) -> list[int]:
    """What two prompts have in common as far as a prefix cache sees it: tokens, and a number for each picture where it begins,
    since prompts with different pictures have the same tokens."""
    key, place = list(request.prompt_ids), 0
    for picture in request.pictures:
        if picture.tokens:
            key[int(request.positions[place])] = -1 - hash(picture.key)
        place += picture.tokens
    return key


class OwnExecutor(Protocol):
    """The executor of this process, as the scheduler uses it."""

    def compute(self, state: RequestState) -> None:
        """Compute the request here."""

    def fail(self, state: RequestState, error: GrusError, keep: bool = True) -> None: ...
    def end_request(self, state: RequestState, error: GrusError | None) -> None: ...


@dataclass(eq=False)
class _Sent:
    """A request that another process computes."""

    state: RequestState
    replica: Replica
    at: float
    replied: bool = False  # something of its reply has been passed on: it cannot be computed anew elsewhere


class ReplicaScheduler:
    def __init__(
        self, replicas: Replicas, executor: OwnExecutor, context: EngineContext, wake: Callable[[], None]
    ) -> None:
        self._replicas, self._executor, self._context, self._wake = replicas, executor, context, wake
        self._waiting: deque[RequestState] = deque()
        self._own: dict[str, int] = {}  # sequences of each request that is computed here
        self._sent: dict[str, _Sent] = {}
        self._history = PromptHistory()
        self._reports: deque[Callable[[], None]] = deque()  # appended by listeners
        replicas.receive, replicas.lost = self._receive, self._lost

    @property
    def waiting(self) -> int:
        """Requests without a replica. May be called on any thread, as `elsewhere`."""
        return len(self._waiting)

    @property
    def elsewhere(self) -> int:
        return len(self._sent)

    @property
    def alive(self) -> int:
        """Replicas that answer, this process included. May be called on any thread."""
        return 1 + len(self._replicas.ready)

    def add(self, state: RequestState) -> None:
        self._waiting.append(state)

    def turn(self) -> bool:
        """Apply what other processes have reported, and give waiting requests to replicas with room."""
        worked = bool(self._reports)
        while self._reports:
            self._reports.popleft()()
        if self._waiting:
            self._replicas.start_missing()
        while self._waiting and self._place(self._waiting[0]):
            worked = True
        return worked

    def cancel(self, state: RequestState) -> bool:
        """False where the request is computed here."""
        if (sent := self._sent.get(state.id)) is not None:
            sent.replica.send("cancel", state.id)  # its end is reported
            return True
        if state in self._waiting:
            self._executor.end_request(state, None)
            return True
        return False

    def leave(self, state: RequestState) -> None:
        """The request has ended."""
        self._own.pop(state.id, None)
        if (sent := self._release(state.id)) is not None:
            sent.replica.send("cancel", state.id)
        elif state in self._waiting:
            self._waiting.remove(state)

    def clear_prefixes(self) -> None:
        self._history.clear()
        self._replicas.clear_prefixes()

    # -- the choice

    def _place(self, state: RequestState) -> bool:
        """Give the request to a replica. False when none has room."""
        request, count = state.request, state.params.n
        here = (
            request.adapter is not None
            or request.sound is not None
            or request.track is not None
            or request.embeds is not None
        )
        key = prompt_key(request)
        replica = None if here else self._choose(key, count)
        if replica is None and not here:
            return False
        self._waiting.popleft()
        if isinstance(replica, Replica):
            self._send(replica, state, key)
        else:
            self._own[state.id] = count
            self._history.add(key)
            self._executor.compute(state)
        return True

    def _choose(self, key: list[int], count: int) -> Replica | ReplicaScheduler | None:
        """A replica with room for `count` more sequences; this scheduler itself for the executor here."""
        most = self._context.settings.max_concurrent
        places: list[Replica | ReplicaScheduler] = [self, *self._replicas.ready]
        free = [
            one
            for one in places
            if not one.load or one.load + count <= most + (WAITING_BEYOND if isinstance(one, Replica) else 0)
        ]
        if not free:
            return None
        least = min(free, key=lambda one: one.load)
        if not self._context.settings.prefix_reuse:
            return least
        shared = {one: one.history.shared(key, common_prefix) for one in free}
        holder = max(free, key=lambda one: (shared[one], -one.load))
        near = holder.load <= least.load + max(1, most // 4)
        return holder if near and shared[holder] >= LEAST_SHARED else least

    @property
    def load(self) -> int:
        return sum(self._own.values())

    @property
    def history(self) -> PromptHistory:
        return self._history

    # -- other processes

    def _send(self, replica: Replica, state: RequestState, key: list[int]) -> None:
        request = replace(state.request, sampling=replace(state.params, seed=state.seed))
        self._sent[state.id] = _Sent(state, replica, self._context.clock())
        replica.load += state.params.n
        replica.history.add(key)
        replica.give(request)

    def _release(self, request: str) -> _Sent | None:
        sent = self._sent.pop(request, None)
        if sent is not None:
            sent.replica.load -= sent.state.params.n
        return sent

    def _report(self, work: Callable[[], None]) -> None:
        self._reports.append(work)
        self._wake()

    def _receive(self, replica: Replica, request: str, event: Event) -> None:
        """On a listener's thread: events of the reply go on at once, the rest is for the engine's thread."""
        sent = self._sent.get(request)
        if sent is None or sent.replica is not replica:  # it has ended here
            return
        if isinstance(event, Done | Failed):
            self._report(partial(self._ended, request, event))
            return
        sent.replied |= isinstance(event, Text | Frames | Embedded | PromptScores | Finished)
        if not sent.state.handle.put(event) and not sent.state.over:
            most = self._context.settings.max_events
            unread = SlowConsumer(f"{most} events of request {request} were not read; it was ended.")
            self._report(partial(self._executor.fail, sent.state, unread))

    def _ended(self, request: str, event: Done | Failed) -> None:
        sent = self._release(request)
        if sent is None:
            return
        sent.replica.ends = 0
        state, context, now = sent.state, self._context, self._context.clock()
        counters, before = context.counters, sent.at - state.submitted
        spent = event.timings
        timings = replace(
            spent, queued=spent.queued + before, first_token=spent.first_token + before, total=spent.total + before
        )
        state.elsewhere = replace(event, timings=timings)
        requests = counters.requests
        if isinstance(event, Done):
            requests.admitted(timings.queued, now)
        if spent.output_tokens:
            requests.started(timings.first_token, spent.first_token - spent.queued, now)
            requests.tokens(spent.gap_p50, spent.output_tokens - 1, now)
        computed = spent.prompt_tokens - spent.cached_tokens
        counters.prompt_tokens += computed
        context.prompt_tokens.add(computed, now)
        counters.output_tokens += spent.output_tokens
        context.tokens.add(spent.output_tokens, now)
        counters.drafted += spent.drafted
        counters.accepted += spent.accepted
        if spent.cached_tokens:
            counters.prefix_hits += 1
            counters.prefix_tokens += spent.cached_tokens
        self._executor.end_request(state, event.error if isinstance(event, Failed) else None)

    def _lost(self, replica: Replica, why: str) -> None:
        """On a listener's thread: the process has ended."""
        self._report(partial(self._move, replica, why))

    def _move(self, replica: Replica, why: str) -> None:
        """Requests that have replied nothing yet are computed by another replica; the others fail."""
        replica.history.clear()
        for sent in [sent for sent in self._sent.values() if sent.replica is replica]:
            state = sent.state
            self._release(state.id)
            if state.cancelled:
                self._executor.end_request(state, None)
            elif sent.replied:
                lost = f"{replica.called} {why}"
                text = ErrorText("The process that answered has ended: {why}. Send the request again.", why=lost)
                self._executor.fail(state, EngineFault(text))
            else:
                self._waiting.appendleft(state)
