"""The model executor: runs one loaded model step by step (continuous batching) and turns what comes out into events.

Each `step` issues the batch that the scheduler planned, reads the tokens, and sends them to the requests' handles. With
asynchronous scheduling a step is issued before the previous one is read: the device itself holds the token that the next
step needs. `FaultRecovery`, at the end of the file, isolates the request that made a step fail and saves the others.
"""

from __future__ import annotations

import logging
from collections import abc
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from backends.base import PendingStep, SegmentOutput
from backends.ranks import RanksLost
from engine.admission import Admission, MediaEncoder
from engine.errors import EngineFault, EngineStopped, ErrorText, GrusError, NumericalError, OutOfMemory, SlowConsumer
from engine.loaded import Loaded
from engine.metrics import EngineContext
from engine.parallel.replica_scheduler import ReplicaScheduler
from engine.prefix_cache import PrefixCache, SequenceMemory
from engine.scheduler import PrefillBudget, ScheduledSegment, Scheduler, SlotAllocator
from engine.sequence import OutputDelta, RequestState, Sequence, prompt_scores
from engine.speculation import Speculation
from engine.tasks import Task, TaskRun
from engine.types import (
    Embedded,
    Event,
    Finished,
    FinishReason,
    Frames,
    Progress,
    Started,
    Text,
)

log = logging.getLogger("grus.engine")

# Most prompt tokens in a step. Metal takes as many as mlx-lm, whose maintainers measured it; the others were measured here.
CHUNK, METAL_CHUNK = 512, 2048


@dataclass
class InFlightStep:
    """A step that has been issued and not yet read."""

    pending: PendingStep
    batch: list[ScheduledSegment]
    issued: float
    replies: int
    prompt: int

    def carries(self, sequence: Sequence) -> bool:
        return any(scheduled.sequence is sequence for scheduled in self.batch)


class ModelExecutor:
    """Runs one loaded model: owns its scheduler, its requests and the step in flight."""

    def __init__(self, loaded: Loaded, context: EngineContext, memory: SequenceMemory, prefix_cache: PrefixCache, admission: Admission,
                 speculation: Speculation, reclaim: Callable[[], bool], host_limit: int,
                 start: Callable[[Task[None]], None]) -> None:  # fmt: skip
        settings = context.settings
        self.loaded = loaded
        self.memory = memory
        self.prefix_cache = prefix_cache
        self.speculation = speculation
        self.admission = admission
        self.requests: dict[str, RequestState] = {}
        self.encoder = MediaEncoder(loaded.name, start, self._join, self.fail)
        self.tasks: set[TaskRun] = set()  # tasks of this model that have begun
        chunk = settings.prefill_chunk or (METAL_CHUNK if loaded.backend.device == "metal" else CHUNK)
        self.prefill_budget = PrefillBudget(chunk, settings.max_gap)
        allocator = SlotAllocator(memory, prefix_cache, reclaim, settings.prefix_reuse)
        self.scheduler = Scheduler(memory, prefix_cache, allocator, self.prefill_budget, settings, speculation, host_limit,
                                   context.counters)  # fmt: skip
        self.in_flight: InFlightStep | None = None
        self._context = context
        self._trace = context.trace
        self._clock = context.clock
        chosen = settings.async_scheduling
        self._async = loaded.backend.device != "cpu" if chosen is None else chosen
        self._sync_steps = 0  # steps without asynchronous scheduling, after one failed
        self._last_read = 0.0
        self._faults = FaultRecovery(self)
        self.last_used = context.clock()
        self.replicas: ReplicaScheduler | None = None  # of a model that other processes hold too

    # -- requests

    def add(self, state: RequestState) -> None:
        try:
            self.admission.check(state)
        except Exception as error:
            self.end_request(state, self._faults.wrapped(error))
            return
        self.requests[state.id] = state
        if self.replicas is not None:
            self.replicas.add(state)
        else:
            self.compute(state)

    def compute(self, state: RequestState) -> None:
        """Compute a request that was added in this process."""
        if state.request.pictures or state.request.sound is not None:
            self.encoder.add(state)
        else:
            self._join(state)

    def _join(self, state: RequestState) -> None:
        try:
            state.sequences = self.admission.sequences(state)
        except Exception as error:
            self.end_request(state, self._faults.wrapped(error))
        else:
            self.scheduler.waiting.extend(state.sequences)

    def cancel(self, state: RequestState) -> None:
        if state.over or (self.replicas is not None and self.replicas.cancel(state)):
            return
        while self._drain():
            pass
        if not state.sequences and not state.over:
            self.end_request(state, None)
        for sequence in state.sequences:
            if not sequence.ended and not state.over:
                self.finish_sequence(sequence, sequence.output.finish(OutputDelta(reason=None)), "cancelled")

    def stop(self, reason: str) -> None:
        """End every request (the engine stops, or the model is unloaded)."""
        for task in self.tasks:
            task.fail(EngineStopped(reason))
        self.tasks.clear()
        self.encoder.close(EngineStopped(reason))
        for state in list(self.requests.values()):
            self.fail(state, EngineStopped(reason), keep=True)
        while self._drain():
            pass

    def abandon(self, error: GrusError) -> None:
        """End every request with `error`: the model cannot be used any more, and nothing of it is worth keeping."""
        self.in_flight = None
        for task in self.tasks:
            task.fail(error)
        self.tasks.clear()
        self.encoder.close(error)
        for state in list(self.requests.values()):
            self.fail(state, error, keep=False)
        self.prefix_cache.clear(offload=False)

    @property
    def weight_bytes(self) -> int:
        return self.loaded.weight_bytes + self.speculation.held_bytes

    def touch(self) -> None:
        """Note that the model is in use."""
        self.last_used = self._clock()

    @property
    def busy(self) -> bool:
        return bool(self.requests or self.tasks) or self.in_flight is not None

    # -- one step

    def step(self) -> bool:
        """Issue the next step and read the previous one. False when nothing was done."""
        moved = self.replicas is not None and self.replicas.turn()
        if not self.scheduler.has_work and self.in_flight is None:
            return moved
        if self.in_flight is not None and not self._may_run_async():
            self._drain()
        while (stuck := self.scheduler.make_room(self._drain)) is not None:
            self.fail(stuck.parent, self._no_room(stuck))
        self._admit()
        with self._trace.span("plan"):
            batch = self.scheduler.plan()
        previous = self.in_flight
        in_flight = self.issue(batch) if batch else None
        if in_flight is not None or not batch:
            self.in_flight = in_flight
            if previous is not None:
                self.read(previous)
            if in_flight is not None and not self._async:
                self._drain()
        self._free_adapters()
        return moved or bool(batch) or previous is not None

    def drop_adapter(self, key: str) -> None:
        """Free an adapter once no request uses it."""
        loaded: Any = self.loaded  # it has adapters, so it is a `LoadedModel`
        loaded.dropped_adapters.add(key)
        self._free_adapters()

    def _free_adapters(self) -> None:
        loaded: Any = self.loaded
        dropped: set[str] = getattr(loaded, "dropped_adapters", set())
        if not dropped or self.in_flight is not None:
            return
        for key in dropped - {state.request.adapter for state in self.requests.values()}:
            loaded.remove_adapter(key)

    def _may_run_async(self) -> bool:
        if self._sync_steps:
            self._sync_steps -= 1
            return False
        return self._async and not any(
            sequence.needs_host or sequence.isolated or sequence.parent.request.prompt_logprobs
            for sequence in self.scheduler.running
        )

    def _no_room(self, sequence: Sequence) -> OutOfMemory:
        return OutOfMemory(
            ErrorText(
                "{tokens} tokens do not fit into the memory for sequences ({limit} MiB). Shorten the prompt, "
                "raise the memory limit, or quantize the cache.",
                tokens=len(sequence.tokens),
                limit=self.memory.kv.budget >> 20,
            )
        )

    def _admit(self) -> None:
        for sequence in [c for c in self.scheduler.waiting if c.prepared is not None and c.prepared.done()]:
            if sequence.prepared is not None and (error := sequence.prepared.exception()) is not None:
                self.fail(sequence.parent, self._faults.wrapped(error))
        joined, stuck = self.scheduler.admit()
        for sequence in joined:
            state = sequence.parent
            if state.sound is not None:
                self.loaded.model.begin(self.memory.kv, sequence.own_slot, state.sound)  # type: ignore[attr-defined]
            if sequence.index == 0:
                cached = sequence.slot.length if sequence.slot is not None else 0
                if state.admitted is None:
                    now = self._clock()
                    state.admitted, state.cached = now, cached
                    self._context.counters.requests.admitted(now - state.submitted, now)
                    self._trace.past("queue", state.admitted - state.submitted, request=state.id)
                    log.debug("%s: started, %d of %d prompt tokens cached", state.id, cached, sequence.prompt_length)
                self.emit(state, Started(state.id, sequence.prompt_length, min(cached, sequence.prompt_length)))
            self._release_prompt_snapshot(state)
        if stuck is not None and not self._drain():
            self.fail(stuck.parent, self._no_room(stuck))

    def _release_prompt_snapshot(self, state: RequestState) -> None:
        """Drop the snapshot of the prompt once every sequence of the request has been admitted."""
        if state.over or all(c.slot or c.ended for c in state.sequences):
            self.scheduler.drop_prompt_snapshot(state)

    def issue(self, batch: abc.Sequence[ScheduledSegment]) -> InFlightStep | None:
        """Start a step. None when it failed: faults have been handled, and the caller plans again."""
        replies = sum(scheduled.sequence.decoding for scheduled in batch)
        prompt = sum(scheduled.fed for scheduled in batch if not scheduled.sequence.decoding)
        issued = self._clock()
        ids = [scheduled.sequence.parent.id for scheduled in batch] if self._trace.on else ()
        try:
            with self._trace.span("prefill" if prompt else "decode", requests=ids, prompt=prompt):
                pending = self.loaded.runner.run([scheduled.segment for scheduled in batch])
        except RanksLost:  # no request's fault, and none can go on
            raise
        except Exception as error:
            changed = self._faults.changed(batch)
            ahead = self._drain()
            self._faults.drop(changed)
            if ahead:  # the batch was planned on the expected outcome of the previous step: plan again
                self._sync_steps = 2
                log.warning("an asynchronously scheduled step failed: %r", error)
            else:
                self._faults.issue_failed(batch, error)
            return None
        for scheduled in batch:
            scheduled.sequence.unread += scheduled.samples
            self.scheduler.checkpoint_prompt(scheduled)
        self._context.counters.steps += 1
        return InFlightStep(pending, list(batch), issued, replies, prompt)

    def _drain(self) -> bool:
        """Read the step in flight. False when there is none."""
        in_flight, self.in_flight = self.in_flight, None
        if in_flight is None:
            return False
        self.read(in_flight)
        return True

    def read(self, in_flight: InFlightStep) -> None:
        """Wait for a step and apply its outcome to its sequences."""
        try:
            with self._trace.span("wait", rows=len(in_flight.batch)):
                tokens = in_flight.pending.read()
        except RanksLost:
            raise
        except Exception as error:
            self._faults.read_failed(in_flight, error)
            return
        now = self._clock()
        self.prefill_budget.record(now - max(in_flight.issued, self._last_read), in_flight.replies, in_flight.prompt)
        if not in_flight.prompt:
            tokens_run = sum(len(scheduled.segment) for scheduled in in_flight.batch)
            seconds = now - max(in_flight.issued, self._last_read)
            self.speculation.record(tokens_run, len(in_flight.batch), seconds)
        self._last_read = now
        self._context.prompt_tokens.add(in_flight.prompt, now)
        self._context.counters.prompt_tokens += in_flight.prompt
        with self._trace.span("detokenize"):
            for scheduled in in_flight.batch:
                try:
                    self.apply(scheduled, tokens[scheduled.segment.slot], now)
                except Exception as error:
                    log.exception("%s: its token could not be used", scheduled.sequence.parent.id)
                    self.fail(scheduled.sequence.parent, self._faults.wrapped(error), keep=False)

    def apply(self, scheduled: ScheduledSegment, token: SegmentOutput, now: float) -> None:
        """Apply one sequence's outcome of a step: tokens, an embedding, prompt logprobs or progress."""
        sequence, state = scheduled.sequence, scheduled.sequence.parent
        sequence.unread -= scheduled.samples
        if sequence.ended is not None:
            self.release(sequence)
        elif token.nan:
            message = "The model produced no number (NaN). The checkpoint is broken, or its dtype is too narrow for it."
            self.fail(state, NumericalError(message), keep=False)
        else:
            if token.logits is not None and scheduled.start < sequence.prompt_length and sequence.index == 0:
                self.emit(state, prompt_scores(sequence, scheduled.start, token.logits))
            if token.hidden is not None and sequence.pool is None:
                self.speculation.observe(sequence, scheduled.start, token.hidden)
            if scheduled.samples:
                self._accept(scheduled, token, now)
            elif sequence.pool is not None and self._pool_chunk(sequence, scheduled.start, token, now):
                self.finish_sequence(sequence, OutputDelta(), "stop")
            elif sequence.index == 0 and scheduled.start < sequence.prompt_length:
                done = min(scheduled.start + scheduled.fed, sequence.prompt_length)
                self.emit(state, Progress(state.id, done, sequence.prompt_length))

    def _accept(self, scheduled: ScheduledSegment, token: SegmentOutput, now: float) -> None:
        sequence, state, counters = scheduled.sequence, scheduled.sequence.parent, self._context.counters
        sequence.isolated = False
        if scheduled.drafts:
            state.drafted += scheduled.drafts
            state.accepted += token.accepted
            counters.drafted += scheduled.drafts
            counters.accepted += token.accepted
        self.speculation.learn(sequence, scheduled.drafts, token.accepted, len(token.ids))
        state.record_tokens(sequence, len(token.ids), now, counters.requests)
        before = sequence.output.count
        piece = sequence.accept(token)
        made = sequence.output.count - before
        counters.output_tokens += made
        self._context.tokens.add(made, now)
        if sequence.frames is not None:
            if piece.ids and token.codes is not None:
                self.emit(state, Frames(state.id, token.codes[None], sequence.index))
            piece = OutputDelta(reason=piece.reason, stop=piece.stop)
        if piece.reason is not None:
            self.finish_sequence(sequence, piece, piece.reason)
        elif piece.ids or piece.text:
            self.emit(state, Text(state.id, piece.text, piece.ids, sequence.index, piece.logprobs))

    def _pool_chunk(self, sequence: Sequence, start: int, token: SegmentOutput, now: float) -> bool:
        """Pool a chunk's hidden states. True when it was the last one and the vector has been sent."""
        assert sequence.pool is not None
        sequence.isolated = False
        if token.hidden is not None:
            loaded: Any = self.loaded  # what an EAGLE-3 head reads beside the hidden states is left out
            width = getattr(getattr(loaded, "model", None), "own_width", token.hidden.shape[1])
            sequence.pool.add(start, token.hidden[:, :width])
        vector = sequence.pool.vector
        if vector is not None:
            sequence.parent.record_tokens(sequence, 1, now, self._context.counters.requests)
            self.emit(sequence.parent, Embedded(sequence.parent.id, vector))
        return vector is not None

    # -- ends

    def emit(self, state: RequestState, event: Event) -> None:
        """Send an event. A request whose consumer does not read is ended."""
        if not state.over and not state.handle.put(event):
            waited = f"{self._context.settings.max_events} events of request {state.id} were not read; it was ended."
            self.fail(state, SlowConsumer(waited))

    def finish_sequence(self, sequence: Sequence, piece: OutputDelta, reason: FinishReason) -> None:
        state = sequence.parent
        sequence.ended, sequence.stop = reason, piece.stop
        self._remove(sequence, keep=True)
        if piece.ids or piece.text:
            self.emit(state, Text(state.id, piece.text, piece.ids, sequence.index, piece.logprobs))
        if len(state.sequences) > 1:
            self.emit(state, Finished(state.id, sequence.index, reason, piece.stop))
        if not state.over and all(c.ended for c in state.sequences):
            self.end_request(state, None)

    def fail(self, state: RequestState, error: GrusError, keep: bool = True) -> None:
        """End the request and all its sequences. `keep`: their KV cache is valid, and may enter the prefix cache."""
        if state.over:
            return
        self.end_request(state, error)
        for sequence in state.sequences:
            if sequence.ended is None:
                sequence.ended = "cancelled"
                self._remove(sequence, keep)

    def end_request(self, state: RequestState, error: GrusError | None) -> None:
        self.requests.pop(state.id, None)  # absent when it was rejected
        if self.replicas is not None:
            self.replicas.leave(state)
        self.last_used = now = self._clock()
        state.end(self._context.counters, now, error)
        self._context.finished.add(1, now)
        self._release_prompt_snapshot(state)

    def _remove(self, sequence: Sequence, keep: bool) -> None:
        """Take the sequence out of the queues, and release its slot once no step in flight uses it."""
        scheduler = self.scheduler
        sequence.cacheable = sequence.cacheable and keep
        if sequence in scheduler.running:
            scheduler.running.remove(sequence)
            scheduler.finished_one()
        elif sequence in scheduler.preempted:
            scheduler.preempted.remove(sequence)
        elif sequence in scheduler.waiting:
            scheduler.waiting.remove(sequence)
        if self.in_flight is None or not self.in_flight.carries(sequence):
            self.release(sequence)

    def release(self, sequence: Sequence) -> None:
        """Give the slot of an ended sequence to the prefix cache, or close it."""
        self.scheduler.retire(sequence, sequence.cacheable)

    # -- end of the model

    def check(self) -> int:
        """Close slots without an owner, which are leaks. Called while the executor is idle; returns their number."""
        owned = [*self.prefix_cache.slots, *(c.slot for c in self.scheduler.everyone() if c.slot is not None)]
        leaked = self.memory.leaked(owned)
        for slot in leaked:
            log.error("%s: slot %d had no owner and was closed", self.loaded.name, slot.id)
            self.memory.close(slot)
        self._context.counters.leaks += len(leaked)
        return len(leaked)

    def close(self) -> None:
        self.stop(f"The model {self.loaded.name} was unloaded.")
        self.prefix_cache.clear(hurry=False)
        self.speculation.close()
        self.loaded.close()


class FaultRecovery:
    """Handles failed steps of one executor: isolates the faulty request and saves the others.

    `Runner.run` promises that a call that raises has changed no slot. So the sequences of the batch are tried one by one,
    and only those that fail alone are failed. A step that fails while it is read may have changed anything: its
    sequences give up their slots and are recomputed, each in steps of its own until one succeeds.
    """

    def __init__(self, executor: ModelExecutor) -> None:
        self._executor = executor

    @staticmethod
    def wrapped(error: BaseException) -> GrusError:
        if isinstance(error, GrusError):
            return error
        return EngineFault(
            ErrorText("A step of the engine failed: {kind}: {error}", kind=type(error).__name__, error=error)
        )

    def issue_failed(self, batch: abc.Sequence[ScheduledSegment], error: Exception) -> None:
        """`Runner.run` raised. Slots that it changed have been dropped already."""
        log.warning("a step with %s failed: %r", ", ".join(scheduled.sequence.parent.id for scheduled in batch), error)
        if isinstance(error, MemoryError | OutOfMemory):
            self._out_of_memory(batch, error)
        elif len(batch) == 1:
            self._executor.fail(batch[0].sequence.parent, self.wrapped(error), keep=False)
        else:
            for scheduled in batch:
                self._try_alone(scheduled)

    @staticmethod
    def changed(batch: abc.Sequence[ScheduledSegment]) -> list[ScheduledSegment]:
        """Segments whose slot changed its length although `run` raised: such a slot cannot be used again."""
        changed = [scheduled for scheduled in batch if scheduled.segment.slot.length != scheduled.start]
        for scheduled in changed:
            scheduled.sequence.cacheable = False
        return changed

    def drop(self, changed: abc.Sequence[ScheduledSegment]) -> None:
        for scheduled in changed:
            if scheduled.sequence.slot is scheduled.segment.slot and scheduled.sequence.ended is None:
                self._recompute(scheduled)
                scheduled.sequence.cacheable = True

    def _try_alone(self, scheduled: ScheduledSegment) -> None:
        if scheduled.sequence.slot is not scheduled.segment.slot:  # it ended or was preempted meanwhile
            return
        in_flight = self._executor.issue([scheduled])  # fails the request where it fails again
        if in_flight is not None:
            self._executor.read(in_flight)

    def _recompute(self, scheduled: ScheduledSegment) -> None:
        """Drop the slot and recompute the sequence in steps of its own."""
        scheduled.sequence.isolated = True
        self._executor.scheduler.preempt(scheduled.sequence, keep=False)

    def _out_of_memory(self, batch: abc.Sequence[ScheduledSegment], error: Exception) -> None:
        """Free memory for the next step: the prefix cache, smaller prefill chunks, or a preempted sequence."""
        executor = self._executor
        prompt = any(not scheduled.sequence.decoding for scheduled in batch)
        if executor.prefix_cache.clear() or (prompt and executor.prefill_budget.shrink()):
            return
        victim = executor.scheduler.victim()
        if victim is not None:
            executor.scheduler.preempt(victim)
        elif batch:
            message = "The device ran out of memory in a step with this request alone. Lower the memory limit."
            failure = OutOfMemory(message)
            failure.__cause__ = error
            executor.fail(batch[0].sequence.parent, failure, keep=False)

    def read_failed(self, in_flight: InFlightStep, error: Exception) -> None:
        """The device failed while computing: no slot of the steps in flight is valid any more."""
        executor = self._executor
        batch = list(in_flight.batch)
        if executor.in_flight is not None:
            newer, executor.in_flight = executor.in_flight, None
            batch += newer.batch
            try:
                newer.pending.read()
            except Exception as second:
                log.debug("the step issued after a failed one failed too: %r", second)
        sequences = list(dict.fromkeys(scheduled.sequence for scheduled in batch))
        log.warning("reading a step with %s failed: %r", ", ".join(c.parent.id for c in sequences), error)
        memory = isinstance(error, MemoryError | OutOfMemory)
        relieved = memory and (executor.prefix_cache.clear() > 0 or executor.prefill_budget.shrink())
        for sequence in sequences:
            sequence.unread = 0
            if sequence.ended is not None:
                sequence.cacheable = False
                executor.release(sequence)
            elif len(sequences) == 1 and not relieved:
                executor.fail(sequence.parent, self.wrapped(error), keep=False)
            elif sequence in executor.scheduler.running:
                sequence.isolated = True
                executor.scheduler.preempt(sequence, keep=False)
        for state in executor.requests.values():
            executor.scheduler.drop_prompt_snapshot(state)
        for sequence in list(executor.scheduler.running):  # its slot may be a copy of one that was in the step
            executor.scheduler.preempt(sequence, keep=False)
