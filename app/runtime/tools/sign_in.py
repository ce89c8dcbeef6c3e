"""Signing in to a tool server that asks for it: OAuth in the person's browser, as MCP prescribes it, and the tokens that are kept.

The `mcp` package finds the authorization server, registers Grus with it, and exchanges the code (PKCE). Here are the parts that
belong to the person: nothing of it begins before they ask for it, the browser's answer comes to an address of this machine, and
tokens lie where other secrets lie, for the server's address alone. A connection that nobody watches only uses and refreshes them.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)

from app.runtime.remote.client import remote_loop
from app.runtime.remote.servers import is_loopback
from app.runtime.tools import kept_sign_ins
from app.runtime.tools.settings import ToolServer
from engine.errors import Offline, ToolServerFailed, ToolSignInNeeded
from engine.hub import offline

if TYPE_CHECKING:
    from mcp.client.auth import TokenStorage

_PATH = "/callback"
_LONGEST_REQUEST = 16 << 10  # bytes of what a browser sends
_REQUEST_SECONDS = 10.0
_HOUR = 3600.0  # after which a token is refreshed whose end the server does not tell
_PAGE = (
    '<!doctype html><meta charset="utf-8"><title>Grus</title>'
    "<body style='font:1.1em system-ui;margin:4em auto;max-width:32em'><p>{}</p>"
)
_HEADERS = (
    "HTTP/1.1 {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nConnection: close\r\n"
    "Content-Security-Policy: default-src 'none'; style-src 'unsafe-inline'\r\nReferrer-Policy: no-referrer\r\n\r\n"
)


class BrowserSignIn:
    """One attempt of a person to sign in, given to the connection that makes it. `show` is called with the address to open in a
    browser, on another thread: it must not block. `take` and `cancel` may be called from any thread."""

    def __init__(self, server: ToolServer, show: Callable[[str], Any]) -> None:
        self.server, self._show = server, show
        self._answer: asyncio.Future[AuthorizationCodeResult] = remote_loop().loop.create_future()
        self._answer.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        self._listener: asyncio.Server | None = None
        self._state = ""
        self.redirect = ""

    def take(self, address: str) -> bool:
        """The address at which the browser ended, where it cannot reach this machine. False: it is none of this sign-in."""
        fields = {key: values[0] for key, values in parse_qs(urlsplit(address.strip()).query).items()}
        if not self._state or not secrets.compare_digest(fields.get("state", "").encode(), self._state.encode()):
            return False
        if not fields.get("code") and not fields.get("error"):
            return False
        remote_loop().loop.call_soon_threadsafe(self._answered, fields)
        return True

    def cancel(self) -> None:
        remote_loop().loop.call_soon_threadsafe(
            self._fail, ToolServerFailed(f"The sign-in to {self.server.name} was cancelled.")
        )

    # -- on the loop of connections

    async def open(self, port: int) -> None:
        """Listen for the browser, at this port where it is free."""
        try:
            self._listener = await asyncio.start_server(self._visited, "127.0.0.1", port, limit=_LONGEST_REQUEST)
        except OSError:
            self._listener = await asyncio.start_server(self._visited, "127.0.0.1", 0, limit=_LONGEST_REQUEST)
        self.redirect = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}{_PATH}"

    def close(self) -> None:
        if self._listener is not None:
            self._listener.close()

    async def ask(self, address: str) -> None:
        if urlsplit(address).scheme != "https" and not is_loopback(address):
            raise ToolServerFailed(
                f"{self.server.name} wants the sign-in at an address without encryption: {_origin(address)}."
            )
        self._state = parse_qs(urlsplit(address).query).get("state", [""])[0]
        if not self._answer.done():
            self._show(address)

    async def answer(self) -> AuthorizationCodeResult:
        return await asyncio.shield(self._answer)

    @property
    def answered(self) -> bool:
        return self._answer.done()

    def _answered(self, fields: Mapping[str, str]) -> None:
        if self._answer.done():
            return
        if error := fields.get("error"):
            why = _visible(f"{error} {fields.get('error_description', '')}")
            self._fail(ToolServerFailed(f"The sign-in to {self.server.name} was refused: {why}."))
        else:
            made = AuthorizationCodeResult(code=fields["code"], state=fields["state"], iss=fields.get("iss"))
            self._answer.set_result(made)

    def _fail(self, error: ToolServerFailed) -> None:
        if not self._answer.done():
            self._answer.set_exception(error)

    async def _visited(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, of any program that found the port. Only one with the state of this sign-in counts."""
        try:
            async with asyncio.timeout(_REQUEST_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
            first = head.partition(b"\r\n")[0].decode("latin-1").split()
            target = first[1] if len(first) == 3 and first[0] == "GET" else ""
            taken = urlsplit(target).path == _PATH and self.take(target)
            page = _PAGE.format(
                "You may close this page and go back to Grus." if taken else "This address belongs to no sign-in."
            ).encode()
            status = "200 OK" if taken else "404 Not Found"
            writer.write(_HEADERS.format(status, len(page)).encode() + page)
            await writer.drain()
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            with suppress(OSError):
                writer.close()


class _Tokens:
    """The package's storage of tokens, over what is kept for a server's address; with what it needs to refresh them later."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.kept: dict[str, Any] = {}
        self.provider: OAuthClientProvider | None = None

    async def load(self) -> None:
        """The keyring may ask the person."""
        self.kept = await asyncio.to_thread(kept_sign_ins.load, self._address)

    async def get_tokens(self) -> OAuthToken | None:
        return OAuthToken.model_validate(self.kept["tokens"]) if "tokens" in self.kept else None

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return OAuthClientInformationFull.model_validate(self.kept["client"]) if "client" in self.kept else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.kept = {"client": client_info.model_dump(mode="json", exclude_none=True)}

    async def set_tokens(self, tokens: OAuthToken) -> None:
        assert self.provider is not None
        context = self.provider.context
        if tokens.refresh_token and tokens.expires_in is None:
            context.token_expiry_time = time.time() + _HOUR
        self.kept |= {"tokens": tokens.model_dump(mode="json", exclude_none=True), "ends": context.token_expiry_time}
        for name, part, fields in (
            ("server", context.oauth_metadata, _SERVER_FIELDS),
            ("resource", context.protected_resource_metadata, _RESOURCE_FIELDS),
        ):
            if part is not None:
                self.kept[name] = part.model_dump(mode="json", include=fields, exclude_none=True)
        await asyncio.to_thread(kept_sign_ins.keep, self._address, json.dumps(self.kept))

    def restore(self, provider: OAuthClientProvider) -> None:
        """What the package itself forgets: when the token ends, and whom to ask for the next."""
        self.provider, context = provider, provider.context
        context.token_expiry_time = self.kept.get("ends")
        if "server" in self.kept:
            context.oauth_metadata = OAuthMetadata.model_validate(self.kept["server"])
        if "resource" in self.kept:
            made = ProtectedResourceMetadata.model_validate(self.kept["resource"])
            context.protected_resource_metadata, context.auth_server_url = made, str(made.authorization_servers[0])


_SERVER_FIELDS = {
    "issuer", "authorization_endpoint", "token_endpoint", "authorization_response_iss_parameter_supported"
}  # fmt: skip
_RESOURCE_FIELDS = {"resource", "authorization_servers"}


class SignInAuth:
    """What the HTTP client of a tool server needs to be signed in: `auth`, and hooks. `browser`: a person who signs in now."""

    def __init__(self, server: ToolServer, browser: BrowserSignIn | None) -> None:
        self.server, self._browser = server, browser
        self._url = server.filled(server.url)
        self.auth: OAuthClientProvider | None = None

    async def open(self) -> None:
        """Where another program than the person's wrote the settings, their sign-in is not used: it is not that program's."""
        if not self.server.fills:
            return
        tokens = _Tokens(self._url)
        await tokens.load()
        if self._browser is not None:
            await self._browser.open(_port_of(tokens.kept))
            client = tokens.kept.get("client", {})
            same = client.get("redirect_uris") == [self._browser.redirect]
            tokens.kept = {"client": client} if same else {}  # signing in begins anew
        elif "tokens" not in tokens.kept:
            return
        redirect = self._browser.redirect if self._browser is not None else "http://127.0.0.1" + _PATH
        about = OAuthClientMetadata.model_validate(
            {"client_name": "Grus", "redirect_uris": [redirect], "token_endpoint_auth_method": "none"}
        )
        storage: TokenStorage = tokens
        self.auth = OAuthClientProvider(
            self._url,
            about,
            storage,
            self._browser.ask if self._browser is not None else None,
            self._browser.answer if self._browser is not None else None,
        )
        tokens.restore(self.auth)

    def close(self) -> None:
        if self._browser is not None:
            self._browser.close()

    async def check_request(self, request: httpx2.Request) -> None:
        """A server may name others to ask for its sign-in: they are reached encrypted, and none of them is this machine's own."""
        url = str(request.url)
        if _origin(url) == _origin(self._url) or (self.server.on_this_machine and is_loopback(url)):
            return
        if (why := offline.forbidden()) is not None:
            raise Offline(f"{_origin(url)} was not asked, because {why[0].lower()}{why[1:]}.")
        if request.url.scheme != "https" or is_loopback(url):
            raise ToolServerFailed(f"{self.server.name} names {_origin(url)} for its sign-in, which is not asked.")

    async def check_response(self, response: httpx2.Response) -> None:
        """Before the package sees it, which would begin to sign in by itself."""
        form = response.request.headers.get("content-type", "") == "application/x-www-form-urlencoded"
        short = response.status_code == 403 and "insufficient_scope" in response.headers.get("www-authenticate", "")
        if form or not (response.status_code == 401 or short):
            return
        name = self.server.name
        if any(header.lower() == "authorization" for header in self.server.headers):
            raise ToolServerFailed(f"{name} does not accept the Authorization header in its settings.")
        if not self.server.fills:
            raise ToolServerFailed(f"{name} asks for a sign-in. Send its authorization with the request.")
        if self._browser is None:
            raise ToolSignInNeeded(
                f"{name} asks you to sign in: in Settings, Tools, or with `grus tools login {name}`."
            )
        if self._browser.answered and _origin(str(response.request.url)) == _origin(self._url):
            raise ToolServerFailed(f"{name} does not accept the sign-in that it asked for.")


def _port_of(kept: Mapping[str, Any]) -> int:
    """Where the browser came back to the last time: some servers know only that address."""
    with suppress(LookupError, ValueError, TypeError):
        return urlsplit(kept["client"]["redirect_uris"][0]).port or 0
    return 0


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def _visible(text: str) -> str:
    return "".join(sign for sign in text if sign.isprintable())[:300].strip()
