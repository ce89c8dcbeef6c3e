"""The requests of a server's clients: what was submitted for each of them, how its reply is read and aborted, what it cost.

Belongs to one server. The models and the engine are the runtime's (`app.runtime.models`), and outlive it. First streamed replies
(server-sent events and lines of JSON), then the account of one HTTP request, requests that run, one by one or in groups, a budget
for reasoning, and the table of all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.runtime.chat import ReplyEvent, ReplyParser
from app.runtime.long_prompts import run_later
from app.runtime.models import ModelService
from app.server.metrics import Meters
from engine.errors import GrusError
from engine.tasks import Task, Work
from engine.types import Done, Event, Failed, Request, RequestHandle, Timings

# -- replies that arrive bit by bit, each bound to its client: when it goes away its request is cancelled at once; when nothing
# has been sent for a while a heartbeat shows that the connection lives

T = TypeVar("T")

COMMENT = b": heartbeat\n\n"
DONE = b"data: [DONE]\n\n"


_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class ClientGone(Exception):
    """Nobody is there to be answered."""


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {_json(data)}\n\n".encode()


def line(data: Mapping[str, Any]) -> bytes:
    """One line of JSON, as Ollama streams them."""
    return f"{_json(data)}\n".encode()


class StreamingReply(Response):
    """Sends chunks as they are made. `cancel` is called however it ends."""

    def __init__(
        self,
        chunks: AsyncIterator[bytes],
        cancel: Callable[[], None],
        *,
        heartbeat: bytes | None,
        every: float,
        patience: float,
        media_type: str = "text/event-stream",
    ) -> None:
        self.status_code = 200
        self.background = None
        self.media_type = media_type
        self.body = b""
        self._chunks = chunks
        self._cancel = cancel
        self._heartbeat = heartbeat
        self._every = every
        self._patience = patience
        self._sent = time.monotonic()
        self.init_headers({"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        tasks = {asyncio.create_task(self._pump(send)), asyncio.create_task(_gone(receive))}
        if self._heartbeat is not None:
            tasks.add(asyncio.create_task(self._beat(send, self._heartbeat)))
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._cancel()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for task in done:
            with contextlib.suppress(ClientGone):
                task.result()

    async def _pump(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for chunk in self._chunks:
            await self._send(send, chunk)
            # a reply that is made faster than it is sent would never let the loop see that the client has gone
            await asyncio.sleep(0)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _beat(self, send: Send, heartbeat: bytes) -> None:
        while True:
            silent = time.monotonic() - self._sent
            if silent >= self._every:
                await self._send(send, heartbeat)
                silent = 0.0
            await asyncio.sleep(self._every - silent)

    async def _send(self, send: Send, chunk: bytes) -> None:
        self._sent = time.monotonic()
        try:
            async with asyncio.timeout(self._patience):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except TimeoutError:
            raise ClientGone from None


async def while_connected(receive: Receive, work: Coroutine[Any, Any, T], cancel: Callable[[], None]) -> T:
    """The result of `work`, unless the client goes away first: ClientGone. Where there is no result, for whatever reason,
    `cancel` is called: work that continues has no reader."""
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise ClientGone
    except BaseException:
        cancel()
        raise
    finally:
        for future in (task, gone):
            future.cancel()
        await asyncio.gather(task, gone, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


current: ContextVar[Account | None] = ContextVar("grus_account", default=None)


class Account:
    def __init__(self, wanted: bool = False) -> None:
        """`wanted`: the client asked for the timings in the body of its reply."""
        self.wanted = wanted
        self.requests = 0
        self._lock = threading.Lock()
        self._running: list[Any] = []
        self._ended: Timings | None = None

    def add(self, handle: Any) -> None:
        """A request of the engine. Those that have ended are summed up, so that a long text keeps no list of them."""
        with self._lock:
            self.requests += 1
            self._fold()
            self._running.append(handle)

    @property
    def timings(self) -> Timings | None:
        """Of all requests that have ended; None where there was none. Tokens are added up; the seconds to the first token
        are the first one's, the others the largest."""
        with self._lock:
            self._fold()
            return self._ended

    def _fold(self) -> None:
        left = []
        for handle in self._running:
            timings: Timings | None = getattr(handle, "timings", None)
            if timings is None:
                left.append(handle)
            else:
                self._ended = timings if self._ended is None else joined(self._ended, timings)
        self._running = left


def joined(first: Timings, second: Timings) -> Timings:
    return Timings(
        queued=max(first.queued, second.queued),
        first_token=first.first_token,
        total=max(first.total, second.total),
        prompt_tokens=first.prompt_tokens + second.prompt_tokens,
        cached_tokens=first.cached_tokens + second.cached_tokens,
        output_tokens=first.output_tokens + second.output_tokens,
        gap_p50=max(first.gap_p50, second.gap_p50),
        gap_p95=max(first.gap_p95, second.gap_p95),
        drafted=first.drafted + second.drafted,
        accepted=first.accepted + second.accepted,
    )


def add_to_account(handle: Any) -> None:
    """To the account of the request that this task answers, where there is one."""
    account = current.get()
    if account is not None:
        account.add(handle)


def requested_timings() -> dict[str, Any]:
    """`timings` for a reply's body, where the client asked for them."""
    account = current.get()
    if account is None or not account.wanted or account.timings is None:
        return {}
    return {"timings": account.timings.report()}


def as_header(timings: Timings) -> str:
    """Server-Timing, in milliseconds: browsers and clients show it."""
    parts = {
        "queue": timings.queued,
        "first-token": timings.first_token,
        "gap-p50": timings.gap_p50,
        "gap-p95": timings.gap_p95,
        "total": timings.total,
    }
    return ", ".join(f"{name};dur={1000 * seconds:.3f}" for name, seconds in parts.items())


def as_log(account: Account) -> str:
    """Of one line of the log: never a word of a prompt or a reply."""
    timings = account.timings
    if timings is None:
        return ""
    return (
        f" {timings.prompt_tokens} prompt tokens, {timings.output_tokens} output tokens, queued {timings.queued:.3f}s,"
        f" first token {timings.first_token:.3f}s"
    )


log = logging.getLogger("grus.server")


class RunningRequest:
    """A submitted request of a client: its reply events, as they come."""

    def __init__(self, handle: RequestHandle, reader: ReplyParser, ended: Callable[[RunningRequest], None]) -> None:
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
        """Also ends a request that will not be read any further."""
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
        if self._log_prompts:
            run_later(len(request.prompt_ids), self._log_prompt, request)
        return self.follow(self.start(request, admitted=admitted), request.model, reader or ReplyParser())

    def _log_prompt(self, request: Request) -> None:
        if (loaded := self._service.loaded.get(self._service.model_of(request.model))) is not None:
            log.info("%s asks: %s", request.id, loaded.tokenizer.decode(request.prompt_ids))

    def follow(self, handle: RequestHandle, model: str, reader: ReplyParser) -> RunningRequest:
        """A reply that is being made, for a client."""
        add_to_account(handle)
        running = RunningRequest(handle, reader, self._running.discard)
        running.model = model
        self._running.add(running)
        return running

    def start(self, request: Request, *, admitted: bool = False) -> RequestHandle:
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
        self._account = current.get()

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle:
        handle = self._requests.start(request, admitted=admitted)
        if self._account is not None:
            self._account.add(handle)
        return handle

    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]:
        return self._requests.task(model, work, admitted=admitted)


class RequestGroup:
    """Several requests that are answered together: a batch of prompts. Has the methods of `RunningRequest` that a stream uses."""

    def __init__(self, runnings: Sequence[RunningRequest]) -> None:
        self.runnings = list(runnings)

    @classmethod
    def begin(cls, running: Requests, requests: Sequence[Request]) -> RequestGroup:
        """All of them, or none: where one is refused, those before it are cancelled."""
        together = cls([])
        try:
            for request in requests:
                together.runnings.append(running.submit(request))
        except BaseException:
            together.cancel()
            raise
        return together

    def cancel(self) -> None:
        for running in self.runnings:
            running.cancel()

    async def begun(self, patience: float) -> None:
        await self.runnings[0].begun(patience)

    async def whole(self, receive: Receive, receive_event: Callable[[int, Event], object]) -> None:
        """Read everything to its end, unless one fails or the client goes away: then the others are cancelled."""

        async def read() -> None:
            async for number, event in self.events():
                receive_event(number, event)

        await while_connected(receive, read(), self.cancel)

    async def events(self) -> AsyncIterator[tuple[int, Event]]:
        """Events with the number of the request that they belong to, as they come. The first failure is raised."""
        if len(self.runnings) == 1:
            async for event in self.runnings[0].events():
                yield 0, event
            return
        queue: asyncio.Queue[tuple[int, Event] | Exception | None] = asyncio.Queue()

        async def read(number: int, running: RunningRequest) -> None:
            try:
                async for event in running.events():
                    queue.put_nowait((number, event))
                queue.put_nowait(None)
            except Exception as error:
                queue.put_nowait(error)

        tasks = [asyncio.create_task(read(i, running)) for i, running in enumerate(self.runnings)]
        left = len(tasks)
        try:
            while left:
                item = await queue.get()
                if isinstance(item, Exception):
                    raise item
                if item is None:
                    left -= 1
                else:
                    yield item
        finally:
            for task in tasks:
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.gather(*tasks, return_exceptions=True)
