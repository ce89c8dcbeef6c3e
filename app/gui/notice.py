"""A sentence where the work is: an error with what to do, or something done with a way back. Never a modal window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from app.gui.buttons import icon_button
from app.gui.icons import pixmap
from app.gui.look import Look
from app.gui.texts import tr
from app.gui.theme import GRID

Level = Literal["info", "ok", "warning", "error"]
_ICONS = {"info": "info", "ok": "check", "warning": "warning", "error": "error"}
_STAYS = 10_000  # milliseconds that a sentence with no error stays


class Notice(QWidget):
    """Shows one sentence at a time; the newest wins. An error stays until it is closed."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setProperty("kind", "floating")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._look = look
        self._level: Level = "info"
        self._undo: Callable[[], Any] | None = None
        self._icon = QLabel()
        self.sentence = QLabel()
        self.sentence.setWordWrap(True)
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.undo = QPushButton(tr("Undo"))
        self.undo.clicked.connect(lambda checked=False: self._take_back())
        self.close_button = icon_button(look, "close", tr("Close this message"), self.hide, size=14)
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID * 2, GRID, GRID, GRID)
        row.setSpacing(GRID)
        row.addWidget(self._icon)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.undo)
        row.addWidget(self.close_button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        look.changed.connect(self._colour)
        self.hide()

    def say(self, sentence: str, level: Level = "info", undo: tuple[str, Callable[[], Any]] | None = None) -> None:
        self._level = level
        self.sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self.undo.setVisible(undo is not None)
        self._undo = undo[1] if undo else None
        if undo:
            self.undo.setText(undo[0])
            self.undo.setAccessibleName(undo[0])
        self._colour()
        self.show()
        if level in ("info", "ok"):
            self._timer.start(_STAYS)
        else:
            self._timer.stop()

    def _take_back(self) -> None:
        undo, self._undo = self._undo, None
        self.hide()
        if undo is not None:
            undo()

    def _colour(self) -> None:
        theme = self._look.theme
        colour = {"info": theme.second, "ok": theme.ok, "warning": theme.warning, "error": theme.error}[self._level]
        self._icon.setPixmap(pixmap(_ICONS[self._level], colour, 18, self.devicePixelRatioF()))
