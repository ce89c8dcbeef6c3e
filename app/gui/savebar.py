"""A bar above the status strip while nothing can be saved: why, what is kept, and a button to try again at once."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from app.gui.buttons import label, text_button
from app.gui.icons import pixmap
from app.gui.look import Look
from app.gui.store.worker import Store
from app.gui.texts import tr
from app.gui.theme import GRID


class SaveBar(QWidget):
    """Stays for as long as it is true, whatever else the window has to say."""

    def __init__(self, look: Look, store: Store) -> None:
        super().__init__()
        self.setProperty("kind", "strip")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._look = look
        self._icon = QLabel()
        self.sentence = label(wrap=True)
        self.again = text_button(tr("Save now"), store.save_now)
        self.again.setToolTip(tr("Try again at once. Grus also does so by itself."))
        row = QHBoxLayout(self)
        row.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        row.setSpacing(GRID)
        row.addWidget(self._icon)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.again)
        look.on_change(self, self._colour)
        self.hide()

    def tell(self, sentence: str) -> None:
        """Why nothing can be saved; nothing: all is saved."""
        self.sentence.setText(sentence)
        self.setAccessibleName(sentence)
        self.setVisible(bool(sentence))

    def _colour(self) -> None:
        self._icon.setPixmap(pixmap("warning", self._look.theme.warning, 18, self.devicePixelRatioF()))
