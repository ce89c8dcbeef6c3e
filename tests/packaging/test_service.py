"""`grus service` and the start at login: commands in new processes, with programs of the system that note how they were called."""

from __future__ import annotations

import os
import plistlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app.service import LoginStart, Service, agent, desktop_entry, unit

ROOT = Path(__file__).resolve().parents[2]
NOTE = '#!/bin/sh\nprintf "%s\\n" "$(basename "$0") $*" >>"$CALLS"\n[ ! -f "$0.says" ] || cat "$0.says"\n[ ! -f "$0.fails" ]\n'

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the system's programs are shell scripts here")


class FakeSystem:
    """A home folder, and a search path on which the system's own programs only take notes."""

    def __init__(self, folder: Path) -> None:
        self.home, self.bin, self.calls = folder / "a home", folder / "bin", folder / "calls"
        self.home.mkdir()
        self.bin.mkdir()
        for name in ("systemctl", "launchctl", "schtasks"):
            (self.bin / name).write_text(NOTE)
            (self.bin / name).chmod(0o755)
        self.environment = {
            **os.environ, "HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config"), "CALLS": str(self.calls),
            "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT),
        }  # fmt: skip

    def answers(self, program: str, text: str, fails: bool = False) -> None:
        (self.bin / f"{program}.says").write_text(text)
        (self.bin / f"{program}.fails").unlink(missing_ok=True)
        if fails:
            (self.bin / f"{program}.fails").touch()

    def noted(self) -> list[str]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        self.calls.unlink(missing_ok=True)
        return lines

    def grus(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "app.cli", "service", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, env=self.environment, cwd=ROOT)


@pytest.fixture
def system(tmp_path: Path) -> FakeSystem:
    return FakeSystem(tmp_path)


@pytest.fixture
def here(system: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> FakeSystem:
    """The same, for code of this process."""
    for name in ("HOME", "XDG_CONFIG_HOME", "CALLS", "PATH"):
        monkeypatch.setenv(name, system.environment[name])
    return system


@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
def test_a_service_is_installed_reported_and_removed(system: FakeSystem, tmp_path: Path) -> None:
    config = tmp_path / "server options.toml"
    config.write_text("port = 9123\n")
    assert "No service" in system.grus("status").stdout
    done = system.grus("install", "--config", str(config), "--model", "guide")
    assert done.returncode == 0, done.stderr
    assert system.noted() == ["systemctl --user daemon-reload", "systemctl --user enable --now grus.service"]
    file = system.home / ".config" / "systemd" / "user" / "grus.service"
    line = next(line for line in file.read_text().splitlines() if line.startswith("ExecStart="))
    assert f'serve --config "{config}" --model guide' in line
    system.answers("systemctl", "active\n")
    status = system.grus("status")
    assert (status.returncode, status.stdout) == (0, f"The service runs: {file}\n")
    system.answers("systemctl", "inactive\n", fails=True)
    assert system.grus("status").returncode == 1
    system.answers("systemctl", "")
    system.noted()
    assert system.grus("remove").stdout == "The service is removed.\n"
    assert system.noted()[-2:] == ["systemctl --user disable --now grus.service", "systemctl --user daemon-reload"]
    assert not file.exists()
    assert "No service" in system.grus("remove").stdout


def test_options_that_the_server_would_refuse_are_refused_at_once(system: FakeSystem) -> None:
    for wrong in (["--port", "99999"], ["--config", "/nowhere/at/all.toml"]):
        done = system.grus("install", *wrong)
        assert done.returncode == 2
        assert done.stderr.startswith("grus: ")
    assert system.noted() == []


@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
def test_what_systemd_refuses_is_said_in_its_words(system: FakeSystem) -> None:
    system.answers("systemctl", "Failed to connect to bus: No medium found", fails=True)
    done = system.grus("install")
    assert done.returncode == 2
    assert "No medium found" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="systemd")
def test_a_system_without_systemd_says_so(system: FakeSystem) -> None:
    (system.bin / "systemctl").unlink()
    system.environment["PATH"] = str(system.bin)
    done = system.grus("install")
    assert done.returncode == 2
    assert "no systemctl" in done.stderr


ANALYZE = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="asks systemd itself")


def verified(file: Path, folder: Path) -> tuple[int, str]:
    """What systemd says of a user unit. Without the folder it reads no unit at all, and finds nothing wrong with any."""
    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", str(file)],
        capture_output=True, text=True, timeout=60, env={**os.environ, "XDG_RUNTIME_DIR": str(folder)},
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@ANALYZE
def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    file = tmp_path / "grus.service"
    file.write_text(unit(["/bin/echo", "a b", "50%", "$HOME", 'say "hi"']))
    assert verified(file, tmp_path) == (0, "")


@ANALYZE
def test_systemd_finds_nothing_wrong_with_the_file_that_is_installed(system: FakeSystem, tmp_path: Path) -> None:
    """The program that it names is there, and may be run."""
    models = tmp_path / "50% of $HOME"
    models.mkdir()
    assert system.grus("install", "--model", str(models), "--port", "9124").returncode == 0
    file = system.home / ".config" / "systemd" / "user" / "grus.service"
    assert verified(file, tmp_path) == (0, "")
    gone = file.with_name("gone.service")
    gone.write_text(file.read_text().replace("ExecStart=", "ExecStart=/nowhere"))
    code, why = verified(gone, tmp_path)
    assert code != 0
    assert "is not executable" in why


def test_a_unit_quotes_what_systemd_would_change() -> None:
    line = unit(["/opt/a b/grus", "serve", "50%", "$HOME"]).splitlines()[5]
    assert line == 'ExecStart="/opt/a b/grus" serve "50%%" "$$HOME"'


def test_on_macos_it_is_an_agent_that_starts_at_login(here: FakeSystem) -> None:
    service = Service("darwin")
    service.install(["--port", "9000"])
    about = plistlib.loads(service.file.read_bytes())
    assert about["ProgramArguments"][-3:] == ["serve", "--port", "9000"]
    assert (about["RunAtLoad"], about["KeepAlive"]) == (True, {"SuccessfulExit": False})
    domain = f"gui/{os.getuid()}"
    assert here.noted() == [f"launchctl bootstrap {domain} {service.file}"]
    here.answers("launchctl", "\tstate = running\n")
    assert service.status().running
    here.noted()
    assert service.remove()
    assert f"launchctl bootout {domain}/org.grus.serve" in here.noted()
    assert not service.status().installed


def test_on_windows_it_is_a_task_at_login(here: FakeSystem) -> None:
    service = Service("win32")
    service.install(["--model", "C:\\my models\\a.gguf"])
    created, started = here.noted()
    assert created.startswith("schtasks /Create /F /SC ONLOGON /TN Grus server /TR ")
    assert created.endswith('serve --model "C:\\my models\\a.gguf"')
    assert started == "schtasks /Run /TN Grus server"
    here.answers("schtasks", "Status: Running\n")
    assert service.status().running
    assert service.remove()
    assert "schtasks /Delete /F /TN Grus server" in here.noted()
    here.answers("schtasks", "ERROR: no such task", fails=True)
    assert not service.status().installed
    assert not service.remove()


@pytest.mark.parametrize("name", ["linux", "darwin", "win32"])
def test_the_window_starts_at_login_until_it_is_switched_off(
    here: FakeSystem, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("APPDATA", str(here.home / "Roaming"))
    login = LoginStart(name)
    assert not login.on
    login.put(True)
    login.put(True)
    assert login.on
    assert login.file.is_relative_to(here.home)
    assert b"app" in login.file.read_bytes()
    login.put(False)
    login.put(False)
    assert not login.on


@pytest.mark.skipif(shutil.which("desktop-file-validate") is None, reason="asks desktop-file-validate")
def test_the_desktop_entry_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "org.grus.Grus.desktop"
    file.write_text(desktop_entry(["/opt/a b/grus", "app"]))
    done = subprocess.run(["desktop-file-validate", str(file)], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


def test_an_agent_for_the_window_is_not_started_again() -> None:
    assert "KeepAlive" not in plistlib.loads(agent("a", ["grus"], keep_alive=False))
