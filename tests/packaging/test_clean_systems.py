"""The script that tries packages on bare systems: where it gets them from, what a line of its table says, and that it fails loudly."""

from __future__ import annotations

import io
import os
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from app.gui.store.database import migrate
from tests.needs import need_program
from tests.packaging.tools import script

clean_systems = script("clean_systems")


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    (tmp_path / "sources.list.d").mkdir()
    return tmp_path


def test_packages_come_from_where_this_machine_has_them(apt: Path) -> None:
    assert clean_systems.mirror_of_this_machine(apt) == ""
    others = apt / "sources.list.d" / "another.sources"
    others.write_text("Types: deb\nURIs: https://packages.example/node\nSuites: main\n")
    assert clean_systems.mirror_of_this_machine(apt) == ""
    (apt / "sources.list.d" / "debian.sources").write_text(
        "Types: deb\n# a note\nURIs: http://mirror.example/debian/\n"
    )
    assert clean_systems.mirror_of_this_machine(apt) == "http://mirror.example/debian"
    (apt / "sources.list").write_text("deb [signed-by=/x.gpg] http://nearer.example/debian bookworm main\n")
    assert clean_systems.mirror_of_this_machine(apt) == "http://nearer.example/debian"


def test_a_list_that_apt_does_not_read_is_not_read(apt: Path) -> None:
    (apt / "sources.list.d" / "old.list.disabled").write_text("deb http://old.example/debian bookworm main\n")
    assert clean_systems.mirror_of_this_machine(apt) == ""


@pytest.mark.parametrize("keys", [True, False])
def test_a_suite_needs_no_script_of_its_own_and_ubuntu_its_universe(
    keys: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyring = tmp_path / "keys.gpg"
    if keys:
        keyring.touch()
    monkeypatch.setattr(clean_systems, "UBUNTU_KEYS", keyring)
    debian = clean_systems.debootstrap_words("debian-13", tmp_path, "http://mirror.example/debian")
    assert debian[-4:] == [
        "trixie",
        str(tmp_path),
        "http://mirror.example/debian",
        "/usr/share/debootstrap/scripts/sid",
    ]
    ubuntu = clean_systems.debootstrap_words("ubuntu-24.04", tmp_path, "http://mirror.example/ubuntu")
    assert (ubuntu[-4], ubuntu[-1]) == ("noble", "/usr/share/debootstrap/scripts/gutsy")
    assert "--components=main,universe" in ubuntu
    assert (f"--keyring={keyring}" in ubuntu) is keys
    assert not any("universe" in word or "keyring" in word for word in debian)


_DEBOOTSTRAP = """#!/bin/sh
for word; do case $word in /*.part) root=$word ;; esac; done
[ ! -e "$(dirname "$0")/refuses" ] || { echo "E: no such archive"; exit 1; }
echo made >>"$(dirname "$0")/count"
echo fresh >"$root/etc"
"""


@pytest.fixture
def debootstrap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of one that makes a system of one file, and of `count` and `refuses`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "debootstrap").write_text(_DEBOOTSTRAP)
    (folder / "debootstrap").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr(clean_systems, "_APART", ())
    monkeypatch.setattr(clean_systems.CleanSystem, "run", lambda *_: None)
    monkeypatch.setattr(clean_systems.shutil, "copyfile", lambda *_: None)
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="debootstrap is for Linux")
def test_fresh_systems_are_kept_where_it_is_asked_for(debootstrap: Path, tmp_path: Path) -> None:
    scratch, bases = tmp_path / "scratch", tmp_path / "bases"
    scratch.mkdir()
    for kept in (bases, bases, None):
        with clean_systems.clean_system("debian-13", scratch, kept) as system:
            assert (system.root / "etc").read_text() == "fresh\n"
            (system.root / "etc").write_text("used")
        assert list(scratch.iterdir()) == []
    assert (bases / "debian-13" / "etc").read_text() == "fresh\n"
    assert (debootstrap / "count").read_text() == "made\n" * 2  # for the first, and for the one that keeps none


@pytest.mark.skipif(sys.platform == "win32", reason="debootstrap is for Linux")
def test_a_system_that_could_not_be_made_is_said_and_not_kept(
    debootstrap: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (debootstrap / "refuses").touch()
    with clean_systems.clean_system("debian-13", tmp_path, tmp_path / "bases") as system:
        assert system is None
    assert "not to be had here: E: no such archive" in capsys.readouterr().out
    assert list((tmp_path / "bases").iterdir()) == []


@pytest.mark.parametrize(
    ("code", "said", "result"), [(0, "grus 1.2.3", "ok"), (0, "another program", "FAILED"), (1, "grus 1.2.3", "FAILED")]
)
def test_a_step_needs_its_exit_code_and_its_words(
    code: int, said: str, result: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = clean_systems.CleanSystem("bare", tmp_path)
    ran: list[str] = []

    def run(command: str, timeout: float = 0) -> Any:
        ran.append(command)
        return subprocess.CompletedProcess([], code, said, "")

    monkeypatch.setattr(system, "run", run)
    assert system.step("--version", "echo 'it'", r"grus \d") is (result == "ok")
    assert [(what, how) for what, how, _ in system.results] == [("--version", result)]
    [command] = ran
    inner = subprocess.run(["sh", "-c", command.replace("su person -c", "sh -c")], capture_output=True, text=True)
    assert inner.stdout == "it\n"  # quotes survive


def test_no_system_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import contextlib

    monkeypatch.setattr(clean_systems, "clean_system", lambda name, scratch, bases: contextlib.nullcontext(None))
    assert clean_systems.main([str(tmp_path / "grus.deb")]) == 1


def test_conversations_of_the_first_version_are_compared_with_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = clean_systems.CleanSystem("bare", tmp_path)
    monkeypatch.setattr(system, "run", lambda command: None)
    clean_systems.old_conversations(system)
    file = tmp_path / "home" / "person" / ".local" / "share" / "Grus" / "grus.sqlite3"
    assert not clean_systems.conversations_are_kept(system, "not opened")  # the database is still of the first version
    with closing(sqlite3.connect(file)) as db:
        migrate(db)
    assert clean_systems.conversations_are_kept(system, "opened")
    with closing(sqlite3.connect(file)) as db:
        db.execute("DELETE FROM conversations WHERE id = 2")
        db.commit()
    assert not clean_systems.conversations_are_kept(system, "one is lost")


def screen_of(color: bytes, width: int, height: int, padding: int, colormap: int) -> bytes:
    """As Xvfb writes its screen: a header of 100 bytes and its name, a colour map, lines of BGRX."""
    line = 4 * width + padding
    fields = [104, 7, 2, 24, width, height, 0, 0, 32, 0, 32, 32, line, 4, 0xFF0000, 0xFF00, 0xFF, 8, 256, colormap]
    header = struct.pack(">25I", *fields, width, height, 0, 0, 0) + b"x:0\0"
    rows = [bytes([0, 0, row, 0]) + (color[::-1] + b"\xff") * (width - 1) + bytes(padding) for row in range(height)]
    return header + bytes(12 * colormap) + b"".join(rows)


def test_the_picture_of_a_window_is_what_its_screen_showed() -> None:
    width, height, rgb = clean_systems.screen(screen_of(b"\x10\x20\x30", 5, 3, padding=8, colormap=7))
    with Image.open(io.BytesIO(clean_systems.png(width, height, rgb))) as picture:
        assert picture.size == (5, 3)
        assert [picture.getpixel((0, y)) for y in range(3)] == [(y, 0, 0) for y in range(3)]
        assert {picture.getpixel((x, y)) for x in range(1, 5) for y in range(3)} == {(0x10, 0x20, 0x30)}


@pytest.mark.parametrize("drawn", [True, False])
def test_a_window_that_is_ready_and_draws_nothing_has_failed(
    drawn: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = clean_systems.CleanSystem("bare", tmp_path)
    monkeypatch.setattr(system, "step", lambda *_: True)
    home = tmp_path / "home" / "person"
    home.mkdir(parents=True)
    (home / "screen.xwd").write_bytes(screen_of(b"\x10\x20\x30", 5, 64 if drawn else 2, padding=0, colormap=0))
    clean_systems.try_window(system, "AppImage: window", "grus", tmp_path / "pictures")
    assert [(what, how) for what, how, _ in system.results] == [
        ("AppImage: window is drawn", "ok" if drawn else "FAILED")
    ]
    assert [file.name for file in (tmp_path / "pictures").iterdir()] == ["bare-AppImage-window.png"]


def test_an_upgrade_begins_with_the_same_files_under_a_lower_version(tmp_path: Path) -> None:
    need_program("dpkg-deb")
    root = tmp_path / "root"
    (root / "DEBIAN").mkdir(parents=True)
    control = "Package: grus\nVersion: 0.1.0~dev0\nArchitecture: all\nMaintainer: A <a@b.c>\nDescription: x\n"
    (root / "DEBIAN" / "control").write_text(control)
    (root / "usr").mkdir()
    (root / "usr" / "text").write_text("the same\n")
    package = tmp_path / "grus.deb"
    subprocess.run(["dpkg-deb", "--root-owner-group", "--build", str(root), str(package)], check=True)
    before = clean_systems.lower_version(package, tmp_path)
    asked = subprocess.run(["dpkg-deb", "--field", str(before), "Version"], capture_output=True, text=True, check=True)
    lower = ["dpkg", "--compare-versions", asked.stdout.strip(), "lt", "0.1.0~dev0"]
    assert subprocess.run(lower).returncode == 0
    subprocess.run(["dpkg-deb", "--extract", str(before), str(tmp_path / "there")], check=True)
    assert (tmp_path / "there" / "usr" / "text").read_text() == "the same\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0~before.deb", "grus.deb", "root", "there"]


def test_an_appimage_is_tried_where_there_is_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a system of its own: on that of the package its libraries would be there already."""
    opened: list[list[str]] = []

    class System(clean_systems.CleanSystem):
        def run(self, command: str) -> Any:
            opened[-1].append(command)
            return subprocess.CompletedProcess([], 0, "", "")

        def step(self, what: str, command: str, expect: str = "", user: bool = True) -> bool:
            opened[-1].append(command)
            return self.note(what, True, "")

    @contextmanager
    def clean_system(name: str, scratch: Path, bases: Path | None) -> Iterator[Any]:
        opened.append([])
        (tmp_path / "tmp").mkdir(exist_ok=True)
        yield System(name, tmp_path)

    monkeypatch.setattr(clean_systems, "clean_system", clean_system)
    monkeypatch.setattr(clean_systems, "try_window", lambda system, what, *_: opened[-1].append(f"window: {what}"))
    for name in ("grus.deb", "Grus.AppImage"):
        (tmp_path / name).touch()
    words = ["--appimage", str(tmp_path / "Grus.AppImage"), "--only", "debian-13", "--scratch", str(tmp_path)]
    assert clean_systems.main([str(tmp_path / "grus.deb"), *words]) == 0
    package, image = opened
    assert any("grus.deb" in command for command in package)
    assert not any("grus.deb" in command for command in image)
    chat = next(at for at, command in enumerate(image) if command.endswith("AppRun chat"))
    installs = [at for at, command in enumerate(image) if "apt-get" in command]
    assert installs
    assert chat < min(installs)  # nothing was installed before
    assert image[-1] == "window: AppImage: window"
    assert any("/tmp/squashfs-root/AppRun serve" in command for command in image)
    assert any("grus serve" in command for command in package)
