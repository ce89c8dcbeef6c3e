"""The Listen pane as a person uses it. The model is a tiny one that really listens; loudspeaker and microphone are made up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import soundfile
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication

import grus as sdk
from app.gui.listen.pane import ListenPane
from app.gui.sound import devices
from app.runtime import catalogue, pipelines
from engine.errors import BackendUnavailable
from engine.loading import LoadOptions
from tests.app.gui.conftest import Opened
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import save

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture(scope="module")
def ears(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sdk.Ears]:
    folder = save("moonshine", tmp_path_factory.mktemp("ears") / "moonshine-tiny")
    with sdk.Ears(str(folder), LoadOptions(backend="auto", device="cpu")) as made:
        yield made


class Device:
    """A loudspeaker, or a microphone, that does nothing by itself."""

    opened: ClassVar[list[Any]] = []

    def __init__(self, call: Callable[..., Any], *more: Any) -> None:
        self.call, self.stopped, self.unheard = call, False, 0
        type(self).opened.append(self)

    def stop(self) -> None:
        self.stopped = True

    finish = stop

    def flush(self) -> None:
        """Nothing waits in it."""


@pytest.fixture
def pane(grus: Opened, ears: sdk.Ears, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ListenPane:
    Device.opened = []
    monkeypatch.setattr(devices, "SoundOutput", Device)
    monkeypatch.setattr(devices, "Microphone", Device)
    monkeypatch.setattr(pipelines, "listener", lambda core, wanted: ears.listener)
    grus.engine.task = ears.service.task  # type: ignore[attr-defined]
    soundfile.write(tmp_path / "talk.wav", talk(2), RATE)
    made = grus.window.open_pane("listen")
    assert isinstance(made, ListenPane)
    return made


def drop(pane: ListenPane, *files: Path) -> None:
    given = QMimeData()
    given.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    pane.dropEvent(QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, given, LEFT, Qt.KeyboardModifier.NoModifier))


def transcribed(grus: Opened, pane: ListenPane, file: Path) -> Any:
    drop(pane, file)
    grus.until(lambda: pane.results.items and pane.results.items[0].state == "done", 20)
    grus.until(lambda: pane.player.playback.seconds > 1)
    return pane.results.items[0]


def test_a_dropped_recording_is_written_down_beside_its_waveform(
    grus: Opened, pane: ListenPane, tmp_path: Path
) -> None:
    item = transcribed(grus, pane, tmp_path / "talk.wav")
    assert pane.table.rowCount() == 2
    assert pane.table.item(0, 1).text() == item.segments[0].text
    assert len(pane.player.wave.spans) == 2
    wave = pane.player.wave
    grus.qtbot.mouseClick(wave, LEFT, pos=QPoint(round(wave.place(item.segments[1].start + 0.2)), 20))
    assert pane.table.currentRow() == 1
    assert pane.player.playback.position == pytest.approx(item.segments[1].start + 0.2, abs=0.1)


def test_a_click_on_a_time_plays_that_segment(grus: Opened, pane: ListenPane, tmp_path: Path) -> None:
    item = transcribed(grus, pane, tmp_path / "talk.wav")
    box = pane.table.visualItemRect(pane.table.item(1, 0))
    grus.qtbot.mouseClick(pane.table.viewport(), LEFT, pos=box.center())
    assert pane.player.playback.playing
    played = np.concatenate([Device.opened[-1].call(1600) for _ in range(40)])
    start, end = item.segments[1].start, item.segments[1].end
    assert len(played) == pytest.approx((end - start) * RATE, abs=2)
    grus.until(lambda: not pane.player.playback.playing)
    assert Device.opened[-1].stopped


def test_text_is_edited_where_it_stands_copied_and_exported(grus: Opened, pane: ListenPane, tmp_path: Path) -> None:
    transcribed(grus, pane, tmp_path / "talk.wav")
    pane.table.item(0, 1).setText("The crane dances.")
    grus.qtbot.keyClick(pane.list, Qt.Key.Key_C, CTRL | SHIFT)
    assert QGuiApplication.clipboard().text().startswith("The crane dances.\n")
    pane.write(pane.results.items[0], tmp_path / "out.srt")
    assert "The crane dances." in grus.saved(tmp_path / "out.srt")


def test_the_microphone_by_shortcut_and_captions(grus: Opened, pane: ListenPane) -> None:
    grus.qtbot.keyClick(pane.list, Qt.Key.Key_R, CTRL | SHIFT)
    assert pane.results.live is not None
    sound = talk(1)
    for start in range(0, len(sound), 1600):
        Device.opened[-1].call(sound[start : start + 1600])
    playback = pane.player.playback  # its own waveform grows while it is recorded
    assert (playback.complete, round(playback.seconds * RATE)) == (False, len(sound))
    assert playback.bars(40).max() > 0
    grus.until(lambda: pane.table.rowCount() == 1 or pane.caption.text(), 20)
    grus.qtbot.mouseClick(pane.end, LEFT)
    grus.until(lambda: pane.results.live is None, 20)
    assert playback.complete
    assert Device.opened[0].stopped
    assert pane.results.items[0].state == "done"
    assert pane.results.items[0].segments


def test_a_missing_device_or_library_is_said(grus: Opened, pane: ListenPane, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*given: Any) -> Any:
        raise BackendUnavailable("Sound needs a system library that is missing. Install libpulse0.")

    monkeypatch.setattr(devices, "Microphone", missing)
    grus.qtbot.mouseClick(pane.record, LEFT)
    assert "libpulse0" in grus.window.notice.sentence.text()
    assert pane.results.items == []


def test_what_is_no_sound_is_refused_in_words(grus: Opened, pane: ListenPane, tmp_path: Path) -> None:
    drop(pane, tmp_path / "notes.doc")
    assert "notes.doc: unsupported format" in grus.window.notice.sentence.text()


def test_who_has_no_ears_yet_is_led_to_some(grus: Opened) -> None:
    pane = grus.window.open_pane("listen")
    grus.until(lambda: pane.empty.action.text() == "Get a model")
    grus.qtbot.mouseClick(pane.empty.action, LEFT)
    assert grus.window.shown == "models"
    assert grus.window.panes["models"].cards.name == catalogue.RECOMMENDED["listen"]
