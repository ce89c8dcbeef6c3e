"""When a step fails: find out whose fault it was, save the others, and go on.

The protocol says that a `Runner.run` that raises has changed no slot: its rows can be tried one by one, and only those
that fail alone are to blame. A step that fails while it is read may have changed anything: its sequences give their
slots back and compute their tokens again, each in a step of its own until it has proved itself.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol

from engine.errors import EngineFault, GrusError, OutOfMemory
from engine.flight import Flight
from engine.pace import Pace
from engine.prefix import Prefixes
from engine.scheduler import Row, Scheduler
from engine.sequence import Choice, Job

log = logging.getLogger("grus.engine")


class Stepping(Protocol):
    """What is needed of a lane to get it out of trouble."""

    flight: Flight | None
    jobs: dict[str, Job]
    pace: Pace
    prefixes: Prefixes
    scheduler: Scheduler

    def issue(self, rows: Sequence[Row]) -> Flight | None: ...
    def read(self, flight: Flight) -> None: ...
    def release(self, choice: Choice) -> None: ...
    def fail(self, job: Job, error: GrusError, keep: bool = True) -> None: ...


class Faults:
    """One lane's way out of trouble."""

    def __init__(self, lane: Stepping) -> None:
        self._lane = lane

    @staticmethod
    def wrapped(error: BaseException) -> GrusError:
        if isinstance(error, GrusError):
            return error
        return EngineFault(f"A step of the engine failed: {type(error).__name__}: {error}")

    def issue_failed(self, rows: Sequence[Row], error: Exception) -> None:
        """`run` raised, and the slots that are not as they were have been dropped."""
        log.warning("a step with %s failed: %r", ", ".join(row.choice.job.id for row in rows), error)
        if isinstance(error, MemoryError | OutOfMemory):
            self._out_of_memory(rows, error)
        elif len(rows) == 1:
            self._lane.fail(rows[0].choice.job, self.wrapped(error), keep=False)
        else:
            for row in rows:
                self._try_alone(row)

    @staticmethod
    def changed(rows: Sequence[Row]) -> list[Row]:
        """A backend that breaks its promise shows it by a slot's length: such a slot must not be used again."""
        changed = [row for row in rows if row.segment.slot.length != row.start]
        for row in changed:
            row.choice.sound = False
        return changed

    def drop(self, changed: Sequence[Row]) -> None:
        for row in changed:
            if row.choice.slot is row.segment.slot and row.choice.ended is None:
                self._again(row)
                row.choice.sound = True

    def _try_alone(self, row: Row) -> None:
        if row.choice.slot is not row.segment.slot:  # it ended, or was evicted for the sake of another row
            return
        flight = self._lane.issue([row])  # fails the row's request where it fails again
        if flight is not None:
            self._lane.read(flight)

    def _again(self, row: Row) -> None:
        """The slot cannot be trusted: drop it and compute the sequence's tokens again, alone."""
        row.choice.alone = True
        self._lane.scheduler.evict(row.choice, keep=False)

    def _out_of_memory(self, rows: Sequence[Row], error: Exception) -> None:
        """Give something up, so that the next plan asks for less: idle prefixes, chunk length, a sequence."""
        lane = self._lane
        prompt = any(not row.choice.replying for row in rows)
        if lane.prefixes.clear() or (prompt and lane.pace.shrink()):
            return
        victim = lane.scheduler.victim()
        if victim is not None:
            lane.scheduler.evict(victim)
        elif rows:
            message = "The device ran out of memory in a step with this request alone. Lower the memory limit."
            failure = OutOfMemory(message)
            failure.__cause__ = error
            lane.fail(rows[0].choice.job, failure, keep=False)

    def read_failed(self, flight: Flight, error: Exception) -> None:
        """The device failed while computing: nothing that was in flight can be trusted."""
        lane = self._lane
        rows = list(flight.rows)
        if lane.flight is not None:
            newer, lane.flight = lane.flight, None
            rows += newer.rows
            try:
                newer.pending.read()
            except Exception as second:
                log.debug("the step issued after a failed one failed too: %r", second)
        choices = list(dict.fromkeys(row.choice for row in rows))
        log.warning("reading a step with %s failed: %r", ", ".join(c.job.id for c in choices), error)
        memory = isinstance(error, MemoryError | OutOfMemory)
        relieved = memory and (lane.prefixes.clear() > 0 or lane.pace.shrink())
        for choice in choices:
            choice.unread = 0
            if choice.ended is not None:
                choice.sound = False
                lane.release(choice)
            elif len(choices) == 1 and not relieved:
                lane.fail(choice.job, self.wrapped(error), keep=False)
            elif choice in lane.scheduler.running:
                choice.alone = True
                lane.scheduler.evict(choice, keep=False)
        for job in lane.jobs.values():
            lane.scheduler.drop_shared(job)
        for choice in list(lane.scheduler.running):  # may have been copied from a slot that was in the step
            lane.scheduler.evict(choice, keep=False)
