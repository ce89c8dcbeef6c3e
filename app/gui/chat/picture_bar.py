"""The line above the message field while a picture is there that the model cannot see: what to do about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.gui.look import Look, pixmap
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.draft import PictureAdvice
from app.gui.widgets import label, text_button


class PictureBar(QWidget):
    """`read()` reads the text of the pictures, `use(model)` answers with one that sees, `get()` leads to such models."""

    def __init__(self, look: Look, read: Callable[[], Any], use: Callable[[str], Any], get: Callable[[], Any]) -> None:
        super().__init__()
        self.setProperty("kind", "bubble")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._look, self.advice, self._use, self._get = look, PictureAdvice(""), use, get
        self._icon = QLabel()
        self.sentence = label(wrap=True)
        self.read = text_button(tr("Read the text"), read)
        self.other = text_button(tr("Get a vision model"), self._other)
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID * 2, GRID // 2, GRID, GRID // 2)
        row.setSpacing(GRID)
        row.addWidget(self._icon)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.read)
        row.addWidget(self.other)
        look.on_change(self, self._colour)
        self.hide()

    def show_advice(self, advice: PictureAdvice | None) -> None:
        self.setVisible(advice is not None)
        if advice is None:
            return
        self.advice = advice
        self.sentence.setText(advice.sentence)
        self.read.setVisible(bool(advice.unread))
        name = advice.seeing.rsplit("/", 1)[-1]
        title = tr("Use {model}", model=name) if name else tr("Get a vision model")
        self.other.setText(self.fontMetrics().elidedText(title, Qt.TextElideMode.ElideMiddle, 260))
        self.other.setAccessibleName(title)
        self.other.setToolTip(title)

    def _other(self) -> None:
        if self.advice.seeing:
            self._use(self.advice.seeing)
        else:
            self._get()

    def _colour(self) -> None:
        self._icon.setPixmap(pixmap("image", self._look.theme.warning, 18, self.devicePixelRatioF()))
