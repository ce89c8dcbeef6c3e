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
        data: dict[str, Any] = {"url": self.url, "headers": dict(self.headers)} if self.url else {
            "command": self.command, "args": list(self.args), "env": dict(self.env), "cwd": self.cwd,
        }  # fmt: skip
        data |= {} if self.enabled else {"disabled": True}
        return {key: value for key, value in data.items() if value}


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
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"This is no valid JSON: {error}.", "json") from None
    if isinstance(data, dict):
        data = next((data[key] for key in ("mcpServers", "mcp_servers", "servers") if key in data), data)
    if isinstance(data, dict) and ("command" in data or "url" in data) and name is not None:
        data = {name: data}
    if not isinstance(data, dict) or not data:
        raise BadRequest(
            'There is no server in this JSON. It looks like {"mcpServers": {"NAME": {"command": "..."}}}.', "json"
        )
    ignored = {f"{at}.{key}" for at, one in data.items() if isinstance(one, dict) for key in one if key not in _READ}
    return [_server(at, one) for at, one in data.items()], sorted(ignored)


def _server(name: str, data: Any) -> ToolServer:
    check_server_name(name)
    if not isinstance(data, dict):
        raise BadRequest(f"{name} must be an object with a command or a url.", "json")
    url, command = data.get("url") or data.get("serverUrl") or "", data.get("command") or ""
    args, env, headers = data.get("args") or [], data.get("env") or {}, data.get("headers") or {}
    texts = [url, command, data.get("cwd") or "", *args] if isinstance(args, list) else [None]
    pairs = [env, headers]
    if not all(isinstance(one, str) and "\0" not in one for one in texts) or not all(
        isinstance(pair, dict) and all(isinstance(value, str | int | float) for value in pair.values())
        for pair in pairs
    ):
        raise BadRequest(f"{name}: command, url and args are texts, env and headers are objects of texts.", "json")
    if bool(url) == bool(command):
        raise BadRequest(f"{name} must have a command, or a url, and not both.", "json")
    kind = data.get("type") or data.get("transport")
    if url and kind not in (None, *_STREAMABLE):
        raise BadRequest(
            f"{name} speaks {str(kind)[:40]!r}. Taken are commands, and addresses that speak streamable HTTP.", "json"
        )
    if url:
        check_url(_VARIABLE.sub("x", url.partition("?")[0]))
    on = data.get("enabled", True) is not False and data.get("disabled") is not True
    written = [{str(key): str(value) for key, value in pair.items()} for pair in pairs]
    return ToolServer(name, command, tuple(args), written[0], str(data.get("cwd") or ""), url, written[1], on)


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
        """In the order of their names, without those that cannot be used."""
        return self._checked()[0]

    def unusable(self) -> dict[str, str]:
        """By the names of entries that a person or another program wrote: why they cannot be used, in sentences."""
        return self._checked()[1]

    def _checked(self) -> tuple[list[ToolServer], dict[str, str]]:
        found, problems = [], {}
        for name, one in sorted(self._read("mcpServers").items()):
            try:
                found.append(_server(name, one))
            except BadRequest as error:
                problems[name] = str(error)
        return found, problems

    def server(self, name: str) -> ToolServer:
        servers, problems = self._checked()
        if name in problems:
            raise BadRequest(problems[name], "name")
        found = next((one for one in servers if one.name == name), None)
        if found is None:
            have = ", ".join(one.name for one in servers) or "none"
            raise BadRequest(
                ErrorText("There is no tool server {name}. Added: {have}.", name=repr(name[:100]), have=have), "name"
            )
        return found

    def keep_servers(self, servers: Sequence[ToolServer]) -> None:
        """In place of those of the same names. What was allowed of another command or address of that name is forgotten."""
        with self._lock:
            data = self._all()
            for one in servers:
                if data["mcpServers"].get(one.name) != one.as_json():
                    self._forget(data, one.name)
                data["mcpServers"][one.name] = one.as_json()
            self._write(data)

    def remove(self, name: str) -> None:
        """A server with what was allowed of it, or a built-in tool. Raises BadRequest."""
        with self._lock:
            data = self._all()
            if data["builtin"].pop(name, None) is None and data["mcpServers"].pop(name, None) is None:
                raise BadRequest(f"There is no tool server and no built-in tool {name[:100]!r} here.", "name")
            self._forget(data, name)
            self._write(data)

    def builtin(self) -> dict[str, tuple[str, ...]]:
        """The built-in tools that are on, and the folders that each may read."""
        return {name: tuple(map(str, folders)) for name, folders in self._read("builtin").items()}

    def keep_builtin(self, name: str, folders: Sequence[str] = ()) -> None:
        with self._lock:
            data = self._all()
            data["builtin"][name] = list(folders)
            self._write(data)

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
            data = self._all()
            data["permissions"][label] = {"permission": permission, "digest": digest}
            self._write(data)

    @staticmethod
    def _forget(data: dict[str, dict[str, Any]], name: str) -> None:
        for label in [
            label for label in data["permissions"] if label.partition("/")[0] == name or label == f"{BUILTIN}/{name}"
        ]:
            del data["permissions"][label]

    # -- the file

    def _read(self, part: str) -> dict[str, Any]:
        with self._lock:
            return self._all()[part]

    def _all(self) -> dict[str, dict[str, Any]]:
        """A file that cannot be read is an error: without it, what was forbidden would be allowed."""
        empty: dict[str, dict[str, Any]] = {"mcpServers": {}, "builtin": {}, "permissions": {}}
        try:
            data = json.loads(self.file.read_text("utf-8"))
        except FileNotFoundError:
            return empty
        except (OSError, ValueError) as error:
            raise BadRequest(
                ErrorText("The tools file {file} cannot be read: {error}.", file=self.file, error=error), "tools"
            ) from None
        if not isinstance(data, dict) or not all(isinstance(data.get(part, {}), dict) for part in empty):
            raise BadRequest(
                ErrorText("The tools file {file} is damaged. Correct it or delete it.", file=self.file), "tools"
            )
        return empty | data

    def _write(self, data: dict[str, dict[str, Any]]) -> None:
        try:
            write_private(self.file, json.dumps(data, indent=1, ensure_ascii=False))
        except OSError as error:
            raise GrusError(
                ErrorText("The tools cannot be kept in {file}: {reason}.", file=self.file, reason=error.strerror)
            ) from error
