"""Exports of other applications in the window: dropped on the list, with progress, Undo and what was left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent

from app.gui.viewmodels import transfer
from tests.app.gui.conftest import Opened
from tests.app.test_imports import chatgpt, open_webui, png, zipped


def drop(view: Any, *files: Path) -> bool:
    """Whether the list takes the files."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    button, keys, copy = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier, Qt.DropAction.CopyAction
    entered = QDragEnterEvent(QPointF(5, 5).toPoint(), copy, data, button, keys)
    view.dragEnterEvent(entered)
    if entered.isAccepted():
        view.dropEvent(QDropEvent(QPointF(5, 5), copy, data, button, keys))
    return entered.isAccepted()


def titles(grus: Opened) -> list[str]:
    return sorted(line.title for line in grus.window.panes["chat"].conversation_list.all)


def test_an_export_is_dropped_and_taken_back(grus: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "_EVERY", -1)
    said: list[str] = []
    notice = grus.window.notice.current
    notice.changed.connect(lambda: said.append(notice.sentence))
    view = grus.window.panes["chat"].conversation_list_view
    file = zipped(tmp_path / "export.zip", {"conversations.json": [chatgpt(), {"title": "Odd", "mapping": 1, "chat_messages": [1]}], "file-AbC1.png": png()})  # fmt: skip
    (tmp_path / "photo.png").write_bytes(png())
    assert not drop(view, tmp_path / "photo.png")
    assert drop(view, file)
    grus.until(lambda: notice.sentence.startswith("1 conversation imported."), 20)
    assert "Importing: 1 of 2 conversations." in said
    assert notice.sentence.endswith("Left out, because they are malformed: Odd.")
    grus.until(lambda: titles(grus) == ["Boats"])
    drop(view, file)
    grus.until(lambda: notice.sentence.startswith("0 conversations imported. 1 was there already."), 20)
    assert titles(grus) == ["Boats"]
    whole = tmp_path / "chat-export.json"
    whole.write_text(json.dumps([open_webui()]), encoding="utf-8")
    drop(view, whole)
    grus.until(lambda: titles(grus) == ["Boats", "Choice"], 20)
    grus.until(lambda: notice.sentence == "1 conversation imported.")
    pane = grus.window.panes["chat"]
    (choice,) = [line for line in pane.conversation_list.all if line.title == "Choice"]
    pane.open(choice.id)
    grus.until(lambda: pane.talk.id == choice.id)
    notice.take_back()
    grus.until(lambda: titles(grus) == ["Boats"])
    grus.until(lambda: pane.talk.id is None)  # nothing more is written into what is gone


def test_a_file_that_is_no_export_is_said(grus: Opened, tmp_path: Path) -> None:
    notice = grus.window.notice.current
    drop(grus.window.panes["chat"].conversation_list_view, zipped(tmp_path / "photos.zip", {"a.txt": "x"}))
    grus.until(lambda: notice.level == "error", 20)
    assert notice.sentence.startswith("photos.zip is no export of ChatGPT")
