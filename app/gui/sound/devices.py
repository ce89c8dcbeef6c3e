"""Loudspeaker and microphone by QtMultimedia, imported when one of them is first used.

Where its system library is missing, or no device is there, a BackendUnavailable says what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QIODevice, QObject

from app.gui.texts import tr
from engine.errors import BackendUnavailable
from engine.media.sound import resampled

HEARD = 16_000  # samples a second that models hear


def multimedia() -> Any:
    """The module. Raises BackendUnavailable where it cannot be loaded."""
    try:
        from PySide6 import QtMultimedia
    except ImportError as error:
        raise BackendUnavailable(
            tr(
                "Sound needs a system library that is missing ({error}). On Debian and Ubuntu: "
                "sudo apt-get install libpulse0",
                error=error,
            )
        ) from None
    return QtMultimedia


class _Pull(QIODevice):
    """The device reads from here whenever it has room; silence where nothing is ready."""

    def __init__(self, take: Callable[[int], np.ndarray], parent: QObject) -> None:
        super().__init__(parent)
        self._take = take
        self.open(QIODevice.OpenModeFlag.ReadOnly)

    def readData(self, most: int) -> bytes:
        count = min(most // 4, 4096)
        made = self._take(count)
        return np.pad(made, (0, count - len(made))).astype("<f4").tobytes()

    def writeData(self, data: Any, length: int) -> int:
        return -1

    def bytesAvailable(self) -> int:
        return 4096 * 4 + super().bytesAvailable()

    def isSequential(self) -> bool:
        return True


class Loudspeaker(QObject):
    """Plays what `take(count)` gives, from `start` to `stop`."""

    def __init__(self, take: Callable[[int], np.ndarray], rate: int, parent: QObject) -> None:
        super().__init__(parent)
        qt = multimedia()
        device = qt.QMediaDevices.defaultAudioOutput()
        if device.isNull():
            raise BackendUnavailable(tr("No loudspeaker was found. Connect one, then play again."))
        form = qt.QAudioFormat()
        form.setSampleRate(rate)
        form.setChannelCount(1)
        form.setSampleFormat(qt.QAudioFormat.SampleFormat.Float)
        self._sink = qt.QAudioSink(device, form, self)
        self._pull = _Pull(take, self)
        self._sink.start(self._pull)

    def stop(self) -> None:
        self._sink.stop()
        self.deleteLater()


class Microphone(QObject):
    """`hear(samples)` gets f32 samples at 16 kHz as they are spoken, until `stop`."""

    def __init__(self, hear: Callable[[np.ndarray], Any], parent: QObject) -> None:
        super().__init__(parent)
        qt = multimedia()
        device = qt.QMediaDevices.defaultAudioInput()
        if device.isNull():
            raise BackendUnavailable(tr("No microphone was found. Connect one, then try again."))
        form = device.preferredFormat()
        form.setChannelCount(1)
        form.setSampleFormat(qt.QAudioFormat.SampleFormat.Float)
        self._rate, self._hear = form.sampleRate(), hear
        self._source = qt.QAudioSource(device, form, self)
        self._stream = self._source.start()
        if self._stream is None:
            raise BackendUnavailable(tr("The microphone could not be opened. Is another program using it?"))
        self._stream.readyRead.connect(self._read)

    def _read(self) -> None:
        heard = np.frombuffer(bytes(self._stream.readAll().data()), "<f4")
        if len(heard):
            self._hear(resampled(heard, self._rate, HEARD))

    def stop(self) -> None:
        self._source.stop()
        self.deleteLater()
