"""One loaded model at work: each `step` issues what the scheduler planned, reads what came out, and sends events.

Where the device is asynchronous a step is issued before the last one is read (the device itself holds the token that
the next row needs), as long as no running request must see its last token first. What happens when a step fails is in
`faults.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from backends.base import SegmentOutput
from engine.budget import Memory
from engine.encoding import Encoding
from engine.errors import EngineStopped, GrusError, NumericalError, OutOfMemory, SlowConsumer
from engine.faults import Faults
from engine.flight import Flight
from engine.joining import Joining
from engine.loaded import Loaded
from engine.output import Piece
from engine.pace import Pace
from engine.placement import Placement
from engine.prefix import Prefixes
from engine.scheduler import Row, Scheduler
from engine.scores import prompt_scores
from engine.sequence import Choice, Job
from engine.shared import Shared
from engine.speculation import Speculation
from engine.tasks import Run, Task
from engine.types import (
    Done,
    Embedded,
    Event,
    Failed,
    Finished,
    FinishReason,
    Frames,
    Progress,
    Started,
    Text,
)

log = logging.getLogger("grus.engine")


class Lane:
    def __init__(self, loaded: Loaded, shared: Shared, memory: Memory, prefixes: Prefixes, joining: Joining,
                 speculation: Speculation, reclaim: Callable[[], bool], host_limit: int,
                 start: Callable[[Task[None]], None]) -> None:  # fmt: skip
        settings = shared.settings
        self.loaded = loaded
        self.memory = memory
        self.prefixes = prefixes
        self.speculation = speculation
        self.joining = joining
        self.jobs: dict[str, Job] = {}
        self.encoding = Encoding(loaded.name, start, self._join, self.fail)
        self.tasks: set[Run] = set()  # work beside requests that has begun
        self.pace = Pace(settings.prefill_chunk, settings.max_gap)
        placement = Placement(memory, prefixes, reclaim, settings.prefix_reuse)
        self.scheduler = Scheduler(memory, prefixes, placement, self.pace, settings, speculation, host_limit,
                                   shared.tally)  # fmt: skip
        self.flight: Flight | None = None
        self._shared = shared
        self._trace = shared.trace
        self._clock = shared.clock
        asynchronous = loaded.backend.device != "cpu" if settings.issue_ahead is None else settings.issue_ahead
        self._ahead = asynchronous
        self._hold_back = 0  # steps that are not issued ahead, after one failed
        self._last_read = 0.0
        self._faults = Faults(self)
        self.last_used = shared.clock()

    # -- requests

    def add(self, job: Job) -> None:
        try:
            self.joining.check(job)
        except Exception as error:
            self._end(job, self._faults.wrapped(error))
            return
        self.jobs[job.id] = job
        if job.request.pictures or job.request.sound is not None:
            self.encoding.add(job)
        else:
            self._join(job)

    def _join(self, job: Job) -> None:
        try:
            job.choices = self.joining.choices(job)
        except Exception as error:
            self._end(job, self._faults.wrapped(error))
        else:
            self.scheduler.waiting.extend(job.choices)

    def cancel(self, job: Job) -> None:
        if job.over:
            return
        while self._settle():
            pass
        if not job.choices and not job.over:
            self._end(job, None)
        for choice in job.choices:
            if not choice.ended and not job.over:
                self.end_choice(choice, choice.output.finish(Piece(reason=None)), "cancelled")

    def stop(self, reason: str) -> None:
        """End every request (the engine stops, or the model is unloaded)."""
        for task in self.tasks:
            task.fail(EngineStopped(reason))
        self.tasks.clear()
        self.encoding.close(EngineStopped(reason))
        for job in list(self.jobs.values()):
            self.fail(job, EngineStopped(reason), keep=True)
        while self._settle():
            pass

    @property
    def weight_bytes(self) -> int:
        return self.loaded.weight_bytes + self.speculation.held_bytes

    def touch(self) -> None:
        """It is in use."""
        self.last_used = self._clock()

    @property
    def busy(self) -> bool:
        return bool(self.jobs or self.tasks) or self.flight is not None

    # -- one step

    def step(self) -> bool:
        """Do the next piece of work. False when there is none (or nothing that can be done yet)."""
        if not self.scheduler.has_work and self.flight is None:
            return False
        if self.flight is not None and not self._may_run_ahead():
            self._settle()
        while (stuck := self.scheduler.make_room(self._settle)) is not None:
            self.fail(stuck.job, self._no_room(stuck))
        self._admit()
        with self._trace.span("plan"):
            rows = self.scheduler.plan()
        previous = self.flight
        flight = self.issue(rows) if rows else None
        if flight is not None or not rows:
            self.flight = flight
            if previous is not None:
                self.read(previous)
            if flight is not None and not self._ahead:
                self._settle()
        return bool(rows) or previous is not None

    def _may_run_ahead(self) -> bool:
        if self._hold_back:
            self._hold_back -= 1
            return False
        return self._ahead and not any(
            choice.needs_host or choice.alone or choice.job.request.prompt_logprobs for choice in self.scheduler.running
        )

    def _no_room(self, choice: Choice) -> OutOfMemory:
        return OutOfMemory(
            f"{len(choice.tokens)} tokens do not fit into the memory for sequences ({self.memory.kv.budget >> 20} MiB). "
            "Shorten the prompt, raise the memory limit, or quantize the cache."
        )

    def _admit(self) -> None:
        for choice in [c for c in self.scheduler.waiting if c.ready is not None and c.ready.done()]:
            if choice.ready is not None and (error := choice.ready.exception()) is not None:
                self.fail(choice.job, self._faults.wrapped(error))
        joined, stuck = self.scheduler.admit()
        for choice in joined:
            job = choice.job
            if job.sound is not None:
                self.loaded.model.begin(self.memory.kv, choice.own_slot, job.sound)  # type: ignore[attr-defined]
            if choice.index == 0:
                cached = choice.slot.length if choice.slot is not None else 0
                if job.admitted is None:
                    now = self._clock()
                    job.admitted, job.cached = now, cached
                    self._shared.tally.requests.admitted(now - job.submitted, now)
                    self._trace.past("queue", job.admitted - job.submitted, request=job.id)
                    log.debug("%s: started, %d of %d prompt tokens cached", job.id, cached, choice.prompt)
                self.emit(job, Started(job.id, choice.prompt, min(cached, choice.prompt)))
            self._release_shared(job)
        if stuck is not None and not self._settle():
            self.fail(stuck.job, self._no_room(stuck))

    def _release_shared(self, job: Job) -> None:
        """The prompt's snapshot is held until every choice has been admitted."""
        if job.over or all(c.slot or c.ended for c in job.choices):
            self.scheduler.drop_shared(job)

    def issue(self, rows: Sequence[Row]) -> Flight | None:
        """Start a step. None: it failed, and what can be saved has been; plan again."""
        replies = sum(row.choice.replying for row in rows)
        prompt = sum(row.fed for row in rows if not row.choice.replying)
        issued = self._clock()
        ids = [row.choice.job.id for row in rows] if self._trace.on else ()
        try:
            with self._trace.span("prefill" if prompt else "decode", requests=ids, prompt=prompt):
                pending = self.loaded.runner.run([row.segment for row in rows])
        except Exception as error:
            changed = self._faults.changed(rows)
            ahead = self._settle()
            self._faults.drop(changed)
            if ahead:  # the rows were planned on what the step before was expected to give: plan again
                self._hold_back = 2
                log.warning("a step that was issued ahead failed: %r", error)
            else:
                self._faults.issue_failed(rows, error)
            return None
        for row in rows:
            row.choice.unread += row.samples
            self.scheduler.mark_border(row)
        self._shared.tally.steps += 1
        return Flight(pending, list(rows), issued, replies, prompt)

    def _settle(self) -> bool:
        """Read the step that is out. False: there is none."""
        flight, self.flight = self.flight, None
        if flight is None:
            return False
        self.read(flight)
        return True

    def read(self, flight: Flight) -> None:
        try:
            with self._trace.span("wait", rows=len(flight.rows)):
                tokens = flight.pending.read()
        except Exception as error:
            self._faults.read_failed(flight, error)
            return
        now = self._clock()
        self.pace.note(now - max(flight.issued, self._last_read), flight.replies, flight.prompt)
        self._last_read = now
        self._shared.prompt_tokens.add(flight.prompt, now)
        self._shared.tally.prompt_tokens += flight.prompt
        with self._trace.span("detokenize"):
            for row in flight.rows:
                try:
                    self.apply(row, tokens[row.segment.slot], now)
                except Exception as error:
                    log.exception("%s: its token could not be used", row.choice.job.id)
                    self.fail(row.choice.job, self._faults.wrapped(error), keep=False)

    def apply(self, row: Row, token: SegmentOutput, now: float) -> None:
        """One sequence's outcome of a step."""
        choice, job = row.choice, row.choice.job
        choice.unread -= row.samples
        if choice.ended is not None:
            self.release(choice)
        elif token.nan:
            message = "The model produced no number (NaN). The checkpoint is broken, or its dtype is too narrow for it."
            self.fail(job, NumericalError(message), keep=False)
        else:
            if token.logits is not None and row.start < choice.prompt and choice.index == 0:
                self.emit(job, prompt_scores(choice, row.start, token.logits))
            if row.samples:
                self._take(row, token, now)
            elif choice.pool is not None and self._pooled(choice, row.start, token, now):
                self.end_choice(choice, Piece(), "stop")
            elif choice.index == 0 and row.start < choice.prompt:
                self.emit(job, Progress(job.id, min(row.start + row.fed, choice.prompt), choice.prompt))

    def _take(self, row: Row, token: SegmentOutput, now: float) -> None:
        choice, job, tally = row.choice, row.choice.job, self._shared.tally
        choice.alone = False
        if row.guesses:
            job.drafted += row.guesses
            job.accepted += token.accepted
            tally.drafted += row.guesses
            tally.accepted += token.accepted
        self.speculation.learn(choice, row.guesses, token.accepted, len(token.ids))
        job.note_tokens(choice, len(token.ids), now, tally.requests)
        before = choice.output.count
        piece = choice.accept(token)
        made = choice.output.count - before
        tally.output_tokens += made
        self._shared.tokens.add(made, now)
        if choice.frames is not None:
            if piece.ids and token.codes is not None:
                self.emit(job, Frames(job.id, token.codes[None], choice.index))
            piece = Piece(reason=piece.reason, stop=piece.stop)
        if piece.reason is not None:
            self.end_choice(choice, piece, piece.reason)
        elif piece.ids or piece.text:
            self.emit(job, Text(job.id, piece.text, piece.ids, choice.index, piece.logprobs))

    def _pooled(self, choice: Choice, start: int, token: SegmentOutput, now: float) -> bool:
        """Take a chunk's hidden states. True when they were the last, and the vector has been told."""
        assert choice.pool is not None
        choice.alone = False
        if token.hidden is not None:
            choice.pool.add(start, token.hidden)
        vector = choice.pool.vector
        if vector is not None:
            choice.job.note_tokens(choice, 1, now, self._shared.tally.requests)
            self.emit(choice.job, Embedded(choice.job.id, vector))
        return vector is not None

    # -- ends

    def emit(self, job: Job, event: Event) -> None:
        if not job.over and not job.handle.put(event):
            waited = f"{self._shared.settings.max_events} events of request {job.id} were not read; it was ended."
            self.fail(job, SlowConsumer(waited))

    def end_choice(self, choice: Choice, piece: Piece, reason: FinishReason) -> None:
        job = choice.job
        choice.ended, choice.stop = reason, piece.stop
        self._leave(choice, keep=True)
        if piece.ids or piece.text:
            self.emit(job, Text(job.id, piece.text, piece.ids, choice.index, piece.logprobs))
        if len(job.choices) > 1:
            self.emit(job, Finished(job.id, choice.index, reason, piece.stop))
        if not job.over and all(c.ended for c in job.choices):
            self._end(job, None)

    def fail(self, job: Job, error: GrusError, keep: bool = True) -> None:
        """End the request and all its choices. `keep`: their memory is sound, and may serve as a prefix."""
        if job.over:
            return
        self._end(job, error)
        for choice in job.choices:
            if choice.ended is None:
                choice.ended = "cancelled"
                self._leave(choice, keep)

    def _end(self, job: Job, error: GrusError | None) -> None:
        job.over = True
        self.jobs.pop(job.id, None)  # not there yet, when it was refused
        now, tally = self._clock(), self._shared.tally
        self.last_used = now
        timings = job.timings(now)
        if error is not None:
            tally.failed += 1
            tally.requests.failed(error.code)
            log.info("%s: failed: %s", job.id, error)
            job.handle.end(Failed(job.id, error, timings))
        else:
            first = job.choices[0] if job.choices else None  # none: it was cancelled before it could join
            reason = (first.ended if first else None) or "cancelled"
            if job.cancelled:
                tally.cancelled += 1
                reason = "cancelled"
            else:
                tally.completed += 1
            tally.requests.ended(reason, timings, now)
            job.handle.end(Done(job.id, reason, timings, first.stop if first else None))
            log.debug("%s: %s, %d tokens in %.3f s", job.id, reason, timings.output_tokens, timings.total)
        self._shared.finished.add(1, now)
        self._release_shared(job)

    def _leave(self, choice: Choice, keep: bool) -> None:
        """Take the choice out of the queues; its slot follows when no step uses it any more."""
        scheduler = self.scheduler
        choice.sound = choice.sound and keep
        if choice in scheduler.running:
            scheduler.running.remove(choice)
            scheduler.finished_one()
        elif choice in scheduler.evicted:
            scheduler.evicted.remove(choice)
        elif choice in scheduler.waiting:
            scheduler.waiting.remove(choice)
        if self.flight is None or not self.flight.carries(choice):
            self.release(choice)

    def release(self, choice: Choice) -> None:
        self.scheduler.retire(choice, choice.sound)

    # -- order

    def check(self) -> int:
        """Close slots that nobody owns. Called when the lane is idle; returns how many there were."""
        owned = [*self.prefixes.slots, *(c.slot for c in self.scheduler.everyone() if c.slot is not None)]
        leaked = self.memory.leaked(owned)
        for slot in leaked:
            log.error("%s: slot %d had no owner and was closed", self.loaded.name, slot.id)
            self.memory.close(slot)
        self._shared.tally.leaks += len(leaked)
        return len(leaked)

    def close(self) -> None:
        self.stop(f"The model {self.loaded.name} was unloaded.")
        self.prefixes.clear(hurry=False)
        self.speculation.close()
        self.loaded.close()
        self.loaded.backend.release()
