"""The pronunciation list in Speak: written in the pane, checked at once, kept, and heard in texts and audiobooks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt

from app.gui.speak.pane import SpeakPane
from app.runtime import pipelines
from engine.pipelines.speaking.system_voice import SystemVoice
from engine.starter import SYSTEM, starter
from tests.app.gui.conftest import Opened
from tests.app.gui.test_listen_pane import Device
from tests.books import chapters, epub
from tests.needs import no_program

pytestmark = pytest.mark.skipif(bool(no_program("espeak-ng")), reason=no_program("espeak-ng"))
CTRL = Qt.KeyboardModifier.ControlModifier


class Heard(SystemVoice):
    """The system's own voice, which notes what it is given to say."""

    texts: list[str]

    def speak(self, text: str, *given: Any, **more: Any) -> Iterator[np.ndarray]:
        self.texts.append(text)
        return super().speak(text, *given, **more)


@pytest.fixture
def texts(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    heard: list[str] = []

    def speaker(core: Any, wanted: str) -> Heard:
        voice = Heard(core)
        voice.texts = heard
        return voice

    monkeypatch.setattr("app.gui.sound.devices.SoundOutput", Device)
    monkeypatch.setattr(pipelines, "speaker", speaker)
    grus.context.core._service.result().catalogue.named[SYSTEM] = str(starter(SYSTEM))
    return heard


def test_words_are_said_as_the_list_says(grus: Opened, texts: list[str], tmp_path: Path) -> None:
    pane = grus.window.open_pane("speak")
    assert isinstance(pane, SpeakPane)
    grus.until(lambda: pane.model_box.name == SYSTEM and pane.voice.count() > 1, 10)
    panel = pane.words_panel
    grus.qtbot.keyClick(pane.text, Qt.Key.Key_L, CTRL)
    assert panel.isVisible()
    grus.qtbot.keyClicks(panel.field, "SQL")
    assert panel.note.text() == "Line 1 is not of the form: word = how it is said."
    grus.qtbot.keyClicks(panel.field, " = sequel")
    assert panel.note.text() == "1 word"
    pane.text.setPlainText("SQL is old.")
    pane.speak()
    grus.until(lambda: pane.results.items[0].state == "done", 20)
    assert texts == ["sequel is old."]
    assert pane.results.items[0].text == "SQL is old."
    grus.settle()
    assert pane.results.from_record(pane.results.to_record(pane.results.items[0])).choice == pane.choice()
    texts.clear()
    panel.field.setPlainText("crane = stork\nCranes = Storks")
    pane.take([epub(tmp_path / "cranes.epub", chapters(1, 1))])
    grus.until(pane.book_panel.isVisible, 10)
    pane.book_panel.go(tmp_path / "out.m4b")
    grus.until(lambda: pane.results.items[0].state == "done", 60)
    said = " ".join(texts)
    assert "tork" in said
    assert "rane" not in said


def test_the_list_is_there_at_the_next_start(open_grus: Any) -> None:
    first = open_grus()
    first.window.open_pane("speak").words_panel.field.setPlainText("SQL = sequel")
    again = open_grus().window.open_pane("speak")
    assert again.words_panel.field.toPlainText() == "SQL = sequel"
    assert again.choice().pronunciations == "SQL = sequel"
