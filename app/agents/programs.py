"""The programs that `grus connect` and `grus launch` know: where their settings are, what goes into them, and how each is started.

The settings are those of docs/clients.md, whose sections go by the same titles.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.agents.settings_text import Format, SettingPath
from app.client_lines import client_lines
from engine.errors import BadRequest, ErrorText

NO_KEY = "none"  # programs insist on a key; a server without keys takes any word
_CONTEXT = 32_768  # tokens, where the server does not say


@dataclass(frozen=True)
class AgentServer:
    """What a program is connected to."""

    address: str
    model: str
    key: str = NO_KEY
    context: int | None = None  # the model's, where it is known

    @property
    def openai(self) -> str:
        return f"{self.address}/v1"


@dataclass(frozen=True)
class AgentStart:
    """What starts a program for a server without touching its settings."""

    variables: Mapping[str, str]
    arguments: tuple[str, ...] = ()
    without: tuple[str, ...] = ()  # variables that would come first
    file: str = ""  # the text of a settings file; its path follows the arguments


@dataclass(frozen=True)
class AgentProgram:
    name: str
    title: str
    command: str
    format: Format
    file: Callable[[], Path]  # its settings
    settings: Callable[[AgentServer], dict[SettingPath, Any]]
    defaults: Mapping[SettingPath, Any]  # set where the file has nothing there
    start: Callable[[AgentServer], AgentStart] | None  # None: it takes nothing from its environment
    hint: str = ""  # how it is installed, where docs/clients.md does not say

    def executable(self) -> str | None:
        return shutil.which(self.command)

    def installed(self) -> bool:
        """Its command is there, or what it keeps for this person, as an extension of an editor does."""
        file = self.file()
        return self.executable() is not None or (file.parent.is_dir() and file.parent != Path.home()) or file.is_file()

    def check_installed(self, command: bool = False) -> None:
        """An error that says how it is installed. `command`: an extension of an editor does not count."""
        if self.executable() is None and (command or not self.installed()):
            raise BadRequest(
                ErrorText(
                    "{program} is not installed: there is no command {command}. Install it first: {how}",
                    program=self.title,
                    command=self.command,
                    how=self.hint or client_lines()[self.title].install,
                ),
                "program",
            )


def agent_program(name: str) -> AgentProgram:
    return next(program for program in AGENTS if program.name == name)


def _folder(variable: str, *otherwise: str) -> Path:
    """The folder that a variable names, else one in the home folder."""
    named = os.environ.get(variable)
    return Path(named).expanduser() if named else Path.home().joinpath(*otherwise)


def _config_folder() -> Path:
    return _folder("XDG_CONFIG_HOME", ".config")


# -- Claude Code


_CLAUDE_MODELS = ("MODEL", "SMALL_FAST_MODEL", "DEFAULT_OPUS_MODEL", "DEFAULT_SONNET_MODEL", "DEFAULT_HAIKU_MODEL")


def _claude(server: AgentServer) -> dict[str, str]:
    where = {"ANTHROPIC_BASE_URL": server.address, "ANTHROPIC_AUTH_TOKEN": server.key}
    return {**where, **{f"ANTHROPIC_{name}": server.model for name in _CLAUDE_MODELS}}


# -- Codex


def _codex(server: AgentServer) -> dict[SettingPath, Any]:
    provider = {"name": "Grus", "base_url": server.openai, "http_headers": {"Authorization": f"Bearer {server.key}"}}
    wanted: dict[SettingPath, Any] = {("model",): server.model, ("model_provider",): "grus"}
    if server.context:
        wanted["model_context_window",] = server.context
    return {**wanted, ("model_providers", "grus"): provider}


def _codex_start(server: AgentServer) -> AgentStart:
    """By `-c`, and the key by a variable, since arguments are seen by every program of the machine."""
    given = {"model": server.model, "model_provider": "grus"}
    given |= {"model_providers.grus.name": "Grus", "model_providers.grus.base_url": server.openai}
    given["model_providers.grus.env_key"] = "GRUS_AGENT_KEY"
    flags = {name: json.dumps(value, ensure_ascii=False) for name, value in given.items()}
    if server.context:
        flags["model_context_window"] = str(server.context)
    arguments = (word for name, value in flags.items() for word in ("-c", f"{name}={value}"))
    return AgentStart({"GRUS_AGENT_KEY": server.key}, tuple(arguments))


# -- opencode


def _opencode_file() -> Path:
    if named := os.environ.get("OPENCODE_CONFIG"):
        return Path(named).expanduser()
    commented = _config_folder() / "opencode" / "opencode.jsonc"
    return commented if commented.is_file() else commented.with_suffix(".json")


def _opencode(server: AgentServer) -> dict[SettingPath, Any]:
    limit = {"limit": {"context": server.context, "output": min(server.context, 8192)}} if server.context else {}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Grus",
        "options": {"baseURL": server.openai, "apiKey": server.key},
        "models": {server.model: {"name": server.model, **limit}},
    }
    return {("model",): f"grus/{server.model}", ("provider", "grus"): provider}


def _opencode_start(server: AgentServer) -> AgentStart:
    settings = {"model": f"grus/{server.model}", "provider": {"grus": _opencode(server)["provider", "grus"]}}
    return AgentStart({"OPENCODE_CONFIG_CONTENT": json.dumps(settings)})


# -- aider


def _aider(server: AgentServer) -> dict[str, str]:
    return {"model": f"openai/{server.model}", "openai-api-base": server.openai, "openai-api-key": server.key}


def _aider_start(server: AgentServer) -> AgentStart:
    """aider's own variables: they come before its settings files."""
    return AgentStart({f"AIDER_{key.upper().replace('-', '_')}": value for key, value in _aider(server).items()})


# -- Continue


def _continue(server: AgentServer) -> dict[str, Any]:
    model = {"name": "Grus", "provider": "openai", "model": server.model, "apiBase": server.openai}
    more = {"defaultCompletionOptions": {"contextLength": server.context}} if server.context else {}
    uses = {"roles": ["chat", "edit", "apply"], "capabilities": ["tool_use"]}
    return {**model, "apiKey": server.key, **more, **uses}


_CONTINUE = {"name": "Grus", "version": "1.0.0", "schema": "v1"}


def _continue_start(server: AgentServer) -> AgentStart:
    return AgentStart({}, ("--config",), file=json.dumps({**_CONTINUE, "models": [_continue(server)]}))


# -- Zed


def _zed_file() -> Path:
    if sys.platform == "win32":
        return _folder("APPDATA", "AppData", "Roaming") / "Zed" / "settings.json"
    return (Path.home() / ".config" if sys.platform == "darwin" else _config_folder()) / "zed" / "settings.json"


def _zed(server: AgentServer) -> dict[SettingPath, Any]:
    model = {"name": server.model, "display_name": server.model, "max_tokens": server.context or _CONTEXT}
    provider = {"api_url": server.openai, "available_models": [model]}
    return {
        ("language_models", "openai_compatible", "Grus"): provider,
        ("agent", "default_model"): {"provider": "Grus", "model": server.model},
    }


AGENTS = (
    AgentProgram(
        "claude",
        "Claude Code",
        "claude",
        "json",
        lambda: _folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json",
        lambda server: {("env", name): value for name, value in _claude(server).items()},
        {},
        lambda server: AgentStart(_claude(server), without=("ANTHROPIC_API_KEY",)),
    ),
    AgentProgram(
        "codex",
        "Codex",
        "codex",
        "toml",
        lambda: _folder("CODEX_HOME", ".codex") / "config.toml",
        _codex,
        {},
        _codex_start,
    ),
    AgentProgram(
        "opencode",
        "opencode",
        "opencode",
        "json",
        _opencode_file,
        _opencode,
        {("$schema",): "https://opencode.ai/config.json"},
        _opencode_start,
    ),
    AgentProgram(
        "aider",
        "aider",
        "aider",
        "yaml",
        lambda: Path.home() / ".aider.conf.yml",
        lambda server: {(key,): value for key, value in _aider(server).items()},
        {},
        _aider_start,
    ),
    AgentProgram(
        "continue",
        "Continue",
        "cn",
        "yaml",
        lambda: _folder("CONTINUE_GLOBAL_DIR", ".continue") / "config.yaml",
        lambda server: {("models", "Grus"): _continue(server)},
        {(key,): value for key, value in _CONTINUE.items()},
        _continue_start,
    ),
    AgentProgram("zed", "Zed", "zed", "json", _zed_file, _zed, {}, None, hint="https://zed.dev/download"),
)
