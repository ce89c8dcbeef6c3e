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
from PySide6.QtGui import QGuiApplication, QKeySequence

from app.gui import dictation_key, hotkey
from app.gui.dictation_key import CLEAN_UP, OWN_WORDS, DictationKey
from app.gui.preferences import Preferences
from app.window_engine import local_service
from engine.errors import BackendUnavailable
from tests.app.gui.conftest import Opened
from tests.app.gui.test_hotkey import ROOT, _environment
from tests.app.gui.test_listen_pane import Device
from tests.clients.tool_calling_model import ToolCallingModel
from tests.needs import need_program
from tests.processes import child_process

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
key._pasted = lambda *given: (pasted(*given), print(clipboard.text(), flush=True), QTimer.singleShot(0, app.quit))
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
        with child_process(
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


def test_a_text_that_is_still_cleaned_up_comes_before_what_was_said_later(key: Any) -> None:
    key.begin()
    first = SimpleNamespace(receive=key._streams.receive, ended=key._streams.ended)
    first.receive([caption("One.")])
    key.end()
    key.begin()
    key._streams.receive([caption("Two.")])
    key.end()
    key._streams.ended("")
    assert key.written == []
    first.ended("")
    assert key.written == ["One.", "Two."]


def dictate(grus: Opened, spoken: str, typed: list[str]) -> str:
    """What comes to the cursor where `spoken` is heard."""
    key = grus.context.dictation
    before = len(typed)
    key.begin()
    Device.opened[-1].call(spoken)
    key.end()
    grus.until(lambda: len(typed) > before, 60)
    return typed[-1]


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is typed. The microphone and what is heard are made up; what cleans it up is not."""

    def heard(core: Any, model: str, sound: Any, keep: Any) -> Any:
        while (said := sound.get()) is not None:
            yield caption(said)

    texts: list[str] = []
    Device.opened = []
    monkeypatch.setattr(dictation_key.devices, "Microphone", Device)
    monkeypatch.setattr(dictation_key, "captioned", heard)
    monkeypatch.setattr(dictation_key, "system", lambda: "x11")
    monkeypatch.setattr(DictationKey, "_write", lambda self, text: texts.append(text))
    return texts


SPOKEN, CLEAN = "um the crane the crane bows in the morning", "The crane bows in the morning."


def test_a_real_model_cleans_up_what_is_dictated_and_the_text_as_spoken_is_kept(
    open_grus: Callable[..., Opened], typed: list[str], tmp_path: Path
) -> None:
    folder = ToolCallingModel(answer=CLEAN).save(tmp_path / "cleaning")
    preferences = Preferences(tmp_path / "preferences.json")
    grus = open_grus(service=local_service(preferences, {"cleaning": str(folder)}))
    pane: Any = grus.window.open_pane("settings")
    cleanup = pane.cleanup
    assert (cleanup.isVisible(), cleanup.switch.isChecked(), cleanup.spoken.isEnabled()) == (True, False, False)
    grus.context.core.bring("cleaning")
    assert dictate(grus, SPOKEN, typed) == SPOKEN  # the switch is off
    cleanup.switch.click()
    assert dictate(grus, SPOKEN, typed) == CLEAN
    assert cleanup.spoken.isEnabled()
    cleanup.spoken.click()
    assert QGuiApplication.clipboard().text() == SPOKEN
    again = SPOKEN.replace("um", "er")
    assert dictate(grus, again, typed) == CLEAN
    cleanup.spoken.click()
    shown = cleanup.menu.actions()
    assert [action.text() for action in shown] == [again, SPOKEN]
    cleanup.menu.close()
    shown[1].trigger()
    assert QGuiApplication.clipboard().text() == SPOKEN
    # a reply that is not what was said is not typed
    question = "what do cranes eat in the morning"
    assert dictate(grus, question, typed) == question
    assert grus.context.dictation.spoken == [again, SPOKEN]
    grus.context.wiped()
    assert (grus.context.dictation.spoken, cleanup.spoken.isEnabled()) == ([], False)


def test_no_model_is_loaded_to_clean_up(grus: Opened, typed: list[str]) -> None:
    grus.context.preferences.put(CLEAN_UP, True)
    grus.engine.reply = CLEAN
    assert dictate(grus, SPOKEN, typed) == SPOKEN
    assert (grus.engine.requests, grus.engine.models_loaded) == ([], {})
    grus.context.core.bring("tiny")
    assert dictate(grus, SPOKEN, typed) == CLEAN
    grus.engine.reply = "Certainly! Cranes are tall birds."
    assert dictate(grus, SPOKEN, typed) == SPOKEN
    assert grus.context.dictation.spoken == [SPOKEN]


def test_settings_has_its_key(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "needs a desktop" in grus.context.dictation.about
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
