"""What every request must pass before a handler sees it, and every websocket before it is one: who asks, from where, how
much, and how slowly.

Web pages attack local servers in two ways. A page can send requests here (the browser then names the page in `Origin`),
or its name can be pointed at this machine after it was loaded (the browser then names it in `Host`). Both headers are
checked, so that only programs on this machine, and pages that were let in by name, get through. For websockets the check
of `Origin` is the only one there is: browsers open them from any page and ask nobody.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.config import ServerSettings, is_address
from app.server.errors import ApiError, error_body, family_of
from engine.types import new_id

_OPEN_PATHS = frozenset({"/health"})  # answer without a key, so that a supervisor can ask
_HEADS = frozenset({"http.response.start", "websocket.accept", "websocket.http.response.start"})
_KEY = "openai-insecure-api-key."  # how OpenAI's clients for browsers begin the subprotocol that is a key
_METHODS = "GET, POST, DELETE, OPTIONS"


class Gate:
    """ASGI middleware. Never buffers a body and never touches a response but for its headers."""

    def __init__(self, app: ASGIApp, settings: ServerSettings) -> None:
        self._app = app
        self._settings = settings
        self._keys = [_digest(key) for key in settings.api_keys]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        socket = scope["type"] == "websocket"
        headers = Headers(scope=scope)
        scope.setdefault("state", {})["request_id"] = request_id = new_id()
        extra = [(b"x-request-id", request_id.encode()), (b"x-content-type-options", b"nosniff")]
        if family_of(scope["path"], headers) == "anthropic":
            extra.append((b"request-id", request_id.encode()))
        origin = headers.get("origin")

        async def answer(message: Message) -> None:
            if message["type"] in _HEADS:
                message["headers"] = [*message.get("headers", ()), *extra]
            await send(message)

        try:
            self._check_host(headers)
            if origin is not None:
                self._check_origin(origin, headers)
                extra += [(b"access-control-allow-origin", origin.encode()), (b"vary", b"Origin")]
                if not socket and scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                    await _preflight(headers, answer)
                    return
            if scope["path"] not in _OPEN_PATHS:
                self._check_key(scope)
            self._check_size(headers)
        except ApiError as error:
            await refuse(error, scope, answer)
            return
        await self._app(scope, receive if socket else _Body(receive, self._settings), answer)

    def _check_host(self, headers: Headers) -> None:
        named = headers.get("host", "")
        name = _host_name(named)
        known = {"localhost", self._settings.host.lower(), *(h.lower() for h in self._settings.allowed_hosts)}
        # an address cannot be pointed elsewhere; a name can
        if not name or not (is_address(name) or name in known or name.endswith(".localhost") or "*" in known):
            raise ApiError(
                403,
                f"This server is not known as {named[:100]!r}. Start it with --allowed-host NAME to reach it by name.",
                code="host_not_allowed",
            )

    def _check_origin(self, origin: str, headers: Headers) -> None:
        allowed = self._settings.origins
        local = "localhost" in allowed and _on_this_machine(origin)
        if not (local or _same_origin(origin, headers.get("host")) or origin in allowed or "*" in allowed):
            raise ApiError(
                403,
                f"Web pages from {origin[:100]} may not call this server. Start it with --cors-origin to let them in.",
                code="origin_not_allowed",
            )

    def _check_key(self, scope: Scope) -> None:
        if not self._keys:
            return
        given = given_keys(HTTPConnection(scope))
        # every key is compared, so that the time taken reveals nothing
        known = sum(hmac.compare_digest(_digest(one), key) for one in given for key in self._keys)
        if not known and not any(_opens_socket(scope, one) for one in given):
            raise ApiError(
                401,
                "An API key is needed here. Send it as `Authorization: Bearer KEY` or `x-api-key: KEY`.",
                code="invalid_api_key",
                headers={"WWW-Authenticate": "Bearer", "x-should-retry": "false"},
            )

    def _check_size(self, headers: Headers) -> None:
        length = headers.get("content-length")
        if length is not None and length.isdigit() and int(length) > self._settings.max_body:
            raise _too_large(self._settings.max_body)
        if headers.get("content-encoding", "identity") != "identity":
            raise ApiError(415, "Compressed bodies are not taken. Send the body as it is.", code="bad_encoding")


def given_keys(connection: HTTPConnection) -> list[str]:
    """The keys that a client names, the likeliest first: a client may send one in each of its places, of which one is ours."""
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    given = [token.strip() if scheme.lower() == "bearer" else "", connection.headers.get("x-api-key", "")]
    # a page's script cannot set the headers of a websocket, and names the key among its subprotocols
    subprotocols: Sequence[str] = connection.scope.get("subprotocols", ())
    given += [one[len(_KEY) :] for one in subprotocols if one.startswith(_KEY)]
    return [key for key in given if key]


def _opens_socket(scope: Scope, key: str) -> bool:
    """Ephemeral keys open websockets, and nothing else."""
    return scope["type"] == "websocket" and scope["app"].state.server.ephemeral_keys.session(key) is not None


class _Body:
    """A `receive` that refuses bodies that are too long or too slow."""

    def __init__(self, receive: Receive, settings: ServerSettings) -> None:
        self._receive = receive
        self._limit = settings.max_body
        self._deadline = time.monotonic() + settings.body_seconds
        self._seen = 0
        self._complete = False

    async def __call__(self) -> Message:
        if self._complete:  # what comes now is the client's going away, whenever that is
            return await self._receive()
        try:
            async with asyncio.timeout(max(0.0, self._deadline - time.monotonic())):
                message = await self._receive()
        except TimeoutError:
            raise ApiError(408, "The body did not arrive in time.", headers={"Connection": "close"}) from None
        if message["type"] == "http.request":
            self._seen += len(message.get("body", b""))
            self._complete = not message.get("more_body", False)
            if self._seen > self._limit:
                raise _too_large(self._limit)
        return message


async def refuse(error: ApiError, scope: Scope, send: Send) -> None:
    """Also a websocket, before it is one."""
    kind = "websocket.http" if scope["type"] == "websocket" else "http"
    family = family_of(scope["path"], Headers(scope=scope))
    body = json.dumps(error_body(error, family, scope["state"]["request_id"]), ensure_ascii=True).encode()
    headers = [(k.lower().encode(), v.encode()) for k, v in (error.headers or {}).items()]
    headers += [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": f"{kind}.response.start", "status": error.status_code, "headers": headers})
    await send({"type": f"{kind}.response.body", "body": body})


async def _preflight(headers: Headers, send: Send) -> None:
    asked = headers.get("access-control-request-headers", "authorization, content-type")
    answer = [
        (b"access-control-allow-methods", _METHODS.encode()),
        (b"access-control-allow-headers", asked.encode("latin-1")),
        (b"access-control-max-age", b"600"),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": answer})
    await send({"type": "http.response.body", "body": b""})


def _host_name(host: str) -> str:
    """The name or address in a Host header; empty where it is none."""
    if set(host) & set("/\\@?# "):
        return ""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _same_origin(origin: str, host: str | None) -> bool:
    return origin in (f"http://{host}", f"https://{host}")


def _on_this_machine(origin: str) -> bool:
    """At any port."""
    scheme, _, host = origin.partition("://")
    return scheme in ("http", "https") and _host_name(host) in ("localhost", "127.0.0.1", "::1")


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "replace")).digest()


def _too_large(limit: int) -> ApiError:
    return ApiError(
        413,
        f"The body is larger than the {limit >> 20} MiB that this server takes.",
        code="body_too_large",
        headers={"Connection": "close"},
    )


# -- ephemeral keys: a program with a key makes one for a page or an app, which can open realtime sessions with it for a while

PREFIX = "ek_"
_MOST_KEYS = 10_000


class EphemeralKeys:
    """Held in memory: they end with the server."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._keys: dict[bytes, tuple[float, Mapping[str, Any]]] = {}  # by digest, the oldest first

    def make(self, session: Mapping[str, Any], seconds: int) -> tuple[str, int]:
        """A key and when it expires. `session`: the settings that sessions opened with it begin with."""
        now = self._clock()
        self._keys = {digest: one for digest, one in self._keys.items() if one[0] > now}
        if len(self._keys) >= _MOST_KEYS:
            del self._keys[next(iter(self._keys))]
        key, expires = PREFIX + secrets.token_urlsafe(24), int(now) + seconds
        self._keys[_digest(key)] = expires, session
        return key, expires

    def session(self, key: str) -> Mapping[str, Any] | None:
        """The settings that a key stands for; None: it is no key, or has expired."""
        expires, session = self._keys.get(_digest(key), (0.0, None))
        return session if expires > self._clock() else None
