"""The player: play and pause, the waveform, the time, the speed."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from app.gui.buttons import icon_button, label
from app.gui.desk import Desk
from app.gui.sound import devices
from app.gui.sound.waveform import Waveform
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.sound.playback import SPEEDS, Playback
from engine.errors import BackendUnavailable

_TICK = 33  # milliseconds


def clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"


class Player(QWidget):
    """Plays a `Playback`. The speed is remembered for all players."""

    def __init__(self, desk: Desk, playback: Playback | None = None) -> None:
        super().__init__()
        self._desk = desk
        self.playback = playback or Playback()
        self.wave = Waveform(desk.look, self.playback)
        self.button = icon_button(desk.look, "play", tr("Play"), self.toggle, size=22)
        self.time = label("0:00", "second")
        self.speed = QComboBox()
        self.speed.setAccessibleName(tr("Speed"))
        self.speed.setToolTip(tr("Speed"))
        for speed in SPEEDS:
            self.speed.addItem(f"{speed:g}×", speed)
        wanted = float(desk.preferences.get("sound.speed", 1.0))
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
        self.playback.grew.connect(self._tell)
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
        self._tell()

    def hush(self) -> bool:
        """End what plays. False when nothing did."""
        playing = self.playback.playing
        self.playback.pause()
        return playing

    def _choose_speed(self) -> None:
        speed = float(self.speed.currentData())
        self._desk.preferences.put("sound.speed", speed)
        self.playback.set_speed(speed)

    def _show(self) -> None:
        """The device runs while something is played."""
        playing = self.playback.playing
        if self._device is not None and (not playing or self._rate != self.playback.rate):
            self._release()
        if playing and self._device is None:
            try:
                self._device = devices.Loudspeaker(self.playback.take, self.playback.rate, self, self._lost)
                self._rate = self.playback.rate
                self._timer.start()
            except BackendUnavailable as error:
                self.playback.playing = playing = False
                self._desk.say(str(error), level="error")
        if not playing:
            self._timer.stop()
        self.button.setIcon(self._desk.look.icon("pause" if playing else "play"))
        title = tr("Pause") if playing else tr("Play")
        self.button.setToolTip(title)
        self.button.setAccessibleName(title)
        self._tell()

    def _release(self) -> None:
        """At its end a sound is heard to the end; otherwise playing stops at once, and goes on there."""
        device, self._device = self._device, None
        if self.playback.ended:
            device.finish()
            return
        if self._rate == self.playback.rate:
            self.playback.give_back(device.unheard)
        device.stop()

    def _lost(self, sentence: str) -> None:
        self.playback.pause()
        self._desk.say(sentence, level="error")

    def _tick(self) -> None:
        self._tell()

    def _tell(self) -> None:
        self.button.setEnabled(self.playback.seconds > 0)
        self.time.setText(f"{clock(self.playback.position)} / {clock(self.playback.seconds)}")
        self.wave.update()
