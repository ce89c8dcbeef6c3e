"""The bar above the conversation that finds a text in it (Ctrl+Shift+F)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.gui.look import Look, restate
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.find import ConversationFind
from app.gui.widgets import icon_button, label


class FindBar(QWidget):
    """Enter goes to the next place, Shift+Enter to the one before, Esc closes it."""

    def __init__(self, look: Look, find: ConversationFind, search: Callable[[str], Any]) -> None:
        super().__init__()
        self.setProperty("kind", "notice")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._find = find
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Find in this conversation"))
        self.field.setAccessibleName(tr("Find in this conversation"))
        self.field.textEdited.connect(search)
        self.field.installEventFilter(self)
        self.position = label(kind="second")
        self.before = icon_button(look, "up", tr("Previous match (Shift+Enter)"), lambda: find.step(-1), size=16)
        self.after = icon_button(look, "down", tr("Next match (Enter)"), lambda: find.step(1), size=16)
        self.end = icon_button(look, "close", tr("Close the search"), self.shut, size=16)
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID * 2, GRID // 2, GRID, GRID // 2)
        row.setSpacing(GRID // 2)
        row.addWidget(self.field, 1)
        for part in (self.position, self.before, self.after, self.end):
            row.addWidget(part)
        find.changed.connect(self._show)
        self.hide()

    def open(self, text: str = "") -> None:
        if text:
            self.field.setText(text)
        self.show()
        if not text:
            self.field.setFocus()
            self.field.selectAll()

    def shut(self) -> bool:
        """False when it was not open."""
        if self.isHidden():
            return False
        self.hide()
        self.field.clear()
        self._find.close()
        return True

    def _show(self) -> None:
        self.position.setText(self._find.position)
        restate(self.position, level="" if self._find.places or not self._find.text else "warning")
        for part in (self.before, self.after):
            part.setEnabled(len(self._find.places) > 1)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        enters = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in enters:
            self._find.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
            return True
        return super().eventFilter(watched, event)
