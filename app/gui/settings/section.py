"""A section of the settings pane: a heading, and settings with what they do."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from app.gui.look import Look
from app.gui.theme import GRID
from app.gui.widgets import label


class SettingsSection(QWidget):
    def __init__(self, look: Look, title: str) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, GRID * 2)
        self._column.setSpacing(GRID)
        heading = label(title)
        look.on_change(heading, lambda: heading.setFont(look.font(1.15, QFont.Weight.DemiBold)))
        self._column.addWidget(heading)

    def add(self, title: str, control: QWidget, about: str = "") -> QLabel:
        """Returns the label with `about`, so that it can say something else later."""
        words = QVBoxLayout()
        words.setSpacing(2)
        name = label(title, wrap=True)
        name.setBuddy(control)
        words.addWidget(name)
        note = label(about, "second", wrap=True)
        if not about:  # to show it, before it lies in the window, would be to open a window for it
            note.hide()
        words.addWidget(note)
        row = QHBoxLayout()
        row.setSpacing(GRID * 2)
        row.addLayout(words, 1)
        row.addWidget(control, 0, Qt.AlignmentFlag.AlignTop)
        self._column.addLayout(row)
        return note

    def say(self) -> QLabel:
        """Add a note below a setting."""
        note = label(kind="second", wrap=True)
        self._column.addWidget(note)
        return note

    def put(self, part: QWidget) -> None:
        """Something that takes the whole width."""
        self._column.addWidget(part)
