"""Recordings and videos in any container, made with PyAV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np

RATE = 48_000
_PLAIN = ("alac", "flac", "pcm_s16le")  # codecs without loss, which have no bit rate
_LANGUAGES = ("eng", "deu")


def tone(number: int, seconds: float = 3.0) -> np.ndarray:
    """16 bits; two that differ."""
    t = np.arange(int(seconds * RATE)) / RATE
    made = 0.3 * np.sin(2 * np.pi * 500 * t)
    if number == 1:
        made = 0.4 * np.sin(2 * np.pi * 220 * t) * np.sin(2 * np.pi * 1.5 * t) + 0.1 * np.sin(2 * np.pi * 900 * t)
    return (made * 32767).round().astype("<i2")


def save_media(
    path: Path, codec: str, tracks: Sequence[np.ndarray] | None = None, rate: int = RATE, pictures: bool = False
) -> Path:
    """`tracks`: 16-bit samples, at most two tracks; the first one says to be English, the second German."""
    with av.open(str(path), "w") as file:
        writers = [_picture(file)] if pictures else []
        for language, samples in zip(_LANGUAGES, (tone(1),) if tracks is None else tracks):
            writers.append(_sound(file, codec, samples, rate, language))
        for write in writers:  # a container wants to know all its tracks first
            write()
    return path


def _sound(file: Any, codec: str, samples: np.ndarray, rate: int, language: str) -> Callable[[], None]:
    stream = file.add_stream(codec, rate=rate, layout="mono")
    stream.metadata["language"] = language
    if codec not in _PLAIN:
        stream.bit_rate = 128_000
    resampler = av.AudioResampler(format=stream.codec_context.format.name, layout="mono", rate=rate)

    def write() -> None:
        step = stream.codec_context.frame_size or 4096
        for at in range(0, len(samples), step):
            frame = av.AudioFrame.from_ndarray(samples[None, at : at + step], format="s16", layout="mono")
            frame.sample_rate, frame.pts = rate, at
            for ready in resampler.resample(frame):
                file.mux(stream.encode(ready))
        file.mux(stream.encode(None))

    return write


def _picture(file: Any, seconds: int = 3) -> Callable[[], None]:
    """It becomes brighter, five frames a second."""
    stream = file.add_stream("mpeg4", rate=5)
    stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"

    def write() -> None:
        for at in range(5 * seconds):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 10 * at, np.uint8), format="rgb24")
            file.mux(stream.encode(frame.reformat(format="yuv420p")))
        file.mux(stream.encode(None))

    return write


def save_silence(path: Path, hours: float, speech: np.ndarray | None = None) -> Path:
    """8,000 samples a second, in frames of a minute. `speech`: what the first and the last minute begin with."""
    minutes, size = round(60 * hours), 60 * 8000
    with av.open(str(path), "w") as file:
        stream: Any = file.add_stream("pcm_mulaw", rate=8000, layout="mono")
        for minute in range(minutes):
            samples = np.zeros((1, size), np.int16)
            if speech is not None and minute in (0, minutes - 1):
                samples[0, : len(speech)] = speech
            frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            frame.sample_rate, frame.pts = 8000, minute * size
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return path
