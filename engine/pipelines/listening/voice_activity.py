"""Voice activity detection: where speech is in a sound, for whole files and for streams.

`SpeechSegmenter` turns probabilities into segments. `speech_in` finds the speech of a whole sound; `VoiceActivityStream`
reports when speech starts and ends in a stream. The model, Silero VAD, comes with Grus.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import resources
from engine.errors import BadRequest
from engine.media.sound import SAMPLE_RATE, Audio, SoundStream
from engine.pipelines.listening.transcript import Transcript, TranscriptSegment, as_srt, as_vtt
from engine.tasks import EngineLike


@dataclass(frozen=True)
class VadRules:
    """Parameters of voice activity detection. Durations are in seconds."""

    threshold: float = 0.5  # probability at which speech starts
    release: float = 0.35  # probability below which speech may end
    least_speech: float = 0.25
    least_silence: float = 0.1
    pad: float = 0.03
    longest: float = 20.0  # of one segment


DEFAULT_RULES = VadRules()


@dataclass(frozen=True)
class SampleSpan:
    """Samples `start` to `stop`."""

    start: int
    stop: int

    def __len__(self) -> int:
        return self.stop - self.start


@dataclass
class _Speech:
    """Speech that has not ended yet."""

    start: int
    quiet_since: int | None = None
    pauses: list[SampleSpan] = field(default_factory=list)  # pauses inside it, too short to end it


class SpeechSegmenter:
    """Turns probabilities, chunk by chunk, into spans of speech. `padded` adds padding."""

    def __init__(self, chunk: int, rate: int, rules: VadRules = DEFAULT_RULES) -> None:
        self.rules = rules
        self._chunk = chunk
        self._rate = rate
        self._at = 0
        self._speech: _Speech | None = None

    @property
    def begun(self) -> int | None:
        """Start of the current speech."""
        return self._speech.start if self._speech is not None else None

    @property
    def spoken(self) -> int:
        """Samples of the current speech, without a trailing pause."""
        speech = self._speech
        if speech is None:
            return 0
        return (self._at if speech.quiet_since is None else speech.quiet_since) - speech.start

    def push(self, probability: float) -> list[SampleSpan]:
        """The spans that this chunk completes."""
        at, rules, speech = self._at, self.rules, self._speech
        self._at += self._chunk
        done: list[SampleSpan] = []
        if probability >= rules.threshold:
            if speech is None:
                self._speech = _Speech(at)
                return done
            if speech.quiet_since is not None:
                speech.pauses.append(SampleSpan(speech.quiet_since, at))
                speech.quiet_since = None
        if speech is None:
            return done
        if at - speech.start > rules.longest * self._rate - self._chunk - 2 * rules.pad * self._rate:
            done += self._kept(self._divide(speech, at))
            speech = self._speech
            assert speech is not None
        if probability < rules.release:
            if speech.quiet_since is None:
                speech.quiet_since = at
            if at - speech.quiet_since >= rules.least_silence * self._rate:
                done += self._kept(SampleSpan(speech.start, speech.quiet_since))
                self._speech = None
        return done

    def finish(self, length: int) -> list[SampleSpan]:
        """The remaining span of a sound of `length` samples."""
        speech, self._speech = self._speech, None
        return [] if speech is None else self._kept(SampleSpan(speech.start, max(speech.start, length)))

    def _divide(self, speech: _Speech, at: int) -> SampleSpan:
        """Split a speech that is too long at its longest pause, or at `at`."""
        pause = max(speech.pauses, key=len, default=SampleSpan(at, at))
        rest = [other for other in speech.pauses if other.start >= pause.stop]
        quiet = (
            None if speech.quiet_since is None else max(speech.quiet_since, pause.stop)
        )  # it may have begun before the cut
        self._speech = _Speech(pause.stop, quiet, rest)
        return SampleSpan(speech.start, pause.start)

    def _kept(self, span: SampleSpan) -> list[SampleSpan]:
        return [span] if len(span) > self.rules.least_speech * self._rate else []


def padded(spans: Sequence[SampleSpan], rate: int, length: int, pad: float = VadRules.pad) -> list[SampleSpan]:
    """Extend spans on both sides; close neighbours meet in the middle."""
    wide = int(pad * rate)
    made: list[SampleSpan] = []
    for i, span in enumerate(spans):
        before = span.start if i == 0 else span.start - spans[i - 1].stop
        after = (length if i + 1 == len(spans) else spans[i + 1].start) - span.stop
        left = min(wide, before) if i == 0 else min(wide, before // 2)
        right = min(wide, after) if i + 1 == len(spans) else min(wide, after // 2)
        made.append(SampleSpan(span.start - left, span.stop + right))
    return made


def segment_speech(
    probabilities: Iterable[float], chunk: int, rate: int, length: int, rules: VadRules = DEFAULT_RULES
) -> list[SampleSpan]:
    """The spans of a whole sound."""
    cutter = SpeechSegmenter(chunk, rate, rules)
    spans = [span for probability in probabilities for span in cutter.push(float(probability))]
    return padded(spans + cutter.finish(length), rate, length, rules.pad)


CHUNK = 512  # samples per probability
VOICE_ACTIVITY = str(resources.path("silero_vad"))
_LABEL = "speech"  # text of a span in subtitle formats


@dataclass(frozen=True)
class SpeechSpan:
    """Start and end of speech, in seconds from the start of the sound."""

    start: float
    end: float


@dataclass(frozen=True)
class Speech:
    """The speech of a sound: all spans in order."""

    spans: Sequence[SpeechSpan]
    seconds: float  # of the sound

    @property
    def speech_seconds(self) -> float:
        return sum(span.end - span.start for span in self.spans)


_READ = 30 * SAMPLE_RATE  # samples of a block for the model


def speech_parts(
    engine: EngineLike, blocks: Iterable[np.ndarray], rules: VadRules, vad: str = VOICE_ACTIVITY
) -> Iterator[tuple[SampleSpan, np.ndarray]]:
    """The spans of a sound at 16 kHz that comes in blocks, each with its samples. What lies behind a span is forgotten. They are
    those that `spans` finds in the whole sound."""
    cutter, wide = SpeechSegmenter(CHUNK, SAMPLE_RATE, rules), int(rules.pad * SAMPLE_RATE)
    kept, first, at = np.zeros(0, np.float32), 0, 0  # samples, the place of the first, and how far the model has heard
    state: list[Any] = [None]
    waiting: list[SampleSpan] = []  # for the place where the next one begins
    left = 0  # the end of the span before

    def work(samples: np.ndarray) -> Callable[[Any], Generator[None, None, np.ndarray]]:
        def run(loaded: Any) -> Generator[None, None, np.ndarray]:
            if state[0] is None:
                state[0] = loaded.model.start(SAMPLE_RATE)
            made: np.ndarray = yield from loaded.model.probabilities(samples, SAMPLE_RATE, state[0])
            return made

        return run

    def part(span: SampleSpan, room: int) -> tuple[SampleSpan, np.ndarray]:
        """`room`: samples until the next span, or to the sound's end."""
        before = min(wide, span.start) if left == 0 else min(wide, (span.start - left) // 2)
        padded_span = SampleSpan(span.start - before, span.stop + min(wide, room))
        return padded_span, kept[padded_span.start - first : padded_span.stop - first].copy()

    source, rest, ended = iter(blocks), np.zeros(0, np.float32), False
    while not ended:
        while len(rest) < _READ and not ended:
            block = next(source, None)
            ended = block is None
            rest = rest if block is None else np.concatenate((rest, block.astype(np.float32, copy=False)))
        count = len(rest) if ended else len(rest) // CHUNK * CHUNK
        if count:
            piece, rest = rest[:count], rest[count:]
            kept = np.concatenate((kept, piece))
            for probability in engine.task(vad, work(piece), admitted=True).result():
                waiting += cutter.push(float(probability))
            at += count
        if ended:
            waiting += cutter.finish(at)
        while waiting:
            span, *others = waiting
            if others:
                room = (others[0].start - span.stop) // 2
            elif ended:
                room = at - span.stop
            elif min(at, at if cutter.begun is None else cutter.begun) - span.stop >= 2 * wide:
                room = wide
            else:
                break
            yield part(span, room)
            left = span.stop
            waiting.pop(0)
        begun = [span.start for span in waiting[:1]] + ([] if cutter.begun is None else [cutter.begun])
        behind = max(first, min([at, *begun]) - 2 * wide)
        kept, first = kept[behind - first :], behind


def spans(engine: EngineLike, audio: Audio, rules: VadRules, vad: str = VOICE_ACTIVITY) -> list[SampleSpan]:
    """Run voice activity detection on a whole sound. Blocks until it is done."""

    def work(loaded: Any) -> Generator[None, None, list[SampleSpan]]:
        found = yield from loaded.model.probabilities(audio.samples, audio.rate)
        return segment_speech(found, loaded.model.chunk(audio.rate), audio.rate, len(audio.samples), rules)

    found: list[SampleSpan] = engine.task(vad, work).result()
    return found


def speech_rules(threshold: float | None = None, least_speech: float | None = None,
                 least_silence: float | None = None, pad: float | None = None) -> VadRules:  # fmt: skip
    """Rules from options. None: the default. Raises BadRequest for values out of range."""
    usual = VadRules()
    chosen = usual.threshold if threshold is None else threshold
    rules = VadRules(
        threshold=chosen,
        release=max(0.01, chosen - (usual.threshold - usual.release)),
        least_speech=usual.least_speech if least_speech is None else least_speech,
        least_silence=usual.least_silence if least_silence is None else least_silence,
        pad=usual.pad if pad is None else pad,
        longest=math.inf,
    )
    if not 0 < rules.threshold < 1:
        raise BadRequest(f"threshold must be between 0 and 1, not {threshold!r}.", "threshold")
    for name, value in (
        ("min_speech_seconds", rules.least_speech),
        ("min_silence_seconds", rules.least_silence),
        ("pad_seconds", rules.pad),
    ):
        if not 0 <= value <= 60:
            raise BadRequest(f"{name} must be between 0 and 60, not {value!r}.", name)
    return rules


def speech_in(engine: EngineLike, sound: Audio | SoundStream, rules: VadRules | None = None) -> Speech:
    """The speech in a sound at 16 kHz. Long speech is not split. Of a stream no more is kept than the speech that goes on."""
    if sound.rate != SAMPLE_RATE:
        raise BadRequest(f"Voice activity is found at {SAMPLE_RATE} samples a second, not {sound.rate}.", "rate")
    rules = rules or speech_rules()
    if isinstance(sound, Audio):
        found = spans(engine, sound, rules)
    else:
        found = [span for span, _ in speech_parts(engine, sound, rules)]
    return Speech([SpeechSpan(one.start / sound.rate, one.stop / sound.rate) for one in found], sound.seconds)


def as_dict(speech: Speech) -> dict[str, Any]:
    return {
        "duration": round(speech.seconds, 3),
        "speech_seconds": round(speech.speech_seconds, 3),
        "spans": [{"start": round(span.start, 3), "end": round(span.end, 3)} for span in speech.spans],
    }


def as_json(speech: Speech) -> str:
    return json.dumps(as_dict(speech), indent=1) + "\n"


def as_labels(speech: Speech) -> str:
    """Audacity labels: a line per span with start, end and text, separated by tabs."""
    return "".join(f"{span.start:.3f}\t{span.end:.3f}\t{_LABEL}\n" for span in speech.spans)


def _labelled(speech: Speech) -> Transcript:
    return Transcript([TranscriptSegment(span.start, span.end, _LABEL) for span in speech.spans], speech.seconds, "")


FORMATS: dict[str, Callable[[Speech], str]] = {
    "json": as_json,
    "txt": as_labels,
    "srt": lambda speech: as_srt(_labelled(speech)),
    "vtt": lambda speech: as_vtt(_labelled(speech)),
}


@dataclass(frozen=True)
class SpeechStarted:
    """Speech started at this sample and has lasted `VadRules.least_speech`. Shorter noises are not reported."""

    at: int


@dataclass(frozen=True)
class SpeechEnded:
    """A reported speech has ended."""

    span: SampleSpan


SpeechChange = SpeechStarted | SpeechEnded


class VoiceActivityStream:
    """Voice activity detection of one stream."""

    def __init__(self, engine: EngineLike, rules: VadRules = DEFAULT_RULES) -> None:
        self._engine = engine
        self._cutter = SpeechSegmenter(CHUNK, SAMPLE_RATE, rules)
        self._state: Any = None  # the model's state of this stream
        self._rest = np.zeros(0, np.float32)  # less than a chunk
        self._reported: int | None = None  # start of the last reported speech
        self.seen = 0  # samples processed

    @property
    def rules(self) -> VadRules:
        return self._cutter.rules

    @rules.setter
    def rules(self, rules: VadRules) -> None:
        """Applies from the next sample."""
        self._cutter.rules = rules

    @property
    def begun(self) -> int | None:
        """Start of the sound that may be speech."""
        return self._cutter.begun

    @property
    def speaking(self) -> bool:
        """True during speech."""
        return self._cutter.begun is not None and self._cutter.spoken >= self.rules.least_speech * SAMPLE_RATE

    def feed(self, samples: np.ndarray) -> list[SpeechChange]:
        """Process f32 samples at 16 kHz and return new events. Blocks until the model is done."""
        self._rest = np.concatenate((self._rest, samples.astype(np.float32, copy=False)))
        whole = len(self._rest) // CHUNK * CHUNK
        if not whole:
            return []
        part, self._rest = self._rest[:whole], self._rest[whole:].copy()
        changes: list[SpeechChange] = []
        for probability in self._probabilities(part):
            self.seen += CHUNK
            changes += [SpeechEnded(span) for span in self._cutter.push(float(probability))]
            if self.speaking and self._reported != self._cutter.begun:
                self._reported = self._cutter.begun
                changes.append(SpeechStarted(int(self._reported or 0)))
        return changes

    def finish(self) -> list[SpeechEnded]:
        """End the stream."""
        return [SpeechEnded(span) for span in self._cutter.finish(self.seen + len(self._rest))]

    def _probabilities(self, samples: np.ndarray) -> np.ndarray:
        def work(loaded: Any) -> Generator[None, None, np.ndarray]:
            if self._state is None:
                self._state = loaded.model.start(SAMPLE_RATE)
            made: np.ndarray = yield from loaded.model.probabilities(samples, SAMPLE_RATE, self._state)
            return made

        made: np.ndarray = self._engine.task(VOICE_ACTIVITY, work, admitted=True).result()
        return made
