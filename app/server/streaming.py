"""Replies that arrive bit by bit: server-sent events and lines of JSON, each bound to its client.

When the client goes away its request is cancelled at once; when nothing has been said for a while a heartbeat shows
that the connection lives.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

T = TypeVar("T")

COMMENT = b": heartbeat\n\n"
DONE = b"data: [DONE]\n\n"


class ClientGone(Exception):
    """Nobody is there to be answered."""


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False, separators=(',', ':'))}\n\n".encode()


def line(data: Mapping[str, Any]) -> bytes:
    """One line of JSON, as Ollama streams them."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Stream(Response):
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
