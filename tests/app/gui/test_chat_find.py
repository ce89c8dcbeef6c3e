"""Search in the chat: hits that open at their words, find in a conversation, folded pastes, folders that ask for a name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, Qt
from PySide6.QtWidgets import QApplication, QLineEdit

from app.gui.chat.message_view import UserTextWidget
from app.gui.chat.pane import ChatPane
from app.gui.store import conversations, messages
from app.gui.store.messages import StoredMessage
from app.gui.viewmodels.chat.find import ConversationFind, FoundPlace, phrase_in, places_in
from app.gui.viewmodels.chat.message_views import MessageViews
from tests.app.gui.conftest import Opened
from tests.app.gui.test_chat_models import Bench

CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
PATH = [
    StoredMessage(1, None, "user", "The crane, the crane"),
    StoredMessage(2, 1, "assistant", "A CRANE dances."),
    StoredMessage(3, 2, "user", "Nothing"),
]


def test_the_places_of_a_text_and_walking_through_them() -> None:
    assert places_in("crane", PATH) == [FoundPlace(1, 0), FoundPlace(1, 1), FoundPlace(2, 0)]
    find = ConversationFind()
    find.search("crane", PATH)
    assert (find.place, find.position) == (FoundPlace(2, 0), "3/3")  # the last: one looks at the end
    find.step(1)
    assert find.place == FoundPlace(1, 0)
    find.search("crane", PATH, begin=2)
    assert find.place == FoundPlace(2, 0)
    find.search("heron", PATH)
    assert (find.place, find.position) == (None, "No results.")
    assert phrase_in("dances crane", PATH) == "dances"
    assert phrase_in("crane dances", PATH) == "crane dances"


def test_what_is_found_in_another_branch_is_shown(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.send("About herons", "They wait.")
    first = bench.talk.path[1]
    bench.talk.edit(bench.talk.path[0].id, "About cranes")
    bench.settle()
    bench.mouth.end()
    bench.settle()
    (found,) = bench.store.ask(lambda db: conversations.search(db, "wait")).result()
    assert found.message == first.id
    assert bench.shown[0] == "About cranes"
    bench.talk.show_message(first.id)
    assert bench.shown == ["About herons", "They wait."]
    bench.store.close()


def test_a_long_message_folds_and_says_how_long_it_is() -> None:
    views, text = MessageViews(), "\n".join(f"line {i}" for i in range(300))
    message = StoredMessage(1, None, "user", text)
    (folded,) = views.of(message, 1, 1)
    assert (folded.folds, folded.title) == (True, "Show all, 300 lines")
    assert folded.text.count("\n") < 10
    views.unfolded.add(1)
    (whole,) = views.of(message, 1, 1)
    assert (whole.text, whole.title) == (text, "Show less")
    (short,) = views.of(StoredMessage(2, None, "user", "Hello"), 1, 1)
    assert (short.folds, short.text) == (False, "Hello")


@pytest.fixture
def long_talk(grus: Opened) -> tuple[Opened, Any]:
    """Forty exchanges; a word that occurs in the fifth alone, as is the case of the other branch of the last."""
    pane = grus.window.panes["chat"]
    assert isinstance(pane, ChatPane)

    def fill(db: Any) -> int:
        id, parent = conversations.create(db, "tiny", title="Long"), None
        for i in range(40):
            asked = messages.add(db, id, StoredMessage(0, parent, "user", f"Question {i}"))
            words = f"**Answer** {i}. " + ("The heron is here. " if i == 5 else "") + "Cranes dance in the marsh. " * 20
            parent = messages.add(db, id, StoredMessage(0, asked.id, "assistant", words, model="tiny")).id
        return id

    id = grus.context.store.ask(fill).result()
    pane.conversation_list.look()
    grus.settle()
    grus.until(lambda: any(line.conversation for line in pane.conversation_list.lines))
    return grus, id


def marked(pane: ChatPane) -> list[str]:
    """The words that are marked and in sight."""
    found = []
    top, height = 0, pane.transcript.viewport().height()
    for widget in pane.transcript.widgets.values():
        part = widget.searched
        if part is not None and widget.y() < height and widget.y() + widget.height() > top:
            found += [selection.cursor.selectedText() for selection in part.extraSelections()]
    return found


def test_a_hit_opens_at_its_words_and_marks_them(long_talk: tuple[Opened, Any]) -> None:
    grus, id = long_talk
    pane = grus.window.panes["chat"]
    field = pane.conversation_list_view.field
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_F, CTRL)
    grus.qtbot.keyClicks(field, "heron")
    grus.until(lambda: [line.title for line in pane.conversation_list.lines] == ["Results", "Long"])
    grus.qtbot.keyClick(field, Qt.Key.Key_Return)
    grus.until(lambda: pane.talk.id == id and pane.find_bar.isVisible())
    grus.until(lambda: marked(pane) == ["heron"])
    assert not pane.transcript.stick
    assert pane.transcript.latest.isVisible()
    grus.qtbot.mouseClick(pane.transcript.latest, Qt.MouseButton.LeftButton)
    assert pane.transcript.stick
    assert not pane.transcript.latest.isVisible()


def test_arrows_and_enter_work_in_the_list(long_talk: tuple[Opened, Any]) -> None:
    grus, id = long_talk
    pane = grus.window.panes["chat"]
    view = pane.conversation_list_view
    view.field.setFocus()
    grus.qtbot.keyClick(view.field, Qt.Key.Key_Down)
    assert view.list.hasFocus()
    grus.qtbot.keyClick(view.list, Qt.Key.Key_Return)
    grus.until(lambda: pane.talk.id == id)


def test_find_in_the_conversation_walks_from_place_to_place(long_talk: tuple[Opened, Any]) -> None:
    grus, id = long_talk
    pane = grus.window.panes["chat"]
    pane.open(id)
    grus.until(lambda: pane.talk.path)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_F, CTRL | SHIFT)
    grus.until(lambda: pane.find_bar.field.hasFocus())
    grus.qtbot.keyClicks(pane.find_bar.field, "question 3")
    assert pane.find_bar.position.text() == "11/11"
    grus.qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Return)
    assert pane.find_bar.position.text() == "1/11"
    assert marked(pane) == ["Question 3"]
    grus.qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Escape)
    assert not pane.find_bar.isVisible()
    assert marked(pane) == []


def test_a_new_project_asks_for_its_name(long_talk: tuple[Opened, Any]) -> None:
    grus, id = long_talk
    pane = grus.window.panes["chat"]
    view = pane.conversation_list_view
    pane.conversation_list.add_project("New project", view.edit_project, id)
    grus.until(lambda: view.list.findChild(QLineEdit) is not None)
    editor = view.list.findChild(QLineEdit)
    grus.qtbot.keyClicks(editor, "Birds")
    grus.qtbot.keyClick(editor, Qt.Key.Key_Return)
    grus.until(lambda: [project.name for project in pane.conversation_list.projects] == ["Birds"])


def test_a_long_paste_becomes_a_file_and_a_short_one_stays_text(grus: Opened, tmp_path: Path) -> None:
    pane = grus.window.panes["chat"]
    for text in ("short", "long " * 3000):
        pasted = QMimeData()
        pasted.setText(text)
        pane.composer.field.insertFromMimeData(pasted)
    grus.until(lambda: pane.draft.files)
    assert pane.composer.field.toPlainText() == "short"
    assert (pane.draft.files[0].name, pane.draft.files[0].text) == ("Pasted text.txt", "long " * 3000)


def test_buttons_show_under_the_last_message_and_where_the_mouse_or_the_focus_is(grus: Opened) -> None:
    pane = grus.window.panes["chat"]
    grus.until(lambda: pane.talk.head.model)
    for text in ("One", "Two"):
        before = len(pane.talk.path)
        pane.talk.send(text)
        grus.until(lambda before=before: len(pane.talk.path) == before + 2 and not pane.talk.writing)
    QApplication.processEvents()
    shown = lambda: [  # noqa: E731
        widget.view.message for _, widget in sorted(pane.transcript.widgets.items())
        if hasattr(widget, "bar") and widget.bar.mask().isEmpty()
    ]  # fmt: skip
    ids = [message.id for message in pane.talk.path]
    assert shown() == [ids[-1]]
    first = next(w for _, w in sorted(pane.transcript.widgets.items()) if isinstance(w, UserTextWidget))
    first.bar.buttons["copy"].setFocus()
    assert shown() == [ids[0], ids[-1]]
    pane.composer.field.setFocus()
    pane.transcript._over = ids[1]
    pane.transcript._reveal()
    assert shown() == [ids[1], ids[-1]]
    foot = [w for _, w in sorted(pane.transcript.widgets.items()) if hasattr(w, "summary")][-1]
    assert "token" not in foot.summary.text()
    assert foot.bar.buttons["figures"].isVisible()
    grus.context.preferences.put("chat.figures", True)
    grus.until(lambda: "token" in foot.summary.text())


def test_the_column_grows_to_760_pixels_and_the_rail_gets_names(grus: Opened) -> None:
    pane = grus.window.panes["chat"]
    assert pane.transcript.column_in(1200)[1] == 760
    assert pane.transcript.column_in(500)[1] == 468
    assert grus.window.rail.width() == 56
    grus.window.rail.widen(1600)
    assert grus.window.rail.width() > 100
    grus.window.rail.widen(1100)
    assert grus.window.rail.width() == 56
