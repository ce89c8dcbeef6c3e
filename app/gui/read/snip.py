"""Taking a part of the screen: the screen stands still, a person draws a box, and what is in it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QGuiApplication, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QWidget

from app.gui.look import Look
from app.gui.texts import tr

_LEAST = 8  # pixels; less is a slip of the hand


def screens() -> list[tuple[QRect, QPixmap]]:
    """What every screen shows now; nothing where the desktop does not let programs look."""
    found = []
    for screen in QGuiApplication.screens():
        shown = screen.grabWindow(0)
        if not shown.isNull():
            found.append((screen.geometry(), shown))
    return found


def png(picture: QPixmap) -> bytes:
    held = QByteArray()
    buffer = QBuffer(held)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    return bytes(held.data())


class Snip(QWidget):
    """Lies over one screen. `taken(bytes)` with the picture, or `left` when nothing was taken."""

    taken = Signal(bytes)
    left = Signal()

    def __init__(self, look: Look, place: QRect, shown: QPixmap) -> None:
        super().__init__(
            None, Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint | Qt.WindowType.Tool
        )
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(tr("Draw a box around the area to read. Press Esc to cancel."))
        self._look, self._shown = look, shown
        self._from: QPoint | None = None
        self._to = QPoint()
        self.setGeometry(place)
        self.setCursor(Qt.CursorShape.CrossCursor)

    @property
    def box(self) -> QRect:
        return QRect(self._from, self._to).normalized() if self._from is not None else QRect()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.drawPixmap(self.rect(), self._shown)
        painter.fillRect(self.rect(), QColor(0, 0, 0, 110))
        if not self.box.isEmpty():
            ratio = self._shown.width() / max(1, self.width())
            source = QRect(self.box.topLeft() * ratio, self.box.size() * ratio)
            painter.drawPixmap(self.box, self._shown, source)
            painter.setPen(QColor(self._look.theme.accent))
            painter.drawRect(self.box)
            return
        painter.setPen(QColor("#FFFFFF"))
        painter.setFont(self._look.font(1.35))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.accessibleName())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._from = self._to = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._to = event.position().toPoint()
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._to = event.position().toPoint()
        box = self.box
        if min(box.width(), box.height()) < _LEAST:
            self._from = None
            self.update()
            return
        ratio = self._shown.width() / max(1, self.width())
        part = self._shown.copy(QRect(box.topLeft() * ratio, box.size() * ratio))
        self.taken.emit(png(part))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()


def snip(look: Look, taken: Callable[[bytes], Any], over: Callable[[], Any]) -> list[Snip]:
    """One over every screen; all of them close when one has taken something. Empty: the screen cannot be looked at."""
    open_now: list[Snip] = []

    def shut() -> None:
        for each in open_now:
            each.close()
        open_now.clear()
        over()

    def take(data: bytes) -> None:
        shut()
        taken(data)

    for place, shown in screens():
        each = Snip(look, place, shown)
        each.taken.connect(take)
        each.left.connect(shut)
        open_now.append(each)
        each.show()
        each.activateWindow()
    return list(open_now)
