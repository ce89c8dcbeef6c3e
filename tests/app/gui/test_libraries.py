"""The Libraries pane and libraries in Chat as a person uses them: dropping a folder, searching, asking, opening what is cited."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMenu

from app.gui.chat.message_view import ProseWidget
from app.gui.chat.passage_list import SourcesWidget
from app.gui.libraries.pane import LibrariesPane
from tests.app.gui.clipping import faults
from tests.app.gui.conftest import Opened
from tests.engine.media.test_documents import text_pdf

FUSE = "The fuse is rated at 16 amperes."


@pytest.fixture
def papers(tmp_path: Path) -> Path:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "lease.md").write_text(
        "# Lease\n\nThe lease of the mill ends on 3 May 2031.\n\nIt is renewed in writing."
    )
    (folder / "pump.pdf").write_bytes(text_pdf("Contents of the manual", FUSE))
    return folder


def indexed(grus: Opened, folder: Path) -> LibrariesPane:
    pane = grus.window.open_pane("libraries")
    assert isinstance(pane, LibrariesPane)
    given = QMimeData()
    given.setUrls([QUrl.fromLocalFile(str(folder))])
    event = QDropEvent(
        QPointF(50, 50), Qt.DropAction.CopyAction, given, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    pane.dropEvent(event)
    assert event.isAccepted()
    grus.until(lambda: pane.results.items and pane.results.items[0].state == "done", 20)
    grus.settle()
    return pane


def test_a_dropped_folder_is_indexed_searched_and_its_page_opened(grus: Opened, papers: Path) -> None:
    (papers / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    pane = indexed(grus, papers)
    assert pane.state.text() == "3 documents · 3 pages · 1 not read"
    assert pane.problems.texts()[0].startswith("broken.pdf: ")
    assert not pane.progress.isVisible()
    QTest.keyClicks(pane.field, "fuse amperes")
    grus.until(lambda: pane.found.count())
    assert pane.found.item(0).text() == f"pump.pdf, page 2\n{FUSE}"
    assert faults(grus.window) == []
    pane.found.setCurrentRow(0)
    pane.found.setFocus()
    QTest.keyClick(pane.found, Qt.Key.Key_Return)
    read: Any = grus.window.panes["read"]
    assert grus.window.shown == "read"
    grus.until(lambda: read.blocks.current in read.blocks.blocks, 20)
    assert (read.results.current.page_number, read.blocks.text_of(read.blocks.current)) == (2, FUSE)
    pane.field.setText("xylophone")
    grus.window.open_pane("libraries")
    grus.until(lambda: pane.nothing.text() == "Nothing was found.")


def test_progress_is_shown_paused_and_resumed(grus: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.runtime.library import indexer

    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.txt").write_text(f"Crane number {number}.")
    pane: Any = grus.window.open_pane("libraries")
    read, third, paused = indexer.read_document, threading.Event(), threading.Event()

    def slow(path: Path, *given: Any) -> Any:
        if path.name == "2.txt":
            third.set()
            paused.wait(20)
        return read(path, *given)

    monkeypatch.setattr(indexer, "read_document", slow)
    pane.take([folder])
    grus.until(lambda: third.is_set() and pane.results.items[0].done == 2, 20)
    item = pane.results.items[0]
    assert pane.progress.isVisible()
    assert pane.state.text().startswith("2 of 8 files")
    QTest.mouseClick(pane.pause_button, Qt.MouseButton.LeftButton)
    assert item.state == "paused"
    paused.set()
    grus.until(lambda: item.done == 3, 20)
    assert pane.pause_button.text() == "Resume"
    assert pane.state.text() == "Paused after 3 of 8 files"
    QTest.mouseClick(pane.pause_button, Qt.MouseButton.LeftButton)
    grus.until(lambda: item.state == "done", 20)
    assert pane.state.text() == "8 documents · 8 pages"


def test_a_library_is_removed_with_an_undo(grus: Opened, papers: Path) -> None:
    pane = indexed(grus, papers)
    grus.context.actions["libraries.remove"].trigger()
    assert pane.stack.currentWidget() is pane.empty
    assert "was removed" in grus.window.notice.current.sentence
    grus.window.notice.current.undo[1]()
    grus.settle()
    assert [item.title for item in pane.results.items] == ["papers"]


def ask(grus: Opened, text: str) -> Any:
    chat: Any = grus.window.open_pane("chat")
    grus.until(lambda: chat.talk.head.model)
    QTest.keyClicks(chat.composer.field, text)
    QTest.keyClick(chat.composer.field, Qt.Key.Key_Return)
    grus.until(lambda: chat.talk.path and chat.talk.path[-1].state == "done", 20)
    grus.settle()
    return chat


def prompt(grus: Opened) -> str:
    tokenizer = grus.engine.models_loaded["tiny"].tokenizer
    return str(tokenizer.decode(grus.engine.requests[-1].prompt_ids))


def test_a_conversation_asks_a_library_and_a_citation_opens_the_page(
    open_grus: Callable[..., Opened], papers: Path
) -> None:
    grus = open_grus()
    pane = indexed(grus, papers)
    QTest.mouseClick(pane.ask_button, Qt.MouseButton.LeftButton)
    assert grus.window.shown == "chat"
    grus.engine.reply = "At 16 amperes [1]."
    chat = ask(grus, "How is the fuse rated?")
    assert f"[1] pump.pdf, page 2\n{FUSE}" in prompt(grus)
    assert "Question: How is the fuse rated?" in prompt(grus)
    grus.until(lambda: any(isinstance(one, SourcesWidget) for one in chat.transcript.widgets.values()))
    (sources,) = [one for one in chat.transcript.widgets.values() if isinstance(one, SourcesWidget)]
    assert [line.text() for line in sources.lines] == ["[1] pump.pdf, page 2"]
    (prose,) = [one for one in chat.transcript.widgets.values() if isinstance(one, ProseWidget)]
    prose.text.anchorClicked.emit(QUrl("passage:1"))
    assert grus.window.shown == "read"
    read: Any = grus.window.panes["read"]
    grus.until(lambda: read.blocks.current in read.blocks.blocks, 20)
    assert read.blocks.text_of(read.blocks.current) == FUSE
    # it is kept, also by a restart
    conversation = chat.talk.id
    again = open_grus()
    chat = again.window.open_pane("chat")
    again.until(lambda: chat.talk.id == conversation and chat.talk.path)
    assert chat.talk.head.libraries == (str(papers),)
    assert chat.talk.path[-1].passages[0].where == "pump.pdf, page 2"
    (papers / "pump.pdf").unlink()
    chat.open_passage(chat.talk.path[-1].id, 1)
    assert again.window.shown == "chat"
    assert "is not there any more" in again.window.notice.current.sentence


def test_libraries_are_chosen_by_the_keyboard_and_taken_off_by_their_chip(grus: Opened, papers: Path) -> None:
    indexed(grus, papers)
    chat: Any = grus.window.open_pane("chat")
    grus.until(lambda: chat.talk.head.model)
    grus.context.actions["chat.libraries"].trigger()
    grus.settle()
    menu = next(menu for menu in chat.findChildren(QMenu) if menu.isVisible())
    assert [line.text() for line in menu.actions() if line.isCheckable()] == ["papers"]
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert chat.talk.head.libraries == (str(papers),)
    grus.settle()
    assert faults(grus.window) == []
    chip = chat.composer._used_row.itemAt(0).widget()
    remove = chip.findChild(type(chat.composer.attach))
    assert remove.accessibleName() == "Remove papers"
    QTest.mouseClick(remove, Qt.MouseButton.LeftButton, pos=QPoint(4, 4))
    assert chat.talk.head.libraries == ()
    ask(grus, "Hello")
    assert "Passages:" not in prompt(grus)
