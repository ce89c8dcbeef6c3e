"""A socket and a uvicorn server on it, for HTTP and websockets, until a signal or another thread stops it.

The command line, the desktop app and the tests all start a server this way.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from app.runtime.models import ModelService
from app.server.app import create_app
from app.server.config import ServerSettings
from app.server.requests import Requests
from engine.errors import BadRequest

_LINGERS = 5.0  # seconds that a closed websocket has for its last words
_WAKES = 1.0
_LEAVES = 0.3  # of the grace time, for work to end that did not come to its end


class Listener:
    """Bind first, so that a port that is taken is said before anything is loaded."""

    def __init__(self, app: FastAPI, settings: ServerSettings) -> None:
        self._app = app
        self.socket = _bind(settings.host, settings.port)
        self.port: int = self.socket.getsockname()[1]
        self._open = threading.Event()
        config = uvicorn.Config(
            app,
            http=_protocol(settings.header_seconds),
            ws=_Socket,
            ws_max_size=settings.max_body,
            ws_ping_interval=settings.ping_seconds,
            ws_ping_timeout=settings.ping_seconds,
            ws_per_message_deflate=False,  # sound does not become smaller, and a bomb stays what it weighs
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=max(1, round(settings.grace_seconds)),
            h11_max_incomplete_event_size=64 * 1024,
        )
        self._server = _Quiet(config, self._open)

    def listen(self) -> None:
        """From now on clients can connect; they are answered as soon as it runs."""
        self.socket.listen(self._server.config.backlog)

    def run(self) -> None:
        """Serve until stopped. Running replies end, or are cut off after the grace time."""
        try:
            asyncio.run(self._server.serve(sockets=[self.socket]))
        finally:
            if hasattr(self._app.state, "server"):
                self._app.state.server.tools.close()

    def wait_until_open(self, seconds: float) -> int:
        if not self._open.wait(seconds):
            raise TimeoutError("The server did not start in time.")
        return self.port

    def stop(self) -> None:
        """From any thread or signal handler. Asking twice does not wait for running replies."""
        self._server.force_exit = self._server.should_exit
        self._server.stop()


class _Quiet(uvicorn.Server):
    """Leaves signals to its owner, says when it listens, and wakes once a second, not ten times, to look whether it is to stop."""

    def __init__(self, config: uvicorn.Config, listening: threading.Event) -> None:
        super().__init__(config)
        self._listening = listening
        self._stopped: tuple[asyncio.AbstractEventLoop, asyncio.Event] | None = None  # while it runs

    async def main_loop(self) -> None:
        await self.on_tick(0)
        stopped = asyncio.Event()
        self._stopped = asyncio.get_running_loop(), stopped
        while (
            not self.should_exit
        ):  # each turn of the loop lets go of timers that were cancelled, and with them of requests that have ended
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), _WAKES)
        self._stopped = None

    def stop(self) -> None:
        """From any thread or signal handler."""
        self.should_exit = True
        if (running := self._stopped) is not None:
            loop, stopped = running
            with contextlib.suppress(RuntimeError):  # it has ended meanwhile
                loop.call_soon_threadsafe(stopped.set)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening.set()


def _protocol(seconds: float) -> type[H11Protocol]:
    """A connection that has not brought a whole request's head in time is closed."""

    class Timely(H11Protocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._head_timer = self.loop.call_later(seconds, self._close_if_idle)

        def connection_lost(self, exc: Exception | None) -> None:
            self._head_timer.cancel()
            super().connection_lost(exc)

        def handle_websocket_upgrade(self, event: h11.Request) -> None:
            if event.method != b"GET":
                self.send_400_response("A websocket begins with GET.")
                return
            self._head_timer.cancel()  # from here on the connection is another protocol's
            super().handle_websocket_upgrade(event)

        def _close_if_idle(self) -> None:
            if self.cycle is None and not self.transport.is_closing():
                self.transport.close()

    return Timely


class _Socket(WebSocketsSansIOProtocol):
    """A client that takes nothing any more does not keep its connection: what it did not take in time is forgotten."""

    async def run_asgi(self) -> None:
        await super().run_asgi()
        self.loop.call_later(_LINGERS, self.transport.abort)

    def shutdown(self) -> None:
        """The server stops. A conversation that is answering is asked to close when it has answered, or when time is up."""
        close = super().shutdown
        leave: Callable[[Callable[[], None]], None] | None = getattr(self, "scope", {}).get("state", {}).get("leave")
        if leave is None or self.disconnected:
            close()
            return

        def once() -> None:
            last.cancel()
            if not self.transport.is_closing():
                close()

        last = self.loop.call_later(max(0.0, (self.config.timeout_graceful_shutdown or 0) - _LEAVES), once)
        leave(once)

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body", False):
            self.handshake_complete = True  # with a refusal, which is no fault of the application

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:  # what came was not even a question
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
            self.transport.close()

    def keepalive_timeout(self) -> None:
        super().keepalive_timeout()
        self.loop.call_later(_LINGERS, self.transport.abort)


def claim(listening: socket.socket) -> None:
    """Options of a socket that is about to be bound: a port that was left a moment ago may be taken again, one that
    another program listens on may not. On Windows SO_REUSEADDR would take even that one away, silently."""
    exclusive: int | None = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
    if exclusive is not None:
        listening.setsockopt(socket.SOL_SOCKET, exclusive, 1)
    else:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # asyncio switches off Nagle's delay only where it reads that this is TCP; it would cost 40 ms a chunk
        listening = socket.socket(family, kind, socket.IPPROTO_TCP)
        claim(listening)
        listening.bind(address)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadRequest(f"Cannot listen on {host}:{port}: {why}. Choose another --host or --port.", "port") from None
    listening.setblocking(False)
    return listening


# -- the server that a window runs over its own model service; it starts and stops while the service lives on

_OPENS_WITHIN = 20.0  # seconds


class Hosted:
    """Listens when it is made. The service, and the models in its engine, outlive it."""

    def __init__(self, service: ModelService, settings: ServerSettings) -> None:
        self.settings = settings
        app = create_app(service, settings)
        self.requests: Requests = app.state.server.requests
        self._listener = Listener(app, settings)
        self._thread = threading.Thread(target=self._listener.run, name="grus-server", daemon=True)
        self._thread.start()
        try:
            self.port = self._listener.wait_until_open(_OPENS_WITHIN)
        except TimeoutError:
            self.stop(at_once=True)
            raise

    @property
    def address(self) -> str:
        """Where programs on this machine reach it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.settings.host, self.settings.host)
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}"

    def stop(self, at_once: bool = False) -> None:
        """Running replies may end within the grace time, or are cut off at once."""
        self._listener.stop()
        if at_once:
            self._listener.stop()
        self._thread.join(self.settings.grace_seconds + 5)
        self._listener.socket.close()
