"""A watched folder in the Read pane: what appears is read beside its file, the switch, and what a restart keeps."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog

from app.gui.preferences import Preferences
from app.gui.read.pane import ReadPane
from app.gui.viewmodels.read import ReadSettings
from app.gui.viewmodels.read_watch import FOLDER, FolderWatch
from engine.pipelines.reading import watching
from tests.app.gui.conftest import Opened

DOCUMENT = Path(__file__).resolve().parents[2] / "data" / "documents" / "libreoffice.odt"
LAST = "Last words — fin."


class Now:
    """Runs jobs and streams at once. A stream that is to wait is kept in `waiting`."""

    def __init__(self) -> None:
        self.waits = False
        self.waiting: list[Callable[[], None]] = []

    def run(self, job: Any, then: Any = None, failed: Any = None) -> Any:
        try:
            answer = job()
        except watching.BadRequest as error:
            failed(str(error))
        else:
            then(answer)

    def stream(self, work: Callable[[Any], Iterator[Any]], receive: Any, ended: Any) -> Any:
        def go() -> None:
            for event in work(None):
                receive([event])
            ended("")

        if self.waits:
            self.waiting.append(go)
        else:
            go()
        return self

    def cancel(self) -> None:
        self.waiting.clear()


@pytest.fixture(autouse=True)
def settled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "SETTLED", 0.0)


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    folder = tmp_path / "inbox"
    folder.mkdir()
    return folder


def test_files_are_read_and_told_one_by_one(tmp_path: Path, inbox: Path) -> None:
    now: Any = Now()
    watch = FolderWatch(Preferences(tmp_path / "preferences.json"), now, now)
    states: list[str] = []
    watch.changed.connect(lambda: states.append(watch.status()))
    watch.look()  # nothing is watched
    watch.choose(inbox, ReadSettings(pages="3"))
    watch.look()
    assert (watch.on, states, watch.done) == (True, ["Watching · 0 files read"], [])
    shutil.copy(DOCUMENT, inbox / "a.odt")
    (inbox / "b.docx").write_bytes(b"PK\3\4 no archive")
    watch.look()
    assert LAST in (inbox / "a.odt.md").read_text("utf-8")
    assert "Reading a.odt" in states
    assert states[-1] == "Watching · 1 file read · 1 not read"
    assert watch.tooltip().startswith("b.docx: The file is damaged")
    (inbox / "a.odt.md").write_text("mine", "utf-8")
    watch.look()
    watch.stop()
    watch.start(ReadSettings())  # with the same settings: pages are of one document alone
    watch.look()
    assert (inbox / "a.odt.md").read_text("utf-8") == "mine"
    watch.choose_format("txt")
    watch.look()
    assert LAST in (inbox / "a.odt.txt").read_text("utf-8")


def test_a_picture_without_a_model_is_tried_again_after_a_new_start(
    tmp_path: Path, inbox: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.runtime import pipelines
    from engine.errors import BadRequest
    from tests.engine.pipelines.reading.fakes import Fake, by_colour
    from tests.engine.pipelines.reading.sheets import article

    def none(core: object, wanted: str) -> None:
        raise BadRequest("No model here reads pictures.")

    sheet = article(1)
    sheet.image.save(inbox / "page.png")
    now: Any = Now()
    watch = FolderWatch(Preferences(tmp_path / "preferences.json"), now, now)
    monkeypatch.setattr(pipelines, "recognizer", none)
    monkeypatch.setattr(pipelines, "layout", lambda core: None)
    watch.choose(inbox, ReadSettings())
    watch.look()
    watch.look()
    assert [(one.name, one.error) for one in watch.done] == [("page.png", "No model here reads pictures.")]
    monkeypatch.setattr(pipelines, "recognizer", lambda core, wanted: Fake(by_colour(sheet.texts)))
    watch.resume()
    watch.look()
    assert "A Title over All Columns" in (inbox / "page.png.md").read_text("utf-8")


def test_stopping_ends_what_is_read_and_lets_another_watch(tmp_path: Path, inbox: Path) -> None:
    now: Any = Now()
    first, second = (FolderWatch(Preferences(tmp_path / f"{name}.json"), now, now) for name in "ab")
    shutil.copy(DOCUMENT, inbox / "a.odt")
    now.waits = True
    first.choose(inbox, ReadSettings())
    first.look()
    second.choose(inbox, ReadSettings())
    second.look()
    assert "watches" in second.status()
    (begun,) = now.waiting
    first.stop()
    begun()  # the thread has not ended yet
    assert (first.status(), list(inbox.glob("*.md"))) == ("Off", [])
    now.waits = False
    second.look()
    assert (second.problem, len(list(inbox.glob("*.md")))) == ("", 1)


def test_a_folder_that_went_away_is_named_and_not_made_anew(tmp_path: Path, inbox: Path) -> None:
    now: Any = Now()
    preferences = Preferences(tmp_path / "preferences.json")
    preferences.put(FOLDER, str(tmp_path / "gone"))
    watch = FolderWatch(preferences, now, now)
    watch.start(ReadSettings())
    watch.look()
    assert watch.status() == f"There is no folder {tmp_path / 'gone'}."
    assert not (tmp_path / "gone").exists()
    (tmp_path / "gone").mkdir()
    watch.look()
    assert watch.status().startswith("Watching")


def pane_of(grus: Opened) -> ReadPane:
    pane = grus.window.pane("read")
    assert isinstance(pane, ReadPane)
    return pane


def test_the_switch_of_the_window(open_grus: Callable[..., Opened], inbox: Path) -> None:
    grus = open_grus()
    grus.window.open_pane("read")
    strip = pane_of(grus).watch
    strip.switch.click()  # the first time a folder is asked for
    (dialog,) = grus.window.findChildren(QFileDialog)
    assert not strip.switch.isChecked()
    dialog.fileSelected.emit(str(inbox))
    dialog.reject()
    assert (strip.switch.isChecked(), strip.place.text()) == (True, str(inbox))
    shutil.copy(DOCUMENT, inbox / "a.odt")
    grus.until(lambda: strip.state.text() == "Watching · 1 file read", 15)
    assert LAST in (inbox / "a.odt.md").read_text("utf-8")

    again = open_grus()  # Read is not opened, and watches
    shutil.copy(DOCUMENT, inbox / "b.odt")
    grus.until(lambda: (inbox / "b.odt.md").exists(), 15)
    strip = pane_of(again).watch
    again.window.open_pane("read")
    again.qtbot.keyClick(
        pane_of(again), Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    grus.until(lambda: not strip.switch.isChecked())
    assert not strip.state.isVisible()
    assert not pane_of(open_grus()).watch.switch.isChecked()
