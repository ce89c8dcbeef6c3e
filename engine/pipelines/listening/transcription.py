"""Transcription (ASR): whole sounds, and live captions.

Voice activity detection splits a sound, its segments are submitted to the engine together, and results come in order. The
VAD and word timestamps run as engine tasks, each segment as a request. `Captions` transcribes a stream: the segment being
spoken is transcribed again at intervals, and its text is final once the speech has ended.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.media.sound import Audio
from engine.models.moonshine import SAMPLE_RATE, token_times
from engine.pipelines.listening.transcript import Transcript, TranscriptSegment, TranscriptWord, words_in_time
from engine.pipelines.listening.voice_activity import (
    DEFAULT_RULES,
    VOICE_ACTIVITY,
    SampleSpan,
    SpeechEnded,
    VadRules,
    VoiceActivityStream,
    spans,
)
from engine.tasks import EngineLike
from engine.types import Request, RequestHandle, Result, SamplingParams, Sound

_TIMES = 4  # repetitions of a run of words that count as a loop


def loop_start(words: Sequence[str]) -> int | None:
    """Index of the first repetition of a run of words that occurs at least four times in a row, or None."""
    n = len(words)
    for length in range(1, n // _TIMES + 1):
        run = 0
        for i in range(length, n):
            run = run + 1 if words[i] == words[i - length] else 0
            if run >= length * (_TIMES - 1) and (length > 1 or run >= _TIMES):
                return i - run + 1
    return None


LISTENING = ("moonshine", "moonshine_streaming")  # model types
_AHEAD = 32  # segments in flight
_TOKENS_PER_SECOND = {"en": 6.5}  # upper limit for speech; other scripts need more tokens
_TOKENS_PER_SECOND_ELSE = 13.0
_LANGUAGE = re.compile(r"-(ar|es|ja|ko|uk|vi|zh)$")
_AGAIN = 1.3  # repetition penalty of the retry


@dataclass(frozen=True)
class AsrModel:
    """A loaded speech recognition model, as `Transcriber` uses it."""

    name: str
    start_id: int
    context: int
    language: str  # "auto": any
    decode: Callable[[Sequence[int]], str]  # token ids to text


def asr_model(name: str, loaded: Any) -> AsrModel:
    """The speech recognition model behind a name. Raises BadRequest for any other model."""
    if "listen" in loaded.config.get("capabilities", ()):  # a model elsewhere, whose tokens are not known here
        return AsrModel(name, 0, loaded.context, "auto", lambda ids: "")
    if loaded.config.get("model_type") not in LISTENING:  # the model may have been replaced since it was looked up
        raise BadRequest(
            ErrorText(
                "{name} does not listen. Moonshine models do: UsefulSensors/moonshine-base, for example.", name=name
            ),
            "model",
        )
    found = _LANGUAGE.search(str(name).rstrip("/"))
    language = found[1] if found else "en"
    start = loaded.config.get("decoder_start_token_id")
    start = loaded.config.get("bos_token_id", 1) if start is None else start
    return AsrModel(name, int(start), loaded.context, language, lambda ids: loaded.tokenizer.decode(list(ids)).strip())


class Transcriber:
    """Transcribes sounds with one model of an engine."""

    def __init__(
        self, engine: EngineLike, model: AsrModel, rules: VadRules = DEFAULT_RULES, vad: str = VOICE_ACTIVITY
    ) -> None:
        self.model = model
        self._engine = engine
        self._rules = rules
        self._vad = vad
        self._language: str | None = None  # that is spoken, where the model hears several

    def listen(self, audio: Audio, *, language: str | None = None, words: bool = False,
               progress: Callable[[float], None] = lambda share: None) -> Transcript:  # fmt: skip
        """The whole transcript. `progress` receives the share of the sound that is done."""
        segments = []
        for segment in self.segments(audio, language=language, words=words):
            segments.append(segment)
            progress(min(1.0, segment.end / audio.seconds))
        progress(1.0)
        return Transcript(segments, audio.seconds, self.model.language)

    def segments(
        self, audio: Audio, *, language: str | None = None, words: bool = False
    ) -> Iterator[TranscriptSegment]:
        """Segments in order, each once it and all before it are done. Closing the iterator cancels the work."""
        self._check(audio, language)
        if words and self.model.language == "auto":
            raise BadRequest(
                ErrorText("{model} runs on another server, which gives no times of words.", model=self.model.name),
                "words",
            )
        in_flight: deque[tuple[SampleSpan, np.ndarray, RequestHandle]] = deque()
        admitted = False  # later segments of a sound bypass the queue limit
        spans = iter(self.spans(audio))
        try:
            while True:
                while len(in_flight) < _AHEAD and (span := next(spans, None)) is not None:
                    part = audio.samples[span.start : span.stop]
                    in_flight.append((span, part, self.submit(part, admitted=admitted)))
                    admitted = True
                if not in_flight:
                    return
                span, part, handle = in_flight[0]
                made = self.segment(part, span.start / audio.rate, handle, words)
                in_flight.popleft()
                if made.text:
                    yield made
        finally:
            for _, _, handle in in_flight:
                handle.cancel()

    def _check(self, audio: Audio, language: str | None) -> None:
        if audio.rate != SAMPLE_RATE:
            raise BadRequest(f"The model takes {SAMPLE_RATE} samples a second, not {audio.rate}.", "rate")
        self.check_language(language)

    def check_language(self, language: str | None) -> None:
        self._language = language if self.model.language == "auto" and language != "auto" else None
        if self.model.language != "auto" and language not in (None, "auto", self.model.language):
            raise BadRequest(
                ErrorText(
                    "{model} transcribes {own}, not {language}. Choose a model for that language.",
                    model=self.model.name,
                    own=repr(self.model.language),
                    language=repr(language),
                ),
                "language",
            )

    def spans(self, audio: Audio) -> list[SampleSpan]:
        """Spans of speech."""
        return spans(self._engine, audio, self._rules, self._vad)

    def submit(self, samples: np.ndarray, penalty: float | None = None, *, admitted: bool = False) -> RequestHandle:
        rate = _TOKENS_PER_SECOND.get(self.model.language, _TOKENS_PER_SECOND_ELSE)
        most = max(2, min(self.model.context - 2, int(rate * len(samples) / SAMPLE_RATE) + 2))
        params = SamplingParams(
            temperature=0.0, max_tokens=most, logprobs=True, approximate_logprobs=True, repetition_penalty=penalty
        )
        key = hashlib.blake2b(samples.tobytes(), digest_size=16).hexdigest()
        request = Request(self.model.name, [self.model.start_id], params, sound=Sound(samples, key, self._language))
        return self._engine.submit(request, admitted=admitted)

    def segment(
        self, samples: np.ndarray, begins: float, handle: RequestHandle, words: bool = False
    ) -> TranscriptSegment:
        """Wait for a segment's text. A transcript that loops is retried with a repetition penalty."""
        result = handle.result()
        loop = loop_start(result.text.split())
        if loop is not None:
            result = self.submit(samples, _AGAIN, admitted=True).result()
            loop = loop_start(result.text.split())
        text = " ".join(result.text.split()[:loop])
        logprobs = [token.logprob for token in result.logprobs]
        made = TranscriptSegment(
            start=begins,
            end=begins + len(samples) / SAMPLE_RATE,
            text=text,
            confidence=float(np.exp(np.mean(logprobs))) if logprobs else 1.0,  # not every server elsewhere says
            doubtful=loop is not None,
        )
        return replace(made, words=self._words(samples, made, result)) if words and text else made

    def _words(self, samples: np.ndarray, segment: TranscriptSegment, result: Result) -> list[TranscriptWord]:
        ids = list(result.ids)

        def work(loaded: Any) -> Generator[None, None, np.ndarray]:
            (features,) = yield from loaded.model.encode([Sound(samples, "")])
            return token_times(loaded.model, features, [self.model.start_id, *ids])

        times: np.ndarray = self._engine.task(self.model.name, work, admitted=True).result()
        return words_in_time(segment, ids, times[: len(ids)], self.model.decode)


_EVERY = 0.6  # seconds of speech between partial texts
_LEAD = int(0.3 * SAMPLE_RATE)  # samples before the detected start that belong to the speech


@dataclass(frozen=True)
class Caption:
    """A segment of live captions. `final`: its text does not change any more."""

    segment: TranscriptSegment
    final: bool


class Captions:
    """Live captions of one stream, for one thread: partial text during speech, final text after it."""

    def __init__(self, engine: EngineLike, listener: Transcriber, rules: VadRules = DEFAULT_RULES) -> None:
        self._listener = listener
        self._activity = VoiceActivityStream(engine, rules)
        self._kept = np.zeros(0, np.float32)  # samples that may still be transcribed
        self._first = 0  # position of the first of them in the stream
        self._captioned = 0  # end of the last partial text

    @property
    def speaking(self) -> bool:
        """True during speech."""
        return self._activity.speaking

    def feed(self, samples: np.ndarray) -> list[Caption]:
        """Process f32 samples at 16 kHz and return new captions. Blocks until the models are done."""
        self._kept = np.concatenate((self._kept, samples.astype(np.float32, copy=False)))
        ended = [change.span for change in self._activity.feed(samples) if isinstance(change, SpeechEnded)]
        made = [self._caption(span, True) for span in ended] + self._partial()
        self._drop_old()
        return [caption for caption in made if caption.segment.text]

    def finish(self) -> list[Caption]:
        """End the stream: the current speech becomes final."""
        made = [self._caption(change.span, True) for change in self._activity.finish()]
        return [caption for caption in made if caption.segment.text]

    def _partial(self) -> list[Caption]:
        begun, seen = self._activity.begun, self._activity.seen
        if begun is None or seen - max(begun, self._captioned) < _EVERY * SAMPLE_RATE:
            return []
        self._captioned = seen
        return [self._caption(SampleSpan(begun, seen), False)]

    def _caption(self, span: SampleSpan, final: bool) -> Caption:
        wide = SampleSpan(max(self._first, span.start - _LEAD), span.stop)
        part = self._kept[wide.start - self._first : wide.stop - self._first]
        begins = wide.start / SAMPLE_RATE
        return Caption(self._listener.segment(part, begins, self._listener.submit(part)), final)

    def _drop_old(self) -> None:
        """Drop samples that are no longer needed."""
        begun = self._activity.begun
        keep_from = (self._activity.seen if begun is None else begun) - 2 * _LEAD
        if keep_from > self._first:
            self._kept = self._kept[keep_from - self._first :]
            self._first = keep_from
