"""The tools that a person has added, in Settings: built-in tools, servers with their tools and logs, and what is allowed of each."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.gui.texts import mark, tr
from app.gui.viewmodels.signal import Signal
from app.window_engine import JobRunner
from engine.errors import BadRequest

if TYPE_CHECKING:
    from app.runtime.tools.open_tools import OpenTools
    from app.runtime.tools.settings import Permission, ToolServer
    from app.runtime.tools.tool import Tool

ABOUT = {
    "calculator": mark("Computes expressions."),
    "date": mark("The date, the day of the week and the time."),
    "read_file": mark("Reads files in the folders that you choose."),
    "search_documents": mark("Searches the libraries in the folders that you choose."),
    "web_search": mark(
        "Searches the web through an address of yours: SearXNG, or Brave with a key. Queries leave this machine."
    ),
    "read_web_page": mark("Reads pages of the web. Their addresses leave this machine."),
    "python": mark("Runs Python without network and without your files, with limits on time and memory."),
}


@dataclass(frozen=True)
class ListedTool:
    """A tool of a server, or a built-in one, and what is allowed of it."""

    label: str
    description: str
    digest: str
    permission: Permission


@dataclass(frozen=True)
class BuiltinEntry:
    name: str
    on: bool
    takes_folders: bool
    folders: tuple[str, ...] = ()
    missing: str = ""  # why it is not offered here
    tool: ListedTool | None = None  # while it is on


@dataclass(frozen=True)
class ServerEntry:
    """`tools` is None until the server was asked; `problem` is why it could not be."""

    server: ToolServer
    tools: tuple[ListedTool, ...] | None = None
    asking: bool = False
    problem: str = ""


@dataclass(frozen=True)
class _Found:
    builtin: list[BuiltinEntry] = field(default_factory=list)
    servers: list[ToolServer] = field(default_factory=list)
    problem: str = ""  # of entries that cannot be used


class AddedTools:
    """`changed`: something else is to be shown. `problem` is the last error, in one sentence; `done` what was done."""

    def __init__(self, work: JobRunner, open_tools: Callable[[], OpenTools]) -> None:
        self._work, self._open = work, open_tools
        self.changed = Signal()
        self.builtin: list[BuiltinEntry] = []
        self.servers: list[ServerEntry] = []
        self.problem = self.done = ""

    def look(self) -> None:
        """Read again what was added."""
        self._do(lambda tools: None)

    # -- built-in tools

    def turn(self, name: str, on: bool, folders: Sequence[Path] = ()) -> None:
        from app.runtime.tools.builtin import WEB_SEARCH

        def change(tools: OpenTools) -> None:
            if on:
                tools.settings.keep_builtin(name, [str(folder.expanduser().resolve()) for folder in folders])
            elif name in tools.settings.builtin():
                if name == WEB_SEARCH:
                    from app.runtime.tools.web import forget_search

                    forget_search(tools.settings)
                tools.settings.remove(name)

        self._do(change)

    def set_search(self, address: str, key: str, then: Callable[[], Any] = lambda: None) -> None:
        """Turn the search of the web on. An empty key: the one that is kept for this address, or none."""

        def change(tools: OpenTools) -> str:
            from app.runtime.tools.web import keep_search

            return tr("Each query goes to {address}.", address=keep_search(tools.settings, address, key))

        self._do(change, then)

    # -- servers

    def add_json(self, text: str, then: Callable[[], Any] = lambda: None) -> None:
        """As Claude Desktop, Cursor, LM Studio and VS Code write them."""

        def add(tools: OpenTools) -> str:
            from app.runtime.tools.settings import servers_in

            servers, ignored = servers_in(text)
            tools.settings.keep_servers(servers)
            names = ", ".join(one.name for one in servers)
            if ignored:
                return tr("Added: {names}. Left out: {fields}.", names=names, fields=", ".join(ignored))
            return tr("Added: {names}.", names=names)

        self._do(add, then)

    def add_server(self, name: str, where: str, variables: str = "", then: Callable[[], Any] = lambda: None) -> None:
        """By a form: a command or an address, and lines of NAME=VALUE: variables of a command, headers of an address."""

        def add(tools: OpenTools) -> str:
            from app.runtime.tools.settings import check_server_name, servers_in

            check_server_name(name.strip())
            text = where.strip()
            web = text.startswith(("http://", "https://"))
            data: dict[str, Any] = {"headers" if web else "env": _pairs(variables)}
            if web:
                data["url"] = text
            else:
                data["command"], *data["args"] = _words(text)
            tools.settings.keep_servers(servers_in(json.dumps(data), name.strip())[0])
            return tr("Added: {names}.", names=name.strip())

        self._do(add, then)

    def remove(self, name: str) -> None:
        def drop(tools: OpenTools) -> None:
            tools.settings.remove(name)
            tools.end(name)

        self._do(drop)

    def switch(self, name: str, on: bool) -> None:
        """A server that is off is kept, and offered nowhere."""

        def change(tools: OpenTools) -> None:
            tools.settings.keep_servers([replace(tools.settings.server(name), enabled=on)])
            if not on:
                tools.end(name)

        self._do(change)

    def ask(self, name: str) -> None:
        """Start a server, and list its tools."""
        self._put(name, asking=True, problem="")

        def listed(tools: OpenTools) -> tuple[ListedTool, ...]:
            from app.runtime.tools.connection import McpTool

            connection = tools.connect(tools.settings.server(name))
            return tuple(_listed(tools, McpTool(connection, one)) for one in connection.tools().result())

        self._work.run(
            lambda: listed(self._open()),
            lambda found: self._put(name, tools=found, asking=False),
            lambda why: self._put(name, asking=False, problem=why),
        )

    def permit(self, tool: ListedTool, permission: Permission) -> None:
        def change(tools: OpenTools) -> None:
            tools.settings.keep_permission(tool.label, permission, tool.digest)

        def mark_it(one: ListedTool) -> ListedTool:
            return replace(one, permission=permission) if one.label == tool.label else one

        self.servers = [
            replace(entry, tools=tuple(map(mark_it, entry.tools)) if entry.tools is not None else None)
            for entry in self.servers
        ]
        self._do(change)

    def log(self, name: str, show: Callable[[str], Any]) -> None:
        """What a server wrote to its standard error."""

        def read(tools: OpenTools) -> str:
            files = [tools.settings.logs / f"{name}{ending}" for ending in (".old.log", ".log")]
            return "".join(file.read_text("utf-8", "replace") for file in files if file.exists())

        self._work.run(lambda: read(self._open()), show, self._failed)

    def forget(self, cleared: Path) -> None:
        """With everything else that is deleted."""
        self._do(lambda tools: tools.forget(cleared))

    # -- inside

    def _do(self, change: Callable[[OpenTools], str | None], then: Callable[[], Any] = lambda: None) -> None:
        """Change something beside the UI thread, and read everything again."""

        def work() -> tuple[str, _Found]:
            tools = self._open()
            done = change(tools)
            return done or "", _found(tools)

        def taken(answer: tuple[str, _Found]) -> None:
            self.done, found = answer
            self.problem = found.problem
            before = {entry.server.name: entry for entry in self.servers}
            self.builtin = found.builtin
            self.servers = [
                replace(known, server=one)
                if (known := before.get(one.name)) is not None and known.server.as_json() == one.as_json()
                else ServerEntry(one)
                for one in found.servers
            ]
            self.changed()
            then()

        self._work.run(work, taken, self._failed)

    def _failed(self, why: str) -> None:
        self.problem, self.done = why, ""
        self.changed()

    def _put(self, name: str, **changes: Any) -> None:
        self.servers = [replace(one, **changes) if one.server.name == name else one for one in self.servers]
        self.changed()


def _found(tools: OpenTools) -> _Found:
    from app.runtime.tools.builtin import BUILTIN_TOOLS, WITH_FOLDERS, builtin_tool, missing

    on = tools.settings.builtin()
    entries = []
    for name in BUILTIN_TOOLS:
        why = missing(name)
        tool = _listed(tools, builtin_tool(name, on[name])) if name in on and not why else None
        entries.append(BuiltinEntry(name, name in on, name in WITH_FOLDERS, on.get(name, ()), why, tool))
    return _Found(entries, tools.settings.servers(), "\n".join(tools.settings.unusable().values()))


def _listed(tools: OpenTools, tool: Tool) -> ListedTool:
    return ListedTool(tool.label, tool.description, tool.digest, tools.settings.permission(tool.label, tool.digest))


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError:
        words = []
    if not words:
        raise BadRequest(tr("Enter a command, such as npx -y @modelcontextprotocol/server-memory, or an address."))
    return words


def _pairs(text: str) -> dict[str, str]:
    found = {}
    for line in filter(str.strip, text.splitlines()):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise BadRequest(tr("Write NAME=VALUE in each line."))
        found[name.strip()] = value.strip()
    return found
