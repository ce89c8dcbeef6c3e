"""The tools of one conversation: those built-in tools and servers that were added, or those among them that were named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future

from app.runtime.tools.builtin import builtin_tool, missing
from app.runtime.tools.connection import McpConnection, McpTool, ServerTool, waited
from app.runtime.tools.settings import ToolServer, ToolSettings
from app.runtime.tools.tool import BUILTIN, Tool
from engine.errors import BadRequest, GrusError


class Toolbox:
    """Close it, or use it in a `with` block: servers run as long as it is open. `problems` are servers that could not be asked, as
    sentences; where a server was named, that is an error."""

    def __init__(
        self,
        settings: ToolSettings | None = None,
        only: Sequence[str] | None = None,
        stop: Future[None] | None = None,
        connect: Callable[[ToolServer], McpConnection] | None = None,
    ) -> None:
        """`only`: names of servers and built-in tools, or SERVER/TOOL; None: all that are added and on. Starts all servers at once.
        `connect`: whose connections are used; these stay open, and a server that cannot be asked is one of the problems."""
        self.settings = settings or ToolSettings()
        self.problems: list[str] = []
        self._connections: list[McpConnection] = []
        self._connect = connect
        try:
            self.tools = self._opened(only, stop or Future())
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Toolbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def connection(self, server: ToolServer) -> McpConnection:
        """The one of its tools, or one more that is closed with this."""
        made = next((one for one in self._connections if one.server == server), None)
        if made is None:
            made = McpConnection(server, self.settings.logs)
            self._connections.append(made)
        return made

    def close(self) -> None:
        for connection in self._connections:
            connection.stop_soon()
        for connection in self._connections:
            connection.close()

    def _opened(self, only: Sequence[str] | None, stop: Future[None]) -> list[Tool]:
        if only is not None and not only:
            return []
        builtin = self.settings.builtin()
        servers = {one.name: one for one in self.settings.servers()}
        wanted = [*builtin, *(name for name, one in servers.items() if one.enabled)] if only is None else list(only)
        unusable = self.settings.unusable()
        self.problems += unusable.values() if only is None else ()
        found: list[Tool] = []
        asked: list[tuple[str, ToolServer]] = []
        for name in dict.fromkeys(wanted):
            first, _, tool = name.partition("/")
            own = tool if first == BUILTIN else first
            if own in builtin and (first == BUILTIN or not tool):
                if why := missing(own):
                    if only is not None and self._connect is None:
                        raise BadRequest(why, "tools")
                    self.problems.append(why)
                    continue
                found.append(builtin_tool(own, builtin[own]))
            elif first in servers:
                asked.append((tool, servers[first]))
            elif first in unusable:
                raise BadRequest(unusable[first], "tools")
            else:
                have = ", ".join([*builtin, *servers]) or "none; `grus tools --help` says how one is added"
                raise BadRequest(f"There is no tool {name[:100]!r} here. Added: {have}.", "tools")
        listing: dict[str, tuple[McpConnection, Future[list[ServerTool]]]] = {}
        for _, server in asked:
            if server.name not in listing:
                connection = (self._connect or self.connection)(server)
                listing[server.name] = (connection, connection.tools())
        for tool, server in asked:
            connection, listed = listing[server.name]
            try:
                offered = waited(listed, stop) if not listed.done() else listed.result()
            except GrusError as error:
                if only is not None and self._connect is None:
                    raise
                self.problems.append(str(error))
                continue
            some = [McpTool(connection, one) for one in offered if tool in ("", one.name)]
            if tool and not some:
                have = ", ".join(one.name for one in offered) or "none"
                raise BadRequest(f"{server.name} has no tool {tool[:100]!r}. It has: {have}.", "tools")
            found += some
        return self._distinct(found)

    def _distinct(self, found: Sequence[Tool]) -> list[Tool]:
        """What is set to never run is not offered. Two names that are one for the model get numbers."""
        taken: dict[str, Tool] = {}
        for tool in {one.label: one for one in found}.values():
            if self.settings.permission(tool.label, tool.digest) == "never":
                continue
            name, number = tool.name, 1
            while tool.name in taken:
                number += 1
                tool.name = f"{name[:60]}_{number}"
            taken[tool.name] = tool
        return list(taken.values())
