"""How loud it is now: bars that wander to the left as time passes. Where motion is reduced, one bar that stands."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.gui.look import Look

_BARS, _WIDE, _GAP = 20, 3, 2
_HIGH = 24
_STEP = 2  # levels that come together in a bar


class Meter(QWidget):
    """`show_level` as often as a level is known."""

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self._look = look
        self._levels: deque[float] = deque([0.0] * _BARS, _BARS)
        self._gathered: list[float] = []
        self.setAccessibleName(name)
        self.setFixedSize(self.sizeHint())
        look.on_change(self, self.update)

    def sizeHint(self) -> QSize:
        return QSize(_BARS * (_WIDE + _GAP) - _GAP, _HIGH)

    @property
    def level(self) -> float:
        return self._levels[-1]

    def show_level(self, level: float) -> None:
        self._gathered.append(level)
        if len(self._gathered) >= _STEP:
            self._levels.append(max(self._gathered))
            self._gathered.clear()
            self.update()

    def clear(self) -> None:
        self._levels.extend([0.0] * _BARS)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        quiet, loud = QColor(self._look.theme.pressed), QColor(self._look.theme.second)
        if not self._look.moves:
            self._standing(painter, quiet, loud)
            return
        for number, level in enumerate(self._levels):
            high = max(_WIDE, level * _HIGH)
            painter.setBrush(loud if level > 0.05 else quiet)
            bar = QRectF(number * (_WIDE + _GAP), (_HIGH - high) / 2, _WIDE, high)
            painter.drawRoundedRect(bar, _WIDE / 2, _WIDE / 2)

    def _standing(self, painter: QPainter, quiet: QColor, loud: QColor) -> None:
        groove = QRectF(0, _HIGH / 2 - 2, self.width(), 4)
        painter.setBrush(quiet)
        painter.drawRoundedRect(groove, 2, 2)
        groove.setWidth(self.width() * round(self.level * 4) / 4)
        painter.setBrush(loud)
        painter.drawRoundedRect(groove, 2, 2)
