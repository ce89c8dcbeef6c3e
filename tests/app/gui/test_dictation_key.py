"""Dictation into any app: a key held under a real X server, and the text in xterm; the microphone and what it hears are made up."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence

from app.gui import dictation_key, hotkey
from app.gui.dictation_key import OWN_WORDS, DictationKey
from app.gui.preferences import Preferences
from engine.errors import BackendUnavailable
from tests.app.gui.conftest import Opened
from tests.app.gui.test_hotkey import ROOT, _environment
from tests.app.gui.test_listen_pane import Device
from tests.needs import need_program

PROGRAM = """
import sys, threading
from pathlib import Path
from types import SimpleNamespace
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.bridge import Poster
from app.gui import dictation_key
from app.gui.preferences import Preferences

app = QApplication(["grus"])
poster = Poster(app)

class Microphone:
    def __init__(self, receive, *more):
        print("held", flush=True)
        receive("Grus grüßt")
        self.receive = receive

    def stop(self):
        self.receive("die Kraniche 鶴.")

def captioned(core, model, sound, keep):
    while (said := sound.get()) is not None:
        yield SimpleNamespace(final=True, segment=SimpleNamespace(text=said))

class Streams:
    def stream(self, make, receive, ended):
        def work():
            captions = list(make(None))
            poster.post(lambda: (receive(captions), ended("")))
        threading.Thread(target=work).start()

dictation_key.devices.Microphone, dictation_key.captioned = Microphone, captioned
preferences = Preferences(Path(sys.argv[1]))
preferences.put("dictation.key", "Ctrl+Alt+D")
clipboard = app.clipboard()
clipboard.setText("copied before")
key = dictation_key.DictationKey(preferences, Streams(), print, app)
pasted = key._pasted
key._pasted = lambda: (pasted(), print(clipboard.text(), flush=True), QTimer.singleShot(0, app.quit))
QTimer.singleShot(60000, app.quit)
print("ready", key.problem, flush=True)
app.exec()
key.release()
"""


def eventually(condition: Callable[[], Any], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.skipif(sys.platform != "linux", reason="X11 is asked on Linux")
def test_what_is_said_while_the_key_is_held_is_typed_into_another_program(tmp_path: Path, screen: str) -> None:
    need_program("xdotool", "xterm")
    environment = _environment() | {"DISPLAY": screen, "QT_QPA_PLATFORM": "xcb", "LC_ALL": "C.UTF-8"}
    (tmp_path / "dictate.py").write_text(PROGRAM, encoding="utf-8")
    typed = tmp_path / "typed"

    def press(*what: str) -> None:
        subprocess.run(["xdotool", *what], env=environment, check=True, timeout=60, stdout=subprocess.DEVNULL)

    terminal = subprocess.Popen(["xterm", "-u8", "-e", "sh", "-c", f"cat > {typed}"], env=environment)
    try:
        with subprocess.Popen(
            [sys.executable, str(tmp_path / "dictate.py"), str(tmp_path / "settings.json")],
            cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8",
        ) as program:  # fmt: skip
            assert program.stdout is not None
            assert program.stdout.readline().split() == ["ready"]
            press("search", "--sync", "--onlyvisible", "--class", "xterm", "windowfocus", "--sync")
            eventually(typed.exists)
            press(
                "keydown", "ctrl", "keydown", "alt", "keydown", "d", "sleep", "1"
            )  # longer than a key takes to repeat
            assert program.stdout.readline() == "held\n"
            press("keyup", "d", "sleep", "0.2", "keyup", "alt", "keyup", "ctrl")
            assert program.stdout.readline() == "copied before\n"  # held once, and the clipboard is as it was
            assert program.wait(60) == 0
        press("key", "Return", "key", "ctrl+d")
        assert terminal.wait(60) == 0
    finally:
        terminal.kill()
        terminal.wait()
    assert typed.read_text(encoding="utf-8") == "Grus grüßt die Kraniche 鶴.\n"


class Streams:
    """Keeps what it is asked to run."""

    def stream(self, make: Any, receive: Any, ended: Any) -> Any:
        self.make, self.receive, self.ended = make, receive, ended
        return SimpleNamespace(cancel=lambda: None)


@pytest.fixture
def key(qapp: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A key of a screen that has none, what it writes and what it says."""
    Device.opened = []
    monkeypatch.setattr(dictation_key.devices, "Microphone", Device)
    made: Any = DictationKey(
        Preferences(tmp_path / "settings.json"), Streams(), lambda sentence, **_: errors.append(sentence), QObject()
    )
    errors: list[str] = []
    made.errors, made.written = errors, []
    made._write = made.written.append
    return made


def caption(text: str, final: bool = True) -> Any:
    return SimpleNamespace(final=final, segment=SimpleNamespace(text=text))


def test_what_fails_is_said_and_what_was_heard_before_it_is_written(key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    key.begin()
    key.begin()  # the key repeats
    assert len(Device.opened) == 1
    key._streams.receive([caption("One."), caption("par", False)])
    key._streams.ended("The model failed.")
    assert (key.listening, Device.opened[0].stopped) == (False, True)
    assert (key.written, key.errors) == (["One."], ["The model failed."])
    key.begin()
    key.end()
    key._streams.ended("")
    assert (key.written, key.errors) == (["One."], ["The model failed."])  # nothing was said

    def missing(*given: Any) -> Any:
        raise BackendUnavailable("No microphone was found.")

    monkeypatch.setattr(dictation_key.devices, "Microphone", missing)
    key.begin()
    assert (key.listening, key.errors[1:]) == (False, ["No microphone was found."])


def test_settings_has_its_key(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "needs X11" in grus.context.dictation.about
    taken: list[str] = []
    monkeypatch.setattr(dictation_key, "system", lambda: "x11")
    monkeypatch.setattr(hotkey, "system", lambda: "x11")
    monkeypatch.setattr(
        DictationKey, "_grab", lambda self, keys: (taken.append(keys.key), SimpleNamespace(release=lambda: None))[1]
    )
    pane: Any = grus.window.open_pane("settings")
    assert pane.dictation.isVisible()
    pane.dictation.setKeySequence(QKeySequence("Ctrl+Alt+D"))
    assert (taken, grus.context.preferences.get("dictation.key")) == (["D"], "Ctrl+Alt+D")
    assert "Hold it" in pane.dictation_note.text()


def test_own_words_are_one_list_for_all_that_hears(grus: Opened) -> None:
    """Listen, Talk and dictation ask the core for it."""
    pane: Any = grus.window.open_pane("settings")
    pane.own_words.setText(" Grus, Kokoro ")
    pane.own_words.editingFinished.emit()
    assert grus.context.preferences.get(OWN_WORDS) == "Grus, Kokoro"
    assert grus.context.core.own_words == "Grus, Kokoro"
