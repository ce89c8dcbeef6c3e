"""Updates in the window: off until they are allowed, asked once, said, downloaded, checked and installed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.gui.viewmodels import updates as module
from app.gui.viewmodels.updates import DAY
from app.updates import AvailableUpdate, UpdateSource
from tests.app.gui.conftest import Opened
from tests.app.release_site import ReleaseSite, serving_releases

QUESTION = "Check for new versions of Grus when it starts?"
AVAILABLE = "Grus 9.9.9 is available."


@pytest.fixture
def site() -> Iterator[ReleaseSite]:
    with serving_releases() as here:
        yield here


@pytest.fixture
def released(
    site: ReleaseSite, open_grus: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Opened]:
    """A Grus that was installed from a release: it knows where to look. `kind`: how it was installed."""
    monkeypatch.setattr(UpdateSource, "installed", classmethod(lambda cls: site.announce()))

    def open_it(kind: str = "deb", **preferences: Any) -> Opened:
        monkeypatch.setattr(module, "installed_kind", lambda: kind)
        grus = open_grus(**preferences)
        grus.window.offer_updates()
        return grus

    return open_it


def said(grus: Opened) -> str:
    return grus.window.notice.current.sentence


def settings(grus: Opened) -> Any:
    grus.window.open_pane("settings")
    return grus.window.panes["settings"].updates


def put_file(site: ReleaseSite, monkeypatch: pytest.MonkeyPatch, kind: str, data: bytes) -> None:
    """The release has this file. Its signature is tested in tests/app/test_updates.py."""
    found = AvailableUpdate("9.9.9", "- Everything is better.", {kind: site.add(f"grus.{kind}", data)})
    monkeypatch.setattr(module, "check", lambda source: found)


def test_it_is_asked_once_and_not_at_the_first_start(released: Callable[..., Opened], site: ReleaseSite) -> None:
    assert said(released()) == ""
    grus = released()  # the window was closed once
    assert said(grus) == QUESTION
    assert said(released()) == ""
    assert site.asked == []


def test_allowing_it_looks_and_a_new_version_is_said(released: Callable[..., Opened], site: ReleaseSite) -> None:
    released()
    grus = released()
    grus.qtbot.mouseClick(grus.window.notice.undo, Qt.MouseButton.LeftButton)
    grus.until(lambda: said(grus).startswith(AVAILABLE))
    grus.qtbot.mouseClick(grus.window.notice.undo, Qt.MouseButton.LeftButton)
    view = grus.window.panes["settings"].updates
    assert grus.window.shown == "settings"
    assert view.allowed.isChecked()
    assert "Everything is better." in view.notes.text()
    asked = len(site.asked)
    assert asked == 2  # the list and its signature
    again = released()  # on the same day it looks no more
    assert (said(again), len(site.asked)) == ("", asked)


def test_the_next_day_it_looks_again(released: Callable[..., Opened]) -> None:
    grus = released(updates=True, **{"updates.looked": time.time() - DAY - 1})
    grus.until(lambda: said(grus).startswith(AVAILABLE))


def test_a_look_at_start_that_fails_disturbs_nobody(released: Callable[..., Opened], site: ReleaseSite) -> None:
    grus = released(updates=True, **{"updates.looked": time.time()})
    view = settings(grus)
    site.files.clear()
    grus.context.updates.look(quiet=True)
    grus.until(lambda: grus.context.updates.phase == "idle")
    assert (said(grus), view.status.text()) == ("", "")
    grus.qtbot.mouseClick(view.look_now, Qt.MouseButton.LeftButton)
    grus.until(lambda: "Checking for a new version failed" in view.status.text())
    assert view.status.property("level") == "error"


def test_working_offline_it_does_not_look(released: Callable[..., Opened], site: ReleaseSite) -> None:
    grus = released(updates=True, offline=True)
    assert (grus.context.updates.phase, site.asked) == ("idle", [])


def test_a_grus_from_source_offers_nothing(open_grus: Callable[..., Opened]) -> None:
    open_grus()
    grus = open_grus()
    grus.window.offer_updates()
    assert said(grus) == ""
    assert not settings(grus).isVisible()


def test_what_is_newest_is_said_when_it_is_asked_for(
    released: Callable[..., Opened], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "check", lambda source: None)
    grus = released()
    view = settings(grus)
    grus.qtbot.mouseClick(view.look_now, Qt.MouseButton.LeftButton)
    grus.until(lambda: "is the newest version" in view.status.text())
    assert not view.get.isVisible()


def test_a_package_is_downloaded_and_opened(
    released: Callable[..., Opened], site: ReleaseSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_file(site, monkeypatch, "deb", b"the package")
    opened: list[Path] = []
    monkeypatch.setattr("app.gui.settings.updates._open", opened.append)
    grus = released("deb")
    folder = grus.context.places.data / "updates"
    folder.mkdir()
    (folder / "grus-of-before.deb").touch()
    view = settings(grus)
    grus.qtbot.mouseClick(view.look_now, Qt.MouseButton.LeftButton)
    grus.until(lambda: view.get.isVisible())
    grus.qtbot.mouseClick(view.get, Qt.MouseButton.LeftButton)
    grus.until(lambda: view.install.isVisible())
    assert "sudo apt install" in view.status.text()
    grus.qtbot.mouseClick(view.install, Qt.MouseButton.LeftButton)
    assert [file.read_bytes() for file in opened] == [b"the package"]
    assert [file.name for file in folder.iterdir()] == ["grus.deb"]
    assert grus.window.isVisible()


def test_a_file_that_was_changed_is_refused(
    released: Callable[..., Opened], site: ReleaseSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_file(site, monkeypatch, "deb", b"the package")
    site.files["grus.deb"] = b"the bad one"
    grus = released("deb")
    view = settings(grus)
    grus.qtbot.mouseClick(view.look_now, Qt.MouseButton.LeftButton)
    grus.until(lambda: view.get.isVisible())
    grus.qtbot.mouseClick(view.get, Qt.MouseButton.LeftButton)
    grus.until(lambda: "not the file that was announced" in view.status.text())
    assert not view.install.isVisible()
    assert list((grus.context.places.data / "updates").iterdir()) == []


def test_an_appimage_is_replaced_and_grus_starts_again(
    released: Callable[..., Opened], site: ReleaseSite, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = tmp_path / "Grus.AppImage"
    old.write_bytes(b"old")
    monkeypatch.setenv("APPIMAGE", str(old))
    put_file(site, monkeypatch, "appimage", b"new")
    grus = released("appimage")
    view = settings(grus)
    grus.qtbot.mouseClick(view.look_now, Qt.MouseButton.LeftButton)
    grus.until(lambda: view.get.isVisible())
    grus.qtbot.mouseClick(view.get, Qt.MouseButton.LeftButton)
    grus.until(lambda: view.install.isVisible())
    assert view.install.text() == "Install and restart"
    assert not grus.window.restarts
    grus.qtbot.mouseClick(view.install, Qt.MouseButton.LeftButton)
    grus.until(lambda: grus.window.restarts)
    assert not grus.window.isVisible()
    assert old.read_bytes() == b"new"


def test_what_python_installed_is_told_how(released: Callable[..., Opened]) -> None:
    grus = released("python")
    view = settings(grus)
    grus.qtbot.mouseClick(view.look_now, Qt.MouseButton.LeftButton)
    grus.until(lambda: "uv tool upgrade grus" in view.status.text())
    assert not view.get.isVisible()
