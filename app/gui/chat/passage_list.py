"""The passages under a reply, each of which opens its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from app.gui.chat.message_view import Do, MessageWidget
from app.gui.look import Look
from app.gui.store.messages import GivenPassage
from app.gui.theme import GRID
from app.gui.viewmodels.chat.message_views import MessageView
from app.gui.widgets import text_button
from app.runtime.library.answers import cited

if TYPE_CHECKING:
    from app.gui.chat.drawn import FormulaImages

_TIP = 400  # characters of a passage
_PAD = 6  # what a flat button leaves free around its text


class SourcesWidget(MessageWidget):
    """The passages that a reply cites, else those that it was given. Each opens its page."""

    def __init__(self, look: Look, drawn: FormulaImages, do: Do) -> None:
        super().__init__(look, drawn, do)
        self.lines: list[QPushButton] = []

    def fill(self, view: MessageView, before: MessageView | None) -> None:
        for line in self.lines:
            line.deleteLater()
        numbers = cited(view.text, len(view.passages)) or range(1, len(view.passages) + 1)
        self.lines = [self._line(number, view.passages[number - 1]) for number in numbers]

    def _line(self, number: int, passage: GivenPassage) -> QPushButton:
        line = text_button("", lambda: self.view and self.do("passage", self.view.message, number), kind="fold")
        line.setParent(self)
        line.setAccessibleName(f"[{number}] {passage.where}")
        line.setToolTip(f"{passage.file}\n{passage.text[:_TIP]}")
        line.show()
        return line

    def measure(self, width: int) -> int:
        y = 0
        for line in self.lines:
            metrics = line.fontMetrics()
            text = metrics.elidedText(line.accessibleName(), Qt.TextElideMode.ElideMiddle, width - 4 * _PAD)
            line.setText(text.replace("&", "&&"))
            height = line.sizeHint().height()
            line.setGeometry(-_PAD, y, min(width + _PAD, line.sizeHint().width()), height)
            y += height
        return y + GRID // 2
