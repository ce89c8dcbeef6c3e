"""Sound files into samples: any format that libsndfile reads, mixed to one channel, at the rate that is wanted.

Knows files and samples, no model. Long recordings are read, mixed and resampled block by block, so that what is held is
the result alone.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

from engine.errors import BadRequest

SPELLED = "WAV, FLAC, MP3, OGG (Vorbis, Opus), AIFF, AU and CAF"
MOST_SECONDS = 24 * 3600
LEAST_RATE, MOST_RATE = 4_000, 768_000
_BLOCK = 1 << 20  # frames


@dataclass(frozen=True, eq=False)
class Audio:
    """One channel."""

    samples: np.ndarray  # f32 [n], nominally within -1 and 1
    rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


class _Forwards(soundfile.SoundFile):
    """Read from its beginning to its end and never otherwise: soundfile would else look for a place after each block, which
    a FLAC stream does not have whose header was written before its length was known."""

    def seekable(self) -> bool:
        return False


def read_sound(source: Path | str | bytes, rate: int, *, most: float = MOST_SECONDS) -> Audio:
    """A file, or a file's bytes. Raises BadRequest for what is no sound, and for a sound of no length."""
    name = "The sound" if isinstance(source, bytes) else str(source)
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise BadRequest(f"{name} is not a file.", "file")
    if not (len(source) if isinstance(source, bytes) else Path(source).stat().st_size):
        raise BadRequest(f"{name} is empty.", "file")
    try:
        with _Forwards(io.BytesIO(source) if isinstance(source, bytes) else str(source)) as file:
            return _read(file, name, rate, most)
    except soundfile.LibsndfileError as error:
        raise BadRequest(
            f"{name} could not be read as sound ({str(error.error_string).strip(' .')}). {SPELLED} are read.", "file"
        ) from None


def _read(file: Any, name: str, rate: int, most: float) -> Audio:
    own = int(file.samplerate)
    if not LEAST_RATE <= own <= MOST_RATE:
        raise BadRequest(f"{name} has {own} samples a second; {LEAST_RATE} to {MOST_RATE} are read.", "file")
    convert = soxr.ResampleStream(own, rate, 1, dtype="float32") if own != rate else None
    parts: list[np.ndarray] = []
    frames = 0
    while len(block := file.read(_BLOCK, dtype="float32", always_2d=True)):
        frames += len(block)
        if frames > most * own:
            longest = f"{most / 3600:g} hours" if most >= 3600 else f"{most:g} seconds"
            raise BadRequest(f"{name} is longer than {longest}. Split it first.", "file")
        mixed = _mixed(block, name)
        parts.append(mixed if convert is None else convert.resample_chunk(mixed))
    if convert is not None:
        parts.append(convert.resample_chunk(np.zeros(0, np.float32), last=True))
    samples = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    if not len(samples):
        raise BadRequest(f"{name} holds no sound.", "file")
    return Audio(samples, rate)


def from_array(samples: np.ndarray, own: int, rate: int) -> Audio:
    """Samples that are there already, as floats or 16-bit numbers, `[n]` or `[n, channels]`."""
    if not LEAST_RATE <= own <= MOST_RATE:
        raise BadRequest(f"The sound has {own} samples a second; {LEAST_RATE} to {MOST_RATE} are read.", "rate")
    given = np.asarray(samples)
    if given.dtype.kind in "iu":
        given = given.astype(np.float32) / float(np.iinfo(given.dtype).max + 1)
    if given.ndim not in (1, 2) or given.dtype.kind != "f":
        raise BadRequest("A sound is an array of samples, or of samples by channels.", "samples")
    if not given.size:
        raise BadRequest("The sound holds no samples.", "samples")
    mixed = _mixed(given.reshape(len(given), -1).astype(np.float32), "The sound")
    return Audio(resampled(mixed, own, rate), rate)


def resampled(samples: np.ndarray, own: int, rate: int) -> np.ndarray:
    if own == rate:
        return samples
    made: np.ndarray = soxr.resample(samples, own, rate)
    return made.astype(np.float32, copy=False)


def _mixed(block: np.ndarray, name: str) -> np.ndarray:
    if not np.isfinite(block).all():
        raise BadRequest(f"{name} holds samples that are no numbers. The file is damaged.", "file")
    return block[:, 0] if block.shape[1] == 1 else block.mean(axis=1, dtype=np.float32)
