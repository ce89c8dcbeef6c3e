"""Dictation into chat, with a tiny model that really listens and a microphone that is made up."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import Qt

from app.gui.sound import devices
from app.gui.viewmodels import listen
from engine.errors import BackendUnavailable
from tests.app.gui.conftest import Opened
from tests.app.gui.test_listen_pane import Device

KEYS = (Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)


def test_what_is_said_comes_into_the_message(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def captions(core: Any, model: str, sound: Any, keep: Any) -> Any:
        while (said := sound.get()) is not None:
            yield SimpleNamespace(final=said != "par", segment=SimpleNamespace(text=said))
        yield SimpleNamespace(final=True, segment=SimpleNamespace(text="The end."))

    Device.opened = []
    monkeypatch.setattr(devices, "Microphone", Device)
    monkeypatch.setattr("app.gui.chat.composer.captioned", captions)
    pane = grus.window.panes["chat"]
    field = pane.composer.field
    grus.qtbot.keyClicks(field, "Note:")
    grus.qtbot.keyClick(field, *KEYS)
    assert pane.composer.dictate.accessibleName() == "Stop dictating"
    Device.opened[0].call("par")
    Device.opened[0].call("The crane bows.")
    grus.until(lambda: field.toPlainText() == "Note: The crane bows.")
    grus.qtbot.keyClick(field, Qt.Key.Key_Escape)
    grus.until(lambda: field.toPlainText() == "Note: The crane bows. The end.")
    assert Device.opened[0].stopped
    assert pane.composer.dictate.accessibleName() == "Dictate"


def test_what_is_missing_is_told_above_the_field(grus: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*given: Any) -> Any:
        raise BackendUnavailable("No microphone was found. Connect one, then try again.")

    monkeypatch.setattr(devices, "Microphone", missing)
    pane = grus.window.panes["chat"]
    grus.qtbot.mouseClick(pane.composer.dictate, Qt.MouseButton.LeftButton)
    assert "No microphone" in grus.window.notice.sentence.text()
    monkeypatch.setattr(devices, "Microphone", Device)
    grus.qtbot.mouseClick(pane.composer.dictate, Qt.MouseButton.LeftButton)
    grus.until(lambda: "No speech recognition model is installed" in grus.window.notice.sentence.text())
    assert not pane.dictation.running
    assert listen.RATE == devices.ASR_RATE
