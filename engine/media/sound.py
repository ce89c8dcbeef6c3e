"""Sound files: decoding to mono samples at a sample rate, and encoding as WAV, PCM, MP3, FLAC, Opus and AAC.

libsndfile reads and writes; FFmpeg reads what libsndfile does not (`recordings.py`). Recordings are decoded, mixed and resampled block
by block. Encoders work on streams.
"""

from __future__ import annotations

import io
import itertools
import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np
import soundfile

from engine.errors import BadRequest, ErrorText
from engine.media.recordings import NotARecording, recording
from engine.whole_file import whole_file

SPELLED = "WAV, FLAC, MP3, OGG, M4A, AAC, AIFF, CAF, AMR, WMA, and the sound of MP4, MOV, MKV, WebM and AVI"
MOST_SECONDS = 24 * 3600
SAMPLE_RATE = 16_000  # of the sound that models listen to
LEAST_RATE, MOST_RATE = 4_000, 768_000
_BLOCK = 1 << 20  # frames
_UNKNOWN_TO_LIBSNDFILE = frozenset({1, 3, 4, 18})  # its errors that mean "a format, an encoding that I do not have"


@dataclass(frozen=True, eq=False)
class Audio:
    """A mono sound."""

    samples: np.ndarray  # f32 [n], nominally within -1 and 1
    rate: int

    @property
    def seconds(self) -> float:
        return len(self.samples) / self.rate


class SoundStream:
    """A recording whose samples come in blocks at `rate`, so that memory does not grow with its length. Read once."""

    def __init__(
        self, source: Path | str | bytes, rate: int, *, most: float = MOST_SECONDS, track: int = 1, start: float = 0.0
    ) -> None:
        """`track`: of the sound tracks of a video, from 1. `start`: seconds that are left out at the beginning."""
        self.rate, self.expected = rate, 0.0  # seconds, where the file says how long it is; else 0
        self.start = start
        self._count = 0
        self._name = "The sound" if isinstance(source, bytes) else str(source)
        self._blocks = _decoded(source, self._name, rate, most, track, start, self)

    @property
    def seconds(self) -> float:
        """Of what was read so far."""
        return self._count / self.rate

    def __iter__(self) -> Iterator[np.ndarray]:
        for block in self._blocks:
            self._count += len(block)
            yield block
        if not self._count:
            raise BadRequest(ErrorText("{name} holds no sound.", name=self._name), "file")


class _Forwards(soundfile.SoundFile):
    """A file that is read sequentially: soundfile would seek after each block, which fails for a FLAC stream whose header
    has no length."""

    def seekable(self) -> bool:
        return False


def read_sound(source: Path | str | bytes, rate: int, *, most: float = MOST_SECONDS, track: int = 1) -> Audio:
    """The sound in a file or in its bytes, whole. Raises BadRequest for anything that is no sound, and for an empty sound."""
    return Audio(np.concatenate(list(SoundStream(source, rate, most=most, track=track))), rate)


def _decoded(
    source: Path | str | bytes, name: str, rate: int, most: float, track: int, start: float, stream: SoundStream
) -> Iterator[np.ndarray]:
    if not isinstance(source, bytes) and not Path(source).is_file():
        raise BadRequest(ErrorText("{name} is not a file.", name=name), "file")
    if not (len(source) if isinstance(source, bytes) else Path(source).stat().st_size):
        raise BadRequest(ErrorText("{name} is empty.", name=name), "file")
    try:
        try:
            file = _Forwards(io.BytesIO(source) if isinstance(source, bytes) else str(source))
        except soundfile.LibsndfileError as error:
            if error.code not in _UNKNOWN_TO_LIBSNDFILE:
                raise
        else:
            with file:
                yield from _of_libsndfile(file, name, rate, most, track, start, stream)
            return
        with recording(source, name, track, start) as made:
            stream.expected = made.seconds - start
            yield from _resampled(made.blocks, made.rate, name, rate, most)
        return
    except soundfile.LibsndfileError as error:
        reason = str(error.error_string)
    except NotARecording as error:
        reason = str(error)
    raise BadRequest(
        ErrorText(
            "{name} could not be read as sound ({reason}). {formats} are read.",
            name=name,
            reason=reason.strip(" ."),
            formats=SPELLED,
        ),
        "file",
    )


def _of_libsndfile(
    file: soundfile.SoundFile, name: str, rate: int, most: float, track: int, start: float, stream: SoundStream
) -> Iterator[np.ndarray]:
    if track != 1:
        raise BadRequest(f"{name} has no sound track {track}. It has one.", "track")
    own = int(file.samplerate)
    stream.expected = max(0.0, file.frames / own - start) if 0 < file.frames < 1 << 62 else 0.0
    if start > 0:
        file.seek(min(file.frames, round(start * own)))
    blocks = (file.read(_BLOCK, dtype="float32", always_2d=True) for _ in itertools.count())
    yield from _resampled(blocks, own, name, rate, most)


def _resampled(blocks: Iterator[np.ndarray], own: int, name: str, rate: int, most: float) -> Iterator[np.ndarray]:
    """Mono blocks at `rate`; an empty block ends them."""
    if not LEAST_RATE <= own <= MOST_RATE:
        raise BadRequest(
            ErrorText(
                "{name} has {own} samples a second; {least} to {most} are read.",
                name=name,
                own=own,
                least=LEAST_RATE,
                most=MOST_RATE,
            ),
            "file",
        )
    import soxr

    convert = soxr.ResampleStream(own, rate, 1, dtype="float32") if own != rate else None
    frames = 0
    for block in blocks:
        if not len(block):
            break
        frames += len(block)
        if frames > most * own:
            longest = f"{most / 3600:g} hours" if most >= 3600 else f"{most:g} seconds"
            raise BadRequest(
                ErrorText("{name} is longer than {longest}. Split it first.", name=name, longest=longest), "file"
            )
        mixed = _mixed(block, name)
        yield mixed if convert is None else convert.resample_chunk(mixed)
    if convert is not None and frames:
        yield convert.resample_chunk(np.zeros(0, np.float32), last=True)


def from_array(samples: np.ndarray, own: int, rate: int) -> Audio:
    """A sound from float or integer samples `[n]` or `[n, channels]`."""
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
    import soxr

    made: np.ndarray = soxr.resample(samples, own, rate)
    return made.astype(np.float32, copy=False)


def _mixed(block: np.ndarray, name: str) -> np.ndarray:
    if not np.isfinite(block).all():
        raise BadRequest(ErrorText("{name} holds samples that are no numbers. The file is damaged.", name=name), "file")
    return block[:, 0] if block.shape[1] == 1 else block.mean(axis=1, dtype=np.float32)


AAC_TYPE = "audio/aac"
_BITS = 96_000  # per second, mono
_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000)  # supported by AAC


def check_aac_encoder() -> None:
    """Raise BadRequest without an AAC encoder."""
    if find_spec("av") is None:
        raise BadRequest(
            "There is no AAC encoder here. Choose opus, mp3, flac, wav or pcm, or install one for Grus: pip install av",
            "response_format",
        )


class AacEncoder:
    """Encodes mono samples at `rate` as a stream of ADTS frames."""

    def __init__(self, target: IO[bytes], rate: int) -> None:
        import av

        if rate not in _RATES:
            raise BadRequest(f"AAC does not know {rate} samples a second.", "rate")
        self._av: Any = av
        self._rate, self._at = rate, 0
        self.file: Any = av.open(target, "w", format="adts")
        self._stream: Any = self.file.add_stream("aac", rate=rate, layout="mono", bit_rate=_BITS)

    def write(self, chunk: np.ndarray) -> None:
        if not len(chunk):
            return
        samples = np.clip(chunk.astype(np.float32, copy=False), -1.0, 1.0)
        frame = self._av.AudioFrame.from_ndarray(samples[None], format="fltp", layout="mono")
        frame.sample_rate, frame.pts = self._rate, self._at
        self._at += len(samples)
        self.file.mux(self._stream.encode(frame))

    def finish(self) -> None:
        self.file.mux(self._stream.encode(None))


FORMATS = {"wav": "audio/wav", "pcm": "audio/pcm", "mp3": "audio/mpeg", "flac": "audio/flac", "opus": "audio/ogg"}
_KINDS = {"mp3": ("MP3", None), "flac": ("FLAC", "PCM_16"), "opus": ("OGG", "OPUS")}
_COMPRESSED = (*_KINDS, "aac")
_OPUS_RATE = 48_000
_UNKNOWN = 0xFFFFFFFF  # the length in a WAV header of a stream


def check_format(name: str) -> str:
    if name == "aac":
        check_aac_encoder()
        return name
    if name not in FORMATS:
        raise BadRequest(f"Sound is written as {', '.join(FORMATS)}, not as {name!r}.", "response_format")
    return name


def media_type(format: str) -> str:
    return AAC_TYPE if format == "aac" else FORMATS[format]


def format_of(path: Path) -> str:
    """The format of a file extension."""
    ending = path.suffix.lower().lstrip(".")
    return check_format("opus" if ending == "ogg" else ending or "wav")


def to_pcm(samples: np.ndarray) -> bytes:
    """16-bit little-endian PCM, clipped."""
    return (np.clip(samples, -1.0, 1.0) * 32767.0).round().astype("<i2").tobytes()


def wav_header(rate: int, nbytes: int | None = None) -> bytes:
    """The header of 16-bit mono; `nbytes` None for a stream of unknown length."""
    size = _UNKNOWN if nbytes is None else nbytes
    whole = _UNKNOWN if nbytes is None else nbytes + 36
    return (
        b"RIFF" + struct.pack("<I", whole) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16)
        + b"data" + struct.pack("<I", size)
    )  # fmt: skip


def encoded(chunks: Iterable[np.ndarray], rate: int, format: str) -> Iterator[bytes]:
    """The encoded stream, in pieces as early as possible."""
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
    """Write a file and return its number of samples. `path` appears when the file is complete."""
    count = 0

    def counted() -> Iterator[np.ndarray]:
        nonlocal count
        for chunk in chunks:
            count += len(chunk)
            yield chunk

    try:
        with whole_file(path) as part:
            with part.open("wb") as file:
                _write(file, counted(), rate, format)
            if not count:
                raise BadRequest(ErrorText("There was nothing to speak."), "input")
    except OSError as error:
        raise BadRequest(
            ErrorText("{path} could not be written: {reason}.", path=path, reason=error.strerror or error), "output"
        ) from None
    return count


def written(chunks: Iterable[np.ndarray], rate: int, format: str) -> bytes:
    """A complete file, with its length in the header."""
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
    """Encodes mono samples at `rate` with libsndfile."""

    def __init__(self, target: IO[bytes], rate: int, format: str) -> None:
        kind, subtype = _KINDS[format]
        own = _OPUS_RATE if format == "opus" else rate
        import soxr

        self._convert = soxr.ResampleStream(rate, own, 1, dtype="float32") if own != rate else None
        # players compute the length of an MP3 stream from its size, which needs a constant bit rate
        # (libsndfile respects it only with a compression level; this one is 80 kbit/s)
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
def _encoder(target: IO[bytes], rate: int, format: str) -> Iterator[_SndfileEncoder | AacEncoder]:
    encoder = AacEncoder(target, rate) if format == "aac" else _SndfileEncoder(target, rate, format)
    try:
        yield encoder
    finally:
        encoder.file.close()


class _Sink(io.BytesIO):
    """A buffer that returns what was appended since the last call. Later changes to the header are not reported."""

    def __init__(self) -> None:
        super().__init__()
        self._sent = 0

    def taken(self) -> bytes:
        start, self._sent = self._sent, self.getbuffer().nbytes
        return self.getvalue()[start:]
