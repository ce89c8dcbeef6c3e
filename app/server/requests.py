"""The requests of a server's clients: what was submitted for them, what they read of it, and how they are aborted by id.

Belongs to one server. The models and the engine are the runtime's (`app.runtime.models`), and outlive it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from typing import Any

from app.runtime.models import ModelService
from app.runtime.replies import ReplyEvent, ReplyParser
from app.server import account
from app.server.metrics import Meters
from engine.errors import GrusError
from engine.tasks import Task, Work
from engine.types import Done, Event, Failed, Handle, Request, Timings

log = logging.getLogger("grus.server")


class RunningRequest:
    """A request that was submitted: its parts as they come, bound to whoever reads them."""

    def __init__(self, handle: Handle, reader: ReplyParser, ended: Callable[[RunningRequest], None]) -> None:
        self.id = handle.id
        self.reader = reader
        self.timings = Timings()
        self.model = ""
        self.began = time.monotonic()
        self._handle = handle
        self._events = handle.__aiter__()
        self._first: asyncio.Task[Event] | None = None
        self._ended = ended

    def cancel(self) -> None:
        """Also the end of one that nobody will read any further."""
        self._handle.cancel()
        self._ended(self)

    async def begun(self, patience: float) -> None:
        """Wait for the first event, so that what fails at once fails with a status; at most `patience` seconds."""
        self._first = asyncio.ensure_future(anext(self._events))
        await asyncio.wait({self._first}, timeout=patience)
        if self._first.done() and isinstance(event := self._first.result(), Failed):
            self._seen(event)

    async def events(self) -> AsyncIterator[Event]:
        """Up to and with Done. Raises the error of a request that failed."""
        if self._first is not None:
            first, self._first = self._first, None
            yield self._seen(await first)
        async for event in self._events:
            yield self._seen(event)

    async def parts(self) -> AsyncGenerator[ReplyEvent, None]:
        async for event in self.events():
            for part in self.reader.read(event):
                yield part

    async def streamed(self) -> AsyncGenerator[ReplyEvent, None]:
        """For a stream, which has sent what came before: a call that is taken back can only be followed by text."""
        async for part in self.parts():
            yield replace(part, kind="answer") if part.kind == "broken" else part

    def _seen(self, event: Event) -> Event:
        if isinstance(event, Done | Failed):
            self._ended(self)
        if isinstance(event, Failed):
            raise event.error
        if isinstance(event, Done):
            self.timings = event.timings
        return event


class Requests:
    """Everything that one server's clients wait for."""

    def __init__(self, service: ModelService, meters: Meters, log_prompts: bool = False) -> None:
        self.meters = meters
        self._service = service
        self._log_prompts = log_prompts
        self._running: set[RunningRequest] = set()
        self._sounds: dict[str, Callable[[], object]] = {}  # cancels voices and transcriptions, by request id

    def submit(self, request: Request, reader: ReplyParser | None = None, *, admitted: bool = False) -> RunningRequest:
        if self._log_prompts and (loaded := self._service.loaded.get(request.model)) is not None:
            log.info("%s asks: %s", request.id, loaded.tokenizer.decode(request.prompt_ids))
        return self.follow(self.start(request, admitted=admitted), request.model, reader or ReplyParser())

    def follow(self, handle: Handle, model: str, reader: ReplyParser) -> RunningRequest:
        """A reply that is being made, for a client."""
        account.add(handle)
        running = RunningRequest(handle, reader, self._running.discard)
        running.model = model
        self._running.add(running)
        return running

    def start(self, request: Request, *, admitted: bool = False) -> Handle:
        """For pipelines that read a request's events themselves, in a thread of their own."""
        try:
            return self._service.submit(request, admitted=admitted)
        except GrusError as error:
            self.meters.refused(error)
            raise

    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]:
        try:
            return self._service.task(model, work, admitted=admitted)
        except GrusError as error:
            self.meters.refused(error)
            raise

    def engine(self) -> AccountedEngine:
        """The engine for the pipelines of the HTTP request that is being answered."""
        return AccountedEngine(self)

    @property
    def running(self) -> list[RunningRequest]:
        """Requests of clients, the oldest first."""
        return sorted(self._running.copy(), key=lambda running: running.began)

    def abort(self, id: str | None) -> int:
        """Cancel the request of this id, or all. Returns how many were found."""
        found = [running for running in self._running.copy() if id is None or running.id == id]
        for running in found:
            running.cancel()
        sounds = [stop for sound, stop in self._sounds.copy().items() if id is None or sound == id]
        for stop in sounds:
            stop()
        return len(found) + len(sounds)

    def sound_begins(self, id: str, stop: Callable[[], object]) -> None:
        """A voice or a transcription: from now on `abort` cancels it."""
        self._sounds[id] = stop

    def sound_ends(self, id: str) -> None:
        self._sounds.pop(id, None)


class AccountedEngine:
    """The engine for one HTTP request: its account receives what pipelines submit, also from other threads."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._account = account.current.get()

    def submit(self, request: Request, *, admitted: bool = False) -> Handle:
        handle = self._requests.start(request, admitted=admitted)
        if self._account is not None:
            self._account.add(handle)
        return handle

    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]:
        return self._requests.task(model, work, admitted=admitted)
