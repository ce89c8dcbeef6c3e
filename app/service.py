"""`grus serve` as a service of this person's login: a systemd user unit, a launchd agent, or a task of Windows.

The same three places start the window at login (`LoginStart`). Everything is this person's own: no administrator is asked, and
removing leaves nothing behind.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.bundled import DESKTOP_ID, program
from engine.errors import BadRequest, GrusError

NAME = "grus"
LABEL = "org.grus.serve"  # of the agent on macOS
TASK = "Grus server"  # on Windows
LOGIN_LABEL = "org.grus.login"
_PATIENCE = 60  # seconds for the system's own program


@dataclass(frozen=True)
class ServiceStatus:
    installed: bool
    running: bool
    file: str = ""  # what describes it, or the name of the task


class Service:
    """The server as the system's service. `system` is a `sys.platform`."""

    def __init__(self, system: str = sys.platform) -> None:
        self._system = system

    @property
    def file(self) -> Path:
        if self._system == "darwin":
            return _agents() / f"{LABEL}.plist"
        return _config() / "systemd" / "user" / f"{NAME}.service"

    def install(self, options: Sequence[str]) -> None:
        """Write it, start it now, and at every login. One that is there is replaced."""
        command = [*program(), "serve", *options]
        if self._system == "win32":
            _run("schtasks", "/Create", "/F", "/SC", "ONLOGON", "/TN", TASK, "/TR", subprocess.list2cmdline(command))
            _run("schtasks", "/Run", "/TN", TASK)
            return
        was = self.file.exists()
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if self._system == "darwin":
            if was:
                _run("launchctl", "bootout", _domain(LABEL), fails=True)
            self.file.write_bytes(agent(LABEL, command, keep_alive=True))
            _run("launchctl", "bootstrap", _domain(), str(self.file))
            return
        self.file.write_text(unit(command), encoding="utf-8")
        _run("systemctl", "--user", "daemon-reload")
        _run("systemctl", "--user", "enable", "--now", self.file.name)
        if was:
            _run("systemctl", "--user", "restart", self.file.name)

    def remove(self) -> bool:
        """Stop it and take it away. False where there was none."""
        if not self.status().installed:
            return False
        if self._system == "win32":
            _run("schtasks", "/End", "/TN", TASK, fails=True)
            _run("schtasks", "/Delete", "/F", "/TN", TASK)
        elif self._system == "darwin":
            _run("launchctl", "bootout", _domain(LABEL), fails=True)
            self.file.unlink(missing_ok=True)
        else:
            _run("systemctl", "--user", "disable", "--now", self.file.name)
            self.file.unlink(missing_ok=True)
            _run("systemctl", "--user", "daemon-reload")
        return True

    def status(self) -> ServiceStatus:
        if self._system == "win32":
            code, output = _ask("schtasks", "/Query", "/TN", TASK, "/FO", "LIST")
            return ServiceStatus(code == 0, "Running" in output, TASK if code == 0 else "")
        if not self.file.exists():
            return ServiceStatus(False, False)
        if self._system == "darwin":
            code, output = _ask("launchctl", "print", _domain(LABEL))
            return ServiceStatus(True, code == 0 and "state = running" in output, str(self.file))
        code, output = _ask("systemctl", "--user", "is-active", self.file.name)
        return ServiceStatus(True, output.strip() == "active", str(self.file))


class LoginStart:
    """Whether the window opens at login."""

    def __init__(self, system: str = sys.platform) -> None:
        self._system = system

    @property
    def file(self) -> Path:
        if self._system == "darwin":
            return _agents() / f"{LOGIN_LABEL}.plist"
        if self._system == "win32":
            startup = "Microsoft/Windows/Start Menu/Programs/Startup"
            return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / startup / "Grus.cmd"
        return _config() / "autostart" / f"{DESKTOP_ID}.desktop"

    @property
    def on(self) -> bool:
        return self.file.exists()

    def put(self, on: bool) -> None:
        if not on:
            self.file.unlink(missing_ok=True)
            return
        command = [*program(), "app"]
        self.file.parent.mkdir(parents=True, exist_ok=True)
        if self._system == "darwin":
            self.file.write_bytes(agent(LOGIN_LABEL, command, keep_alive=False))
        elif self._system == "win32":
            self.file.write_text(f'@start "" {subprocess.list2cmdline(command)}\r\n', encoding="utf-8", newline="")
        else:
            self.file.write_text(desktop_entry(command), encoding="utf-8")


def unit(command: Sequence[str]) -> str:
    """A systemd user unit. `%` begins a specifier there, and `$` a variable."""
    line = " ".join(_quoted(word) for word in command)
    return (
        "[Unit]\nDescription=Grus: local models for programs on this machine\nAfter=network.target\n\n"
        f"[Service]\nExecStart={line}\nRestart=on-failure\nRestartSec=5\n\n"
        "[Install]\nWantedBy=default.target\n"
    )


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"' if escaped != word or not word or any(c in word for c in " \t'") else word


def desktop_entry(command: Sequence[str]) -> str:
    line = " ".join(shlex.quote(word) if word.isascii() and " " not in word else f'"{word}"' for word in command)
    return f"[Desktop Entry]\nType=Application\nName=Grus\nExec={line}\nIcon={DESKTOP_ID}\nX-GNOME-Autostart-enabled=true\n"


def agent(label: str, command: Sequence[str], keep_alive: bool) -> bytes:
    """A launchd agent that starts at login; `keep_alive`: and again when it fails."""
    import plistlib  # XML and its parser, which an idle window does not need

    about: dict[str, object] = {"Label": label, "ProgramArguments": list(command), "RunAtLoad": True}
    if keep_alive:
        about["KeepAlive"] = {"SuccessfulExit": False}
    return plistlib.dumps(about)


def _config() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")


def _agents() -> Path:
    return Path.home() / "Library" / "LaunchAgents"


def _domain(label: str = "") -> str:
    user = os.getuid() if hasattr(os, "getuid") else 0
    return f"gui/{user}/{label}" if label else f"gui/{user}"


def _ask(*command: str) -> tuple[int, str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE)
    except FileNotFoundError:
        raise BadRequest(
            f"This system has no {command[0]}, so Grus cannot be a service here. `grus serve` runs it by hand."
        ) from None
    except subprocess.TimeoutExpired:
        raise GrusError(f"{command[0]} did not answer within {_PATIENCE} seconds.") from None
    return done.returncode, done.stdout + done.stderr


def _run(*command: str, fails: bool = False) -> None:
    code, output = _ask(*command)
    if code and not fails:
        raise GrusError(f"`{shlex.join(command)}` failed: {output.strip() or f'exit code {code}'}")
