"""Speculative decoding in the settings pane: what is chosen holds, and the window's replies are drafted by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.gui.preferences import Preferences
from app.option_values import kept_speculation
from app.window_engine import WindowEngine, local_service
from app.window_reply import ReplyRequest
from tests.app.gui.conftest import Opened
from tests.app.gui.test_local import AtOnce, Listener, Straight
from tests.app.gui.test_settings_pane import pick
from tests.eagle_heads import make_eagle_predictable, save_eagle, save_target


def settings_of(open_grus: Callable[..., Opened], **preferences: Any) -> tuple[Opened, Any]:
    grus = open_grus(**preferences)
    grus.qtbot.keyClick(grus.window, Qt.Key.Key_7, Qt.KeyboardModifier.ControlModifier)
    return grus, grus.window.panes["settings"].speculation


def test_a_choice_holds_and_applies_after_a_restart(open_grus: Callable[..., Opened], tmp_path: Path) -> None:
    grus, view = settings_of(open_grus)
    assert view.kind.currentData() == "auto"
    assert not view.draft.isEnabled()
    assert not view.restart.isVisible()
    pick(view.kind, "mtp")
    assert grus.context.preferences.get("speculation") == "mtp"
    assert view.note.text() == "Applies after a restart of Grus."
    assert view.restart.isVisible()
    pick(view.kind, "draft")
    assert "Enter the name of a model" in view.note.text()
    view.draft.setFocus()
    grus.qtbot.keyClicks(view.draft, "no-such-model")
    grus.qtbot.keyClick(view.draft, Qt.Key.Key_Return)
    grus.until(lambda: "no-such-model" in view.note.text())
    assert view.note.property("level") == "error"
    view.draft.selectAll()
    grus.qtbot.keyClicks(view.draft, str(tmp_path))
    grus.qtbot.keyClick(view.draft, Qt.Key.Key_Return)
    grus.until(lambda: view.note.text() == "Applies after a restart of Grus.")
    _, again = settings_of(open_grus)
    assert (again.kind.currentData(), again.draft.text()) == ("draft", str(tmp_path))
    assert not again.restart.isVisible()


@pytest.mark.parametrize(
    ("kind", "draft", "found"),
    [
        (None, None, ("auto", None)),
        ("off", None, ("off", None)),
        ("ngram", "small", ("ngram", None)),
        ("mtp", None, ("mtp", None)),
        ("draft", "small", ("draft", "small")),
        ("draft", None, ("off", None)),
        ("of a later version", None, ("off", None)),
    ],
)
def test_what_is_kept_is_always_something_to_start_with(kind: str | None, draft: str | None, found: Any) -> None:
    assert kept_speculation(kind, draft) == found


def drafted(preferences: Preferences, models: dict[str, str]) -> tuple[int, Listener]:
    core = WindowEngine(AtOnce(), lambda: local_service(preferences, models), Straight)
    core.start()
    try:
        listener = Listener()
        sampling = {"max_tokens": 40, "temperature": 0.0, "ignore_eos": True}
        core.reply(ReplyRequest("words", [{"role": "user", "content": "Once upon a time"}], sampling), listener)
        assert listener.over.wait(60)
        return core.service.engine.stats().drafted, listener
    finally:
        core.close()


@pytest.mark.torch_only("one pass with the head is enough here; tests/engine/test_eagle3.py has both")
def test_an_eagle_head_drafts_for_the_window(tmp_path: Path) -> None:
    target, head = save_target(tmp_path / "target"), tmp_path / "head"
    make_eagle_predictable(target, save_eagle(target, head), 0.0)
    preferences, models = Preferences(tmp_path / "preferences.json"), {"words": str(target)}
    preferences.put("device", "cpu")
    count, plain = drafted(preferences, models)
    assert count == 0
    for key, value in {"speculation": "draft", "draft_model": str(head)}.items():
        preferences.put(key, value)
    count, guessed = drafted(preferences, models)
    assert count > 0
    assert (guessed.text, guessed.end) == (plain.text, plain.end)
    assert plain.text
