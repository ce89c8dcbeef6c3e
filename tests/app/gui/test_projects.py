"""Projects as a person uses them: made, filled, entered, left, removed and brought back; and what the model is given."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QMenu

from app.gui.chat.pane import ChatPane
from app.gui.chat.project_dialog import ProjectDialog
from app.gui.store import projects, records
from app.gui.store.projects import Project
from app.gui.store.records import LIBRARY, StoredResult
from app.runtime.tools.settings import ToolSettings
from tests.app.gui.clipping import faults
from tests.app.gui.conftest import Opened
from tests.app.gui.test_chat_pane import chat, send

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
LEFT = Qt.MouseButton.LeftButton


def dialog_of(grus: Opened) -> ProjectDialog:
    grus.until(lambda: grus.window.findChild(ProjectDialog))
    return grus.window.findChild(ProjectDialog)


def new_project(grus: Opened) -> ProjectDialog:
    QTest.keyClick(grus.window, Qt.Key.Key_N, CTRL | ALT)
    return dialog_of(grus)


def tick(grus: Opened, dialog: ProjectDialog, button: QAbstractButton, line: str) -> None:
    """One line of the menu that a button opens."""
    grus.qtbot.mouseClick(button, LEFT)

    def menu() -> QMenu | None:
        return next((one for one in dialog.findChildren(QMenu) if one.isVisible()), None)

    grus.until(menu)
    opened = menu()
    assert opened is not None
    lines = {action.text(): action for action in opened.actions()}
    lines[line].setChecked(True)
    opened.close()


def stored(grus: Opened) -> list[Project]:
    return grus.context.store.ask(projects.listed).result()


def prompt(grus: Opened) -> str:
    model = grus.context.core.service.loaded["tiny"]
    return str(model.tokenizer.decode(grus.engine.requests[-1].prompt_ids, False))


def closed(grus: Opened, dialog: ProjectDialog) -> None:
    grus.qtbot.mouseClick(dialog.done_button, LEFT)
    grus.until(lambda: grus.window.findChild(ProjectDialog) is None)


def filled(grus: Opened, folder: Path) -> Project:
    """A project with everything, made with keys and mouse."""
    ToolSettings().keep_builtin("date")
    papers = folder / "papers"
    papers.mkdir()
    library = StoredResult(0, LIBRARY, "papers", str(papers))
    grus.context.store.ask(lambda db: records.add_result(db, library)).result()
    notes = folder / "notes.txt"
    notes.write_text("The crane stands on one leg.")
    dialog = new_project(grus)
    grus.qtbot.keyClicks(dialog.name, "Birds")  # the name is selected
    grus.qtbot.keyClicks(dialog.system, "Speak of birds.")
    dropped = QMimeData()
    dropped.setUrls([QUrl.fromLocalFile(str(notes)), QUrl.fromLocalFile(str(folder / "none.txt"))])
    drop = QDropEvent(
        QPointF(9, 9), Qt.DropAction.CopyAction, dropped, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    dialog.dropEvent(drop)
    grus.until(lambda: "is not a file" in dialog.problem.text() and not dialog._form.reading)
    tick(grus, dialog, dialog.add_library, "papers")
    tick(grus, dialog, dialog.add_tool, "Date and time")
    grus.until(lambda: dialog.libraries.count() == dialog.tools.count() == dialog.files.count() == 1)
    assert faults(dialog) == []
    closed(grus, dialog)
    grus.settle()
    (project,) = stored(grus)
    assert (project.name, project.system, project.libraries, project.tools) == (
        "Birds", "Speak of birds.", (str(papers),), ("date",)
    )  # fmt: skip
    assert [(file.name, file.text) for file in project.files] == [("notes.txt", "The crane stands on one leg.")]
    return project


def menu_of(grus: Opened, pane: ChatPane, row: int) -> dict[str, Callable[[], Any]]:
    """The context menu of a line of the list."""
    line = pane.conversation_list.lines[row]
    pane.chat_actions.list_menu(line, QPoint(5, 5))
    menu = next(one for one in pane.findChildren(QMenu) if one.isVisible())
    found = {action.text(): action.trigger for action in menu.actions()}
    menu.close()
    return found


def test_a_conversation_in_a_project_is_given_what_the_project_has(
    grus: Opened, open_grus: Callable[..., Opened], tmp_path: Path
) -> None:
    pane = chat(grus)
    project = filled(grus, tmp_path)
    menu_of(grus, pane, 0)["New conversation in this project"]()
    assert pane.talk.head.project == project
    assert faults(grus.window) == []
    asked: list[tuple[Any, ...]] = []
    pane.talk._find = lambda folders, question, service: asked.append((*folders, question)) or []
    pane.talk.configure(system="Be brief.")
    send(grus, "Where do they sleep?")
    text = prompt(grus)
    assert text.index("Speak of birds.") < text.index("Be brief.") < text.index('<file name="notes.txt">')
    assert text.index("The crane stands on one leg.") < text.index("Where do they sleep?")
    assert '"name": "date"' in text
    assert asked == [(*project.libraries, "Where do they sleep?")]
    send(grus, "And then?")
    assert prompt(grus).count("The crane stands on one leg.") == 1
    assert [line.title for line in pane.conversation_list.lines] == ["Birds", "Where do they sleep?"]
    again = open_grus()
    kept = again.window.pane("chat")
    again.until(lambda: len(kept.talk.path) == 4)
    assert kept.talk.head.project == project
    # another instruction counts for the next message
    QTest.keyClick(again.window, Qt.Key.Key_P, CTRL | ALT)
    dialog = dialog_of(again)
    dialog.system.setPlainText("Speak of fish.")
    closed(again, dialog)
    again.until(lambda: kept.talk.head.project.system == "Speak of fish.")
    send(again, "Again?")
    assert "Speak of fish.\n\nBe brief." in prompt(again)


def test_a_conversation_is_moved_in_and_out_and_the_chip_says_where_it_is(grus: Opened) -> None:
    pane = send(grus, "Hello")
    QTest.keyClick(grus.window, Qt.Key.Key_P, CTRL | ALT)  # in none yet: one is made for it
    dialog = dialog_of(grus)
    grus.qtbot.keyClicks(dialog.name, "Birds")
    grus.qtbot.keyClick(dialog.name, Qt.Key.Key_Return)
    grus.until(lambda: [line.title for line in pane.conversation_list.lines] == ["Birds", "Hello"])
    grus.until(lambda: pane.talk.head.project and pane.talk.head.project.name == "Birds")
    chip = pane.composer._project_row.itemAt(0).widget()
    settings, leave = chip.findChildren(QAbstractButton)
    assert (settings.accessibleName(), leave.accessibleName()) == ("Settings of Birds", "Remove Birds")
    grus.qtbot.mouseClick(settings, LEFT)
    grus.until(lambda: grus.window.findChild(ProjectDialog))
    closed(grus, dialog_of(grus))
    grus.qtbot.mouseClick(leave, LEFT)
    grus.until(lambda: pane.talk.head.project is None)
    assert [line.title for line in pane.conversation_list.lines] == ["Birds", "Today", "Hello"]
    assert pane.composer._project_row.count() == 0
    # one that is not begun leaves it, too
    menu_of(grus, pane, 0)["New conversation in this project"]()
    pane.projects.leave()
    assert pane.talk.head.project is None
    send(grus, "Elsewhere")
    assert [line.title for line in pane.conversation_list.lines] == ["Birds", "Today", "Elsewhere", "Hello"]


def test_a_project_is_removed_and_brought_back_with_all_it_has(grus: Opened, tmp_path: Path) -> None:
    pane = chat(grus)
    project = filled(grus, tmp_path)
    menu_of(grus, pane, 0)["New conversation in this project"]()
    send(grus, "Where?")
    menu_of(grus, pane, 0)["Remove the project"]()
    grus.until(lambda: pane.talk.head.project is None)
    assert [line.title for line in pane.conversation_list.lines] == ["Today", "Where?"]
    assert grus.window.notice.sentence.text() == "The project was removed. Its conversations are still here."
    grus.qtbot.mouseClick(grus.window.notice.undo, LEFT)
    grus.until(lambda: pane.talk.head.project == project)
    assert [line.title for line in pane.conversation_list.lines] == ["Birds", "Where?"]
    assert Path(project.files[0].path).is_file()


def test_the_files_of_a_removed_project_are_deleted(grus: Opened, tmp_path: Path) -> None:
    pane = chat(grus)
    project = filled(grus, tmp_path)
    file = Path(project.files[0].path)
    pane.conversation_list.remove_project(project.id)
    grus.settle()
    assert file.is_file()
    grus.context.store.close()
    assert not file.exists()


def test_a_project_has_a_model_of_its_own(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus(("tiny", "other"))
    pane = chat(grus)
    grus.until(lambda: pane.model_box.known)
    pane.model_box.pick("tiny")
    dialog = new_project(grus)
    at = dialog.model.findData("other")
    dialog.model.setCurrentIndex(at)
    dialog.model.activated.emit(at)
    closed(grus, dialog)
    grus.until(lambda: pane.conversation_list.projects and pane.conversation_list.projects[0].model == "other")
    pane.begin(pane.conversation_list.projects[0])
    assert pane.talk.head.model == "other"
    pane.begin()
    assert pane.talk.head.model == "tiny"


@pytest.mark.parametrize(("language", "scale"), [("de", 1.5), ("ja", 2.0)])
def test_nothing_is_cut_with_large_text(open_grus: Callable[..., Opened], language: str, scale: float) -> None:
    grus = open_grus(language=language, text_scale=scale)
    chat(grus)
    assert faults(new_project(grus)) == []
