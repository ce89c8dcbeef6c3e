"""The key that brings Grus to the front: how systems call it, what Settings says, and that X11 really gives it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from app.gui import hotkey
from app.gui.keyboard import systems
from app.gui.keyboard.combination import MAC_CODES, MAC_MASKS, NAMES, WINDOWS_MASKS, X11_MASKS, combination
from tests.app.gui.conftest import Opened
from tests.needs import need_program
from tests.processes import child_process

ROOT = Path(__file__).resolve().parents[3]
TWO_KEYS = """
import sys
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QApplication
from app.gui.keyboard.combination import KeyUse, combination
from app.gui.keyboard.x11_key import X11Key

app = QApplication(["grus"])
key = X11Key(combination("Ctrl+Alt+G"), KeyUse("a", "", lambda: (print("pressed", flush=True), app.quit())), app)
try:
    X11Key(combination("Ctrl+Alt+G"), KeyUse("b", "", print), app)
except OSError as error:
    print(error, flush=True)
QTimer.singleShot(20000, app.quit)
print("ready", flush=True)
app.exec()
key.release()
"""


def test_every_system_has_a_number_for_every_key() -> None:
    assert set(MAC_CODES) == NAMES
    assert len(set(MAC_CODES.values())) == len(NAMES)
    made = combination("Ctrl+Alt+G")
    assert made is not None
    assert (made.keysym, made.virtual, MAC_CODES[made.key]) == (ord("g"), ord("G"), 5)
    assert (made.trigger, combination("Meta+Shift+F2").trigger) == ("CTRL+ALT+g", "SHIFT+LOGO+F2")  # type: ignore[union-attr]
    assert [made.mask(masks) for masks in (X11_MASKS, WINDOWS_MASKS, MAC_MASKS)] == [12, 3, 0x900]
    function = combination("Shift+F12")
    assert function is not None
    assert (function.keysym, function.virtual) == (0xFFC9, 0x7B)


@pytest.mark.parametrize("written", ["", "G", "Shift+G", "Ctrl+Ä", "Ctrl+K, Ctrl+C", "Ctrl+Escape", "Ctrl"])
def test_what_no_program_should_take_is_refused(written: str) -> None:
    assert combination(written) is None


def test_a_flatpak_is_started_by_the_desktops_own_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLATPAK_ID", "org.grus.Grus")
    assert hotkey.command() == "flatpak run org.grus.Grus"
    monkeypatch.delenv("FLATPAK_ID")
    monkeypatch.setattr("shutil.which", {"grus": "/usr/bin/grus"}.get)
    assert hotkey.command() == "/usr/bin/grus"


class Held:
    taken: list[str] = []  # noqa: RUF012

    def __init__(self, keys: Any, use: Any, parent: Any) -> None:
        if keys.key == "X":
            raise OSError("another program has it")
        self.taken.append(keys.key)

    def release(self) -> None:
        self.taken.append("released")


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    Held.taken = []
    monkeypatch.setattr(hotkey, "system", lambda: "x11")
    monkeypatch.setattr(hotkey, "hold_key", Held)
    return Held.taken


def test_keys_are_pressed_in_settings_and_held(grus: Opened, given: list[str]) -> None:
    pane: Any = grus.window.open_pane("settings")
    assert pane.hotkey.isVisible()
    pane.hotkey.setKeySequence(QKeySequence("Ctrl+Alt+G"))
    assert given == ["G"]
    pane.hotkey.setKeySequence(QKeySequence("Ctrl+Alt+X"))
    assert given == ["G", "released"]
    assert "another program has it" in pane.hotkey_note.text()
    pane.hotkey.setKeySequence(QKeySequence("Shift+G"))
    assert "cannot be used" in pane.hotkey_note.text()
    pane.hotkey.clear()
    assert "Clear the field" in pane.hotkey_note.text()


def test_the_field_takes_one_shortcut_and_leaves_the_next_to_the_window(grus: Opened, given: list[str]) -> None:
    pane: Any = grus.window.open_pane("settings")
    field, ctrl = pane.hotkey, Qt.KeyboardModifier.ControlModifier
    closed: list[int] = []
    grus.context.actions["window.close"].triggered.disconnect()
    grus.context.actions["window.close"].triggered.connect(lambda: closed.append(1))
    field.setFocus()  # by Tab: nothing is recorded yet
    grus.qtbot.keyClick(field, Qt.Key.Key_W, ctrl)
    assert (given, closed) == ([], [1])
    grus.qtbot.keyClick(field, Qt.Key.Key_Return)
    grus.qtbot.keyClick(field, Qt.Key.Key_G, ctrl | Qt.KeyboardModifier.AltModifier)
    grus.until(lambda: given == ["G"])
    assert not field.hasFocus()
    grus.qtbot.keyClick(grus.window.focusWidget() or pane, Qt.Key.Key_W, ctrl)
    assert (given, closed) == (["G"], [1, 1])
    assert grus.context.preferences.get("hotkey") == "Ctrl+Alt+G"


@pytest.mark.parametrize(("platform", "variables", "found"), [
    ("xcb", {}, "x11"), ("xcb", {"WAYLAND_DISPLAY": "wayland-0"}, "wayland"), ("wayland", {}, "wayland"),
    ("windows", {}, "windows"), ("cocoa", {}, "macos"), ("offscreen", {}, "none"),
])  # fmt: skip
def test_who_gives_keys(monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], found: str) -> None:
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(systems.QGuiApplication, "platformName", lambda: platform)
    assert systems.system() == found


def test_where_no_key_is_given_it_says_how_to_bind_one(grus: Opened) -> None:
    pane: Any = grus.window.open_pane("settings")
    assert not pane.hotkey.isVisible()
    assert "grus app" in pane.hotkey_note.text()


@pytest.mark.skipif(sys.platform != "linux", reason="X11 is asked on Linux")
def test_x11_gives_the_key_to_one_program(tmp_path: Path, screen: str) -> None:
    """Pressed with Caps Lock, too, and without any window of it."""
    need_program("xdotool")
    (tmp_path / "keys.py").write_text(TWO_KEYS)
    environment = _environment() | {"DISPLAY": screen, "QT_QPA_PLATFORM": "xcb"}
    with child_process(
        [sys.executable, str(tmp_path / "keys.py")], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        printed = [program.stdout.readline(), program.stdout.readline()]
        for press in (["key", "Caps_Lock"], ["key", "--clearmodifiers", "ctrl+alt+g"]):
            subprocess.run(["xdotool", *press], env=environment, check=True, timeout=30)
        printed.append(program.stdout.readline())
        assert program.wait(30) == 0
    assert printed == ["another program has it\n", "ready\n", "pressed\n"]


def _environment() -> dict[str, str]:
    import os

    kept = {name: value for name, value in os.environ.items() if name not in ("QT_QPA_PLATFORM", "WAYLAND_DISPLAY")}
    return kept | {"PYTHONPATH": str(ROOT)}
