"""Dictation on a Wayland desktop: its portal gives the key and presses keys. The portal is a stand-in that speaks the real D-Bus interfaces;
in the slow tests the compositor, the terminal and wtype are real. The microphone and what it hears are made up."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QApplication

from app.gui import dictation_key, hotkey
from app.gui.dictation_key import DictationKey
from app.gui.keyboard import systems
from app.gui.keyboard.desktop_portal import DesktopPortal
from app.gui.preferences import Preferences
from tests.app.gui.conftest import Opened
from tests.app.gui.test_dictation_key import PROGRAM, Streams, caption, eventually
from tests.app.gui.test_hotkey import ROOT, _environment
from tests.app.gui.test_listen_pane import Device
from tests.needs import need_program
from tests.processes import child_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Wayland and D-Bus are asked on Linux")
ALL = ("GlobalShortcuts", "RemoteDesktop", "Clipboard")
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN" "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:dir={folder}</listen>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>"""
WAYLAND = """
from app.gui import hotkey
from app.gui.keyboard import systems
systems.system = hotkey.system = dictation_key.system = lambda: "wayland"
"""


class Service:
    """The portal's process, and what it saw."""

    def __init__(self, options: dict[str, Any]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.app.gui.portal_service", json.dumps(options)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        )  # fmt: skip
        self.events: list[dict[str, Any]] = []
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self.wait("ready")

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def seen(self) -> list[dict[str, Any]]:
        while not self._lines.empty():
            self.events.append(json.loads(self._lines.get()))
        return self.events

    def wait(self, name: str) -> Any:
        """The next event of this name."""
        while True:
            self.events.append(json.loads(self._lines.get(timeout=30)))
            if name in self.events[-1]:
                return self.events[-1][name]

    def do(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.kill()
        self.process.wait(10)


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Service]]:
    """`start(interfaces)`: the portal of a session bus that only this test has. Programs that type are not found."""
    need_program("dbus-daemon")
    (tmp_path / "bus.conf").write_text(BUS.format(folder=tmp_path))
    bus = subprocess.Popen(
        ["dbus-daemon", f"--config-file={tmp_path / 'bus.conf'}", "--nofork", "--print-address"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert bus.stdout is not None
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", bus.stdout.readline().strip())
    services: list[Service] = []

    def make(interfaces: tuple[str, ...] = ALL, **options: Any) -> Service:
        services.append(Service({"interfaces": interfaces, **options}))
        return services[-1]

    yield make
    for service in services:
        service.close()
    bus.kill()
    bus.wait(10)


def program(folder: Path, more: str = "") -> list[str]:
    """The program of the X11 test, on Wayland."""
    text = PROGRAM.replace("dictation_key.devices.Microphone, ", more + "dictation_key.devices.Microphone, ", 1)
    text = text.replace("singleShot(0, app.quit)", "singleShot(500, app.quit)")  # it still owns the clipboard
    (folder / "dictate.py").write_text(text, encoding="utf-8")
    return [sys.executable, str(folder / "dictate.py"), str(folder / "settings.json")]


def test_the_portal_gives_the_key_and_pastes_what_was_said(tmp_path: Path, start: Callable[..., Service]) -> None:
    service = start()
    (tmp_path / "bin").mkdir()  # nothing that types
    environment = _environment() | {"QT_QPA_PLATFORM": "offscreen", "PATH": str(tmp_path / "bin")}
    with child_process(
        program(tmp_path, WAYLAND), cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline().split() == ["ready"]
        assert service.wait("bound")["dictation"]["preferred_trigger"] == "CTRL+ALT+d"
        service.do("press dictation")
        assert running.stdout.readline() == "held\n"
        service.do("release dictation")
        assert service.wait("pasted") == "Grus grüßt die Kraniche 鶴."
        running.stdout.readline()
        service.do("read")
        assert service.wait("clipboard") == "copied before"
        assert running.wait(30) == 0
    assert {"devices": 1, "persist": 2, "token": ""} in service.events
    assert {"app": "org.grus.Grus"} in service.events
    assert json.loads((tmp_path / "settings.json").read_text())["dictation.portal_token"] == "again"


@pytest.fixture
def window(qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What the window has of dictation, on a Wayland desktop; call it once the portal runs."""
    for module in (systems, hotkey, dictation_key):
        monkeypatch.setattr(module, "system", lambda: "wayland")
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))  # nothing that types
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.delenv("YDOTOOL_SOCKET", raising=False)
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")
    preferences = Preferences(tmp_path / "settings.json")
    preferences.put("dictation.key", "Ctrl+Alt+D")
    owner, said = QObject(), list[tuple[str, Any]]()

    def make() -> Any:
        Device.opened = []
        monkeypatch.setattr(dictation_key.devices, "Microphone", Device)
        made: Any = DictationKey(
            preferences, Streams(), lambda sentence, undo=None, **_: said.append((sentence, undo)), owner
        )
        made.said = said
        made.until = lambda condition: _until(qapp, condition)
        return made

    yield make
    if (portal := qapp.findChild(DesktopPortal)) is not None:
        portal.setParent(None)
        portal.deleteLater()
    qapp.clipboard().clear()


def _until(app: QApplication, condition: Callable[[], Any]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        app.processEvents()
        time.sleep(0.005)


def test_the_desktop_may_refuse_the_key_or_take_it_away(start: Callable[..., Service], window: Any) -> None:
    service = start(refused=["BindShortcuts"])
    key = window()
    key.until(lambda: "did not give" in key.about)
    service.close()
    service = start()
    key.hold()  # as when it is pressed in Settings again
    key.until(lambda: "dictation" in str(service.seen()))
    assert key.problem == ""
    service.do("lie dictation")
    service.do("press other")
    service.do("press dictation")
    key.until(lambda: key.listening)
    assert (len(Device.opened), os.environ["XDG_ACTIVATION_TOKEN"]) == (1, "token")
    service.do("close")
    key.until(lambda: "ended the shortcut" in key.about)
    assert not key.listening  # a release that never comes


def test_who_does_not_let_grus_press_keys_is_asked_once(start: Callable[..., Service], window: Any) -> None:
    service = start(refused=["Start"])
    key = window()
    for _ in range(2):
        key.begin()
        key.end()
        key._streams.receive([caption("One.")])
        key._streams.ended("")
        before = len(key.said)
        key.until(lambda before=before: len(key.said) > before)
    assert [sentence for sentence, _ in key.said] == [key.said[0][0]] * 2
    assert len([event for event in service.seen() if "devices" in event]) == 1


def test_without_a_portal_settings_names_the_command_and_the_text_stays_in_the_clipboard(
    start: Callable[..., Service], window: Any, qapp: QApplication
) -> None:
    start(())
    key = window()
    changed: list[bool] = []
    key.changed.connect(lambda: changed.append(key.possible))
    assert not key.possible
    key.until(lambda: changed)
    assert (key.possible, key.works, "grus app --dictate" in key.about) == (False, True, True)
    key.toggle()
    assert key.listening
    key.toggle()
    key._streams.receive([caption("One.")])
    key._streams.ended("")
    key.until(lambda: key.said)
    sentence, (action, copy) = key.said[0]
    assert ("ydotool" in sentence, action, qapp.clipboard().text()) == (True, "Copy", "One.")
    qapp.clipboard().setText("other")
    copy()
    assert qapp.clipboard().text() == "One."


@pytest.mark.parametrize("interfaces", [ALL, pytest.param((), marks=pytest.mark.slow)])
def test_settings_shows_the_fields_once_the_portal_answers(
    start: Callable[..., Service], window: Any, open_grus: Callable[..., Opened], interfaces: tuple[str, ...]
) -> None:
    start(interfaces)
    grus = open_grus()
    pane: Any = grus.window.open_pane("settings")
    if interfaces:
        grus.until(lambda: pane.dictation.isVisible() and pane.hotkey.isVisible(), 20)
        assert "Hold it" in pane.dictation_note.text()
    else:
        grus.until(lambda: "--dictate" in pane.dictation_note.text(), 20)
        assert (pane.dictation.isVisible(), pane.hotkey.isVisible(), pane.cleanup.isVisible()) == (False, False, True)


SWAY = """
output HEADLESS-1 mode 800x600
seat seat0 fallback true
"""


@pytest.fixture
def sway() -> Iterator[dict[str, str]]:
    """A real compositor without a screen: the environment for its programs."""
    need_program("sway", "foot", "wtype", "wl-copy")
    folder = Path(tempfile.mkdtemp(prefix="grus-sway-", dir="/tmp"))  # the path of a socket is short
    (folder / "config").write_text(SWAY)
    as_user: list[str] = []
    if os.geteuid() == 0:  # Sway refuses to run as root
        os.chown(folder, 65534, 65534)
        as_user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    environment = _environment() | {
        "XDG_RUNTIME_DIR": str(folder), "WLR_BACKENDS": "headless", "WLR_LIBINPUT_NO_DEVICES": "1",
        "WLR_RENDERER": "pixman", "HOME": str(folder), "LC_ALL": "C.UTF-8",
    }  # fmt: skip
    environment.pop("DISPLAY", None)
    compositor = subprocess.Popen(
        [*as_user, "sway", "-c", str(folder / "config")], env=environment, stderr=subprocess.DEVNULL
    )
    try:
        eventually(lambda: list(folder.glob("wayland-*.lock")))
        shown = next(folder.glob("wayland-*.lock")).name.removesuffix(".lock")
        yield environment | {"WAYLAND_DISPLAY": shown, "QT_QPA_PLATFORM": "wayland"}
    finally:
        compositor.terminate()
        compositor.wait(20)
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def terminal(environment: dict[str, str], typed: Path) -> Iterator[Callable[..., None]]:
    """A real terminal whose keyboard goes to a file; yields what presses keys."""

    def press(*what: str) -> None:
        subprocess.run(["wtype", "-s", "100", *what, "-s", "100"], env=environment, check=True, timeout=60)

    with child_process(["foot", "sh", "-c", f"cat > {typed}"], env=environment, stderr=subprocess.DEVNULL) as shown:
        try:
            eventually(typed.exists)
            yield press
            press("-k", "Return", "-M", "ctrl", "-k", "d", "-m", "ctrl")
            assert shown.wait(60) == 0
        finally:
            shown.kill()


def copied(environment: dict[str, str], *kind: str) -> str:
    return subprocess.run(
        ["wl-paste", "--no-newline", *kind], env=environment, capture_output=True, text=True, timeout=60
    ).stdout


@pytest.mark.slow
def test_wtype_types_what_was_said_into_a_terminal_of_a_real_compositor(
    tmp_path: Path, start: Callable[..., Service], sway: dict[str, str]
) -> None:
    service = start(("GlobalShortcuts",))
    environment = sway | {"DBUS_SESSION_BUS_ADDRESS": os.environ["DBUS_SESSION_BUS_ADDRESS"]}
    with terminal(environment, tmp_path / "typed"):
        subprocess.run(["wl-copy", "before"], env=environment, check=True, stderr=subprocess.DEVNULL)
        with running(program(tmp_path), environment) as lines:
            assert next(lines).split() == ["ready"]
            service.wait("bound")
            service.do("press dictation")
            assert next(lines) == "held\n"
            service.do("release dictation")
            next(lines)
        assert copied(environment) == "before"
    assert (tmp_path / "typed").read_text(encoding="utf-8") == "Grus grüßt die Kraniche 鶴.\n"


@pytest.mark.slow
@pytest.mark.parametrize("way", ["portal", "portal without a clipboard", "ydotool"])
def test_shift_insert_pastes_it_there_and_the_clipboard_comes_back(
    tmp_path: Path, start: Callable[..., Service], sway: dict[str, str], way: str
) -> None:
    """The key itself is pressed by wtype, for the portal and for ydotool, which need a desktop and the kernel."""
    paste = [shutil.which("wtype"), "-s", "100", "-M", "shift", "-k", "Insert", "-m", "shift", "-s", "100"]
    interfaces = {"portal": ALL, "portal without a clipboard": ALL[:2], "ydotool": ALL[:1]}[way]
    environment = sway | {"DBUS_SESSION_BUS_ADDRESS": os.environ["DBUS_SESSION_BUS_ADDRESS"]}
    with pytest.MonkeyPatch.context() as patch:
        for name in ("WAYLAND_DISPLAY", "XDG_RUNTIME_DIR"):
            patch.setenv(name, sway[name])
        service = start(interfaces, paste=paste, real=way != "portal")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("wl-copy", "wl-paste", "cat"):  # wl-copy calls cat
        (programs / name).symlink_to(str(shutil.which(name)))
    if way == "ydotool":
        (programs / "ydotool").write_text(
            f'#!/bin/sh\n[ "$*" = "key 42:1 110:1 110:0 42:0" ] && exec {" ".join(map(str, paste))}\n'
        )
        (programs / "ydotool").chmod(0o755)
        (Path(sway["XDG_RUNTIME_DIR"]) / ".ydotool_socket").touch()
    with terminal(environment, tmp_path / "typed"):
        for kind in ((), ("--primary",)):
            subprocess.run(["wl-copy", *kind, "before"], env=environment, check=True, stderr=subprocess.DEVNULL)
        with running(program(tmp_path), environment | {"PATH": str(programs)}) as lines:
            assert next(lines).split() == ["ready"]
            service.wait("bound")
            service.do("press dictation")
            assert next(lines) == "held\n"
            service.do("release dictation")
            next(lines)
        if way != "portal":
            assert [copied(environment), copied(environment, "--primary")] == ["before", "before"]
    assert (tmp_path / "typed").read_text(encoding="utf-8") == "Grus grüßt die Kraniche 鶴.\n"


@contextmanager
def running(command: list[str], environment: dict[str, str]) -> Iterator[Iterator[str]]:
    """The program's lines; at the end it ended well."""
    with child_process(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        try:
            assert process.stdout is not None
            yield iter(process.stdout)
            assert process.wait(60) == 0
        finally:
            process.kill()
