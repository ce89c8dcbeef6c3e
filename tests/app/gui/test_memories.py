"""Memory in the window: off at first, proposed by a model and allowed by a person, read by the next conversation, and deleted for good."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from app.gui.preferences import Preferences
from app.gui.store import conversations, database, memories
from app.gui.store.worker import AppStore
from app.gui.viewmodels.memories import Memories
from app.runtime.tools.settings import ToolSettings
from tests.app.gui.clipping import faults
from tests.app.gui.conftest import Opened
from tests.app.gui.test_store_deletion import left, until
from tests.app.gui.test_tools_window import LEFT, ask, call, card, chat, ended

FACT = "The person keeps bees."


@pytest.fixture
def store(tmp_path: Path) -> Any:
    made = AppStore(tmp_path / "data" / "grus.sqlite3")
    yield made
    made.close()


def test_facts_are_kept_edited_and_deleted_for_good(
    store: AppStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "UNDO_SECONDS", 0.8)
    said: list[Any] = []
    say = lambda sentence, **more: said.append((sentence, more))  # noqa: E731
    asked_again: list[int] = []
    kept = Memories(store, Preferences(tmp_path / "preferences.json"), say, lambda: asked_again.append(1))
    id = store.ask(lambda db: conversations.create(db, title="Bees")).result()
    kept.keep(FACT, id)
    kept.keep(FACT, id)
    until(lambda: [(one.text, one.title) for one in kept.facts] == [(FACT, "Bees")])
    assert kept.read == ()  # off
    kept.turn(True)
    assert (kept.read, asked_again) == ((FACT,), [1])
    assert not kept.add(" ")
    assert said.pop()[1] == {"level": "error"}
    assert kept.add("Likes\ntea.")
    assert kept.edit(next(one.id for one in kept.facts if one.text == FACT), "The person had bees.")
    until(lambda: {one.text for one in kept.facts} == {"Likes tea.", "The person had bees."})
    # a fact outlives its conversation
    store.delete(lambda db: conversations.delete(db, id))
    until(lambda: not store.ask(lambda db: db.execute("SELECT id FROM conversations").fetchall()).result())
    kept.look()
    until(lambda: {one.conversation for one in kept.facts} == {None})
    for one in list(kept.facts):
        kept.delete(one.id)
    until(lambda: not kept.facts)
    said[-1][1]["undo"][1]()
    until(lambda: len(kept.facts) == 1)
    kept.delete(kept.facts[0].id)
    until(lambda: not left(tmp_path / "data", "keeps bees", "had bees", "tea"))


def test_a_model_proposes_and_the_next_conversation_reads(grus: Opened) -> None:
    pane = chat(grus, calls=(call("remember", fact="bees"),))
    prompt = lambda: grus.context.core.service.loaded["tiny"].tokenizer.decode(  # noqa: E731
        grus.engine.requests[-1].prompt_ids, False
    )
    usual = grus.engine.script
    grus.engine.script = lambda request: "Hello."
    ask(grus, pane, "Hello")
    ended(grus, pane)
    assert "remember" not in prompt()  # off
    grus.context.memories.turn(True)
    grus.engine.script = usual
    pane.begin()
    ask(grus, pane, "I keep bees. Remember it.")
    shown = card(grus, pane)
    assert shown.name.text() == "Allow Fact memory?"
    assert grus.context.memories.facts == []
    shown.field.setPlainText(json.dumps({"fact": FACT}))
    grus.qtbot.mouseClick(shown.once, LEFT)
    assert ended(grus, pane).calls[0].result == "The fact is kept."
    grus.until(lambda: [one.conversation for one in grus.context.memories.facts] == [pane.talk.id])
    pane.begin()
    ask(grus, pane, "What do I keep?")
    grus.qtbot.mouseClick(card(grus, pane).never, LEFT)
    ended(grus, pane)
    assert f"- {FACT}" in prompt()
    assert ToolSettings().permissions()["grus/remember"] == "never"
    grus.context.memories.turn(False)
    pane.begin()
    grus.engine.script = lambda request: "Hello."
    ask(grus, pane, "Hello")
    ended(grus, pane)
    assert FACT not in prompt()
    grus.context.memories.turn(True)  # proposals are asked for again
    grus.until(lambda: ToolSettings().permissions()["grus/remember"] == "ask")


@pytest.mark.slow
def test_each_fact_is_seen_edited_opened_and_deleted_in_settings(
    grus: Opened, open_grus: Callable[..., Opened]
) -> None:
    def fill(db: Any) -> tuple[int, int]:
        source = conversations.create(db, "tiny", title="Bees")
        return source, memories.add(db, FACT, source)

    source, fact = grus.context.store.ask(fill).result()
    settings = grus.window.open_pane("settings")
    view = settings.memories
    assert not view.switch.isChecked()
    view.switch.click()
    field = lambda: view.findChild(QLineEdit, f"fact.{fact}")  # noqa: E731
    grus.until(field)
    assert field().text() == FACT
    grus.until(lambda: not faults(grus.window))  # labels that wrap know their height a turn after their width
    field().setText("")
    grus.qtbot.keyClick(field(), Qt.Key.Key_Return)  # no deletion
    assert field().text() == FACT
    field().setText("The person keeps sheep.")
    grus.qtbot.keyClick(field(), Qt.Key.Key_Return)
    grus.until(lambda: grus.context.memories.read == ("The person keeps sheep.",))
    grus.qtbot.keyClicks(view.field, "Likes tea.")
    grus.qtbot.keyClick(view.field, Qt.Key.Key_Return)
    grus.until(lambda: len(grus.context.memories.facts) == 2)
    view.findChild(QAbstractButton, f"source.{fact}").click()
    grus.until(lambda: grus.window.pane("chat").talk.id == source)
    assert grus.window.shown == "chat"
    again = open_grus()  # a restart keeps all of it
    view = again.window.open_pane("settings").memories
    again.until(lambda: len(again.context.memories.facts) == 2)
    assert view.switch.isChecked()
    view.findChild(QAbstractButton, f"drop.{fact}").click()
    again.until(lambda: again.context.memories.read == ("Likes tea.",))
    assert view.findChild(QLineEdit, f"fact.{fact}") is None


def test_nothing_is_cut_with_large_text(open_grus: Callable[..., Opened]) -> None:
    grus = open_grus(language="de", text_scale=1.5, memory=True)
    store = grus.context.store
    id = store.ask(lambda db: conversations.create(db, title="A long talk about bees and their keepers")).result()
    store.ask(lambda db: memories.add(db, FACT * 12, id)).result()
    grus.window.resize(grus.window.minimumSizeHint())
    settings = grus.window.open_pane("settings")
    grus.until(lambda: settings.memories.memories.facts)
    settings.area.ensureWidgetVisible(settings.memories)
    grus.until(lambda: not faults(grus.window))  # labels that wrap know their height a turn after their width
