"""A watched folder: what is whole, what was read, and what is a result."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.errors import BadRequest
from engine.pipelines.reading.watching import SETTLED, WatchedFolder


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def names(watched: WatchedFolder) -> list[str]:
    return [file.path.name for file in watched.ready()]


def watch(folder: Path, clock: Clock, settings: str = "", out: Path | None = None) -> WatchedFolder:
    return WatchedFolder(folder, out or folder, "docx", settings, clock)


def test_a_file_is_ready_once_it_stays_the_same(tmp_path: Path) -> None:
    clock = Clock()
    watched = watch(tmp_path, clock)
    (tmp_path / "empty.pdf").touch()
    with (tmp_path / "scan.pdf").open("wb") as file:
        for _ in range(5):
            file.write(b"more")
            file.flush()
            clock.now += SETTLED * 0.9
            assert names(watched) == []
    clock.now += SETTLED * 0.9
    assert names(watched) == []
    clock.now += SETTLED * 0.2
    assert names(watched) == ["scan.pdf"]


def test_each_is_read_once_and_again_when_it_changes(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "scan.pdf"
    file.write_bytes(b"one")
    (tmp_path / "broken.png").write_bytes(b"x")
    for start in range(2):  # a new start knows what the first one did
        watched = watch(tmp_path, clock)
        with watched.held():
            watched.ready()
            clock.now += SETTLED
            found = {each.path.name: each for each in watched.ready()}
            assert set(found) == (set() if start else {"scan.pdf", "broken.png"})
            if not start:
                watched.finish(found["scan.pdf"], None)
                watched.finish(found["broken.png"], "The image is damaged.")
                assert names(watched) == []
    file.write_bytes(b"three")
    watched.ready()
    clock.now += SETTLED
    assert names(watched) == ["scan.pdf"]


def test_other_settings_read_everything_again(tmp_path: Path) -> None:
    clock = Clock()
    (tmp_path / "scan.pdf").write_bytes(b"one")
    for settings in ("a", "b"):
        watched = watch(tmp_path, clock, settings)
        with watched.held():
            watched.ready()
            clock.now += SETTLED
            (file,) = watched.ready()
            watched.finish(file, None)


def test_a_file_that_changed_while_it_was_read_is_not_done(tmp_path: Path) -> None:
    clock, file = Clock(), tmp_path / "scan.pdf"
    file.write_bytes(b"one")
    watched = watch(tmp_path, clock)
    watched.ready()
    clock.now += SETTLED
    (found,) = watched.ready()
    file.write_bytes(b"longer")
    watched.finish(found, None)
    watched.ready()
    clock.now += SETTLED
    assert names(watched) == ["scan.pdf"]
    (found,) = watched.ready()
    watched.finish(found, "The disk is full.", written=False)  # tried again by a new start, and not before
    assert names(watched) == []
    assert not (tmp_path / ".grus-read.json").exists()


def test_results_parts_and_other_files_are_left_alone(tmp_path: Path) -> None:
    for name in (
        "a.pdf",
        "a.pdf.docx",
        "b.docx",
        "b.docx.pdf",
        "notes.txt",
        "c.pdf.md",
        ".hidden.pdf",
        "~$b.docx",
        "d.pdf.part",
    ):
        (tmp_path / name).write_bytes(b"x")
    (tmp_path / "folder.pdf").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.pdf")  # reading it would wait for somebody to write
    clock = Clock()
    watched = watch(tmp_path, clock)
    watched.ready()
    clock.now += SETTLED
    found = {file.path.name: file for file in watched.ready()}
    assert set(found) == {"a.pdf", "b.docx"}
    target = watched.target(found["a.pdf"])
    assert (target.path, target.format) == (tmp_path / "a.pdf.docx", "docx")
    with watched.held():
        watched.finish(found["a.pdf"], None)
        (tmp_path / "a.pdf").unlink()  # its result stays a result
        assert names(watched) == ["b.docx"]


def test_two_do_not_watch_one_folder(tmp_path: Path) -> None:
    with watch(tmp_path, Clock()).held(), pytest.raises(BadRequest, match="watches"), watch(tmp_path, Clock()).held():
        pass


def test_a_folder_that_went_away_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="cannot be read"):
        watch(tmp_path / "gone", Clock()).ready()
    with pytest.raises(BadRequest, match="There is no folder"), watch(tmp_path / "gone", Clock()).held():
        pass
    assert not (tmp_path / "gone").exists()
    (tmp_path / ".grus-read.json").write_text('{"a": 1, "b": [}')
    watched = watch(tmp_path, Clock())
    with watched.held():
        assert watched.ready() == []
