"""The server pane's behaviour: settings, start and stop, live requests and log, and snippets for client programs.

The server runs in this process, over the same engine as the window: a model that is loaded for one is loaded for both.
"""

from __future__ import annotations

import ipaddress
import logging
import secrets
import socket
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from app.client_lines import client_lines
from app.gui.texts import tr
from app.gui.viewmodels.signal import Signal

if TYPE_CHECKING:
    from app.gui.preferences import Preferences
    from app.runtime.catalogue import Capability
    from app.runtime.models import ModelService
    from app.server.config import ServerSettings
    from app.server.listening import Hosted
    from app.window_engine import WindowEngine

HERE, EVERYWHERE = "127.0.0.1", "0.0.0.0"


@dataclass(frozen=True)
class ServerAccess:
    host: str = HERE
    port: int = 8080
    keys: Sequence[str] = ()
    origins: Sequence[str] = ()

    @property
    def local(self) -> bool:
        try:
            return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


class ServerPreferences:
    """`changed`: `access` or `problem` changed."""

    def __init__(self, preferences: Preferences) -> None:
        self._preferences = preferences
        self.changed = Signal()
        kept = {k: v for k, v in dict(preferences.get("server", {})).items() if k in ServerAccess.__dataclass_fields__}
        self.access = ServerAccess(**kept)

    @property
    def problem(self) -> str:
        """Why the server cannot listen so; nothing when it can."""
        if not self.access.local and not self.access.keys:
            return tr("Other machines may only connect with a key. Create one first.")
        return next((wrong for origin in self.access.origins if (wrong := _wrong_origin(origin))), "")

    def set(self, **changes: Any) -> None:
        self.access = replace(self.access, **changes)
        self._preferences.put(
            "server", {**asdict(self.access), "keys": [*self.access.keys], "origins": [*self.access.origins]}
        )
        self.changed()

    def make_key(self) -> str:
        key = f"grus-{secrets.token_urlsafe(24)}"
        self.set(keys=[*self.access.keys, key])
        return key

    def drop_key(self, key: str) -> None:
        self.set(keys=[other for other in self.access.keys if other != key])

    def set_origins(self, text: str) -> None:
        """Addresses of web pages, separated by commas or spaces."""
        self.set(origins=text.replace(",", " ").split())

    def settings(self) -> ServerSettings:
        from app.server.config import ServerSettings

        return ServerSettings(
            host=self.access.host,
            port=self.access.port,
            api_keys=tuple(self.access.keys),
            origins=tuple(self.access.origins),
            grace_seconds=5.0,
            log_requests=True,
        )


def address_for(access: ServerAccess, port: int) -> str:
    """Where programs reach the server: with other machines allowed, by this machine's address in its network."""
    host = access.host
    if host in (EVERYWHERE, "::"):
        host = network_address() or HERE
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def network_address() -> str:
    """The IPv4 address of the network that has the default route; nothing without a network. No packet is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as route:
        try:
            route.connect(("192.0.2.1", 9))  # an address of documentation: connecting only chooses the route
            return str(route.getsockname()[0])
        except OSError:
            return ""


def masked(key: str) -> str:
    """A key with its middle hidden."""
    return f"{key[:8]}…{key[-4:]}"


def _wrong_origin(origin: str) -> str:
    parts = urlsplit(origin)
    if origin == "*" or (parts.scheme in ("http", "https") and parts.netloc and parts.path in ("", "/")):
        return ""
    return tr("{origin} is not a valid origin. Enter one like https://app.example, or * for all.", origin=origin)


State = Literal["off", "starting", "on", "stopping"]
SECONDS = 120  # of throughput that are remembered
_LINES = 500
_LOGGER = "grus.server"


@dataclass(frozen=True)
class LiveRequest:
    """A request that is being answered."""

    id: str
    model: str
    seconds: float


_Polled: TypeAlias = "tuple[list[LiveRequest], float, dict[str, frozenset[Capability]], list[str]]"


class ServerControl:
    """`changed`: the switch; `moved`: requests, rates or the log."""

    def __init__(self, core: WindowEngine, preferences: Preferences, server_preferences: ServerPreferences) -> None:
        self._core, self._preferences, self._server_preferences = core, preferences, server_preferences
        self.changed, self.moved = Signal(), Signal()
        self.state: State = "off"
        self.problem = ""
        self.address = ""
        self.requests: Sequence[LiveRequest] = ()
        self.models: dict[str, frozenset[Capability]] = {}  # what each can do
        self.programs: list[str] = [*client_lines()]  # whose snippets work with the models that are here
        self.rates: deque[float] = deque([0.0] * SECONDS, maxlen=SECONDS)
        self.log: deque[str] = deque(maxlen=_LINES)
        self._hosted: Hosted | None = None
        self._listening: _Listening | None = None

    def start(self) -> None:
        if self.state != "off":
            return
        self.problem = self._server_preferences.problem
        if self.problem:
            self.changed()
            return
        self.state = "starting"
        self.changed()
        self._capture_log()

        def begin(service: ModelService) -> Hosted:
            from app.server.listening import Hosted

            return Hosted(service, self._server_preferences.settings())

        self._core.use(begin, self._started, self._failed)

    def stop(self) -> None:
        hosted = self._hosted
        if self.state != "on" or hosted is None:
            return
        self.state, self._hosted = "stopping", None
        self._preferences.put("server.on", False)
        self.changed()
        self._core.use(lambda service: hosted.stop(), lambda _: self._stopped(), lambda _: self._stopped())

    def close(self) -> None:
        """The window closes; the preference to serve stays. Waits briefly, so that no request uses a closed engine."""
        if self._hosted is not None:
            self._hosted.stop(at_once=True)
            self._hosted = None
            self._stopped()

    def abort(self, id: str) -> None:
        hosted = self._hosted
        if hosted is not None:
            self._core.use(lambda service: hosted.requests.abort(id), lambda _: self.poll())

    def poll(self) -> None:
        """Once a second."""
        hosted = self._hosted

        def look(service: ModelService) -> _Polled:
            from app.runtime.catalogue import abilities

            now = time.monotonic()
            running = hosted.requests.running if hosted is not None else ()
            requests = [LiveRequest(each.id, each.model, now - each.began) for each in running]
            models = abilities(service.catalogue)
            voice = frozenset[str]().union(*models.values()) >= {"listen", "speak"}
            return requests, service.engine.stats().tokens_per_second, models, programs(voice)

        self._core.use(look, self._seen)

    def _seen(self, seen: _Polled) -> None:
        self.requests, rate, self.models, self.programs = seen
        self.rates.append(rate)
        self.moved()

    def _started(self, hosted: Hosted) -> None:
        self._hosted, self.state, self.address = hosted, "on", address_for(self._server_preferences.access, hosted.port)
        self._preferences.put("server.on", True)
        if not hosted.settings.local:
            sentence = tr("Other machines can reach the server on port {port}, with a key.", port=hosted.port)
            self._core.reach("server", sentence)
        self.changed()
        self.poll()

    def _failed(self, sentence: str) -> None:
        self.problem = sentence
        self._stopped()

    def _stopped(self) -> None:
        self.state, self.address, self.requests = "off", "", ()
        self._core.reach("server", "")
        if self._listening is not None:
            logging.getLogger(_LOGGER).removeHandler(self._listening)
            self._listening = None
        self.changed()
        self.moved()

    def _capture_log(self) -> None:
        self._listening = _Listening(self.log)
        logger = logging.getLogger(_LOGGER)
        logger.addHandler(self._listening)
        logger.setLevel(logging.INFO)


class _Listening(logging.Handler):
    """Lines of the server's log, from any thread; the view reads them once a second."""

    def __init__(self, lines: deque[str]) -> None:
        super().__init__(logging.INFO)
        self._lines = lines
        self.setFormatter(logging.Formatter("%(asctime)s  %(message)s", "%H:%M:%S"))

    def emit(self, record: Any) -> None:
        self._lines.append(self.format(record))


def programs(voice: bool) -> list[str]:
    """The programs that have a snippet. Realtime ones are voice conversations: they need models that listen and speak."""
    return [name for name in client_lines() if voice or not name.endswith(", Realtime")]


def written(name: str, address: str, key: str, model: str) -> str:
    """With words of their own for what is not there yet: clients' libraries insist on a key."""
    return client_lines()[name].written(address or "http://127.0.0.1:8080", key or "none", model or "MODEL")
