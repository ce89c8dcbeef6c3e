"""The Speak pane as a person uses it. The voice, the loudspeaker and the microphone are made up."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from app.gui.sound import devices
from app.gui.speak.pane import SpeakPane
from app.gui.viewmodels.speak_options import UNKNOWN
from app.runtime import catalogue, pipelines
from engine.pipelines.speaking.system_voice import SystemVoice
from engine.pipelines.speaking.voice import Clone
from engine.starter import SYSTEM, starter
from tests.app.gui.conftest import Opened
from tests.app.gui.media import ORPHEUS, like_spark
from tests.app.gui.test_listen_pane import Device
from tests.app.gui.test_speak_models import Spoken
from tests.engine.pipelines.listening.conftest import voice
from tests.needs import no_program
from tests.qwen3_tts_cases import checkpoint

CTRL = Qt.KeyboardModifier.ControlModifier
LEFT = Qt.MouseButton.LeftButton


class Cloning(Spoken):
    def clone(self, samples: Any, text: str | None = None) -> Clone:
        import numpy as np

        return Clone(np.ones(4, np.float32))


@pytest.fixture
def pane(grus: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SpeakPane:
    Device.opened = []
    monkeypatch.setattr(devices, "SoundOutput", Device)
    monkeypatch.setattr(devices, "Microphone", Device)
    monkeypatch.setattr(pipelines, "speaker", lambda core, wanted: Cloning())
    service = grus.context.core._service.result()
    service.catalogue.named["voices"] = str(checkpoint("custom_voice", tmp_path / "tts"))
    made = grus.window.open_pane("speak")
    assert isinstance(made, SpeakPane)
    grus.until(lambda: made.voice.count() > 1)
    return made


def spoken(grus: Opened, pane: SpeakPane, text: str = "The crane dances.") -> Any:
    grus.qtbot.keyClicks(pane.text, text)
    grus.qtbot.keyClick(pane.text, Qt.Key.Key_Return, CTRL)
    grus.until(lambda: pane.results.items and pane.results.items[0].state == "done", 10)
    return pane.results.items[0]


def test_a_typed_text_is_spoken_and_plays(grus: Opened, pane: SpeakPane) -> None:
    take = spoken(grus, pane)
    assert take.title == "The crane dances."
    assert pane.player.playback.playing
    assert len(Device.opened) == 1
    wave = pane.player.wave
    grus.qtbot.mouseClick(wave, LEFT, pos=QPoint(wave.width() // 2, 20))
    assert pane.player.playback.position == pytest.approx(take.seconds / 2, abs=0.05)
    grus.qtbot.keyClick(pane.text, Qt.Key.Key_Space, CTRL)
    assert not pane.player.playback.playing
    assert Device.opened[0].stopped


def test_voice_language_and_speed_are_chosen_and_remembered(grus: Opened, pane: SpeakPane) -> None:
    pane.voice.setCurrentIndex(1)
    pane.voice.activated.emit(1)
    pane.language.setCurrentIndex(pane.language.findData("english"))
    pane.language.activated.emit(pane.language.currentIndex())
    pane.player.speed.setCurrentIndex(pane.player.speed.findData(1.5))
    pane.player.speed.activated.emit(0)
    take = spoken(grus, pane)
    assert take.choice.preset == str(pane.voice.itemData(1)).split(":")[1]
    assert take.choice.language == "english"
    assert pane.player.playback.speed == 1.5
    assert grus.context.preferences.get("sound.speed") == 1.5


def test_a_dropped_text_is_opened_and_saved_as_sound(grus: Opened, pane: SpeakPane, tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("# Cranes\n\nThey dance.")
    given = QMimeData()
    given.setUrls([QUrl.fromLocalFile(str(tmp_path / "notes.md"))])
    pane.dropEvent(QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, given, LEFT, Qt.KeyboardModifier.NoModifier))
    grus.until(lambda: "They dance." in pane.text.toPlainText())
    grus.qtbot.mouseClick(pane.go, LEFT)
    grus.until(lambda: pane.results.items and pane.results.items[0].state == "done", 10)
    assert pane.results.items[0].choice.markdown
    pane.write(pane.results.items[0], tmp_path / "out.flac")
    grus.until(lambda: (tmp_path / "out.flac").exists())


def test_a_voice_is_recorded_named_and_chosen(grus: Opened, pane: SpeakPane) -> None:
    grus.qtbot.keyClick(pane.text, Qt.Key.Key_N, CTRL)
    panel = pane.voice_panel
    grus.qtbot.mouseClick(panel.save, LEFT)
    assert "needs a name and a recording" in panel.note.text()
    grus.qtbot.keyClicks(panel.name, "Anna")
    grus.qtbot.mouseClick(panel.record, LEFT)
    Device.opened[-1].call(voice(2.0))
    assert panel.note.text() == "Recording: 2.0 s"
    grus.qtbot.mouseClick(panel.save, LEFT)
    grus.until(lambda: pane.choice().saved == "Anna")
    assert Device.opened[-1].stopped
    assert not panel.isVisible()
    pane.play_sample()
    grus.until(lambda: pane.player.playback.playing)
    pane.drop_voice()
    grus.until(lambda: not pane.choice().saved)
    grus.qtbot.mouseClick(grus.window.notice.undo, LEFT)
    grus.until(lambda: pane.choice().saved == "Anna")


def test_the_text_and_what_was_spoken_are_there_after_a_restart(
    open_grus: Callable[..., Opened], grus: Opened, pane: SpeakPane
) -> None:
    spoken(grus, pane)
    grus.settle()
    again = open_grus()
    pane = again.window.open_pane("speak")
    again.until(lambda: pane.results.items and pane.text.toPlainText())
    assert pane.text.toPlainText() == "The crane dances."
    again.until(lambda: pane.player.playback.seconds > 0)


def offer(grus: Opened, pane: SpeakPane, name: str, folder: Path) -> None:
    """A model of another kind is chosen."""
    grus.context.core._service.result().catalogue.named[name] = str(folder)
    pane.model_box.look()
    grus.until(lambda: name in (pane.model_box.known or []))
    before = pane.options
    pane.model_box.pick(name)
    grus.until(lambda: pane.options is not UNKNOWN and pane.options != before)


def test_who_asks_before_the_model_was_looked_at_is_heard_then(
    grus: Opened, pane: SpeakPane, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as slow:
        slow.setattr(grus.context.core, "use", lambda job, got, failed: None)
        pane.model_box.picked.emit(pane.model_box.name)
        grus.qtbot.keyClicks(pane.text, "Hello.")
        grus.qtbot.keyClick(pane.text, Qt.Key.Key_Return, CTRL)
    assert pane.results.items == []
    pane._read_model()
    grus.until(lambda: pane.results.items and pane.results.items[0].state == "done", 10)
    assert pane.results.items[0].choice.preset == "eric"


def test_spark_takes_pitch_and_pace_and_a_cloned_voice_keeps_its_own(
    grus: Opened, pane: SpeakPane, tmp_path: Path
) -> None:
    offer(grus, pane, "spark", like_spark(tmp_path / "spark"))
    assert [pane.voice.itemText(i) for i in range(pane.voice.count())] == ["Female voice", "Male voice"]
    assert pane.pitch.isVisible()
    assert not pane.instructions.isVisible()
    for box, entry in ((pane.voice, 1), (pane.pitch, 1), (pane.pace, 4)):
        box.setCurrentIndex(entry)
        box.activated.emit(entry)
    take = spoken(grus, pane)
    assert (take.choice.preset, take.choice.instruction_text) == ("male", "low pitch, very fast speed")
    assert grus.context.preferences.get("speak.choice")["pace"] == "very fast"
    pane.results.voices.save("Anna", "spark", Cloning().clone(None), voice(2.0), 16_000)
    pane.results.look_at_voices()
    grus.until(lambda: pane.voice.findData("saved:Anna") >= 0)
    pane.voice.setCurrentIndex(pane.voice.findData("saved:Anna"))
    pane.voice.activated.emit(pane.voice.currentIndex())
    assert not pane.pitch.isEnabled()
    assert "keeps the pitch" in pane.note.text()
    assert pane.choice().instruction_text == ""


def test_what_does_not_go_together_is_said_and_not_spoken(grus: Opened, pane: SpeakPane, tmp_path: Path) -> None:
    (tmp_path / "orpheus").mkdir()
    (tmp_path / "orpheus" / "config.json").write_text(json.dumps(ORPHEUS))
    offer(grus, pane, "orpheus", tmp_path / "orpheus")
    assert "<laugh>" in pane.note.text()
    assert "snac_24khz" in pane.status.text()
    grus.qtbot.keyClicks(pane.text, "Hello.")
    grus.qtbot.keyClick(pane.text, Qt.Key.Key_Return, CTRL)
    assert not pane.go.isEnabled()
    assert pane.results.items == []
    grus.qtbot.keyClick(pane.text, Qt.Key.Key_N, CTRL)
    assert not pane.voice_panel.isVisible()
    assert "does not support voice cloning" in grus.window.notice.sentence.text()
    offer(grus, pane, "design", checkpoint("voice_design", tmp_path / "design"))
    assert "Describe one" in pane.status.text()
    grus.qtbot.keyClicks(pane.instructions, "an old man")
    assert pane.go.isEnabled()
    assert not pane.status.isVisible()
    offer(grus, pane, "base", checkpoint("base", tmp_path / "base"))
    assert "Create a new voice" in pane.status.text()


def test_without_a_model_it_says_which_to_get(grus: Opened) -> None:
    pane = grus.window.open_pane("speak")
    grus.until(lambda: "Qwen3-TTS" in pane.status.text())


def test_who_has_no_voice_yet_is_led_to_one(grus: Opened) -> None:
    pane = grus.window.open_pane("speak")
    grus.until(lambda: pane.model_box.advice)
    grus.qtbot.keyClicks(pane.text, "Hello.")
    assert (pane.go.text(), pane.go.isEnabled()) == ("Get a model", True)
    grus.qtbot.mouseClick(pane.go, LEFT)
    assert grus.window.shown == "models"
    assert grus.window.panes["models"].cards.name == catalogue.RECOMMENDED["speak"]
    assert pane.text.toPlainText() == "Hello."


def test_the_keys_and_the_list_of_models_lead_there_too(grus: Opened) -> None:
    pane = grus.window.open_pane("speak")
    grus.until(lambda: pane.model_box.advice)
    grus.qtbot.keyClick(pane.text, Qt.Key.Key_Return, CTRL)
    assert grus.window.shown == "models"
    grus.window.open_pane("speak")
    pane.model_box.activated.emit(pane.model_box.findText("Get a model…"))
    assert grus.window.shown == "models"
    assert pane.model_box.currentText() == "No model yet"


@pytest.mark.skipif(bool(no_program("espeak-ng")), reason=no_program("espeak-ng"))
def test_the_systems_voice_speaks_where_nobody_got_another(
    grus: Opened, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(devices, "SoundOutput", Device)
    monkeypatch.setattr(
        pipelines, "speaker", lambda core, wanted: SystemVoice(core)
    )  # this window's engine runs no tasks
    service = grus.context.core._service.result()
    service.catalogue.named["system"] = str(starter(SYSTEM))
    pane = grus.window.open_pane("speak")
    assert isinstance(pane, SpeakPane)
    grus.until(lambda: pane.model_box.name == "system" and pane.voice.count() > 1)
    assert pane.voice.currentText() == "Default"
    assert pane.language.findData("german") > 0
    plain = spoken(grus, pane)
    assert 0.5 < plain.seconds < 10
    pane.voice.setCurrentIndex(pane.voice.findData("preset:de"))
    pane.voice.activated.emit(pane.voice.currentIndex())
    take = spoken(grus, pane)
    assert (take.choice.preset, take.seconds == plain.seconds) == ("de", False)
    service.catalogue.named["voices"] = str(checkpoint("custom_voice", tmp_path / "tts"))
    grus.context.models_changed()
    grus.until(lambda: pane.model_box.name == "voices")  # a better one, and the system's is still there
    assert pane.model_box.findData("system") > 0
