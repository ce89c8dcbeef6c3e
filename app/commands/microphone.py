"""The microphone as pieces of sound at 16 kHz."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.errors import BackendUnavailable
from engine.media.sound import resampled

RATE = 16_000
_SECONDS = 0.1


def pieces() -> Iterator[np.ndarray]:
    """Until the caller stops. What was recorded while the caller was busy waits."""
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
    with stream:
        while True:
            yield resampled(waiting.get(), own, RATE)


def _library() -> Any:
    try:
        import sounddevice
    except OSError:  # it is there, the system library is not
        raise BackendUnavailable(
            "The microphone needs PortAudio, which is not installed (Debian: apt install libportaudio2)."
        ) from None
    return sounddevice
