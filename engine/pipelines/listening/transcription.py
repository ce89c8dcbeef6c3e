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

from engine.errors import BadRequest
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
from engine.pipelines.speaking.leash import EngineLike
from engine.types import Handle, Request, Result, SamplingParams, Sound

_TIMES = 4  # the same run of words so often in a row is no speech


def loop_start(words: Sequence[str]) -> int | None:
    """Where the first repetition of a run begins that comes at least four times in a row; None: there is none."""
    n = len(words)
    for length in range(1, n // _TIMES + 1):
        run = 0
        for i in range(length, n):
            run = run + 1 if words[i] == words[i - length] else 0
            if run >= length * (_TIMES - 1) and (length > 1 or run >= _TIMES):
                return i - run + 1
    return None


LISTENING = ("moonshine", "moonshine_streaming")  # model types
_AHEAD = 32  # segments that are given to the engine before the first is awaited
_TOKENS_A_SECOND = {"en": 6.5}  # more is no speech; other scripts take more tokens
_TOKENS_A_SECOND_ELSE = 13.0
_LANGUAGE = re.compile(r"-(ar|es|ja|ko|uk|vi|zh)$")
_AGAIN = 1.3  # the repetition penalty of a second try


@dataclass(frozen=True)
class AsrModel:
    """A model that listens, and the facts about it."""

    name: str
    start_id: int
    context: int
    language: str
    decode: Callable[[Sequence[int]], str]  # one token sequence as text


def asr_model(name: str, loaded: Any) -> AsrModel:
    """Raises BadRequest for a model that does not listen."""
    if loaded.config.get("model_type") not in LISTENING:  # the model itself may have been unloaded since it was found
        raise BadRequest(
            f"{name} does not listen. Moonshine models do: UsefulSensors/moonshine-base, for example.", "model"
        )
    found = _LANGUAGE.search(str(name).rstrip("/"))
    language = found[1] if found else "en"
    start = loaded.config.get("decoder_start_token_id")
    start = loaded.config.get("bos_token_id", 1) if start is None else start
    return AsrModel(name, int(start), loaded.context, language, lambda ids: loaded.tokenizer.decode(list(ids)).strip())


class Transcriber:
    def __init__(
        self, engine: EngineLike, model: AsrModel, rules: VadRules = DEFAULT_RULES, vad: str = VOICE_ACTIVITY
    ) -> None:
        self.model = model
        self._engine = engine
        self._rules = rules
        self._vad = vad

    def listen(self, audio: Audio, *, language: str | None = None, words: bool = False,
               progress: Callable[[float], None] = lambda share: None) -> Transcript:  # fmt: skip
        """The whole transcript. `progress` is told how much of the sound is done."""
        segments = []
        for segment in self.segments(audio, language=language, words=words):
            segments.append(segment)
            progress(min(1.0, segment.end / audio.seconds))
        progress(1.0)
        return Transcript(segments, audio.seconds, self.model.language)

    def segments(
        self, audio: Audio, *, language: str | None = None, words: bool = False
    ) -> Iterator[TranscriptSegment]:
        """In order, each as soon as it and all before it are done. Closing the iterator stops the work."""
        self._check(audio, language)
        flying: deque[tuple[SampleSpan, np.ndarray, Handle]] = deque()
        admitted = False  # a sound that was begun is heard to its end, however full the queue is
        spans = iter(self.spans(audio))
        try:
            while True:
                while len(flying) < _AHEAD and (span := next(spans, None)) is not None:
                    part = audio.samples[span.start : span.stop]
                    flying.append((span, part, self.submit(part, admitted=admitted)))
                    admitted = True
                if not flying:
                    return
                span, part, handle = flying[0]
                made = self.segment(part, span.start / audio.rate, handle, words)
                flying.popleft()
                if made.text:
                    yield made
        finally:
            for _, _, handle in flying:
                handle.cancel()

    def _check(self, audio: Audio, language: str | None) -> None:
        if audio.rate != SAMPLE_RATE:
            raise BadRequest(f"The model hears {SAMPLE_RATE} samples a second, not {audio.rate}.", "rate")
        self.check_language(language)

    def check_language(self, language: str | None) -> None:
        if language not in (None, "auto", self.model.language):
            raise BadRequest(
                f"{self.model.name} hears {self.model.language!r}, not {language!r}. Choose a model for that language.",
                "language",
            )

    def spans(self, audio: Audio) -> list[SampleSpan]:
        """Where speech is."""
        return spans(self._engine, audio, self._rules, self._vad)

    def submit(self, samples: np.ndarray, penalty: float | None = None, *, admitted: bool = False) -> Handle:
        rate = _TOKENS_A_SECOND.get(self.model.language, _TOKENS_A_SECOND_ELSE)
        most = max(2, min(self.model.context - 2, int(rate * len(samples) / SAMPLE_RATE) + 2))
        params = SamplingParams(
            temperature=0.0, max_tokens=most, logprobs=True, approximate_logprobs=True, repetition_penalty=penalty
        )
        key = hashlib.blake2b(samples.tobytes(), digest_size=16).hexdigest()
        request = Request(self.model.name, [self.model.start_id], params, sound=Sound(samples, key))
        return self._engine.submit(request, admitted=admitted)

    def segment(self, samples: np.ndarray, begins: float, handle: Handle, words: bool = False) -> TranscriptSegment:
        """Wait for a segment's text, and ask again where the model lost itself in repetitions."""
        result = handle.result()
        loop = loop_start(result.text.split())
        if loop is not None:
            result = self.submit(samples, _AGAIN, admitted=True).result()
            loop = loop_start(result.text.split())
        text = " ".join(result.text.split()[:loop])
        sure = [token.logprob for token in result.logprobs]
        made = TranscriptSegment(
            start=begins,
            end=begins + len(samples) / SAMPLE_RATE,
            text=text,
            confidence=float(np.exp(np.mean(sure))) if sure else 0.0,
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


_EVERY = 0.6  # seconds of speech between two partial texts
_LEAD = int(0.3 * SAMPLE_RATE)  # before speech was noticed, which belongs to it


@dataclass(frozen=True)
class Caption:
    """`final`: it will not change any more, and the next one is about later sound."""

    segment: TranscriptSegment
    final: bool


class Captions:
    def __init__(self, engine: EngineLike, listener: Transcriber, rules: VadRules = DEFAULT_RULES) -> None:
        self._listener = listener
        self._activity = VoiceActivityStream(engine, rules)
        self._kept = np.zeros(0, np.float32)  # samples that may still be needed
        self._first = 0  # the position of the first of them in the stream
        self._told = 0  # where the last partial text ended

    @property
    def speaking(self) -> bool:
        """Is somebody speaking now?"""
        return self._activity.speaking

    def feed(self, samples: np.ndarray) -> list[Caption]:
        """`samples` at 16 kHz, f32. Returns what is new; waits for the model."""
        self._kept = np.concatenate((self._kept, samples.astype(np.float32, copy=False)))
        ended = [change.span for change in self._activity.feed(samples) if isinstance(change, SpeechEnded)]
        made = [self._caption(span, True) for span in ended] + self._partial()
        self._forget()
        return [caption for caption in made if caption.segment.text]

    def finish(self) -> list[Caption]:
        """The stream is over: what was being said becomes final."""
        made = [self._caption(change.span, True) for change in self._activity.finish()]
        return [caption for caption in made if caption.segment.text]

    def _partial(self) -> list[Caption]:
        begun, seen = self._activity.begun, self._activity.seen
        if begun is None or seen - max(begun, self._told) < _EVERY * SAMPLE_RATE:
            return []
        self._told = seen
        return [self._caption(SampleSpan(begun, seen), False)]

    def _caption(self, span: SampleSpan, final: bool) -> Caption:
        wide = SampleSpan(max(self._first, span.start - _LEAD), span.stop)
        part = self._kept[wide.start - self._first : wide.stop - self._first]
        begins = wide.start / SAMPLE_RATE
        return Caption(self._listener.segment(part, begins, self._listener.submit(part)), final)

    def _forget(self) -> None:
        """Of silence only the last moment is kept."""
        begun = self._activity.begun
        keep_from = (self._activity.seen if begun is None else begun) - 2 * _LEAD
        if keep_from > self._first:
            self._kept = self._kept[keep_from - self._first :]
            self._first = keep_from
