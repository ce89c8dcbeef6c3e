"""The window on a fresh machine: nothing was downloaded, nothing is scripted. The Guide answers, and the Reader reads."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication

from app.gui.chat.message_view import FooterWidget, ProseWidget
from app.gui.chat.pane import ChatPane
from app.gui.preferences import Preferences, places_under
from app.gui.read.pane import ReadPane
from app.gui.viewmodels.chat import guide
from app.gui.window import Window
from app.main import Start, close_context, open_window
from engine.starter import GUIDE, READER
from tests.app.gui.conftest import Opened

ROOT = Path(__file__).resolve().parents[3]
TEXTS = {
    name: answer["says"]
    for name, answer in tomllib.loads((ROOT / "packaging/starters/guide_answers.toml").read_text("utf-8")).items()
}


@pytest.fixture
def fresh(qapp: QApplication, qtbot: object, tmp_path: Path) -> Iterator[Opened]:
    """The window with the engine that it makes itself, and a cache without a model."""
    places = places_under(tmp_path / "grus").make()
    preferences = Preferences(places.preferences)
    for name, value in {"backend": "auto", "device": "cpu", "cache_dir": str(tmp_path / "cache")}.items():
        preferences.put(name, value)
    window: Window = open_window(qapp, Start(), places)
    opened = Opened(window, window.context.core.service.engine, qtbot)  # type: ignore[arg-type]
    yield opened
    window.close()
    close_context(window)
    QApplication.processEvents()
    window.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    qapp.setStyleSheet("")


def ask(grus: Opened, pane: ChatPane, text: str) -> str:
    """What the Guide says, as it stands on the screen."""
    before = len(pane.talk.path)
    grus.qtbot.keyClicks(pane.composer.field, text)
    grus.qtbot.keyClick(pane.composer.field, Qt.Key.Key_Return)
    grus.until(lambda: len(pane.talk.path) == before + 2 and not pane.talk.writing, 120)
    grus.settle()
    assert pane.talk.path[-1].error == ""
    shown = [view for _, view in sorted(pane.transcript.widgets.items()) if isinstance(view, ProseWidget)]
    return " ".join(shown[-1].text.toPlainText().split())


def in_window(answer: str) -> str:
    """In the window's words."""
    return guide.in_window("", TEXTS[answer])


def test_a_conversation_with_the_guide(fresh: Opened) -> None:
    pane = fresh.window.open_pane("chat")
    assert isinstance(pane, ChatPane)
    fresh.until(lambda: pane.talk.head.model, 120)
    assert pane.talk.head.model == GUIDE
    assert ask(fresh, pane, "How do I add a model?") == in_window("add_model")
    assert ask(fresh, pane, "and where are they kept?") == in_window("where_models")
    assert ask(fresh, pane, "What is the capital of France?") == in_window("off_topic")
    assert ask(fresh, pane, "Was ist die Hauptstadt von Frankreich?").startswith("Ich verstehe nur Englisch.")
    foot = next(view for _, view in sorted(pane.transcript.widgets.items()) if isinstance(view, FooterWidget))
    assert foot.summary.text() == ""  # no figures of a reply of three tokens
    fresh.qtbot.mouseClick(foot.show_me, Qt.MouseButton.LeftButton)
    assert fresh.window.shown == "models"
    assert fresh.window.panes["models"].pages.currentIndex() == 1
    assert pane.conversation_list.lines[1].title == "How do I add a model?"


def test_a_page_is_dropped_and_read_by_the_reader(fresh: Opened) -> None:
    pane = fresh.window.open_pane("read")
    assert isinstance(pane, ReadPane)
    given = QMimeData()
    given.setUrls([QUrl.fromLocalFile(str(ROOT / "tests/starters/pictures/clean-serif.png"))])
    where, none = QPointF(50, 50), Qt.KeyboardModifier.NoModifier
    pane.dropEvent(QDropEvent(where, Qt.DropAction.CopyAction, given, Qt.MouseButton.LeftButton, none))
    fresh.until(lambda: pane.results.items and pane.results.items[0].state in ("done", "failed"), 120)
    fresh.settle()
    item = pane.results.items[0]
    assert (item.state, item.error) == ("done", "")
    assert item.read[1].reader == READER
    stands = (ROOT / "tests/starters/pictures/clean-serif.txt").read_text("utf-8").strip()
    texts = [pane.blocks.text_of(order) for order in sorted(pane.blocks.blocks)]
    assert " ".join(texts) == stands
