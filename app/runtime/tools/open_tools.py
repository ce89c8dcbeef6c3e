"""The tools of conversations that come and go: a server runs from its first use until `close`, for all of them."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path

from app.runtime.tools import kept_sign_ins
from app.runtime.tools.connection import McpConnection
from app.runtime.tools.settings import ToolServer, ToolSettings
from app.runtime.tools.tool import Tool
from app.runtime.tools.toolbox import Toolbox
from engine.errors import BadRequest


class OpenTools:
    """Thread-safe."""

    def __init__(self, settings: ToolSettings | None = None) -> None:
        self.settings = settings or ToolSettings()
        self._lock = threading.Lock()
        self._connections: dict[str, McpConnection] = {}

    def names(self) -> list[str]:
        """Of all that was added and is on."""
        return [*self.settings.builtin(), *(one.name for one in self.settings.servers() if one.enabled)]

    def open(self, names: Sequence[str], stop: Future[None]) -> tuple[list[Tool], list[str]]:
        """The tools of these servers and built-in tools, and what cannot be used, in sentences. One that was removed or switched off
        meanwhile is left out."""
        have = self.names()
        box = Toolbox(self.settings, [name for name in names if name in have], stop, connect=self.connect)
        return box.tools, box.problems

    def connect(self, server: ToolServer) -> McpConnection:
        """To this server; one with other settings of the same name is ended."""
        with self._lock:
            made = self._connections.get(server.name)
            if made is None or made.server != server:
                if made is not None:
                    made.stop_soon()
                made = self._connections[server.name] = McpConnection(server, self.settings.logs)
            return made

    def end(self, name: str) -> None:
        """A server that was removed, or is asked in another way from now on."""
        with self._lock:
            made = self._connections.pop(name, None)
        if made is not None:
            made.stop_soon()

    def forget(self, cleared: Path) -> None:
        """End all servers, and delete what was added with its logs. `cleared`: a folder that is being emptied already."""
        from app.runtime.tools.web import forget_search

        self.close()
        with suppress(BadRequest):  # a damaged file names no search
            forget_search(self.settings)
        kept_sign_ins.forget_all()
        if self.settings.file.parent != cleared:
            self.settings.file.unlink(missing_ok=True)
            shutil.rmtree(self.settings.logs, ignore_errors=True)

    def close(self) -> None:
        with self._lock:
            made, self._connections = list(self._connections.values()), {}
        for one in made:
            one.stop_soon()
        for one in made:
            one.close()
