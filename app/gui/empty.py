"""What an empty pane shows: one picture, one sentence, one action."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from app.gui.buttons import label, text_button
from app.gui.icons import pixmap
from app.gui.look import Look
from app.gui.theme import GRID

_WIDTH = 420  # pixels of the sentence


class Empty(QWidget):
    """`offer` sets the action; without it there is none. `say` sets the sentence."""

    def __init__(self, look: Look, icon: str, title: str, sentence: str) -> None:
        super().__init__()
        self._look, self._icon = look, icon
        self.picture = QLabel()
        self.picture.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.title = label(title, "heading")
        self.title.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.sentence = label(sentence, "second", wrap=True)
        self.sentence.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.sentence.setFixedWidth(_WIDTH)
        self.action = text_button("", lambda: self._run())
        self._run: Callable[[], Any] = lambda: None
        column = QVBoxLayout(self)
        column.setSpacing(GRID)
        column.addStretch(2)
        column.addWidget(self.picture, 0, Qt.AlignmentFlag.AlignCenter)
        column.addSpacing(GRID)
        column.addWidget(self.title)
        column.addWidget(self.sentence, 0, Qt.AlignmentFlag.AlignCenter)
        column.addSpacing(GRID)
        column.addWidget(self.action, 0, Qt.AlignmentFlag.AlignCenter)
        column.addStretch(3)
        self.action.hide()
        look.on_change(self, self._dress)

    def offer(self, title: str, run: Callable[[], Any], main: bool = False) -> None:
        """The one action."""
        self._run = run
        self.action.setText(title)
        self.action.setAccessibleName(title)
        self.action.setProperty("kind", "main" if main else "")
        self.action.style().unpolish(self.action)
        self.action.style().polish(self.action)
        self.action.setVisible(bool(title))

    def say(self, sentence: str) -> None:
        self.sentence.setText(sentence)
        # the layout asks how high it is at the pane's width, where it would need fewer lines
        self.sentence.setFixedHeight(max(0, self.sentence.heightForWidth(_WIDTH)))

    def _dress(self) -> None:
        self.title.setFont(self._look.font(1.35, QFont.Weight.DemiBold))
        self.picture.setPixmap(pixmap(self._icon, self._look.theme.accent, 64, self.devicePixelRatioF()))
        self.say(self.sentence.text())
