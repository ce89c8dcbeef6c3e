"""Speakers in the Listen pane: told apart by a model, coloured, corrected by a click, kept, exported, and named again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import soundfile
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractButton, QLineEdit

import grus as sdk
from app.gui.listen.pane import ListenPane
from app.gui.listen.segment_table import SPEAKER, TEXT
from app.gui.listen.speakers import SpeakerMenu, remembered
from app.gui.viewmodels.transcript_edits import merged, parted, speakers_of
from app.runtime import catalogue, pipelines
from app.runtime.known_voices import KnownVoices
from engine.errors import BadRequest
from engine.loading import LoadOptions
from engine.pipelines.listening.transcript import TranscriptSegment, TranscriptWord
from tests.app.gui.conftest import Opened
from tests.app.gui.test_listen_pane import LEFT, Device, transcribed  # noqa: F401
from tests.app.gui.test_listen_pane import pane as listening  # noqa: F401
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.sortformer_checkpoints import save_sortformer
from tests.speech_checkpoints import save_parakeet
from tests.wavlm_checkpoints import save_wavlm


@pytest.fixture(scope="module")
def ears(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sdk.Ears]:
    folder = tmp_path_factory.mktemp("speakers")
    words, voices = save_parakeet("parakeet_tdt", folder / "words"), save_sortformer("v2", folder / "voices")
    prints, here = save_wavlm(folder / "prints"), LoadOptions(backend="auto", device="cpu")
    with sdk.Ears(str(words), here, speakers=str(voices), voice_prints=str(prints)) as made:
        yield made


@pytest.fixture
def pane(listening: ListenPane, ears: sdk.Ears, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ListenPane:  # noqa: F811
    soundfile.write(tmp_path / "talk.wav", talk(4), RATE)
    monkeypatch.setattr(pipelines, "diarizer", lambda core: ears.speakers)
    listening.model_box.abilities = {"voices": frozenset({"diarize"})}
    listening.speaker_box.click()
    return listening


def names(pane: ListenPane) -> list[str]:
    return [pane.table.item(row, SPEAKER).text() for row in range(pane.table.rowCount())]


def menu_of(grus: Opened, pane: ListenPane, row: int) -> SpeakerMenu:
    pane.table.scrollToItem(pane.table.item(row, SPEAKER))
    box = pane.table.visualItemRect(pane.table.item(row, SPEAKER))
    grus.qtbot.mouseClick(pane.table.viewport(), LEFT, pos=box.center())
    return pane.findChildren(SpeakerMenu)[-1]


def test_who_speaks_stands_beside_the_text_in_the_speaker_s_colour(
    grus: Opened, pane: ListenPane, tmp_path: Path
) -> None:
    item = transcribed(grus, pane, tmp_path / "talk.wav")
    assert not pane.table.isColumnHidden(SPEAKER)
    assert pane.table.visualColumn(SPEAKER) < pane.table.visualColumn(TEXT)
    found = names(pane)
    assert found == [segment.speaker for segment in item.segments]
    assert found[0] == "Speaker 1"
    assert "Speaker 2" in found
    colours = {name: pane.table.item(row, SPEAKER).foreground().color().name() for row, name in enumerate(found)}
    assert len(set(colours.values())) == len(colours)
    assert [color.name() for color in pane.player.wave.colors if color] == [colours[name] for name in found]


def test_a_name_is_corrected_by_a_click_in_the_whole_recording(grus: Opened, pane: ListenPane, tmp_path: Path) -> None:
    item = transcribed(grus, pane, tmp_path / "talk.wav")
    before = names(pane)
    menu = menu_of(grus, pane, 0)
    menu.names.actions()[-1].trigger()
    menu.close()
    editor = pane.table.viewport().findChild(QLineEdit)
    editor.clear()
    grus.qtbot.keyClicks(editor, "Eva  Kranich")
    grus.qtbot.keyClick(editor, Qt.Key.Key_Return)
    renamed = ["Eva Kranich" if name == "Speaker 1" else name for name in before]
    grus.until(lambda: names(pane) == renamed)
    assert {word.speaker for word in item.segments[0].words} == {"Eva Kranich"}
    assert remembered(pane.context) == ["Eva Kranich"]
    pane.write(item, tmp_path / "out.vtt")
    assert "<v Eva Kranich>" in grus.saved(tmp_path / "out.vtt")
    pane.copy()
    assert QGuiApplication.clipboard().text().startswith("Eva Kranich: ")
    pane.moved(pane.results.undo)
    assert names(pane) == before


def test_a_segment_is_given_to_another_speaker_and_names_come_back(
    grus: Opened, pane: ListenPane, tmp_path: Path
) -> None:
    item = transcribed(grus, pane, tmp_path / "talk.wav")
    pane.context.preferences.put("listen.names", ["Eva"])
    before, other = names(pane), speakers_of(item.segments)[1]
    menu = menu_of(grus, pane, 0)
    assert [action.text() for action in menu.actions()[: len(speakers_of(item.segments))]] == speakers_of(item.segments)
    next(action for action in menu.actions() if action.text() == other).trigger()
    assert names(pane) == [other, *before[1:]]
    next(action for action in menu_of(grus, pane, 0).names.actions() if action.text() == "Eva").trigger()
    assert "Eva" in names(pane)
    assert other not in names(pane)
    record = pane.results.to_record(item)  # what is kept
    assert [one.speaker for one in pane.results.from_record(record).segments] == names(pane)
    assert pane.results.from_record(record).segments[0].words[0].speaker == names(pane)[0]


def test_a_voice_that_was_named_is_known_in_the_next_recording_until_it_is_forgotten(
    grus: Opened, pane: ListenPane, ears: sdk.Ears, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipelines, "verifier", lambda core: ears.voice_prints)
    file = pane.context.places.data / "voice-prints.json"
    item = transcribed(grus, pane, tmp_path / "talk.wav")
    before = names(pane)
    pane.rename_speaker(item, 0, "Eva")
    grus.until(file.exists)
    soundfile.write(tmp_path / "again.wav", talk(4), RATE, subtype="FLOAT")
    transcribed(grus, pane, tmp_path / "again.wav")
    grus.until(lambda: names(pane) == ["Eva" if name == before[0] else name for name in before])
    settings = grus.window.open_pane("settings")
    grus.until(lambda: settings.voices.voices.names == ["Eva"])
    grus.qtbot.mouseClick(settings.voices.findChild(QAbstractButton, "voice.Eva"), LEFT)
    grus.until(lambda: not file.exists() and settings.voices.voices.names == [])
    assert grus.window.notice.sentence.text() == "The voice Eva was deleted."
    grus.qtbot.mouseClick(grus.window.notice.undo, LEFT)
    grus.until(lambda: settings.voices.voices.names == ["Eva"])
    assert [one.name for one in KnownVoices(file.parent).all()] == ["Eva"]


def test_a_name_that_is_taken_back_takes_the_voice_back(
    grus: Opened, pane: ListenPane, ears: sdk.Ears, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipelines, "verifier", lambda core: ears.voice_prints)
    known = KnownVoices(pane.context.places.data)
    item = transcribed(grus, pane, tmp_path / "talk.wav")
    before = names(pane)

    def kept() -> list[str]:
        return [one.name for one in known.all()]

    pane.rename_speaker(item, 0, "Eva")
    grus.until(lambda: kept() == ["Eva"])
    pane.moved(pane.results.undo)
    assert names(pane) == before
    grus.until(lambda: kept() == [])
    pane.moved(pane.results.redo)
    grus.until(lambda: kept() == ["Eva"])
    pane.rename_speaker(item, 0, "Ida")
    grus.until(lambda: kept() == ["Ida"])
    pane.moved(pane.results.undo)  # whom it was before is known by this voice again
    grus.until(lambda: kept() == ["Eva"])
    pane.moved(pane.results.redo)
    pane.moved(pane.results.undo)  # before the voice was heard
    grus.until(lambda: kept() == ["Eva"])


def test_a_transcript_is_whole_where_the_model_of_voices_fails(
    grus: Opened, pane: ListenPane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(core: object) -> str:
        raise BadRequest("No model.", "model")

    monkeypatch.setattr(pipelines, "verifier", fails)
    item = transcribed(grus, pane, tmp_path / "talk.wav")
    assert (item.state, item.error) == ("done", "")
    assert names(pane)[0] == "Speaker 1"


def test_without_the_box_nobody_is_told_apart(grus: Opened, pane: ListenPane, tmp_path: Path) -> None:
    pane.speaker_box.click()
    transcribed(grus, pane, tmp_path / "talk.wav")
    assert pane.table.isColumnHidden(SPEAKER)
    assert pane.context.preferences.get("listen.speakers") is False


def test_who_has_no_model_for_it_is_led_to_one(grus: Opened) -> None:
    pane = grus.window.open_pane("listen")
    grus.until(lambda: pane.model_box.known is not None)
    pane.speaker_box.click()
    assert not pane.speaker_box.isChecked()
    assert "tells speakers apart" in grus.window.notice.sentence.text()
    assert grus.window.shown == "models"
    assert grus.window.panes["models"].cards.name == catalogue.RECOMMENDED["diarize"]


def test_edits_keep_the_speaker() -> None:
    words = (TranscriptWord("The", 0.0, 0.4, "Eva"), TranscriptWord("crane.", 0.4, 1.0, "Eva"))
    said = TranscriptSegment(0.0, 1.0, "The crane.", words=words, speaker="Eva")
    first, second = parted(said, 4)  # type: ignore[misc]
    assert (first.speaker, second.speaker) == ("Eva", "Eva")
    assert merged(first, second) == said
