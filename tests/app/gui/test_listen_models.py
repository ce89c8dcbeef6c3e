"""The Listen pane's behaviour without a widget, with a tiny model that really listens."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import soundfile

import grus
from app.gui.store.worker import AppStore
from app.gui.viewmodels.listen import ListenResults
from app.runtime import pipelines
from engine.errors import BadRequest
from engine.loading import LoadOptions
from tests.app.gui.media import AtOnce
from tests.engine.pipelines.listening.conftest import RATE, talk
from tests.speech_checkpoints import save, save_parakeet, save_qwen3_asr


@pytest.fixture(scope="module", params=["moonshine", "parakeet_tdt", "qwen3_asr"])
def ears(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[grus.Ears]:
    folder = tmp_path_factory.mktemp("ears") / request.param
    if request.param == "qwen3_asr":
        save_qwen3_asr(folder)
    else:
        (save if request.param == "moonshine" else save_parakeet)(request.param, folder)
    with grus.Ears(str(folder), LoadOptions(backend="auto", device="cpu")) as made:
        yield made


class Setup:
    def __init__(self, folder: Path, ears: grus.Ears) -> None:
        self.said: list[tuple[str, dict[str, Any]]] = []
        self.store = AppStore(folder / "grus.sqlite3")
        self.streams = AtOnce()
        self.streams.engine = self.streams.service = ears.service  # type: ignore[attr-defined]
        self.folder = folder
        self.listening = self.fresh()

    def fresh(self) -> ListenResults:
        say = lambda said, **more: self.said.append((said, more))  # noqa: E731
        return ListenResults(self.store, self.streams, say, self.folder / "recordings")

    def kept(self) -> ListenResults:
        self.store.wait()
        again = self.fresh()
        again.look()
        self.store.wait()
        return again


@pytest.fixture
def setup(tmp_path: Path, ears: grus.Ears, monkeypatch: pytest.MonkeyPatch) -> Iterator[Setup]:
    monkeypatch.setattr(pipelines, "listener", lambda core, wanted: ears.listener)
    soundfile.write(tmp_path / "talk.wav", talk(2), RATE)
    made = Setup(tmp_path, ears)
    yield made
    made.store.close()


def test_a_file_is_written_down_and_kept(setup: Setup, tmp_path: Path) -> None:
    setup.listening.add([tmp_path / "talk.wav"])
    setup.store.wait()
    item = setup.listening.items[0]
    assert item.state == "done"
    assert len(item.segments) == 2
    assert item.seconds == pytest.approx(len(talk(2)) / RATE)
    again = setup.kept().items[0]
    assert [(s.start, s.text) for s in again.segments] == [(s.start, s.text) for s in item.segments]


def test_edits_are_kept_and_written_in_every_format(setup: Setup, tmp_path: Path) -> None:
    setup.listening.add([tmp_path / "talk.wav"])
    setup.store.wait()
    item = setup.listening.items[0]
    setup.listening.edit(item, 1, "The crane dances.")
    assert setup.kept().items[0].segments[1].text == "The crane dances."
    for format in ("txt", "srt", "vtt", "json"):
        written = setup.listening.export(item, format, tmp_path / f"out.{format}").read_text()
        assert "The crane dances." in written
    with pytest.raises(BadRequest):
        setup.listening.export(item, "doc", tmp_path / "out.doc")


def test_what_is_no_sound_is_told_and_the_next_goes_on(setup: Setup, tmp_path: Path) -> None:
    (tmp_path / "bad.wav").write_bytes(b"nothing")
    setup.listening.add([tmp_path / "bad.wav", tmp_path / "talk.wav"])
    setup.store.wait()
    setup.store.wait()
    assert [item.state for item in setup.listening.items] == ["done", "failed"]
    assert "could not be read as sound" in setup.listening.items[1].status()


def test_captions_while_it_is_said_and_the_recording_is_kept(setup: Setup, tmp_path: Path) -> None:
    setup.streams.hold = True
    item = setup.listening.begin_live()
    setup.store.wait()
    sound, seen = talk(2), []
    setup.listening.sounded.connect(lambda of, samples: seen.append((of, len(samples))))
    for start in range(0, len(sound), 1600):
        setup.listening.feed_live(sound[start : start + 1600])
    assert {of for of, _ in seen} == {item}
    assert sum(count for _, count in seen) == sum(map(len, setup.listening.live_sound)) == len(sound)
    setup.listening.end_live()
    partial: list[str] = []
    setup.listening.segments_changed.connect(lambda item: partial.append(item.partial))
    setup.streams.held[0].finish()
    assert item.state == "done"
    assert len(item.segments) == 2
    assert any(partial)
    assert item.partial == ""
    assert soundfile.info(str(item.source)).duration == pytest.approx(len(sound) / RATE, abs=0.01)
    assert len(setup.kept().items[0].segments) == 2


def test_removing_can_be_taken_back(setup: Setup, tmp_path: Path) -> None:
    setup.listening.add([tmp_path / "talk.wav"])
    setup.store.wait()
    setup.listening.remove(setup.listening.items[0])
    assert setup.listening.items == []
    setup.said[-1][1]["undo"][1]()
    setup.store.wait()
    assert len(setup.listening.items) == 1


def test_the_segment_at_a_place(setup: Setup, tmp_path: Path) -> None:
    setup.listening.add([tmp_path / "talk.wav"])
    setup.store.wait()
    item = setup.listening.items[0]
    second = item.segments[1]
    assert setup.listening.at(item, second.start + 0.1) == 1
    assert setup.listening.at(item, 1e6) == -1
