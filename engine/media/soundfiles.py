"""Writing sound: WAV, PCM, MP3, FLAC and Opus, block by block while it is made; AAC where an encoder for it is there.

A file appears under its name when it is whole; until then it has another one, and is gone if the writing fails.
"""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import soundfile
import soxr

from engine.errors import BadRequest
from engine.media import aac

FORMATS = {"wav": "audio/wav", "pcm": "audio/pcm", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/ogg"}
_KINDS = {"mp3": ("MP3", None), "flac": ("FLAC", "PCM_16"), "opus": ("OGG", "OPUS")}
_COMPRESSED = (*_KINDS, "aac")
_OPUS_RATE = 48_000
_UNKNOWN = 0xFFFFFFFF  # a WAV header's length while the end is not known


def check_format(name: str) -> str:
    if name == "aac":
        aac.check_encoder()
        return name
    if name not in FORMATS:
        raise BadRequest(f"Sound is written as {', '.join(FORMATS)}, not as {name!r}.", "response_format")
    return name


def media_type(format: str) -> str:
    return aac.TYPE if format == "aac" else FORMATS[format]


def format_of(path: Path) -> str:
    """By its ending."""
    ending = path.suffix.lower().lstrip(".")
    return check_format("opus" if ending == "ogg" else ending or "wav")


def to_pcm(samples: np.ndarray) -> bytes:
    """16 bit, little-endian; what is too loud is cut."""
    return (np.clip(samples, -1.0, 1.0) * 32767.0).round().astype("<i2").tobytes()


def wav_header(rate: int, nbytes: int | None = None) -> bytes:
    """One channel of 16 bits. None: as long as the stream lasts."""
    size = _UNKNOWN if nbytes is None else nbytes
    whole = _UNKNOWN if nbytes is None else nbytes + 36
    return (
        b"RIFF" + struct.pack("<I", whole) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
        + b"data" + struct.pack("<I", size)
    )  # fmt: skip


def encoded(chunks: Iterable[np.ndarray], rate: int, format: str) -> Iterator[bytes]:
    """A stream of bytes, each as soon as it is certain."""
    check_format(format)
    if format in ("wav", "pcm"):
        if format == "wav":
            yield wav_header(rate)
        for chunk in chunks:
            yield to_pcm(chunk)
        return
    sink = _Sink()
    with _encoder(sink, rate, format) as encoder:
        for chunk in chunks:
            encoder.write(chunk)
            if data := sink.taken():
                yield data
        encoder.finish()
    yield sink.taken()


def write_file(path: Path, chunks: Iterable[np.ndarray], rate: int, format: str) -> int:
    """Returns how many samples were written. Nothing half-written stays under `path`."""
    fresh = path.with_name(f"{path.name}.part")
    count = 0

    def counted() -> Iterator[np.ndarray]:
        nonlocal count
        for chunk in chunks:
            count += len(chunk)
            yield chunk

    try:
        with fresh.open("wb") as file:
            _write(file, counted(), rate, format)
        if not count:
            raise BadRequest("There was nothing to speak.", "input")
        fresh.replace(path)
    except OSError as error:
        raise BadRequest(f"{path} could not be written: {error.strerror or error}.", "output") from None
    finally:
        with suppress(OSError):
            fresh.unlink()
    return count


def written(chunks: Iterable[np.ndarray], rate: int, format: str) -> bytes:
    """A whole file, whose header knows its length."""
    file = io.BytesIO()
    _write(file, chunks, rate, check_format(format))
    return file.getvalue()


def _write(file: IO[bytes], chunks: Iterable[np.ndarray], rate: int, format: str) -> None:
    if format in _COMPRESSED:
        with _encoder(file, rate, format) as encoder:
            for chunk in chunks:
                encoder.write(chunk)
            encoder.finish()
        return
    count = 0
    for data in encoded(chunks, rate, format):
        count += file.write(data)
    if format == "wav":
        file.seek(0)
        file.write(wav_header(rate, count - len(wav_header(rate))))


class _SndfileEncoder:
    """What is given at `rate`, in a compressed format."""

    def __init__(self, target: IO[bytes], rate: int, format: str) -> None:
        kind, subtype = _KINDS[format]
        own = _OPUS_RATE if format == "opus" else rate
        self._convert = soxr.ResampleStream(rate, own, 1, dtype="float32") if own != rate else None
        # at a constant rate a reader reckons an MP3's length from its size: a stream never brings the header that tells it
        # (libsndfile keeps to it only where a level is said too; this one is 80 kbit/s)
        rate_mode: dict[str, Any] = {"bitrate_mode": "CONSTANT", "compression_level": 0.5} if format == "mp3" else {}
        self.file = soundfile.SoundFile(target, "w", own, 1, format=kind, subtype=subtype, **rate_mode)

    def write(self, chunk: np.ndarray) -> None:
        given = chunk.astype(np.float32, copy=False)
        self.file.write(np.clip(given if self._convert is None else self._convert.resample_chunk(given), -1.0, 1.0))

    def finish(self) -> None:
        if self._convert is not None:
            rest = self._convert.resample_chunk(np.zeros(0, np.float32), last=True)
            self.file.write(np.clip(rest, -1.0, 1.0))


@contextmanager
def _encoder(target: IO[bytes], rate: int, format: str) -> Iterator[_SndfileEncoder | aac.AacEncoder]:
    encoder = aac.AacEncoder(target, rate) if format == "aac" else _SndfileEncoder(target, rate, format)
    try:
        yield encoder
    finally:
        encoder.file.close()


class _Sink(io.BytesIO):
    """Tells what was written since it was last asked. What an encoder mends in its header at the end is not told: those
    who read a stream have read its header long since."""

    def __init__(self) -> None:
        super().__init__()
        self._sent = 0

    def taken(self) -> bytes:
        start, self._sent = self._sent, self.getbuffer().nbytes
        return self.getvalue()[start:]
