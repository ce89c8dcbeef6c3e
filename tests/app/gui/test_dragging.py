"""Results are dragged out of the window as files: from Read, Listen and Speak."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import soundfile
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDrag, QDropEvent
from PySide6.QtTest import QTest

from app.gui.results import file_name, from_outside
from app.gui.store import records
from app.gui.store.records import StoredResult
from app.gui.viewmodels.read import ReadDocument, to_result
from engine.pipelines.reading.results import Box, Element, Page
from tests.app.gui.conftest import Opened
from tests.engine.pipelines.listening.conftest import RATE, silence

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def dragged(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were dragged. The drag itself belongs to the system."""
    files: list[Path] = []

    def carry(drag: QDrag, action: Any) -> Any:
        files.extend(Path(url.toLocalFile()) for url in drag.mimeData().urls())
        return action

    monkeypatch.setattr(QDrag, "exec", carry)
    return files


def drag_first(grus: Opened, view: Any) -> None:
    """Through the window, as the system sends it: only then Qt knows that the button is down."""
    grus.until(lambda: view.model().rowCount() > 0)
    row = view.visualRect(view.model().index(0, 0)).center()
    start = view.viewport().mapTo(grus.window, row)
    handle = grus.window.windowHandle()
    QTest.mousePress(handle, LEFT, Qt.KeyboardModifier.NoModifier, start)
    for step in (12, 24, 36):
        QTest.mouseMove(handle, start + QPoint(step, 0))


def release(grus: Opened) -> None:
    QTest.mouseRelease(grus.window.windowHandle(), LEFT, Qt.KeyboardModifier.NoModifier, QPoint(5, 5))


def add(grus: Opened, result: StoredResult) -> None:
    grus.context.store.ask(lambda db: records.add_result(db, result)).result()


def test_a_page_that_was_read_becomes_markdown(grus: Opened, tmp_path: Path, dragged: list[Path]) -> None:
    page = Page(1, 300, 200, (Element("text", Box(0, 0, 100, 20), 0, "The crane dances."),))
    add(
        grus,
        to_result(ReadDocument(tmp_path / "lake: 1.png", "lake: 1.png", state="done", numbers=(1,), read={1: page})),
    )
    drag_first(grus, grus.window.open_pane("read").list)
    grus.until(lambda: dragged)
    release(grus)
    assert dragged[0].name == "lake 1.md"
    assert "The crane dances." in dragged[0].read_text()


def test_a_transcript_goes_in_the_format_that_was_written_last(
    grus: Opened, tmp_path: Path, dragged: list[Path]
) -> None:
    soundfile.write(tmp_path / "count.wav", silence(1.0), RATE)
    segments = [{"start": 0.0, "end": 1.0, "text": "Two hundred and twelve."}]
    body = {"segments": segments, "seconds": 1.0}
    add(grus, StoredResult(0, "listen", "count.wav", str(tmp_path / "count.wav"), body, state="done"))
    grus.context.preferences.put("listen.format", "srt")
    drag_first(grus, grus.window.open_pane("listen").list)
    grus.until(lambda: dragged)
    release(grus)
    assert dragged[0].name == "count.srt"
    assert "00:00:01" in dragged[0].read_text()


def test_a_sound_goes_as_it_was_kept(grus: Opened, tmp_path: Path, dragged: list[Path]) -> None:
    soundfile.write(tmp_path / "kept.wav", silence(1.0), RATE)
    body = {"text": "The crane dances.", "seconds": 1.0}
    add(grus, StoredResult(0, "speak", "The crane dances.", "", body, str(tmp_path / "kept.wav"), "done"))
    drag_first(grus, grus.window.open_pane("speak").list)
    grus.until(lambda: dragged)
    release(grus)
    assert dragged[0].name == "The crane dances.wav"
    assert soundfile.info(str(dragged[0])).duration == pytest.approx(1.0)


def test_what_is_let_go_or_has_nothing_to_give_is_not_dragged(
    grus: Opened, tmp_path: Path, dragged: list[Path]
) -> None:
    add(grus, StoredResult(0, "speak", "Nothing", "", {"text": "Nothing"}, str(tmp_path / "none.wav"), "failed"))
    pane = grus.window.open_pane("speak")
    drag_first(grus, pane.list)
    release(grus)
    grus.qtbot.wait(50)
    assert dragged == []


def test_a_pane_does_not_take_its_own_results_back(tmp_path: Path) -> None:
    given = QMimeData()
    given.setUrls([QUrl.fromLocalFile(str(tmp_path / "a.md"))])
    event = QDropEvent(QPointF(9, 9), Qt.DropAction.CopyAction, given, LEFT, Qt.KeyboardModifier.NoModifier)
    assert from_outside(event)
    own: Any = SimpleNamespace(mimeData=event.mimeData, source=lambda: "a list of the window")
    assert not from_outside(own)


def test_titles_become_names() -> None:
    assert file_name('a/b: "c"?.txt') == "a b c.txt"
    assert file_name("...wav") == "Grus.wav"
    assert len(file_name("x" * 300 + ".md")) < 90
