"""A sound as bars: what was played, where the listener is, and the stretches that have a text."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.gui.look import Look
from app.gui.texts import tr
from app.gui.viewmodels.sound.playback import Playback

_BAR, _GAP = 2, 1
_STEP = 5.0  # seconds an arrow key goes


class Waveform(QWidget):
    """`sought(seconds)`: a person clicked there, or went there with the arrows."""

    sought = Signal(float)

    def __init__(self, look: Look, playback: Playback) -> None:
        super().__init__()
        self._look, self._playback = look, playback
        self.spans: Sequence[tuple[float, float]] = ()
        self.chosen = -1  # of the spans
        self.setAccessibleName(tr("Waveform"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumHeight(72)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        playback.changed.connect(self.update)
        playback.grew.connect(self.update)
        look.on_change(self, self.update)

    def sizeHint(self) -> QSize:
        return QSize(400, 72)

    def show_spans(self, spans: Sequence[tuple[float, float]], chosen: int = -1) -> None:
        self.spans, self.chosen = spans, chosen
        self.update()

    def place(self, seconds: float) -> float:
        return self.width() * seconds / max(0.01, self._playback.seconds)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._look.theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        middle, room = self.height() / 2, self.height() / 2 - 6
        for number, (start, end) in enumerate(self.spans):
            painter.setBrush(QColor(theme.selected if number == self.chosen else theme.hover))
            wide = max(2.0, self.place(end) - self.place(start))
            painter.drawRoundedRect(QRectF(self.place(start), 2, wide, self.height() - 4), 3, 3)
        here = self.place(self._playback.position)
        bars = self._playback.bars(self.width() // (_BAR + _GAP))
        loudest = max(0.05, float(bars.max(initial=0.0)))
        for number, bar in enumerate(bars):
            left = number * (_BAR + _GAP)
            painter.setBrush(QColor(theme.accent if left < here else theme.second))
            high = max(1.0, room * float(bar) / loudest)
            painter.drawRoundedRect(QRectF(left, middle - high, _BAR, 2 * high), 1, 1)
        if self._playback.seconds:
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.drawLine(round(here), 2, round(here), self.height() - 2)
        if self.hasFocus():
            painter.setPen(QPen(QColor(theme.accent), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._playback.seconds and self.width():
            self.sought.emit(self._playback.seconds * event.position().x() / self.width())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -_STEP, Qt.Key.Key_Right: _STEP}.get(Qt.Key(event.key()))
        if step is None or event.modifiers():
            super().keyPressEvent(event)
            return
        self.sought.emit(max(0.0, self._playback.position + step))
