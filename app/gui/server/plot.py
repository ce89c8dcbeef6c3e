"""Tokens a second over the last two minutes, drawn. Its words say the same to those who do not see it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QWidget

from app.gui.look import Look
from app.gui.texts import number, tr
from app.gui.theme import GRID

_HEIGHT = 132
_SCALES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


def scale_for(most: float) -> int:
    """The top of the axis: a round number above the highest value."""
    return next((scale for scale in _SCALES if scale >= most * 1.05), round(most * 1.1))


class Plot(QWidget):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.rates: Sequence[float] = ()
        self.setFixedHeight(_HEIGHT)
        self.setAccessibleName(tr("Tokens a second"))
        look.on_change(self, self.update)

    def show_rates(self, rates: Sequence[float]) -> None:
        self.rates = list(rates)
        now = self.rates[-1] if self.rates else 0.0
        self.setAccessibleDescription(tr("{now} now, {most} at most in two minutes", now=number(now),
                                         most=number(max(self.rates, default=0.0))))  # fmt: skip
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._look.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self._look.font(0.9))
        top = scale_for(max(self.rates, default=0.0))
        edge = painter.fontMetrics().horizontalAdvance(f"{top}") + GRID
        text = painter.fontMetrics().height()
        room = QRectF(edge, text / 2, self.width() - edge - 1, self.height() - text * 1.75)
        painter.setPen(QPen(QColor(theme.line), 1))
        for share in (0.0, 0.5, 1.0):
            y = room.bottom() - share * room.height()
            painter.drawLine(QPointF(room.left(), y), QPointF(room.right(), y))
        painter.setPen(QColor(theme.second))
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, room.top() - text / 2, edge - GRID, text), right, f"{top}")
        painter.drawText(QRectF(0, room.bottom() - text / 2, edge - GRID, text), right, "0")
        below = QRectF(room.left(), room.bottom() + 2, room.width(), text)
        painter.drawText(below, Qt.AlignmentFlag.AlignLeft, tr("2 minutes ago"))
        painter.drawText(below, Qt.AlignmentFlag.AlignRight, tr("now"))
        if len(self.rates) > 1:
            self._curve(painter, room, top)
        painter.end()

    def _curve(self, painter: QPainter, room: QRectF, top: int) -> None:
        step = room.width() / (len(self.rates) - 1)
        points = [
            QPointF(room.left() + i * step, room.bottom() - min(1.0, rate / top) * room.height())
            for i, rate in enumerate(self.rates)
        ]
        fill = QColor(self._look.theme.accent)
        fill.setAlpha(40)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawPolygon(QPolygonF([room.bottomLeft(), *points, room.bottomRight()]))
        painter.setPen(QPen(QColor(self._look.theme.accent), 1.5))
        painter.drawPolyline(QPolygonF(points))
