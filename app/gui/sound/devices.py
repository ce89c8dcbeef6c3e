"""Loudspeaker and microphone by QtMultimedia, imported when one of them is first used.

Both are served by a timer on the UI thread, never from inside Qt's own reading or writing: so code that makes or receives
samples may stop the device at that moment. Where its system library is missing, no device is there, or the device
disappears, one sentence says what to do.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QObject, Qt, QTimer, Slot

from app.gui.texts import mark, tr
from engine.errors import BackendUnavailable

ASR_RATE = 16_000  # sample rate of speech recognition
Lost = Callable[[str], Any]  # called with a message when a device disappears
_PERIOD = 20  # milliseconds between two looks at a device; its buffer holds some 250
_MUTE, _AGAIN = 2.0, 20.0  # seconds of zeros after which a microphone is reopened, and then reopened again
_GRACE = 0.5  # ... that none is left, whatever the sound system gives instead: replugging takes a moment
_TAIL = 0.1  # seconds of silence behind the end: what the sound system holds beyond Qt's buffer
_NO_LOUDSPEAKER = mark("No loudspeaker was found. Connect one, then play again.")
_LOUDSPEAKER_GONE = mark("The loudspeaker was disconnected. Connect one, then play again.")
_NO_MICROPHONE = mark("No microphone was found. Connect one, then try again.")
_MICROPHONE_GONE = mark(
    "The microphone was disconnected. The recording so far is kept. Connect a microphone, then try again."
)


def multimedia() -> Any:
    """The module. Raises BackendUnavailable where it cannot be loaded."""
    try:
        from PySide6 import QtMultimedia
    except ImportError as error:
        raise BackendUnavailable(
            tr(
                "A system library for sound is missing ({error}). On Debian and Ubuntu: sudo apt-get install libpulse0",
                error=error,
            )
        ) from None
    return QtMultimedia


class _Device(QObject):
    """The base of both: a timer, the system's default device, and how to handle that it changes or disappears."""

    patience = 2.0  # seconds after which a device that takes or gives nothing counts as gone

    def __init__(self, parent: QObject, lost: Lost | None) -> None:
        super().__init__(parent)
        self._qt = multimedia()
        self._lost = lost
        self._stream: Any = None  # QAudioSink or QAudioSource; None: stopped
        self._channel: Any = None  # the QIODevice of it
        self._id = b""
        self._moved = time.monotonic()  # when it last took or gave samples
        self._reopened = -self.patience  # when it was last reopened because it stalled
        self._none = 0.0  # since when there is no device
        self._known = self._qt.QMediaDevices(self)
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_PERIOD)
        self._timer.timeout.connect(self._tick)

    @property
    def running(self) -> bool:
        return self._stream is not None

    def stop(self) -> None:
        """Stop at once: the device's buffer is discarded. May be called at any time, also twice."""
        self._timer.stop()
        if self._stream is not None:
            self._close()
            self.deleteLater()

    @abstractmethod
    def _default(self) -> Any: ...

    @abstractmethod
    def _start(self, device: Any) -> None: ...

    @abstractmethod
    def _move(self) -> bool:
        """Serve the device. True when it took or gave something."""

    def _doubtful(self) -> bool:
        """Whether the system may have put something else in the device's place."""
        return False

    def _open(self) -> bool:
        """On the system's default device. False when there is none, or it cannot be opened."""
        device = self._default()
        if device.isNull():
            return False
        self._id, self._moved = bytes(device.id().data()), time.monotonic()
        self._start(device)
        return self._channel is not None

    def _close(self) -> None:
        stream, self._stream, self._channel = self._stream, None, None
        if stream is not None:
            stream.reset()
            stream.deleteLater()

    @Slot()
    def _tick(self) -> None:
        now = time.monotonic()
        late = now - self._moved > 2 * self.patience  # this thread stood still, not the device
        if self._none and now - self._none > _GRACE:
            self._reopen(gone=True)
        elif self._move():
            self._moved = time.monotonic()
            if self._doubtful():
                self._reopened = now
                self._reopen()
        elif self._stream is not None:
            stopped = self._stream.state() == self._qt.QAudio.State.StoppedState
            if late:
                self._moved = now - self.patience / 2
            elif stopped or now - self._moved > self.patience:
                again, self._reopened = now - self._reopened < 2 * self.patience, now
                self._reopen(gone=again)

    @Slot()
    def _follow(self) -> None:
        """Devices came or went. A person who chooses another default means what plays now, too."""
        if self._stream is None:
            return
        device = self._default()
        if device.isNull():
            self._none = self._none or time.monotonic()
            return
        self._none = 0.0
        if bytes(device.id().data()) != self._id:
            self._reopen()

    def _reopen(self, gone: bool = False) -> None:
        self._close()
        if gone or not self._open():
            self._timer.stop()
            self._close()
            self.deleteLater()
            if self._lost is not None:
                self._lost(self._farewell())

    @abstractmethod
    def _farewell(self) -> str: ...

    def _run(self) -> None:
        self._known_changed().connect(self._follow, Qt.ConnectionType.QueuedConnection)
        self._timer.start()

    @abstractmethod
    def _known_changed(self) -> Any: ...


class SoundOutput(_Device):
    """Plays what `take(count)` gives, until `stop` or `finish`; silence where nothing is ready.

    `lost(sentence)`: no loudspeaker is left; it has stopped.
    """

    def __init__(self, take: Callable[[int], np.ndarray], rate: int, parent: QObject, lost: Lost | None = None) -> None:
        super().__init__(parent, lost)
        self._take = take
        self._form = self._qt.QAudioFormat()
        self._form.setSampleRate(rate)
        self._form.setChannelCount(1)
        self._form.setSampleFormat(self._qt.QAudioFormat.SampleFormat.Float)
        self._written: deque[tuple[np.ndarray, bool]] = deque()  # at least the last buffer of it; False: silence
        self._left: int | None = None  # samples of silence until it stops
        self._dropped = 0  # of what was taken, what it did not play
        if not self._open():
            self._close()
            self.deleteLater()
            raise BackendUnavailable(tr(_NO_LOUDSPEAKER))
        self._run()

    @property
    def unheard(self) -> int:
        """How many of the samples that were taken wait in the buffer still."""
        return len(self._waiting()) if self._stream is not None else self._dropped

    def stop(self) -> None:
        self._dropped = self.unheard
        super().stop()

    def _waiting(self) -> np.ndarray:
        found = [np.zeros(0, np.float32)]
        if self._stream is not None:
            room = (self._stream.bufferSize() - self._stream.bytesFree()) // 4
            for samples, sound in reversed(self._written):
                if room <= 0:
                    break
                if sound:
                    found.append(samples[-room:])
                room -= len(samples)
        return np.concatenate(found[::-1])

    def finish(self) -> None:
        """Play what is buffered, then stop."""
        if self._stream is not None:
            self._left = self._stream.bufferSize() // 4 + round(_TAIL * self._form.sampleRate())

    def flush(self) -> None:
        """Discard the buffer: playback continues at another position."""
        if self._stream is not None:
            self._written.clear()
            self._stream.reset()
            self._channel = self._stream.start()
            self._moved = time.monotonic()

    def _default(self) -> Any:
        return self._qt.QMediaDevices.defaultAudioOutput()

    def _known_changed(self) -> Any:
        return self._known.audioOutputsChanged

    def _start(self, device: Any) -> None:
        self._stream = self._qt.QAudioSink(device, self._form, self)
        self._channel = self._stream.start()

    def _reopen(self, gone: bool = False) -> None:
        """What the other device had not played is played on this one."""
        unheard = self._waiting()
        self._dropped = len(unheard)
        super()._reopen(gone)
        self._written.clear()
        if self._stream is not None and len(unheard):
            self._put(unheard)

    def _farewell(self) -> str:
        return tr(_LOUDSPEAKER_GONE)

    def _move(self) -> bool:
        if self._channel is None:
            return False
        room = self._stream.bytesFree() // 4
        if room <= 0:
            return False
        if self._left is not None:
            self._put(np.zeros(min(room, self._left), np.float32), sound=False)
            self._left -= min(room, self._left)
            if self._left == 0:
                self.stop()
            return True
        made = self._take(room)
        if self._stream is None:  # its owner stopped the device
            return True
        self._put(made)
        if len(made) < room and self._left is None:
            self._put(np.zeros(room - len(made), np.float32), sound=False)
        return True

    def _put(self, samples: np.ndarray, sound: bool = True) -> None:
        if not len(samples):
            return
        self._channel.write(samples.astype("<f4").tobytes())
        self._written.append((samples, sound))
        most = self._stream.bufferSize() // 4
        while sum(len(part) for part, _ in self._written) - len(self._written[0][0]) > most:
            self._written.popleft()


class Microphone(_Device):
    """Calls `hear(samples)` with f32 samples at 16 kHz as they are recorded, until `stop`.

    `lost(sentence)`: no microphone is left; it has stopped. PulseAudio may not say so, but record what a loudspeaker
    plays instead, which is zeros while nothing plays: then the microphone is opened anew, which tells.
    """

    patience = 6.0  # a headset takes seconds to become one that listens

    def __init__(self, receive: Callable[[np.ndarray], Any], parent: QObject, lost: Lost | None = None) -> None:
        super().__init__(parent, lost)
        self._receive = receive
        self._convert: Any = None
        self._rest = b""  # half a sample
        self._receiving = False
        self._zeros = 0.0  # seconds of nothing else
        if self._default().isNull():
            self.deleteLater()
            raise BackendUnavailable(tr(_NO_MICROPHONE))
        if not self._open():
            self._close()
            self.deleteLater()
            raise BackendUnavailable(tr("The microphone could not be opened. Is another program using it?"))
        self._run()

    def stop(self) -> None:
        """What was spoken until now is still given."""
        if self._stream is not None and not self._receiving:
            self._timer.stop()
            self._move()
        super().stop()

    def _default(self) -> Any:
        return self._qt.QMediaDevices.defaultAudioInput()

    def _known_changed(self) -> Any:
        return self._known.audioInputsChanged

    def _start(self, device: Any) -> None:
        form = device.preferredFormat()
        form.setChannelCount(1)
        form.setSampleFormat(self._qt.QAudioFormat.SampleFormat.Float)
        self._rate = form.sampleRate()
        import soxr  # takes a megabyte, which an idle window saves

        self._convert = soxr.ResampleStream(self._rate, ASR_RATE, 1, dtype="float32")
        self._stream = self._qt.QAudioSource(device, form, self)
        self._channel = self._stream.start()

    def _farewell(self) -> str:
        return tr(_MICROPHONE_GONE)

    def _doubtful(self) -> bool:
        if self._zeros < _MUTE:
            return False
        self._zeros = _MUTE - _AGAIN  # a microphone that is muted gives zeros, too
        return True

    def _move(self) -> bool:
        if self._channel is None:
            return False
        data = self._rest + bytes(self._channel.readAll().data())
        whole = len(data) // 4 * 4
        self._rest = data[whole:]
        if not whole:
            return False
        recorded = np.frombuffer(data[:whole], "<f4")
        self._zeros = 0.0 if recorded.any() else self._zeros + len(recorded) / self._rate
        samples = self._convert.resample_chunk(recorded)
        if len(samples):
            self._receiving = True
            try:
                self._receive(samples)
            finally:
                self._receiving = False
        return True
