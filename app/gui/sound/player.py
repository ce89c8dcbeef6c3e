"""The player: play and pause, waveform, time and speed; and the level meter of the microphone."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from app.gui.look import Look
from app.gui.pane import AppContext
from app.gui.sound import devices
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.playback import SPEEDS, Playback
from app.gui.widgets import icon_button, label
from engine.errors import BackendUnavailable

_BARS, _WIDE, _METER_GAP = 20, 3, 2
_HIGH = 24
_LEVELS_A_BAR = 2  # levels that come together in a bar


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
        return QSize(_BARS * (_WIDE + _METER_GAP) - _METER_GAP, _HIGH)

    @property
    def level(self) -> float:
        return self._levels[-1]

    def show_level(self, level: float) -> None:
        self._gathered.append(level)
        if len(self._gathered) >= _LEVELS_A_BAR:
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
            bar = QRectF(number * (_WIDE + _METER_GAP), (_HIGH - high) / 2, _WIDE, high)
            painter.drawRoundedRect(bar, _WIDE / 2, _WIDE / 2)

    def _standing(self, painter: QPainter, quiet: QColor, loud: QColor) -> None:
        groove = QRectF(0, _HIGH / 2 - 2, self.width(), 4)
        painter.setBrush(quiet)
        painter.drawRoundedRect(groove, 2, 2)
        groove.setWidth(self.width() * round(self.level * 4) / 4)
        painter.setBrush(loud)
        painter.drawRoundedRect(groove, 2, 2)


_BAR, _GAP = 2, 1
_KEY_STEP = 5.0  # seconds an arrow key goes


class Waveform(QWidget):
    """`sought(seconds)`: a person clicked there, or went there with the arrows."""

    sought = Signal(float)

    def __init__(self, look: Look, playback: Playback) -> None:
        super().__init__()
        self._look, self._playback = look, playback
        self.spans: Sequence[tuple[float, float]] = ()
        self.chosen = -1  # of the spans
        self.colors: Sequence[QColor | None] = ()
        self.setAccessibleName(tr("Waveform"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumHeight(24)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        playback.changed.connect(self.update)
        playback.grew.connect(self.update)
        look.on_change(self, self.update)

    def sizeHint(self) -> QSize:
        return QSize(400, 72)

    def show_spans(
        self, spans: Sequence[tuple[float, float]], chosen: int = -1, colors: Sequence[QColor | None] = ()
    ) -> None:
        """`colors`: of each span, a line below it, where it has one."""
        self.spans, self.chosen, self.colors = spans, chosen, colors
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
            if number < len(self.colors) and (color := self.colors[number]) is not None:
                painter.setBrush(color)
                painter.drawRect(QRectF(self.place(start), self.height() - 5, wide, 3))
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
        step = {Qt.Key.Key_Left: -_KEY_STEP, Qt.Key.Key_Right: _KEY_STEP}.get(Qt.Key(event.key()))
        if step is None or event.modifiers():
            super().keyPressEvent(event)
            return
        self.sought.emit(max(0.0, self._playback.position + step))


_TICK = 33  # milliseconds


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


class Player(QWidget):
    """Plays a `Playback`. The speed is remembered for all players."""

    def __init__(self, context: AppContext, playback: Playback | None = None) -> None:
        super().__init__()
        self._context = context
        self.playback = playback or Playback()
        self.wave = Waveform(context.look, self.playback)
        self.button = icon_button(context.look, "play", tr("Play"), self.toggle, size=22)
        self.time = label("0:00", "second")
        self.speed = QComboBox()
        self.speed.setAccessibleName(tr("Speed"))
        self.speed.setToolTip(tr("Speed"))
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g}×", speed)
        wanted = float(context.preferences.get("sound.speed", 1.0))
        self.speed.setCurrentIndex(max(0, self.speed.findData(wanted)))
        self.playback.set_speed(float(self.speed.currentData()))
        self.speed.activated.connect(lambda _: self._choose_speed())
        row = QHBoxLayout()
        row.setSpacing(GRID)
        row.addWidget(self.button)
        row.addWidget(self.time)
        row.addStretch(1)
        row.addWidget(self.speed)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID // 2)
        column.addWidget(self.wave)
        column.addLayout(row)
        self._device: Any = None
        self._rate = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._tick)
        self.playback.changed.connect(self._show)
        self.playback.grew.connect(self._show_time)
        self.wave.sought.connect(self.seek)
        self._show()

    def toggle(self) -> None:
        if self.playback.playing:
            self.playback.pause()
        elif self.playback.seconds:
            self.playback.play()

    def seek(self, seconds: float) -> None:
        self.playback.seek(seconds)
        if self._device is not None:
            self._device.flush()
        self._show_time()

    def silence(self) -> bool:
        """End what plays. False when nothing did."""
        playing = self.playback.playing
        self.playback.pause()
        return playing

    def _choose_speed(self) -> None:
        speed = float(self.speed.currentData())
        self._context.preferences.put("sound.speed", speed)
        self.playback.set_speed(speed)

    def _show(self) -> None:
        """The device runs while something is played."""
        playing = self.playback.playing
        if self._device is not None and (not playing or self._rate != self.playback.rate):
            self._release()
        if playing and self._device is None:
            try:
                self._device = devices.SoundOutput(self.playback.take, self.playback.rate, self, self._lost)
                self._rate = self.playback.rate
                self._timer.start()
                self._context.say("", level="ok")
            except BackendUnavailable as error:
                self.playback.playing = playing = False
                self._context.say(str(error), level="error")
        if not playing:
            self._timer.stop()
        self.button.setIcon(self._context.look.icon("pause" if playing else "play"))
        title = tr("Pause") if playing else tr("Play")
        self.button.setToolTip(title)
        self.button.setAccessibleName(title)
        self._show_time()

    def _release(self) -> None:
        """At the end of a sound the buffer is played; otherwise playback stops at once and can resume from there."""
        device, self._device = self._device, None
        if self.playback.ended:
            device.finish()
            return
        if self._rate == self.playback.rate:
            self.playback.give_back(device.unheard)
        device.stop()

    def _lost(self, sentence: str) -> None:
        self.playback.pause()
        self._context.say(sentence, level="error")

    def _tick(self) -> None:
        self._show_time()

    def _show_time(self) -> None:
        self.button.setEnabled(self.playback.seconds > 0)
        self.time.setText(f"{clock(self.playback.position)} / {clock(self.playback.seconds)}")
        self.wave.update()
