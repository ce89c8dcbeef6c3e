"""The microphone as pieces of sound at 16 kHz, and the loudspeaker: sound is played behind what came before, and can be stopped."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any

import numpy as np
import soxr

from engine.errors import BackendUnavailable

RATE = 16_000
_SECONDS = 0.1
PATIENCE = 5.0  # seconds after which a device that takes or gives nothing counts as gone


def pieces(begun: Callable[[], None] = lambda: None) -> Iterator[np.ndarray]:
    """Until the caller stops. What was recorded while the caller was busy waits. `begun` is called when recording starts."""
    sounddevice = _library()
    waiting: queue.SimpleQueue[np.ndarray] = queue.SimpleQueue()
    try:
        own = int(sounddevice.query_devices(kind="input")["default_samplerate"])
        stream = sounddevice.InputStream(
            samplerate=own,
            channels=1,
            dtype="float32",
            blocksize=int(_SECONDS * own),
            callback=lambda data, frames, time, status: waiting.put(data[:, 0].copy()),
        )
    except (sounddevice.PortAudioError, ValueError) as error:
        raise BackendUnavailable(f"No microphone could be opened ({error}).") from None
    convert = soxr.ResampleStream(own, RATE, 1, dtype="float32")  # carries its filter from piece to piece
    with stream:
        begun()
        while True:
            try:
                yield convert.resample_chunk(waiting.get(timeout=PATIENCE))
            except queue.Empty:
                raise BackendUnavailable("The microphone was disconnected. Connect one, then try again.") from None


def _library() -> Any:
    try:
        import sounddevice
    except OSError:  # it is there, the system library is not
        raise BackendUnavailable(
            "The microphone needs PortAudio, which is not installed (Debian: apt install libportaudio2)."
        ) from None
    return sounddevice


# -- the loudspeaker

GONE = "The loudspeaker was disconnected. -o FILE writes the sound instead."


def opened(rate: int, **how: Any) -> Any:
    """A stream of sounddevice, one channel."""
    try:
        import sounddevice

        return sounddevice.OutputStream(samplerate=rate, channels=1, dtype="float32", **how)
    except OSError:
        raise BackendUnavailable(
            "Playing needs PortAudio, which is not installed (Debian: apt install libportaudio2). "
            "-o FILE writes the sound instead."
        ) from None
    except Exception as error:  # PortAudio's own kinds of error, which only its library knows
        raise BackendUnavailable(
            f"No loudspeaker could be opened ({error}). -o FILE writes the sound instead."
        ) from None


def written(stream: Any, samples: np.ndarray) -> None:
    """Waits until the device has room. Raises BackendUnavailable where it is gone."""
    import sounddevice

    try:
        stream.write(samples.reshape(-1, 1))
    except sounddevice.PortAudioError:
        raise BackendUnavailable(GONE) from None


class TerminalLoudspeaker:
    """Plays what it is given, in order, without making anybody wait."""

    def __init__(self, rate: int) -> None:
        self._waiting = np.zeros(0, np.float32)
        self._lock = threading.Lock()
        self._stream = opened(rate, callback=self._fill)

    def play(self, samples: np.ndarray) -> None:
        with self._lock:
            self._waiting = np.concatenate((self._waiting, samples))

    def stop(self) -> None:
        """What is not played yet is not played."""
        with self._lock:
            self._waiting = self._waiting[:0]

    def finish(self) -> None:
        """Wait until all is heard. Raises BackendUnavailable where the loudspeaker is gone."""
        moved, before = time.monotonic(), -1
        while True:
            with self._lock:
                left = len(self._waiting)
            if not left:
                self._stream.stop()  # which plays what the device holds still
                return
            if left != before:
                moved, before = time.monotonic(), left
            elif not self._stream.active or time.monotonic() - moved > PATIENCE:
                raise BackendUnavailable(GONE)
            time.sleep(0.05)

    def _fill(self, out: np.ndarray, frames: int, when: Any, status: Any) -> None:
        with self._lock:
            now, self._waiting = self._waiting[:frames], self._waiting[frames:]
        out[: len(now), 0] = now
        out[len(now) :] = 0.0

    def __enter__(self) -> TerminalLoudspeaker:
        self._stream.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
