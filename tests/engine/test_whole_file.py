"""Files that appear when they are complete."""

from __future__ import annotations

import os
import stat
import sys
import threading
from pathlib import Path

import pytest

from engine.whole_file import whole_file


def test_nothing_is_seen_before_the_end(tmp_path: Path) -> None:
    target = tmp_path / "notes.txt"
    target.write_text("old")
    with whole_file(target) as part:
        part.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["notes.txt"]


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_what_fails_leaves_what_was_there(tmp_path: Path, error: BaseException) -> None:
    target = tmp_path / "notes.txt"
    target.write_text("old")

    def write() -> None:
        with whole_file(target) as part:
            part.write_text("half of the n")
            raise error

    with pytest.raises(type(error)):
        write()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["notes.txt"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(OSError), whole_file(tmp_path) as part:
        part.write_text("new")


@pytest.mark.skipif(sys.platform == "win32", reason="no permissions, links and pipes of this kind")
def test_permissions_links_and_pipes_are_kept(tmp_path: Path) -> None:
    target, link, pipe = tmp_path / "notes.txt", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    with whole_file(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert (target.read_text(), stat.S_IMODE(target.stat().st_mode)) == ("new", 0o600)
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    with whole_file(pipe) as part:
        part.write_text("new")
    reader.join(10)
    assert got == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
