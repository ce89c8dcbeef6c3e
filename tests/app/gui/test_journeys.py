"""Twelve ways that people take through the window, by mouse and keys alone, on a screen with a window manager and sound.

After each: nothing is clipped or covered, the UI thread is not blocked for long, and memory is bounded. A crash
fails the journey that it happens in.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from PIL import Image, ImageDraw

from engine.starter import GUIDE, READER, starter
from tests.app.gui.pulse import MISSING, Pulse, Recorder, tone, wait_for
from tests.engine.pipelines.reading.sheets import font
from tests.needs import need_program

ROOT = Path(__file__).resolve().parents[3]
FIGURES = "GRUS_JOURNEYS"  # environment variable: the file that gets a line of JSON for each, for tests/bench/window.py
MOST_BLOCK = 100  # milliseconds that the UI thread works in one turn beside other tests; 50 when it is alone: `tests.bench window`
MOST_MEMORY = 1200  # MB with the Guide and the Reader in memory

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="Xvfb is a screen for Linux"),
    pytest.mark.skipif(not (starter(GUIDE) and starter(READER)), reason="the models that come with Grus are not here"),
]


class Person:
    """Hands and eyes: xdotool, and what the app says of itself."""

    def __init__(self, screen: str, folder: Path, sound: dict[str, str]) -> None:
        self.folder = folder
        self._environment = {
            **os.environ, **sound, "DISPLAY": screen, "QT_QPA_PLATFORM": "xcb", "PYTHONFAULTHANDLER": "1", "LANGUAGE": "en",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "HF_HUB_CACHE": str(folder / "hub"), "LANG": "C.UTF-8",
        }  # fmt: skip
        self._environment.pop("HF_HUB_OFFLINE", None)  # the suite sets it, and the window would say so
        self._errors = (folder / "stderr").open("w")
        self.app = subprocess.Popen(
            [sys.executable, "-m", "tests.app.gui.watched", "--folder", str(folder / "grus")],
            cwd=ROOT, env={**self._environment, "PATH": str(folder)},  # no program of the system's voices is found
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True,
        )  # fmt: skip
        self._said: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()
        while self._next(60) != "ready":
            pass

    def _listen(self) -> None:
        assert self.app.stdout is not None
        for line in self.app.stdout:
            self._said.put(line)
        self._said.put("")

    def _last_words(self) -> str:
        """With the stacks of a crash, which go to a log of their own."""
        logs = [self.folder / "stderr", *self.folder.glob("grus/**/*-crash.log")]
        return "\n".join(one.read_text(encoding="utf-8", errors="replace")[-6000:] for one in logs)

    def _next(self, seconds: float) -> Any:
        line = self._said.get(timeout=seconds)
        assert line, f"the app ended: {self._last_words()}"
        try:
            return json.loads(line)
        except ValueError:
            return line

    def see(self, expression: str) -> Any:
        assert self.app.stdin is not None
        self.app.stdin.write(expression + "\n")
        self.app.stdin.flush()
        return self._next(30)

    def until(self, expression: str, seconds: float = 30) -> Any:
        end = time.monotonic() + seconds
        while not (seen := self.see(expression)) or isinstance(seen, dict):
            if time.monotonic() > end:
                picture = self.folder / "failed.png"
                self.see(f"window.grab().save({str(picture)!r})")
                raise AssertionError((expression, seen, self.see("faults()"), str(picture)))
            time.sleep(0.05)
        return seen

    def do(self, *words: str) -> None:
        subprocess.run(["xdotool", *words], env=self._environment, check=True, capture_output=True, timeout=30)

    def press(self, *keys: str) -> None:
        self.do("key", "--clearmodifiers", *keys)

    def write(self, text: str) -> None:
        self.do("type", "--delay", "8", text)

    def click(self, name: str) -> None:
        x, y = self.until(f"place({name!r})")
        self.do("mousemove", str(x), str(y), "click", "1")
        time.sleep(0.3)  # a second click that came sooner would be swallowed by the list that the first has closed

    def scroll_to(self, name: str, area: str, *, up: bool = False) -> None:
        """By the wheel, with the pointer at the edge of a scrolled area, where no control takes it."""
        self.do("mousemove", *map(str, self.see(f"{area}.mapToGlobal({area}.rect().topLeft()).toTuple()")))
        self.do("mousemove_relative", "6", "40")
        for _ in range(60):
            if self.see(f"place({name!r})"):
                return
            self.do("click", "4" if up else "5")
            time.sleep(0.05)
        raise AssertionError(f"{name} did not come into sight")

    def pane(self, number: int, name: str) -> None:
        self.press(f"ctrl+{number}")
        self.until(f"window.shown == {name!r}")

    def choose_file(self, file: Path) -> None:
        """In the dialog that has just been opened."""
        field = "__import__('PySide6.QtWidgets').QtWidgets.QApplication.focusWidget()"
        self.until(f"{field}.window().isModal() and hasattr({field}, 'selectAll')")
        self.press("ctrl+a")
        self.write(str(file))
        self.until(f"{field}.text() == {str(file)!r}")
        self.press("Return")

    def resize(self, width: int, height: int) -> None:
        self.do("windowsize", str(self.see("int(window.winId())")), str(width), str(height))
        self.until(f"abs(window.width() - {width}) < 3")


@pytest.fixture(scope="module")
def pulse() -> Iterator[Pulse]:
    if MISSING:
        pytest.skip(MISSING)
    daemon = Pulse()
    yield daemon
    daemon.close()


@pytest.fixture(scope="module")
def desktop(screen: str) -> Iterator[str]:
    need_program("openbox", "xdotool")
    manager = subprocess.Popen(["openbox"], env={**os.environ, "DISPLAY": screen}, stderr=subprocess.DEVNULL)
    yield screen
    manager.terminate()
    manager.wait(10)


@pytest.fixture(scope="module")
def app(desktop: str, pulse: Pulse, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Person]:
    someone = Person(desktop, tmp_path_factory.mktemp("person"), pulse.environment)
    someone.until("window.isActiveWindow()")
    someone.until("__import__('gc').get_freeze_count() > 50_000")  # the modules of all panes are there
    yield someone
    someone.app.kill()
    someone.app.wait(10)


@pytest.fixture
def person(app: Person, request: pytest.FixtureRequest) -> Iterator[Person]:
    """Before: Chat, nothing on top. After: what the docstring of this file says."""
    app.press("Escape")
    app.pane(1, "chat")
    app.see("block()")
    yield app
    assert app.app.poll() is None
    app.until("not faults()", 5)
    block, doing = app.see("block()")
    memory = app.see("memory()")
    if figures := os.environ.get(FIGURES):
        with Path(figures).open("a") as file:
            file.write(json.dumps([request.node.name, block, memory, doing]) + "\n")
    assert block <= MOST_BLOCK, doing
    assert memory < MOST_MEMORY


def test_a_first_question_is_answered(person: Person) -> None:
    person.until("window.panes['chat'].talk.head.model")
    person.write("What can you do?")
    person.press("Return")
    person.until("window.panes['chat'].talk.path and window.panes['chat'].talk.path[-1].state == 'done'", 60)
    assert len(person.see("window.panes['chat'].talk.path[-1].text")) > 20


def test_colours_and_text_size_by_keys(person: Person) -> None:
    dark = person.see("window.context.look.theme.dark")
    person.press("ctrl+shift+l")
    person.until(f"window.context.look.theme.dark != {dark}")
    person.press(*["ctrl+plus"] * 5)
    person.until("window.context.look.scale == 1.5")
    person.until("not faults()", 5)
    person.press("ctrl+0", "ctrl+shift+l")
    person.until(f"window.context.look.scale == 1.0 and window.context.look.theme.dark == {dark}")


def test_every_action_is_found_by_a_few_letters(person: Person) -> None:
    person.press("ctrl+k")
    person.until("window.palette_card.field.hasFocus()")
    person.write("show the log")
    person.until("window.palette_card.results.currentItem().text() == 'Show the log'")
    person.press("Return")
    person.until("window.log.isVisible()")
    person.click("Close")
    person.until("not window.log.isVisible()")
    person.press("ctrl+slash")
    person.until("window.shortcuts.isVisible()")
    person.press("Escape")
    person.until("not window.shortcuts.isVisible()")


@pytest.mark.slow
def test_conversations_are_begun_renamed_searched_and_deleted(person: Person) -> None:
    person.press("ctrl+n")
    person.write("how do i read a pdf?")
    person.press("Return")
    person.until("window.panes['chat'].talk.path and window.panes['chat'].talk.path[-1].state == 'done'", 60)
    person.press("ctrl+f")
    person.write("pdf")
    person.until("window.panes['chat'].conversation_list_view.list.model().rowCount() >= 1")
    person.press("Escape", "ctrl+l", "ctrl+shift+BackSpace")
    person.click("Undo")
    person.until("not window.notice.isVisible()")


@pytest.mark.slow
def test_a_draft_waits_while_one_looks_elsewhere(person: Person) -> None:
    person.press("ctrl+n")
    person.write("an unfinished thought")
    for number, name in enumerate(("read", "speak", "listen", "models", "server", "settings"), 2):
        person.pane(number, name)
        person.until("not faults()", 5)
    person.pane(1, "chat")
    assert person.see("window.panes['chat'].composer.field.toPlainText()") == "an unfinished thought"
    person.press("ctrl+a", "Delete")


@pytest.mark.slow
def test_a_page_is_read_and_exported(person: Person) -> None:
    sheet = Image.new("RGB", (900, 300), "white")
    ImageDraw.Draw(sheet).text((60, 110), "The crane stands in the marsh", "black", font(44))
    sheet.save(person.folder / "page.png")
    person.pane(2, "read")
    person.press("ctrl+o")
    person.choose_file(person.folder / "page.png")
    person.until("window.panes['read'].results.items and window.panes['read'].results.items[0].state == 'done'", 120)
    person.press("ctrl+s")
    person.choose_file(person.folder / "page.md")
    wait_for((person.folder / "page.md").is_file, "the export")
    assert "crane" in (person.folder / "page.md").read_text().lower()


@pytest.mark.slow
def test_a_recording_is_heard(person: Person, pulse: Pulse, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in pulse.environment.items():
        monkeypatch.setenv(name, value)
    soundfile.write(person.folder / "tone.wav", np.tile(tone(1.0), 2), 24_000)
    person.pane(4, "listen")
    person.press("ctrl+o")
    person.choose_file(person.folder / "tone.wav")
    person.until("window.panes['listen'].player.playback.seconds > 1.9")
    recorder = Recorder("one", person.folder / "heard")
    try:
        wait_for(lambda: recorder.running, "the recorder runs")
        person.press("ctrl+space")
        wait_for(lambda: recorder.loud(0.5), "it is heard")
        wait_for(recorder.quiet, "it ends")
    finally:
        recorder.stop()


@pytest.mark.slow
def test_a_text_without_a_model_leads_to_one(person: Person) -> None:
    person.pane(3, "speak")
    person.until("window.panes['speak'].model_box.advice")
    person.click("Text to speak")
    person.write("The crane dances.")
    person.click("Get a model")
    person.until("window.shown == 'models'")
    person.until("window.panes['models'].view.isVisible()")


@pytest.mark.slow
def test_models_are_looked_through(person: Person) -> None:
    person.pane(5, "models")
    person.press("ctrl+g")
    person.until("window.panes['models'].pages.currentIndex() == 1")
    person.click("Filter this list")
    person.write("qwen")
    person.press("Tab", "Down")
    person.press("ctrl+h")
    person.until("window.panes['models'].pages.currentIndex() == 0")


@pytest.mark.slow
def test_the_server_is_started_asked_and_stopped(person: Person) -> None:
    person.pane(6, "server")
    person.click("Start server")
    address = person.until("window.panes['server'].hosting.state == 'on' and window.panes['server'].hosting.address")
    with urllib.request.urlopen(f"{address}/v1/models", timeout=20) as reply:
        assert json.load(reply)["object"] == "list"
    person.press("ctrl+Return")
    person.until("window.panes['server'].hosting.state == 'off'")


@pytest.mark.slow
def test_settings_are_changed_by_mouse(person: Person) -> None:
    person.pane(7, "settings")
    person.click("Appearance")
    person.click("Dark")
    person.until("window.context.look.theme.name == 'dark'")
    area = "window.panes['settings'].area"
    person.scroll_to("Work offline", area)
    person.click("Work offline")
    person.until("window.context.preferences.get('offline')")
    person.click("Work offline")
    person.until("not window.context.preferences.get('offline')")
    person.scroll_to("Appearance", area, up=True)
    person.click("Appearance")
    person.click("Light")
    person.until("window.context.look.theme.name == 'light'")


@pytest.mark.slow
def test_everything_fits_at_four_sizes_two_themes_and_three_scales(person: Person) -> None:
    for scale in range(3):
        for theme in range(2):
            for width, height in ((1000, 660), (1024, 700), (1200, 720), (1280, 760)):
                person.resize(width, height)
                for number, name in enumerate(("chat", "read", "speak", "listen", "models", "server", "settings"), 1):
                    person.pane(number, name)
                    person.until("not faults()", 5)
            if theme == 0:
                person.press("ctrl+shift+l")
        person.press("ctrl+shift+l", *["ctrl+plus"] * (5 if scale < 2 else 0))
    person.press("ctrl+0")
    person.until("window.context.look.scale == 1.0")
