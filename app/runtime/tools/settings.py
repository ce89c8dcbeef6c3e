"""The tools that a person has added: MCP servers, built-in tools, and what is allowed of each, in one file that only they can read.

Servers stand in it as in the settings of Claude Desktop, Cursor and LM Studio, so that they can be copied from one to the other.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from app.runtime.remote.servers import check_url, is_loopback
from app.runtime.tools.tool import BUILTIN
from engine.errors import BadRequest, ErrorText, GrusError
from engine.secret_store import write_private

Permission = Literal["ask", "always", "never"]
PERMISSIONS: tuple[str, ...] = get_args(Permission)
_NAME = re.compile(r"[A-Za-z0-9](?:[\w-]{0,30}[A-Za-z0-9])?", re.ASCII)
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)\}")
_LARGEST = 1 << 20  # characters of pasted JSON
_READ = ("command", "args", "env", "cwd", "url", "serverUrl", "headers", "disabled", "enabled", "type", "transport")
_STREAMABLE = ("http", "streamable-http", "streamableHttp", "streamable_http")


@dataclass(frozen=True)
class ToolServer:
    """An MCP server: a command that is started as a child process, or the address of one that runs elsewhere."""

    name: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    enabled: bool = True
    fills: bool = True  # `${NAME}` stands for a variable of ours: never where another program than the person's wrote the settings

    @property
    def on_this_machine(self) -> bool:
        return not self.url or is_loopback(self.url)

    @property
    def where(self) -> str:
        """For people: no variable and no header, which may hold a key."""
        return self.url or " ".join([self.command, *self.args])

    def filled(self, text: str) -> str:
        return filled(text) if self.fills else text

    def as_json(self) -> dict[str, Any]:
        said: dict[str, Any] = {"url": self.url, "headers": dict(self.headers)} if self.url else {
            "command": self.command, "args": list(self.args), "env": dict(self.env), "cwd": self.cwd,
        }  # fmt: skip
        said |= {} if self.enabled else {"disabled": True}
        return {key: value for key, value in said.items() if value}


def check_server_name(name: str) -> str:
    if not _NAME.fullmatch(name) or name == BUILTIN or "__" in name:
        raise BadRequest(
            f"A tool server's name has up to 32 letters, digits and dashes, and is not {BUILTIN}: {name[:60]!r} does not fit.",
            "name",
        )
    return name


def servers_in(text: str, name: str | None = None) -> tuple[list[ToolServer], list[str]]:
    """The servers of pasted JSON, and the fields that have no meaning here. Raises BadRequest. Taken are `{"mcpServers": {...}}`,
    VS Code's `{"servers": {...}}`, what stands inside either, and one server alone, which then is called `name`."""
    if len(text) > _LARGEST:
        raise BadRequest("The JSON is larger than a list of tool servers can be.", "json")
    try:
        said = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"This is no valid JSON: {error}.", "json") from None
    if isinstance(said, dict):
        said = next((said[key] for key in ("mcpServers", "mcp_servers", "servers") if key in said), said)
    if isinstance(said, dict) and ("command" in said or "url" in said) and name is not None:
        said = {name: said}
    if not isinstance(said, dict) or not said:
        raise BadRequest(
            'There is no server in this JSON. It looks like {"mcpServers": {"NAME": {"command": "..."}}}.', "json"
        )
    ignored = {f"{at}.{key}" for at, one in said.items() if isinstance(one, dict) for key in one if key not in _READ}
    return [_server(at, one) for at, one in said.items()], sorted(ignored)


def _server(name: str, said: Any) -> ToolServer:
    check_server_name(name)
    if not isinstance(said, dict):
        raise BadRequest(f"{name} must be an object with a command or a url.", "json")
    url, command = said.get("url") or said.get("serverUrl") or "", said.get("command") or ""
    args, env, headers = said.get("args") or [], said.get("env") or {}, said.get("headers") or {}
    texts = [url, command, said.get("cwd") or "", *args] if isinstance(args, list) else [None]
    pairs = [env, headers]
    if not all(isinstance(one, str) and "\0" not in one for one in texts) or not all(
        isinstance(pair, dict) and all(isinstance(value, str | int | float) for value in pair.values())
        for pair in pairs
    ):
        raise BadRequest(f"{name}: command, url and args are texts, env and headers are objects of texts.", "json")
    if bool(url) == bool(command):
        raise BadRequest(f"{name} must have a command, or a url, and not both.", "json")
    kind = said.get("type") or said.get("transport")
    if url and kind not in (None, *_STREAMABLE):
        raise BadRequest(
            f"{name} speaks {str(kind)[:40]!r}. Taken are commands, and addresses that speak streamable HTTP.", "json"
        )
    if url:
        check_url(_VARIABLE.sub("x", url.partition("?")[0]))
    on = said.get("enabled", True) is not False and said.get("disabled") is not True
    written = [{str(key): str(value) for key, value in pair.items()} for pair in pairs]
    return ToolServer(name, command, tuple(args), written[0], str(said.get("cwd") or ""), url, written[1], on)


def filled(text: str, environment: Mapping[str, str] | None = None) -> str:
    """With `${NAME}` and `${env:NAME}` as the environment has them, so that a key need not stand in a file."""
    have = os.environ if environment is None else environment

    def value(match: re.Match[str]) -> str:
        if match[1] not in have:
            raise BadRequest(f"The environment has no {match[1]}, which the settings of a tool server name.", match[1])
        return have[match[1]]

    return _VARIABLE.sub(value, text)


def tools_file() -> Path:
    from platformdirs import PlatformDirs

    return Path(PlatformDirs("Grus", appauthor=False).user_data_dir) / "tools.json"


class ToolSettings:
    """Reads the file for every question, so that a change counts at once. Thread-safe."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file or tools_file()
        self._lock = threading.Lock()

    @property
    def logs(self) -> Path:
        """The folder of what child processes write to their standard error."""
        return self.file.with_name("tool-logs")

    def servers(self) -> list[ToolServer]:
        """In the order of their names."""
        return [_server(name, one) for name, one in sorted(self._read("mcpServers").items())]

    def server(self, name: str) -> ToolServer:
        found = next((one for one in self.servers() if one.name == name), None)
        if found is None:
            have = ", ".join(one.name for one in self.servers()) or "none"
            raise BadRequest(
                ErrorText("There is no tool server {name}. Added: {have}.", name=repr(name[:100]), have=have), "name"
            )
        return found

    def keep_servers(self, servers: Sequence[ToolServer]) -> None:
        """In place of those of the same names. What was allowed of another command or address of that name is forgotten."""
        with self._lock:
            said = self._all()
            for one in servers:
                if said["mcpServers"].get(one.name) != one.as_json():
                    self._forget(said, one.name)
                said["mcpServers"][one.name] = one.as_json()
            self._write(said)

    def remove(self, name: str) -> None:
        """A server with what was allowed of it, or a built-in tool. Raises BadRequest."""
        with self._lock:
            said = self._all()
            if said["builtin"].pop(name, None) is None and said["mcpServers"].pop(name, None) is None:
                raise BadRequest(f"There is no tool server and no built-in tool {name[:100]!r} here.", "name")
            self._forget(said, name)
            self._write(said)

    def builtin(self) -> dict[str, tuple[str, ...]]:
        """The built-in tools that are on, and the folders that each may read."""
        return {name: tuple(map(str, folders)) for name, folders in self._read("builtin").items()}

    def keep_builtin(self, name: str, folders: Sequence[str] = ()) -> None:
        with self._lock:
            said = self._all()
            said["builtin"][name] = list(folders)
            self._write(said)

    def permissions(self) -> dict[str, Permission]:
        """What was chosen, by SERVER/TOOL."""
        return {label: one["permission"] for label, one in self._read("permissions").items()}

    def permission(self, label: str, digest: str) -> Permission:
        """`digest`: of the tool as it is now. What was allowed of a tool that has changed since is asked again."""
        kept = self._read("permissions").get(label, {})
        if kept.get("permission") == "never":
            return "never"
        return "always" if kept.get("permission") == "always" and kept.get("digest") == digest else "ask"

    def keep_permission(self, label: str, permission: Permission, digest: str) -> None:
        with self._lock:
            said = self._all()
            said["permissions"][label] = {"permission": permission, "digest": digest}
            self._write(said)

    @staticmethod
    def _forget(said: dict[str, dict[str, Any]], name: str) -> None:
        for label in [
            label for label in said["permissions"] if label.partition("/")[0] == name or label == f"{BUILTIN}/{name}"
        ]:
            del said["permissions"][label]

    # -- the file

    def _read(self, part: str) -> dict[str, Any]:
        with self._lock:
            return self._all()[part]

    def _all(self) -> dict[str, dict[str, Any]]:
        """A file that cannot be read is an error: without it, what was forbidden would be allowed."""
        empty: dict[str, dict[str, Any]] = {"mcpServers": {}, "builtin": {}, "permissions": {}}
        try:
            said = json.loads(self.file.read_text("utf-8"))
        except FileNotFoundError:
            return empty
        except (OSError, ValueError) as error:
            raise BadRequest(
                ErrorText("The tools file {file} cannot be read: {error}.", file=self.file, error=error), "tools"
            ) from None
        if not isinstance(said, dict) or not all(isinstance(said.get(part, {}), dict) for part in empty):
            raise BadRequest(
                ErrorText("The tools file {file} is damaged. Correct it or delete it.", file=self.file), "tools"
            )
        return empty | said

    def _write(self, said: dict[str, dict[str, Any]]) -> None:
        try:
            write_private(self.file, json.dumps(said, indent=1, ensure_ascii=False))
        except OSError as error:
            raise GrusError(
                ErrorText("The tools cannot be kept in {file}: {reason}.", file=self.file, reason=error.strerror)
            ) from error
