"""The tools that a person has added, in Settings: built-in tools, servers with their tools and logs, and what is allowed of each."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from app.explain import explained
from app.gui.texts import mark, tr
from app.gui.viewmodels.signal import Signal
from app.window_engine import JobRunner
from engine.errors import BadRequest, ToolSignInNeeded

if TYPE_CHECKING:
    from concurrent.futures import Future

    from app.runtime.tools.connection import McpConnection
    from app.runtime.tools.open_tools import OpenTools
    from app.runtime.tools.settings import Permission, ToolServer
    from app.runtime.tools.sign_in import BrowserSignIn
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
    """`tools` is None until the server was asked; `problem` is why it could not be. `sign_in`: how far it is: the server asks for one,
    one is being prepared, `address` is to be opened in a browser, or it was done."""

    server: ToolServer
    tools: tuple[ListedTool, ...] | None = None
    asking: bool = False
    problem: str = ""
    sign_in: Literal["", "wanted", "preparing", "open", "done"] = ""
    address: str = ""


@dataclass(frozen=True)
class _Found:
    builtin: list[BuiltinEntry] = field(default_factory=list)
    servers: list[ToolServer] = field(default_factory=list)
    problem: str = ""  # of entries that cannot be used
    signed_in: frozenset[str] = frozenset()


class AddedTools:
    """`changed`: something else is to be shown. `problem` is the last error, in one sentence; `done` what was done."""

    def __init__(self, work: JobRunner, open_tools: Callable[[], OpenTools]) -> None:
        self._work, self._open = work, open_tools
        self.changed = Signal()
        self.builtin: list[BuiltinEntry] = []
        self.servers: list[ServerEntry] = []
        self.problem = self.done = ""
        self._browsers: dict[str, BrowserSignIn] = {}  # of sign-ins that wait for the person

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
            from app.runtime.tools.kept_sign_ins import forget_unused

            tools.settings.remove(name)
            forget_unused(tools.settings)
            tools.end(name)

        self.cancel_sign_in(name)

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

        def listed(tools: OpenTools) -> tuple[ListedTool, ...] | None:
            from app.runtime.tools.connection import McpTool

            connection = tools.connect(tools.settings.server(name))
            try:
                return tuple(_listed(tools, McpTool(connection, one)) for one in connection.tools().result())
            except ToolSignInNeeded:
                return None

        def show(found: tuple[ListedTool, ...] | None) -> None:
            if found is None:
                self._put(name, asking=False, sign_in="wanted")
            else:
                self._put(name, tools=found, asking=False)

        self._work.run(lambda: listed(self._open()), show, lambda why: self._put(name, asking=False, problem=why))

    # -- signing in

    def sign_in(self, name: str) -> None:
        """Find out where the person signs in. Then `address` waits to be opened in a browser, or elsewhere, until that was answered."""
        self.cancel_sign_in(name)
        self._put(name, sign_in="preparing", problem="")

        def show(browser: BrowserSignIn, address: str) -> None:
            if self._browsers.get(name) is browser:
                self._put(name, sign_in="open", address=address)

        def begin() -> tuple[OpenTools, BrowserSignIn, McpConnection]:
            from app.runtime.tools.connection import SIGN_IN_SECONDS, McpConnection
            from app.runtime.tools.sign_in import BrowserSignIn

            tools = self._open()
            server = tools.settings.server(name)
            browser = BrowserSignIn(server, lambda at: self._work.post(lambda: show(browser, at)))
            return tools, browser, McpConnection(server, tools.settings.logs, start=SIGN_IN_SECONDS, browser=browser)

        def begun(made: tuple[OpenTools, BrowserSignIn, McpConnection]) -> None:
            tools, browser, connection = made
            self._browsers[name] = browser

            def over(listed: Future[Any]) -> None:
                connection.stop_soon()
                tools.end(name)  # what was asked without the sign-in
                why = explained(error) if (error := listed.exception()) is not None else ""
                self._work.post(lambda: ended(browser, why))

            connection.tools().add_done_callback(over)

        def ended(browser: BrowserSignIn, why: str) -> None:
            if self._browsers.get(name) is browser:
                del self._browsers[name]
                self._put(name, sign_in="wanted" if why else "done", address="", problem=why)
                if not why:
                    self.ask(name)

        self._work.run(begin, begun, lambda why: self._put(name, sign_in="wanted", problem=why))

    def cancel_sign_in(self, name: str) -> None:
        browser = self._browsers.pop(name, None)
        if browser is not None:
            browser.cancel()
            self._put(name, sign_in="wanted", address="", problem="")

    def take_address(self, name: str, address: str) -> None:
        """Where the browser ended, where it cannot reach this machine."""
        browser = self._browsers.get(name)
        if browser is not None and not browser.take(address):
            self._put(name, problem=tr("This address belongs to no sign-in that is waited for."))

    def sign_out(self, name: str) -> None:
        def forget(tools: OpenTools) -> str:
            from app.runtime.tools.kept_sign_ins import sign_out

            sign_out(tools.settings.server(name))
            tools.end(name)
            return tr("You are signed out of {name} here.", name=name)

        self._put(name, tools=None, sign_in="")
        self._do(forget)

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
        for name in tuple(self._browsers):
            self.cancel_sign_in(name)
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
            self.servers = [
                replace(one, sign_in="done") if not one.sign_in and one.server.name in found.signed_in else one
                for one in self.servers
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
    from app.runtime.tools.kept_sign_ins import is_signed_in

    on = tools.settings.builtin()
    entries = []
    for name in BUILTIN_TOOLS:
        why = missing(name)
        tool = _listed(tools, builtin_tool(name, on[name])) if name in on and not why else None
        entries.append(BuiltinEntry(name, name in on, name in WITH_FOLDERS, on.get(name, ()), why, tool))
    servers = tools.settings.servers()
    signed_in = frozenset(one.name for one in servers if is_signed_in(one))
    return _Found(entries, servers, "\n".join(tools.settings.unusable().values()), signed_in)


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
