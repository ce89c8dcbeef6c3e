"""The tools that requests may have this server call: those of added tool servers, and of addresses, that its options name."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from app.runtime.tools.connection import McpConnection, McpTool
from app.runtime.tools.settings import ToolServer, ToolSettings
from app.runtime.tools.tool import Tool
from app.runtime.tools.toolbox import Toolbox
from app.server.config import ServerSettings

ANY = "any"


class ServerTools:
    """Added servers run from their first use until `close`; they are shared by all requests."""

    def __init__(self, settings: ServerSettings) -> None:
        self._names, self._urls = settings.tools, settings.tool_urls
        self._boxes: dict[str, Toolbox] = {}
        self._opening = asyncio.Lock()

    def allows(self, label: str, url: str | None) -> bool:
        """Whether a request may name this: nothing is started or connected to that the options do not name."""
        if url is None:
            return label in self._names
        return ANY in self._urls or any(url == one or url.startswith(one.rstrip("/") + "/") for one in self._urls)

    async def added(self, label: str) -> list[tuple[Tool, bool]]:
        """The tools of an added server or built-in tool, and whether the person lets each run without being asked."""
        async with self._opening:
            if label not in self._boxes:
                self._boxes[label] = await asyncio.to_thread(Toolbox, None, [label])
        settings = ToolSettings()
        chosen = [(tool, settings.permission(tool.label, tool.digest)) for tool in self._boxes[label].tools]
        return [(tool, permission == "always") for tool, permission in chosen if permission != "never"]

    async def at(self, label: str, url: str, headers: Mapping[str, str]) -> tuple[McpConnection, list[Tool]]:
        """The tools of an address, for one request, which closes the connection. Nothing in it stands for a variable of this process."""
        connection = McpConnection(ToolServer(label, url=url, headers=headers, fills=False))
        try:
            listed = await asyncio.wrap_future(connection.tools())
        except BaseException:
            connection.stop_soon()
            raise
        return connection, [McpTool(connection, one) for one in listed]

    def close(self) -> None:
        for box in self._boxes.values():
            box.close()
