"""Requests on the engine's thread until a lane has them: their model is found or loaded, or they wait for its room.

Also knows every request that runs by its id. Knows no threads: `engine.py` brings requests here, and `lane.py` does what
they ask for.
"""

from __future__ import annotations

import logging
from collections import deque

from engine.errors import BadRequest, EngineFault, EngineStopped, GrusError
from engine.residents import Busy, Residents
from engine.sequence import Job
from engine.shared import Shared
from engine.types import Done, Failed

log = logging.getLogger("grus.engine")


class Arrivals:
    def __init__(self, residents: Residents, shared: Shared) -> None:
        self._residents = residents
        self._shared = shared
        self._unplaced: deque[Job] = deque()  # their model has no room until another one is idle
        self._running: dict[str, Job] = {}  # wherever they are

    @property
    def waiting(self) -> int:
        return len(self._unplaced)

    @property
    def running(self) -> int:
        return len(self._running)

    def find(self, request: str) -> Job | None:
        """The request of this id, as long as it runs. May be asked on any thread."""
        return self._running.get(request)

    def add(self, job: Job) -> None:
        self._shared.tally.total += 1
        if job.id in self._running:  # two that were called alike could not be told apart by those who cancel
            self._fail(job, BadRequest(f"A request with the id {job.id} is running already.", "id"))
            return
        self._running[job.id] = job
        job.handle.on_end = lambda: self._forget(job)
        self._place(job)

    def _forget(self, job: Job) -> None:
        del self._running[job.id]

    def place_waiting(self) -> None:
        """Try again with those whose model had no room."""
        for _ in range(len(self._unplaced)):
            self._place(self._unplaced.popleft())

    def _place(self, job: Job) -> None:
        if job.over:
            return
        name = job.request.model
        if name in self._residents.closing:
            self._unplaced.append(job)
            return
        try:
            lane = self._residents.lane(name)
        except Busy:
            self._unplaced.append(job)
        except GrusError as error:
            self._fail(job, error)
        except Exception as error:
            log.exception("%s: loading %s failed", job.id, name)
            self._fail(job, EngineFault(f"The model {name} could not be loaded: {type(error).__name__}: {error}"))
        else:
            lane.add(job)

    def _fail(self, job: Job, error: GrusError) -> None:
        """End a job that has not reached a lane."""
        job.over = True
        self._shared.tally.failed += 1
        self._shared.tally.requests.failed(error.code)
        job.handle.end(Failed(job.id, error, job.timings(self._shared.clock())))

    def cancel(self, job: Job) -> None:
        if job.over:
            return
        job.cancelled = True
        lane = self._residents.lanes.get(job.request.model)
        if lane is not None and job.id in lane.jobs:
            lane.cancel(job)
        else:
            self._unplaced.remove(job)
            job.over = True
            now = self._shared.clock()
            timings = job.timings(now)
            self._shared.tally.cancelled += 1
            self._shared.tally.requests.ended("cancelled", timings, now)
            job.handle.end(Done(job.id, "cancelled", timings))

    def stop(self, error: EngineStopped) -> None:
        """End those that wait for their model."""
        while self._unplaced:
            self._fail(self._unplaced.popleft(), error)
