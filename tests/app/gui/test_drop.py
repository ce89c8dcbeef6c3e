"""What files are dragged over lights up; a drop is a copy, whatever the other program proposes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent

from tests.app.gui.conftest import Opened

LEFT, NONE = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
BOTH = Qt.DropAction.MoveAction | Qt.DropAction.CopyAction


@pytest.mark.parametrize("name", ["chat", "read"])
def test_a_drop_target_lights_up_and_copies(
    grus: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = tmp_path / "page.txt"
    file.write_text("words")
    grus.window.open_pane(name)
    pane = grus.window.panes[name]
    taken: list[Any] = []
    monkeypatch.setattr(pane, "take", taken.extend)
    monkeypatch.setattr(pane, "take_mime", lambda given: taken.extend(given.urls()), raising=False)
    target = pane if name == "read" else grus.window
    given = QMimeData()
    given.setUrls([QUrl.fromLocalFile(str(file))])
    entered = QDragEnterEvent(QPoint(9, 9), BOTH, given, LEFT, NONE)
    entered.setDropAction(Qt.DropAction.MoveAction)
    target.dragEnterEvent(entered)
    assert (target.drop_light.isVisibleTo(target), entered.dropAction()) == (True, Qt.DropAction.CopyAction)
    target.dragLeaveEvent(QDragLeaveEvent())
    assert not target.drop_light.isVisibleTo(target)
    dropped = QDropEvent(QPointF(9, 9), BOTH, given, LEFT, NONE)
    dropped.setDropAction(Qt.DropAction.MoveAction)
    target.dropEvent(dropped)
    assert (dropped.dropAction(), dropped.isAccepted(), len(taken)) == (Qt.DropAction.CopyAction, True, 1)
