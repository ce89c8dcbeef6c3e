"""A tool server over streamable HTTP, with limits on what it sends. Redirects stay within its origin, so that no key goes elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from mcp.client.streamable_http import streamable_http_client

from app.runtime.tools.settings import ToolServer
from app.runtime.tools.sign_in import BrowserSignIn, SignInAuth
from engine.errors import Offline
from engine.hub import offline

LARGEST_BODY = 32 << 20  # bytes of one response
_LARGEST_EVENT = 16 << 20
_CONNECT = 30.0


@asynccontextmanager
async def http_streams(server: ToolServer, seconds: float, browser: BrowserSignIn | None = None) -> AsyncIterator[Any]:
    """The streams of a transport of the `mcp` package. `seconds`: of silence after which a response is given up. `browser`: a person
    signs in."""
    why = offline.forbidden()
    if why is not None and not server.on_this_machine:
        raise Offline(f"{server.name} was not asked, because {why[0].lower()}{why[1:]}.")
    headers = {name: server.filled(value) for name, value in server.headers.items()}
    limits = httpx2.Timeout(_CONNECT, read=seconds)
    sign_in = SignInAuth(server, browser)
    hooks: dict[str, list[Callable[..., Any]]] = {
        "request": [sign_in.check_request],
        "response": [_bound, sign_in.check_response],
    }
    try:
        await sign_in.open()
        async with (
            httpx2.AsyncClient(headers=headers, auth=sign_in.auth, timeout=limits, event_hooks=hooks) as client,
            streamable_http_client(
                server.filled(server.url), http_client=client, max_sse_event_size=_LARGEST_EVENT
            ) as streams,
        ):
            yield streams
    finally:
        sign_in.close()


async def _bound(response: httpx2.Response) -> None:
    """One that is a stream of events is bounded by the size of each."""
    if "text/event-stream" not in response.headers.get("content-type", ""):
        response.stream = _BoundedBody(response.stream)


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = 0
        async for chunk in self._stream:
            total += len(chunk)
            if total > LARGEST_BODY:
                raise httpx2.StreamError("it sent more than Grus takes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
