"""A server beside a window: over a service that somebody else owns, started and stopped while that goes on."""

from __future__ import annotations

import threading

from app.runtime.models import ModelService
from app.server.app import create_app
from app.server.config import ServerSettings
from app.server.listening import Listener

_OPENS_WITHIN = 20.0  # seconds


class Hosted:
    """Listens when it is made. The service, and the models in its engine, outlive it."""

    def __init__(self, service: ModelService, settings: ServerSettings) -> None:
        self.settings = settings
        self._listener = Listener(create_app(service, settings), settings)
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
