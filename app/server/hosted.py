"""The server that a window runs over its own model service; it starts and stops while the service lives on."""

from __future__ import annotations

import threading

from app.runtime.models import ModelService
from app.server.app import create_app
from app.server.config import ServerSettings
from app.server.listening import Listener
from app.server.requests import Requests

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
