"""The Listen pane's behaviour without a widget, with a tiny model that really listens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import soundfile

import grus
from app import abilities
from app.gui.store.worker import Store
from app.gui.viewmodels.listen import Listening
from engine.errors import BadRequest
from engine.loading import LoadOptions
from tests.app.gui.media import AtOnce
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import save


@pytest.fixture(scope="module")
def ears(tmp_path_factory: pytest.TempPathFactory) -> Iterator[grus.Ears]:
    folder = save("moonshine", tmp_path_factory.mktemp("ears") / "moonshine-tiny")
    with grus.Ears(str(folder), LoadOptions(backend="auto", device="cpu")) as made:
        yield made


class Desk:
    def __init__(self, folder: Path, ears: grus.Ears) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.store = Store(folder / "grus.sqlite3")
        self.streams = AtOnce()
        self.streams.engine = ears.engine  # type: ignore[attr-defined]
        self.folder = folder
        self.listening = self.fresh()

    def fresh(self) -> Listening:
        say = lambda said, **more: self.said.append((said, more))  # noqa: E731
        return Listening(self.store, self.streams, say, self.folder / "recordings")

    def kept(self) -> Listening:
        self.store.wait()
        again = self.fresh()
        again.look()
        self.store.wait()
        return again


@pytest.fixture
def desk(tmp_path: Path, ears: grus.Ears, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr(abilities, "listener", lambda core, wanted: ears.listener)
    soundfile.write(tmp_path / "talk.wav", talk(2), RATE)
    made = Desk(tmp_path, ears)
    yield made
    made.store.close()


def test_a_file_is_written_down_and_kept(desk: Desk, tmp_path: Path) -> None:
    desk.listening.add([tmp_path / "talk.wav"])
    desk.store.wait()
    item = desk.listening.items[0]
    assert item.state == "done"
    assert len(item.segments) == 2
    assert item.seconds == pytest.approx(len(talk(2)) / RATE)
    again = desk.kept().items[0]
    assert [(s.start, s.text) for s in again.segments] == [(s.start, s.text) for s in item.segments]


def test_edits_are_kept_and_written_in_every_format(desk: Desk, tmp_path: Path) -> None:
    desk.listening.add([tmp_path / "talk.wav"])
    desk.store.wait()
    item = desk.listening.items[0]
    desk.listening.edit(item, 1, "The crane dances.")
    assert desk.kept().items[0].segments[1].text == "The crane dances."
    for format in ("txt", "srt", "vtt", "json"):
        written = desk.listening.export(item, format, tmp_path / f"out.{format}").read_text()
        assert "The crane dances." in written
    with pytest.raises(BadRequest):
        desk.listening.export(item, "doc", tmp_path / "out.doc")


def test_what_is_no_sound_is_told_and_the_next_goes_on(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "bad.wav").write_bytes(b"nothing")
    desk.listening.add([tmp_path / "bad.wav", tmp_path / "talk.wav"])
    desk.store.wait()
    desk.store.wait()
    assert [item.state for item in desk.listening.items] == ["done", "failed"]
    assert "could not be read as sound" in desk.listening.items[1].status()


def test_captions_while_it_is_said_and_the_recording_is_kept(desk: Desk, tmp_path: Path) -> None:
    desk.streams.hold = True
    item = desk.listening.begin_live()
    desk.store.wait()
    sound = talk(2)
    for start in range(0, len(sound), 1600):
        desk.listening.hear_live(sound[start : start + 1600])
    desk.listening.end_live()
    partial: list[str] = []
    desk.listening.heard.connect(lambda item: partial.append(item.partial))
    desk.streams.held[0].finish()
    assert item.state == "done"
    assert len(item.segments) == 2
    assert any(partial)
    assert item.partial == ""
    assert soundfile.info(str(item.source)).duration == pytest.approx(len(sound) / RATE, abs=0.01)
    assert len(desk.kept().items[0].segments) == 2


def test_removing_can_be_taken_back(desk: Desk, tmp_path: Path) -> None:
    desk.listening.add([tmp_path / "talk.wav"])
    desk.store.wait()
    desk.listening.remove(desk.listening.items[0])
    assert desk.listening.items == []
    desk.said[-1][1]["undo"][1]()
    desk.store.wait()
    assert len(desk.listening.items) == 1


def test_the_segment_at_a_place(desk: Desk, tmp_path: Path) -> None:
    desk.listening.add([tmp_path / "talk.wav"])
    desk.store.wait()
    item = desk.listening.items[0]
    second = item.segments[1]
    assert desk.listening.at(item, second.start + 0.1) == 1
    assert desk.listening.at(item, 1e6) == -1
