"""A list in the settings pane: rows that end with a button which deletes what they show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.gui.look import Look
from app.gui.theme import GRID
from app.gui.widgets import icon_button


class DeletableRows(QWidget):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self._rows = QVBoxLayout(self)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(GRID)

    def clear(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()

    def add(self, shown: QWidget, *more: QWidget, words: str, delete: Callable[[], Any], name: str) -> None:
        """`shown` takes the width, `more` lies beside it. `words` and `name`: of the button."""
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(shown, 1)
        drop = icon_button(self._look, "trash", words, delete, size=16)
        drop.setObjectName(name)
        for part in (*more, drop):
            row.addWidget(part)
        line = QWidget()
        line.setLayout(row)
        self._rows.addWidget(line)
