"""Audio of a realtime session: PCM or G.711 as base64 on the wire, and the input buffer in which turns are detected.

Positions in the buffer are samples at 16 kHz since the session began. Used from one thread at a time; its calls may block, because the
voice activity model runs in them.
"""

from __future__ import annotations

import base64
import binascii
from collections import deque
from dataclasses import dataclass
from functools import cache

import numpy as np
import soxr

from app.server.errors import ApiError, bad_request
from app.server.realtime.protocol import AudioFormat, TurnDetection
from engine.media.sound import SAMPLE_RATE, to_pcm
from engine.pipelines.listening.voice_activity import CHUNK, SpeechChange, SpeechStarted, VadRules, VoiceActivityStream
from engine.tasks import EngineLike


def samples_in(text: str, format: AudioFormat, param: str = "audio") -> np.ndarray:
    """Base64 to floats, at the format's rate."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise bad_request(f"`{param}` is not base64.", param) from None
    if format.type != "audio/pcm":
        return decoded(data, format.type).astype(np.float32) / 32768.0
    if len(data) % 2:
        raise bad_request(f"`{param}` holds half a sample: a sample is 16 bits, little-endian.", param)
    return np.frombuffer(data, "<i2").astype(np.float32) / 32768.0


def as_text(samples: np.ndarray, format: AudioFormat) -> str:
    """Floats at the format's rate to base64."""
    data = to_pcm(samples)
    if format.type != "audio/pcm":
        data = encoded(np.frombuffer(data, "<i2"), format.type)
    return base64.b64encode(data).decode()


class StreamResampler:
    """Resamples a stream. `finish` returns what the filter still holds back, and starts a new stream."""

    def __init__(self, own: int, rate: int) -> None:
        self._rates = own, rate
        self._stream: soxr.ResampleStream | None = None

    def push(self, samples: np.ndarray) -> np.ndarray:
        own, rate = self._rates
        if own == rate or not len(samples):
            return samples
        if self._stream is None:
            self._stream = soxr.ResampleStream(own, rate, 1, dtype="float32")
        made: np.ndarray = self._stream.resample_chunk(samples)
        return made

    def finish(self) -> np.ndarray:
        stream, self._stream = self._stream, None
        nothing = np.zeros(0, np.float32)
        return nothing if stream is None else stream.resample_chunk(nothing, last=True)


DEFAULT_FORMAT = AudioFormat()
_MIN_COMMIT = SAMPLE_RATE // 10  # samples
_PADDING_AFTER = SAMPLE_RATE // 10  # samples of silence kept after speech, into which it fades
_RELEASE = 0.15  # hysteresis: speech ends this far below the threshold


@dataclass(frozen=True)
class TurnStarted:
    """`at`: where the audio that will be committed begins."""

    at: int


@dataclass(frozen=True)
class TurnStopped:
    at: int
    samples: np.ndarray


TurnEvent = TurnStarted | TurnStopped


def milliseconds(position: int) -> int:
    return position * 1000 // SAMPLE_RATE


class InputAudioBuffer:
    """Holds the client's audio until it is committed, and detects turns in it."""

    def __init__(
        self, engine: EngineLike, most: float, turns: TurnDetection | None, format: AudioFormat = DEFAULT_FORMAT
    ) -> None:
        """`most`: the seconds that it holds."""
        self._engine, self._most = engine, most
        self._format, self._incoming = format, StreamResampler(format.rate, SAMPLE_RATE)
        self._pieces: deque[np.ndarray] = deque()
        self._first = self._end = 0  # positions of the first sample held, and after the last
        self._taken = 0  # the end of what was committed
        self._turns: TurnDetection | None = None
        self._activity: VoiceActivityStream | None = None
        self._offset = 0  # where the activity detector started
        self.turn(turns)

    @property
    def speaking(self) -> bool:
        return self._activity is not None and self._activity.speaking

    def turn(self, turns: TurnDetection | None) -> list[TurnEvent]:
        """Set turn detection; None: the client commits. Audio that is already held is examined as if it arrived now."""
        if turns == self._turns and (turns is None) == (self._activity is None):
            return []
        self._turns = turns
        if turns is None:
            self._activity = None
        elif self._activity is not None:
            self._activity.rules = self._rules(turns)
        else:
            self._restart_detection(self._first)
            return self._detect(self._between(self._first, self._end))
        return []

    def take(self, format: AudioFormat) -> None:
        """Set the format of the audio that follows."""
        if format != self._format:
            self._push(self._incoming.finish())
            self._format, self._incoming = format, StreamResampler(format.rate, SAMPLE_RATE)

    def feed(self, audio: str) -> list[TurnEvent]:
        """Append base64 audio. Raises an ApiError for invalid audio, and when the buffer is full."""
        sent = samples_in(audio, self._format)
        seconds = (self._end - self._first) / SAMPLE_RATE + len(sent) / self._format.rate
        if self._activity is None and seconds > self._most:
            raise ApiError(
                400,
                f"The input audio buffer holds {self._most:g} seconds at most. Commit it, or clear it.",
                code="input_audio_buffer_full",
                param="audio",
            )
        self._drop_silence()
        return self._detect(self._push(self._incoming.push(sent)))

    def commit(self) -> np.ndarray:
        """Take the audio that is held; with turn detection, the speech in progress."""
        self._push(self._incoming.finish())
        start = self._start() if self._activity is not None else self._first
        if (self._activity is not None and not self.speaking) or self._end - start < _MIN_COMMIT:
            raise ApiError(
                400,
                "There is no speech in the input audio buffer to commit: send a tenth of a second at least."
                if self._activity is None
                else "Nobody is speaking: with turn detection on, a speech is committed when it ends.",
                code="input_audio_buffer_commit_empty",
            )
        samples = self._between(start, self._end)
        self.clear()
        return samples

    def clear(self) -> None:
        self._incoming.finish()
        self._pieces.clear()
        self._first = self._taken = self._end
        if self._activity is not None:
            self._restart_detection(self._end)

    def _restart_detection(self, position: int) -> None:
        assert self._turns is not None
        self._activity, self._offset = VoiceActivityStream(self._engine, self._rules(self._turns)), position

    def _rules(self, turns: TurnDetection) -> VadRules:
        return VadRules(
            threshold=turns.threshold,
            release=max(0.01, turns.threshold - _RELEASE),
            least_silence=turns.silence_duration_ms / 1000,
            longest=self._most,
        )

    def _detect(self, samples: np.ndarray) -> list[TurnEvent]:
        if self._activity is None or not len(samples):
            return []
        return [self._event(change) for change in self._activity.feed(samples)]

    def _event(self, change: SpeechChange) -> TurnEvent:
        if isinstance(change, SpeechStarted):
            return TurnStarted(self._start(self._offset + change.at))
        begin, end = self._offset + change.span.start, self._offset + change.span.stop
        start, stop = self._start(begin), min(end + _PADDING_AFTER, self._end)
        self._taken = end
        return TurnStopped(stop, self._between(start, stop))

    def _start(self, begun: int | None = None) -> int:
        """Where the speech that began at `begun` is cut: earlier by the prefix padding."""
        assert self._turns is not None
        assert self._activity is not None
        if begun is None:
            begun = self._offset + (self._activity.begun or 0)
        before = self._turns.prefix_padding_ms * SAMPLE_RATE // 1000
        return max(self._first, self._taken, begun - before)

    def _between(self, start: int, stop: int) -> np.ndarray:
        made, at = [np.zeros(0, np.float32)], self._first
        for piece in self._pieces:
            made.append(piece[max(0, start - at) : max(0, stop - at)])
            at += len(piece)
        return np.concatenate(made)

    def _push(self, samples: np.ndarray) -> np.ndarray:
        if len(samples):
            self._pieces.append(samples)
            self._end += len(samples)
        return samples

    def _drop_silence(self) -> None:
        """Drop silence, except for the prefix padding of the next speech."""
        if self._activity is None or self._turns is None:
            return
        judged = self._offset + self._activity.seen
        begun = self._activity.begun
        still = judged if begun is None else self._offset + begun
        keep_from = still - self._turns.prefix_padding_ms * SAMPLE_RATE // 1000 - CHUNK
        while self._pieces and self._first + len(self._pieces[0]) <= keep_from:
            self._first += len(self._pieces.popleft())


# -- G.711, the sound of telephony: 16-bit samples as 8 bits on a logarithmic scale, by the mu-law or the A-law


def decoded(data: bytes, law: str) -> np.ndarray:
    """16-bit samples. `law`: "audio/pcmu" or "audio/pcma"."""
    return _levels(law)[np.frombuffer(data, np.uint8)]


def encoded(samples: np.ndarray, law: str) -> bytes:
    """The code of the level that is nearest to each sample."""
    bounds, codes = _encoding(law)
    return codes[np.searchsorted(bounds, samples)].tobytes()


@cache
def _levels(law: str) -> np.ndarray:
    """The sample of each of the 256 codes."""
    codes = np.arange(256)
    bits = ~codes & 0xFF if law == "audio/pcmu" else codes ^ 0x55
    exponent, mantissa = bits >> 4 & 7, bits & 15
    if law == "audio/pcmu":
        size = ((mantissa << 3) + 132 << exponent) - 132
        negative = bits & 0x80 != 0
    else:
        size = np.where(exponent == 0, (mantissa << 4) + 8, (mantissa << 4) + 264 << np.maximum(exponent - 1, 0))
        negative = bits & 0x80 == 0
    return np.where(negative, -size, size).astype(np.int16)


@cache
def _encoding(law: str) -> tuple[np.ndarray, np.ndarray]:
    """Bounds between neighbouring levels, and the code of each level."""
    levels = _levels(law).astype(int)
    codes = np.argsort(levels, kind="stable").astype(np.uint8)
    ordered = levels[codes]
    return (ordered[:-1] + ordered[1:]) / 2, codes
