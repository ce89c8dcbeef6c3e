"""One message to several models: answered one after the other, side by side, continued with one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QMenu

from app.gui.chat.message_view import ProseWidget
from app.gui.chat.pane import ChatPane
from app.gui.viewmodels.chat.comparison import Comparison
from engine.errors import OutOfMemory
from tests.app.gui.clipping import faults
from tests.app.gui.conftest import Opened
from tests.app.gui.test_chat_models import Bench, bench  # noqa: F401 (a fixture)
from tests.app.gui.test_chat_pane import chat

LEFT = Qt.MouseButton.LeftButton
CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier


@pytest.fixture
def three(open_grus: Callable[..., Opened]) -> tuple[Opened, ChatPane]:
    grus = open_grus(("one", "two", "three", "four"))
    pane = chat(grus)
    grus.until(lambda: pane.model_box.known)
    pane.model_box.pick("one")
    return grus, pane


def choose(grus: Opened, pane: ChatPane, *models: str) -> None:
    for model in models:
        grus.context.actions["chat.compare"].trigger()
        grus.until(lambda: any(menu.isVisible() for menu in pane.findChildren(QMenu)))
        menu = next(one for one in pane.findChildren(QMenu) if one.isVisible())
        assert "one" not in [line.text() for line in menu.actions()]
        next(line for line in menu.actions() if line.text() == model).setChecked(True)
        menu.close()
        grus.settle()


def ask(grus: Opened, pane: ChatPane, text: str) -> None:
    grus.qtbot.keyClicks(pane.composer.field, text)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)


def texts(pane: ChatPane) -> list[tuple[str, str]]:
    """Model and words of each column, as they are shown."""
    columns = [pane.compare_view.columns[id] for id in pane.comparison.shown]
    words = []
    for column in columns:
        rows = [one for one in column.transcript.widgets.values() if isinstance(one, ProseWidget)]
        words.append((column.model.text(), "\n".join(row.text.toPlainText() for row in rows)))
    return words


def all_ended(grus: Opened, pane: ChatPane, count: int) -> None:
    grus.until(lambda: len(pane.comparison.shown) == count and not pane.talk.writing and not pane.comparison.waiting)
    grus.settle()


def test_three_models_answer_and_the_conversation_continues_with_one(
    three: tuple[Opened, ChatPane], open_grus: Callable[..., Opened]
) -> None:
    grus, pane = three
    choose(grus, pane, "two", "four")
    assert pane.comparison.others == ("two", "four")
    assert faults(grus.window) == []
    said = iter(("First.", "Second.", "Third."))
    grus.engine.script = lambda request: next(said)
    ask(grus, pane, "Hello")
    all_ended(grus, pane, 3)
    assert [reply.model for reply in pane.comparison.replies] == ["one", "two", "four"]
    grus.until(lambda: texts(pane) == [("one", "First."), ("two", "Second."), ("four", "Third.")])
    assert pane.stack.currentWidget() is pane.compare_view
    assert pane.compare_view.asked.text() == "Hello"
    assert faults(grus.window) == []
    ask(grus, pane, "More")  # with which of them?
    assert grus.window.notice.sentence.text() == "Choose the reply to continue with."
    assert pane.composer.field.toPlainText() == "More"
    grus.qtbot.mouseClick(pane.compare_view.columns[pane.comparison.shown[1]].go_on, LEFT)
    assert [message.text for message in pane.talk.path] == ["Hello", "Second."]
    assert (pane.talk.head.model, pane.comparison.others) == ("two", ())
    assert pane.stack.currentWidget() is pane.transcript
    assert pane.talk.versions(pane.talk.path[-1].id) == (2, 3)
    grus.engine.script = None
    grus.engine.reply = "Fourth."
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)
    grus.until(lambda: pane.talk.path[-1].text == "Fourth." and not pane.talk.writing)
    assert pane.talk.path[-1].model == "two"
    grus.settle()
    again = open_grus(("one", "two", "three", "four"))
    kept = again.window.pane("chat")
    again.until(lambda: [message.text for message in kept.talk.path] == ["Hello", "Second.", "More", "Fourth."])
    assert kept.talk.versions(kept.talk.path[1].id) == (2, 3)


def test_at_most_three_models_and_each_chip_takes_one_back(three: tuple[Opened, ChatPane]) -> None:
    grus, pane = three
    choose(grus, pane, "two", "three", "four")
    assert pane.comparison.others == ("two", "three")
    assert grus.window.notice.sentence.text() == "At most 3 models are compared."
    chip = pane.composer._compared_row.itemAt(0).widget()
    grus.qtbot.mouseClick(chip.findChild(QAbstractButton), LEFT)
    assert pane.comparison.others == ("three",)


def test_a_model_that_fails_does_not_stop_the_others_and_a_key_continues(three: tuple[Opened, ChatPane]) -> None:
    grus, pane = three
    pane.comparison.use("two", True)
    grus.engine.error = OutOfMemory("There is no room for this.")

    def repaired(*_: Any) -> None:
        if pane.comparison.shown and not pane.talk.writing:
            grus.engine.error = None

    pane.talk.busy.connect(repaired)
    grus.engine.reply = "Here."
    ask(grus, pane, "Hello")
    all_ended(grus, pane, 2)
    assert [(reply.state, reply.text) for reply in pane.comparison.replies] == [("failed", ""), ("done", "Here.")]
    QTest.keyClick(grus.window, Qt.Key.Key_2, CTRL | ALT)
    assert (pane.talk.path[-1].text, pane.talk.head.model) == ("Here.", "two")


def test_escape_stops_all_that_is_to_come_and_then_closes(three: tuple[Opened, ChatPane]) -> None:
    grus, pane = three
    pane.comparison.use("two", True)
    pane.comparison.use("three", True)
    grus.engine.pause, grus.engine.reply = 0.02, "word " * 300
    ask(grus, pane, "Talk")
    grus.until(lambda: pane.talk.writing and len(pane.talk.path[-1].text) > 10)
    assert pane.compare_view.waiting.text() == "Answers next: two, three."
    QTest.keyClick(grus.window, Qt.Key.Key_Escape)
    grus.until(lambda: not pane.talk.writing)
    grus.settle()
    assert (len(pane.comparison.shown), pane.comparison.waiting) == (1, ())
    QTest.keyClick(grus.window, Qt.Key.Key_Escape)
    assert pane.stack.currentWidget() is pane.transcript
    assert len(pane.talk.path) == 2


def test_another_conversation_ends_the_comparison_and_keeps_the_replies(bench: Bench) -> None:  # noqa: F811
    bench.send("Earlier", "Yes.")
    earlier = bench.talk.id
    comparison = Comparison(bench.talk, bench.say)
    bench.talk.new("tiny")
    comparison.use("large", True)
    assert comparison.send("Hello", ())
    bench.settle()
    bench.mouth.say("First.")
    bench.mouth.end()
    bench.settle()
    assert [ask.model for ask in bench.mouth.asked[-2:]] == ["tiny", "large"]
    assert len(comparison.shown) == 2
    assert not comparison.send("More", ())
    id = bench.talk.id
    assert earlier is not None
    bench.talk.open(earlier)
    bench.settle()
    assert not comparison.active
    bench.mouth.say("Second.")
    bench.mouth.end()
    bench.settle()
    assert id is not None
    bench.talk.open(id)
    bench.settle()
    assert [(bench.talk.tree[one].model, bench.talk.tree[one].text) for one in bench.talk.tree.siblings(bench.talk.path[-1].id)] == [
        ("tiny", "First."), ("large", "Second.")
    ]  # fmt: skip


def test_replies_wrap_in_their_columns(three: tuple[Opened, ChatPane]) -> None:
    grus, pane = three
    pane.comparison.use("two", True)
    grus.engine.reply = "One sentence that is much too long for a column of two. " * 3
    ask(grus, pane, "Why do cranes stand on one leg?")
    all_ended(grus, pane, 2)
    grus.settle()
    for column in pane.compare_view.columns.values():
        (row,) = [one for one in column.transcript.widgets.values() if isinstance(one, ProseWidget)]
        assert row.text.width() <= column.width()
        assert row.text.document().size().height() <= row.height() + 1


def test_what_was_asked_is_shown_as_it_is(three: tuple[Opened, ChatPane]) -> None:
    """A message with tags is no page: neither in its line nor in the tooltip."""
    grus, pane = three
    choose(grus, pane, "two")
    ask(grus, pane, 'See <img src="file:///etc/hostname"> and <b>this</b>')
    all_ended(grus, pane, 2)
    shown = pane.compare_view.asked
    assert shown.text() == 'See <img src="file:///etc/hostname"> and <b>this</b>'
    assert shown.textFormat() == Qt.TextFormat.PlainText
    assert "&lt;img" in shown.toolTip()
