"""An audiobook from the Speak pane: a document's chapters are chosen, the system's own voice speaks them, and Resume continues."""

from __future__ import annotations

from pathlib import Path

import av
import pytest
from PySide6.QtCore import Qt

from app.gui.speak.pane import SpeakPane
from app.runtime import pipelines
from engine.pipelines.speaking.system_voice import SystemVoice
from engine.starter import SYSTEM, starter
from tests.app.gui.conftest import Opened
from tests.books import chapters, epub
from tests.needs import no_program

pytestmark = pytest.mark.skipif(bool(no_program("espeak-ng")), reason=no_program("espeak-ng"))
LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def pane(grus: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SpeakPane:
    monkeypatch.setattr(
        pipelines, "speaker", lambda core, wanted: SystemVoice(core)
    )  # this window's engine runs no tasks
    grus.context.core._service.result().catalogue.named[SYSTEM] = str(starter(SYSTEM))
    made = grus.window.open_pane("speak")
    assert isinstance(made, SpeakPane)
    grus.until(lambda: made.model_box.name == SYSTEM and made.voice.count() > 1, 10)
    made.take([epub(tmp_path / "cranes.epub", chapters(3, 1))])
    grus.until(made.book_panel.isVisible, 10)
    return made


def marks(path: Path) -> list[str]:
    with av.open(str(path)) as file:
        return [chapter["metadata"]["title"] for chapter in file.chapters()]


def test_chosen_chapters_of_a_dropped_book_become_an_audiobook(grus: Opened, pane: SpeakPane, tmp_path: Path) -> None:
    panel = pane.book_panel
    assert panel.heading.text() == "Cranes · Ada Grus"
    assert not pane.text.isVisible()
    panel.chapters.item(1).setCheckState(Qt.CheckState.Unchecked)
    assert panel.figures.text().startswith("2 chapters")
    panel.subtitles.setChecked(True)
    panel.go(tmp_path / "out.m4b")
    grus.until(lambda: pane.results.items[0].state == "done", 60)
    take = pane.results.items[0]
    assert marks(tmp_path / "out.m4b") == [chapters(3)[0][0], chapters(3)[2][0]]
    assert (tmp_path / "out.srt").is_file()
    assert take.seconds > 1
    assert pane.text.isVisible()
    assert not panel.isVisible()
    assert grus.context.actions["speak.show"].isEnabled()
    assert not grus.context.actions["speak.save"].isEnabled()  # it is a file already


def test_what_was_stopped_is_resumed(grus: Opened, pane: SpeakPane, tmp_path: Path) -> None:
    target = tmp_path / "out.m4b"
    target.with_name("out.m4b.unfinished").write_text("a file in the way")
    pane.book_panel.go(target)
    take = pane.results.items[0]
    grus.until(lambda: take.state == "failed", 60)
    assert "could not be written" in pane.status.text()
    target.with_name("out.m4b.unfinished").unlink()
    assert pane.resume_button.isVisible()
    grus.qtbot.mouseClick(pane.resume_button, LEFT)
    grus.until(lambda: take.state == "done", 60)
    assert len(marks(target)) == 3
    assert not pane.resume_button.isVisible()


def test_cancel_gives_the_text_back(grus: Opened, pane: SpeakPane) -> None:
    pane.book_panel.left.emit()
    assert pane.text.isVisible()
    assert not pane.results.items
