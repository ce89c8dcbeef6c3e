"""The Read pane as a person uses it: dropping, pasting, clicking, typing, shortcuts. The reader is made up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDropEvent, QGuiApplication, QPixmap

from app.gui.read import snip as snipping
from app.gui.read.pane import ReadPane
from app.runtime import catalogue, pipelines
from tests.app.gui.conftest import Opened
from tests.engine.pipelines.reading.fakes import Fake, by_colour
from tests.engine.pipelines.reading.sheets import Sheet, article

CTRL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)
LEFT = Qt.MouseButton.LeftButton
TABLE = "<fcel>Crane<fcel>Height<nl><fcel>red<fcel>1.58<nl>"


@pytest.fixture
def sheet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sheet:
    made = article(1)
    made.image.save(tmp_path / "page.png")
    monkeypatch.setattr(pipelines, "recognizer", lambda core, wanted: Fake(by_colour(made.texts)))
    monkeypatch.setattr(pipelines, "layout", lambda core: None)
    return made


def pane_of(grus: Opened) -> ReadPane:
    pane = grus.window.open_pane("read")
    assert isinstance(pane, ReadPane)
    return pane


def test_a_document_that_carries_its_text_is_shown_without_a_page(
    grus: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(core: object, wanted: str) -> None:
        raise AssertionError("no model is needed")

    monkeypatch.setattr(pipelines, "recognizer", none)
    pane = pane_of(grus)
    drop(pane, Path(__file__).resolve().parents[2] / "data" / "documents" / "python-docx.docx")
    grus.until(lambda: pane.results.items and pane.results.items[0].state == "done", 15)
    grus.settle()
    assert not pane.page.isVisible()
    assert pane.blocks.text_of(1) == "The Crane Report"
    pane.results.turn(1)
    grus.settle()
    assert pane.blocks.text_of(0) == "Closing"


def drop(pane: ReadPane, *files: Path) -> None:
    given = QMimeData()
    given.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    event = QDropEvent(QPointF(50, 50), Qt.DropAction.CopyAction, given, LEFT, Qt.KeyboardModifier.NoModifier)
    pane.dropEvent(event)
    assert event.isAccepted()


def read(grus: Opened, file: Path) -> ReadPane:
    pane = pane_of(grus)
    drop(pane, file)
    grus.until(lambda: pane.results.items and pane.results.items[0].state == "done", 15)
    grus.until(lambda: pane.page.paper.image is not None)
    grus.settle()
    return pane


def test_a_dropped_page_stands_beside_its_text(grus: Opened, sheet: Sheet, tmp_path: Path) -> None:
    pane = read(grus, tmp_path / "page.png")
    texts = [pane.blocks.text_of(order) for order in sorted(pane.blocks.blocks)]
    assert texts[1] == "A Title over All Columns"
    assert set(pane.page.paper.boxes) == set(pane.blocks.blocks)
    assert pane.page.paper.page == sheet.image.size
    assert pane.which.text() == "Page 1 of 1"


def test_boxes_and_text_highlight_each_other(grus: Opened, sheet: Sheet, tmp_path: Path) -> None:
    pane = read(grus, tmp_path / "page.png")
    paper = pane.page.paper
    place = paper.placed(paper.boxes[1]).center().toPoint()
    grus.qtbot.mouseClick(paper, LEFT, pos=place)
    assert pane.blocks.current == 1
    assert pane.blocks.blocks[1].property("chosen") is True
    pane.blocks.blocks[2].field.setFocus()  # type: ignore[union-attr]
    grus.until(lambda: paper.chosen == 2)
    grus.qtbot.mouseMove(paper, place)
    grus.until(lambda: pane.blocks.blocks[1].property("chosen") is True)
    grus.qtbot.keyClick(pane.list, Qt.Key.Key_Down, ALT)
    assert (paper.chosen, pane.blocks.current) == (3, 3)


def test_the_result_is_edited_where_it_stands_and_copied(grus: Opened, sheet: Sheet, tmp_path: Path) -> None:
    pane = read(grus, tmp_path / "page.png")
    field = pane.blocks.blocks[1].field
    assert field is not None
    grus.qtbot.keyClicks(field, "Really: ")
    grus.qtbot.keyClick(pane.list, Qt.Key.Key_C, CTRL | SHIFT)
    assert QGuiApplication.clipboard().text().startswith("# Really: A Title over All Columns\n")
    grus.qtbot.keyClick(pane.list, Qt.Key.Key_K, CTRL | SHIFT)


def test_a_page_that_is_read_whole_has_its_headings(
    grus: Opened, sheet: Sheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipelines, "recognizer", lambda core, wanted: Fake(lambda crop: "# One\n\n- two\n- three"))
    pane = pane_of(grus)
    pane.task.setCurrentIndex(pane.task.findData("markdown"))
    pane.task.activated.emit(pane.task.currentIndex())
    pane = read(grus, tmp_path / "page.png")
    assert [pane.blocks.text_of(order) for order in sorted(pane.blocks.blocks)] == ["One", "- two\n- three"]
    assert set(pane.page.paper.boxes) == {0, 1}


def test_tables_are_grids(grus: Opened, sheet: Sheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipelines, "recognizer", lambda core, wanted: Fake(lambda crop: TABLE))
    pane = pane_of(grus)
    pane.task.setCurrentIndex(pane.task.findData("table"))
    pane.task.activated.emit(pane.task.currentIndex())
    pane = read(grus, tmp_path / "page.png")
    cells = pane.blocks.blocks[0].table
    assert cells is not None
    cells.item(1, 1).setText("1.60")
    pane.write(pane.results.items[0], "csv", tmp_path / "out.csv")
    assert "red,1.60" in grus.saved(tmp_path / "out.csv")


def test_a_pasted_picture_is_read(grus: Opened, sheet: Sheet, tmp_path: Path) -> None:
    pane = pane_of(grus)
    given = QMimeData()
    from PySide6.QtGui import QImage

    given.setImageData(QImage(str(tmp_path / "page.png")))
    QGuiApplication.clipboard().setMimeData(given)
    grus.qtbot.keyClick(pane.list, Qt.Key.Key_V, CTRL)
    grus.until(lambda: pane.results.items and pane.results.items[0].state == "done", 15)
    assert pane.results.items[0].title == "Pasted picture"
    assert pane.results.items[0].source.exists()


def test_a_part_of_the_screen_is_read(
    grus: Opened, sheet: Sheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = QPixmap(str(tmp_path / "page.png"))
    place = QRect(0, 0, shown.width(), shown.height())
    monkeypatch.setattr(snipping, "screens", lambda: [(place, shown)])
    pane = pane_of(grus)
    pane.context.actions["read.snip"].trigger()
    grus.until(lambda: pane._snips)
    over = pane._snips[0]
    grus.qtbot.mousePress(over, LEFT, pos=QPoint(40, 150))
    grus.qtbot.mouseMove(over, QPoint(1000, 300))
    grus.qtbot.mouseRelease(over, LEFT, pos=QPoint(1200, 300))
    grus.until(lambda: pane.results.items and pane.results.items[0].state == "done", 15)
    assert [e.text for e in pane.results.items[0].read[1].elements] == ["A Title over All Columns"]
    assert grus.window.isVisible()


def test_a_screen_that_may_not_be_looked_at_is_said(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snipping, "screens", list)
    pane_of(grus).context.actions["read.snip"].trigger()
    grus.until(lambda: "paste it here" in grus.window.notice.sentence.text())


def test_escape_stops_and_the_button_reads_on(
    grus: Opened, sheet: Sheet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    gate = threading.Event()

    def slowly(crop: Any) -> str:
        gate.wait(10)
        return by_colour(sheet.texts)(crop)  # type: ignore[return-value]

    monkeypatch.setattr(pipelines, "recognizer", lambda core, wanted: Fake(slowly))
    pane = pane_of(grus)
    drop(pane, tmp_path / "page.png")
    grus.until(lambda: pane.results.items and pane.page.paper.boxes, 15)
    assert pane.cancel.isVisible()
    grus.qtbot.keyClick(pane.list, Qt.Key.Key_Escape)
    assert pane.results.items[0].state == "stopped"
    gate.set()
    grus.qtbot.mouseClick(pane.go_on, LEFT)
    grus.until(lambda: pane.results.items[0].state == "done", 15)
    assert not pane.go_on.isVisible()


def test_everything_is_there_after_a_restart(open_grus: Callable[..., Opened], sheet: Sheet, tmp_path: Path) -> None:
    grus = open_grus()
    pane = read(grus, tmp_path / "page.png")
    grus.qtbot.keyClicks(pane.blocks.blocks[1].field, "Kept: ")
    grus.settle()
    pane = pane_of(open_grus())
    grus.qtbot.waitUntil(lambda: bool(pane.blocks.blocks), timeout=5000)
    assert pane.blocks.text_of(1) == "Kept: A Title over All Columns"


def test_without_a_model_the_empty_pane_says_which_to_get(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "able", lambda service, ability: [])
    pane = pane_of(grus)
    pane.model_box.look()
    grus.until(lambda: "PaddleOCR-VL" in pane.empty.sentence.text())
    assert pane.empty.action.text() == "Add files"


def test_files_from_outside_open_in_read(grus: Opened, sheet: Sheet, tmp_path: Path) -> None:
    grus.window.take_files([tmp_path / "page.png"])
    assert grus.window.shown == "read"
    grus.until(lambda: grus.window.panes["read"].results.items)


def test_all_are_exported(grus: Opened, sheet: Sheet, tmp_path: Path) -> None:
    pane = read(grus, tmp_path / "page.png")
    pane.write_all("html", tmp_path / "out")
    grus.until(lambda: "1 document saved" in grus.window.notice.sentence.text())
    assert "A Title over All Columns" in (tmp_path / "out" / "page.html").read_text()
