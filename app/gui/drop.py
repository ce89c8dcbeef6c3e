"""Files that are dragged over the window: what takes them lights up, and takes a copy: the file stays where it was."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.gui.look import Look

_WIDTH, _FILL = 3, 24  # of the frame in pixels, and how opaque its inside is, of 255


def accept_copy(event: QDropEvent) -> None:
    """File managers propose to move within a disk, and delete the file when that is accepted."""
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()


class DropLight(QWidget):
    """A frame over a widget while something that it takes is dragged above it."""

    def __init__(self, look: Look, target: QWidget) -> None:
        super().__init__(target)
        self._look, self._target = look, target
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.hide()

    def enter(self, event: QDropEvent) -> None:
        accept_copy(event)
        self.setGeometry(self._target.rect())
        self.raise_()
        self.show()

    def take(self, event: QDropEvent) -> None:
        self.hide()
        accept_copy(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        fill = QColor(self._look.theme.accent)
        painter.setPen(QPen(fill, _WIDTH))
        fill.setAlpha(_FILL)
        painter.setBrush(fill)
        painter.drawRoundedRect(self.rect().adjusted(_WIDTH, _WIDTH, -_WIDTH, -_WIDTH), 8, 8)
        painter.end()
