"""The HTTP client of servers elsewhere: one event loop in a thread of its own for all replies, and errors in our words.

Cancelling a reply closes its connection. Redirects are not followed, so that a key goes to no other address, and no key is
ever part of a message or of the log.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from app.runtime.remote.servers import RemoteServer, ServerProbe, key_of, offered_models, open_to_read
from engine.errors import (
    BadRequest,
    ErrorText,
    GrusError,
    ModelNotFound,
    Offline,
    QueueFull,
    RemoteAccessRefused,
    RemoteFailed,
)
from engine.hub import offline

if TYPE_CHECKING:
    import httpx

_CONNECT = 10.0  # seconds
_PROBE = 20.0
_LONGEST_LINE = 32 << 20  # bytes of one event
_LARGEST = 512 << 20  # bytes of a whole reply: half an hour of sound
_SHOWN = 300  # characters of what a server says is wrong


class _Loop:
    """The thread that all connections live on."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, name="grus-remote", daemon=True).start()

    def start(self, work: Coroutine[Any, Any, None], cancelled: Callable[[], object]) -> Callable[[], None]:
        """Run it; the result cancels it, from any thread. `cancelled` is called then, also where it had not begun yet."""
        future = asyncio.run_coroutine_threadsafe(work, self.loop)
        future.add_done_callback(lambda ended: cancelled() if ended.cancelled() else None)

        def cancel() -> None:
            future.cancel()

        return cancel


@cache
def remote_loop() -> _Loop:
    return _Loop()


class RemoteClient:
    """One server's. Its coroutines run on the remote loop; `probe` may be called from any other thread."""

    def __init__(self, server: RemoteServer, *, key: str | None = None, allowed: bool = True) -> None:
        """`key` None: the one that is kept. `allowed` False: nothing may be sent."""
        self.server = server
        self._given, self._allowed = key, allowed
        self._key: tuple[str | None] | None = None  # once it was looked up
        self._http: httpx.AsyncClient | None = None

    @property
    def name(self) -> str:
        return self.server.name

    def find_key(self) -> None:
        """As it is now. Blocks: the keyring may ask the person."""
        self._key = (self._given or key_of(self.server),)

    def check_allowed(self) -> None:
        """Raises Offline."""
        why = offline.forbidden() or (None if self._allowed else ErrorText("Grus was told to work offline"))
        if why is not None:
            raise Offline(ErrorText("{name} was not asked, because {why}.", name=self.name, why=_lower(why)))

    # -- on the remote loop

    @asynccontextmanager
    async def reply(
        self, method: str, path: str, model: str = "", *, silence: float | None = None, **content: Any
    ) -> AsyncIterator[httpx.Response]:
        """A response of status 200, whose body is read as it comes. `content`: httpx's json, data or files. Raises a GrusError for
        everything that can go wrong, also while the body is read."""
        import httpx

        self.check_allowed()
        quiet = silence or self.server.silence
        limits = httpx.Timeout(quiet, connect=min(_CONNECT, quiet), pool=None)
        try:
            async with self._client().stream(
                method, self.server.url + path, headers=await self._headers(), timeout=limits, **content
            ) as response:
                if response.status_code != 200:
                    raise await self._refusal(response, model)
                yield response
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            where = {"name": self.name, "host": self.server.host}
            if "certificate" in str(error).lower():
                raise RemoteFailed(ErrorText("The certificate of {name} at {host} is not valid.", **where)) from None
            raise RemoteFailed(ErrorText("{name} cannot be reached: nothing answers at {host}.", **where)) from None
        except httpx.TimeoutException:
            raise RemoteFailed(
                ErrorText("{name} sent nothing for {seconds} seconds.", name=self.name, seconds=f"{quiet:g}")
            ) from None
        except httpx.HTTPError:
            raise self.cut() from None

    async def events(self, path: str, body: Mapping[str, Any]) -> AsyncIterator[Mapping[str, Any]]:
        """The events of a stream; a server that does not stream gives one. Raises RemoteFailed where the connection ends within
        an event; whether the reply is complete its reader knows."""
        async with self.reply("POST", path, str(body.get("model", "")), json=body) as response:
            if "text/event-stream" not in response.headers.get("content-type", ""):
                yield self._object(await self._body(response))
                return
            async for line, ended in self._lines(response):
                field, _, text = line.partition(b":")
                if field != b"data" or not (text := text.strip()):
                    continue  # a comment, an event's name, or the line between two events
                if text == b"[DONE]":
                    return
                event = self._object(text, None if ended else self.cut())
                if (error := event.get("error")) is not None:
                    raise RemoteFailed(
                        ErrorText(
                            "{name} ended the reply: {error}", name=self.name, error=self.shown(message_of(error))
                        )
                    )
                yield event

    async def json(self, method: str, path: str, model: str = "", **content: Any) -> Mapping[str, Any]:
        async with self.reply(method, path, model, **content) as response:
            return self._object(await self._body(response))

    async def content(self, method: str, path: str, model: str = "", **content: Any) -> bytes:
        async with self.reply(method, path, model, **content) as response:
            return await self._body(response)

    def cut(self) -> RemoteFailed:
        return RemoteFailed(ErrorText("{name} ended the connection before the reply was complete.", name=self.name))

    def nonsense(self) -> RemoteFailed:
        return RemoteFailed(
            ErrorText("{name} answered something that is not OpenAI's API. Is the address right?", name=self.name)
        )

    def _client(self) -> httpx.AsyncClient:
        """Programs on this machine are asked directly, without the proxy that the environment names."""
        import httpx

        if self._http is None:
            self._http = httpx.AsyncClient(
                follow_redirects=False,
                trust_env=not self.server.on_this_machine,
                verify=_certificates(),
                limits=httpx.Limits(max_connections=None, max_keepalive_connections=8),
            )
        return self._http

    async def _headers(self) -> dict[str, str]:
        if self._key is None:
            await asyncio.to_thread(self.find_key)
        assert self._key is not None
        own = {"User-Agent": "grus", "Accept-Encoding": "identity"}
        return own if self._key[0] is None else {**own, "Authorization": f"Bearer {self._key[0]}"}

    async def _lines(self, response: httpx.Response) -> AsyncIterator[tuple[bytes, bool]]:
        """Each line, and whether it came to its end: where replies have no length, a connection may end anywhere."""
        held = b""
        async for data in response.aiter_bytes():
            *lines, held = (held + data).split(b"\n")
            if len(held) > _LONGEST_LINE:
                raise self.nonsense()
            for line in lines:
                yield line.rstrip(b"\r"), True
        if held.strip():
            yield held, False

    async def _body(self, response: httpx.Response, most: int = _LARGEST) -> bytes:
        parts: list[bytes] = []
        size = 0
        async for data in response.aiter_bytes():
            size += len(data)
            if size > most:
                raise self.nonsense()
            parts.append(data)
        return b"".join(parts)

    def _object(self, text: bytes, otherwise: GrusError | None = None) -> Mapping[str, Any]:
        """`otherwise`: what is wrong where this is no JSON."""
        try:
            found = json.loads(text)
        except ValueError:
            raise otherwise or self.nonsense() from None
        if not isinstance(found, dict):
            raise self.nonsense()
        return found

    async def _refusal(self, response: httpx.Response, model: str) -> GrusError:
        """The error of a response that is none. What the server says of it is shown where a person can do something with it."""
        status = response.status_code
        body = await self._body(response, 1 << 20)
        try:
            reason = message_of(json.loads(body))
        except ValueError:
            reason = "" if b"<" in body[:200] else body.decode("utf-8", "replace")
        reason, name = self.shown(reason), self.name
        if status in (401, 403):
            if self._key is None or self._key[0] is None:
                return RemoteAccessRefused(ErrorText("{name} wants a key. Add it again, with its key.", name=name))
            return RemoteAccessRefused(
                ErrorText("{name} refuses the key. Add it again, with the right one.", name=name)
            )
        if status == 404 and model:
            return ModelNotFound(ErrorText("{name} has no model {model}, or does not do this.", name=name, model=model))
        if status in (400, 413, 422) and reason:
            return BadRequest(ErrorText("{name} does not take this: {error}", name=name, error=reason))
        if status == 429:
            return QueueFull(ErrorText("{name} is busy, or its limit is reached. Try again later.", name=name))
        if 300 <= status < 400:
            return RemoteFailed(
                ErrorText("{name} answers from another address. Add the address that it leads to.", name=name)
            )
        if status in (404, 405):
            return self.nonsense()
        if reason:
            return RemoteFailed(
                ErrorText("{name} answered with status {status}: {error}", name=name, status=status, error=reason)
            )
        return RemoteFailed(ErrorText("{name} answered with status {status}.", name=name, status=status))

    def shown(self, text: str) -> str:
        """A server's message as one short line, without the key, which some servers repeat."""
        if self._key is not None and self._key[0]:
            text = text.replace(self._key[0], "…")
        line = " ".join(text.split())
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"

    # -- from another thread

    def probe(self) -> ServerProbe:
        """Ask for its models, now. Blocks. Raises a GrusError."""
        began = time.monotonic()
        work = self.json("GET", "/models", silence=min(_PROBE, self.server.silence))
        listed = asyncio.run_coroutine_threadsafe(work, remote_loop().loop).result()
        models, program = offered_models(listed)
        warnings = []
        if open_to_read(self.server.url):
            warnings.append(
                ErrorText("The address begins with http: others on the way can read what is sent, and the key.")
            )
        if not models:
            warnings.append(ErrorText("{name} lists no models. Name one by hand.", name=self.name))
        server = replace(self.server, models=models, program=program)
        return ServerProbe(server, time.monotonic() - began, warnings)

    def close(self) -> None:
        """Let go of idle connections. From any thread."""
        http, self._http = self._http, None
        if http is not None:
            with suppress(RuntimeError):
                asyncio.run_coroutine_threadsafe(http.aclose(), remote_loop().loop)


def message_of(body: Any) -> str:
    """The message in the body of a server's error, in any of the known shapes."""
    if isinstance(body, dict):
        found = next((body[key] for key in ("message", "error", "detail", "msg") if body.get(key)), "")
        return message_of(found)
    if isinstance(body, list):
        return message_of(body[0]) if body else ""
    return str(body)


def _lower(text: str) -> str:
    """A sentence's beginning within another; an ErrorText stays one, so that it is translated."""
    return text if isinstance(text, ErrorText) else text[:1].lower() + text[1:]


@cache
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()
