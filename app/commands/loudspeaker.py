"""The loudspeaker: sound is played behind what came before, and can be stopped at once."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Any

import numpy as np

from engine.errors import BackendUnavailable


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


class Loudspeaker:
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
        """Wait until all is played."""
        while True:
            with self._lock:
                left = len(self._waiting)
            if not left:
                return
            time.sleep(0.05)

    def _fill(self, out: np.ndarray, frames: int, when: Any, status: Any) -> None:
        with self._lock:
            now, self._waiting = self._waiting[:frames], self._waiting[frames:]
        out[: len(now), 0] = now
        out[len(now) :] = 0.0

    def __enter__(self) -> Loudspeaker:
        self._stream.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stream.close()
