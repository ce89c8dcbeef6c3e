"""The microphone as pieces of sound at 16 kHz."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import soxr

from engine.errors import BackendUnavailable

RATE = 16_000
_SECONDS = 0.1
PATIENCE = 5.0  # seconds after which a microphone that gives nothing counts as gone


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
