"""Transcription (ASR): whole sounds, and live captions.

Voice activity detection splits a sound, its segments are submitted to the engine together, and results come in order. The
VAD and word timestamps run as engine tasks, each segment as a request. `Captions` transcribes a stream: the segment being
spoken is transcribed again at intervals, and its text is final once the speech has ended.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.media.sound import SAMPLE_RATE, Audio, SoundStream
from engine.models.moonshine import token_times
from engine.pipelines.listening import LISTENING
from engine.pipelines.listening.alignment import ForcedAligner
from engine.pipelines.listening.glossary import Glossary
from engine.pipelines.listening.speakers import NEAR as SPEAKERS_NEAR
from engine.pipelines.listening.speakers import SpeakerActivity
from engine.pipelines.listening.transcript import (
    Transcript,
    TranscriptScores,
    TranscriptSegment,
    TranscriptToken,
    TranscriptWord,
    words_in_time,
)
from engine.pipelines.listening.voice_activity import (
    DEFAULT_RULES,
    VOICE_ACTIVITY,
    SampleSpan,
    SpeechEnded,
    VadRules,
    VoiceActivityStream,
    speech_parts,
)
from engine.tasks import EngineLike
from engine.types import Request, Result, SamplingParams, Sound

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


_AHEAD = 32  # segments in flight
_TOKENS_PER_SECOND = {"en": 6.5}  # upper limit for speech; other scripts need more tokens
_TOKENS_PER_SECOND_ELSE = 13.0
_LANGUAGE = re.compile(r"-(ar|es|ja|ko|uk|vi|zh)$")
_AGAIN = 1.3  # repetition penalty of the retry


def transcript_sampling(most: int, penalty: float | None = None) -> SamplingParams:
    """What is most likely at each place, with its chance, up to so many tokens."""
    return SamplingParams(
        temperature=0.0,
        max_tokens=max(1, most),
        logprobs=True,
        approximate_logprobs=True,
        repetition_penalty=penalty,
    )


@dataclass(frozen=True)
class AsrModel:
    """A loaded speech recognition model, as `Transcriber` uses it."""

    name: str
    start_id: int
    context: int
    language: (
        str  # that it transcribes; of a model of many languages the one that was heard last; "auto": any, elsewhere
    )
    decode: Callable[[Sequence[int]], str]  # token ids to text
    bytes_of: Callable[[int], bytes]
    encode: Callable[[str], Sequence[int]]  # text to token ids, without special ones


@dataclass(frozen=True)
class ListenOptions:
    """How a sound is transcribed."""

    language: str | None = None  # None and "auto": the model's own, or the one that is heard
    words: bool = False  # with the time of each word
    translate: bool = False  # into English
    prompt: str | None = None  # what was said before, or names and spellings
    temperature: float | None = None  # None: as the model's rules say
    scores: bool = False  # with all that tells whether to believe it
    speakers: str | None = None  # the model that tells speakers apart
    aligner: str | None = None  # the forced aligner that gives the times of words, instead of the model itself


def asr_model(name: str, loaded: Any) -> AsrModel:
    """The speech recognition model behind a name. Raises BadRequest for any other model."""
    if "listen" in loaded.config.get("capabilities", ()):  # a model elsewhere, whose tokens are not known here
        return AsrModel(name, 0, loaded.context, "auto", lambda ids: "", lambda id: b"", lambda text: ())
    if loaded.config.get("model_type") not in LISTENING:  # the model may have been replaced since it was looked up
        raise BadRequest(
            ErrorText(
                "{name} does not listen. Choose a model that does, openai/whisper-small for example.",
                name=name,
            ),
            "model",
        )
    found = _LANGUAGE.search(str(name).rstrip("/"))
    language = found[1] if found else "en"
    start = loaded.config.get("decoder_start_token_id")
    start = loaded.config.get("bos_token_id", 1) if start is None else start
    tokenizer = loaded.tokenizer
    decode = lambda ids: tokenizer.decode(list(ids)).strip()  # noqa: E731
    encode = lambda text: tokenizer.encode(text, add_special=False, parse_special=False)  # noqa: E731
    return AsrModel(name, int(start), loaded.context, language, decode, tokenizer.bytes_of, encode)


def sound_of(samples: np.ndarray, language: str | None = None) -> Sound:
    return Sound(samples, hashlib.blake2b(samples.tobytes(), digest_size=16).hexdigest(), language)


def _of_model(options: ListenOptions) -> ListenOptions:
    """What the model itself is asked for: not the times of words where an aligner gives them."""
    return replace(options, words=False) if options.aligner else options


def _tapped(blocks: Iterable[np.ndarray], tap: Callable[[np.ndarray], None]) -> Iterator[np.ndarray]:
    for block in blocks:
        tap(block)
        yield block


def _asked(segments: Iterable[TranscriptSegment], options: ListenOptions) -> Iterator[TranscriptSegment]:
    """Without the times of words that only served to tell speakers apart."""
    for segment in segments:
        yield segment if options.words else replace(segment, words=())


class PartialSpeech(Protocol):
    """One stretch of speech that has not ended."""

    def segment(self, samples: np.ndarray, begins: float) -> TranscriptSegment:
        """Of the speech so far, from its beginning on. Blocks."""


class Transcriber:
    """Transcribes sounds with one model of an engine."""

    ahead = _AHEAD
    starts_bare = True  # a request is the sound and the token that starts a transcript

    def __init__(
        self, engine: EngineLike, model: AsrModel, rules: VadRules = DEFAULT_RULES, vad: str = VOICE_ACTIVITY
    ) -> None:
        self.model = model
        self._engine = engine
        self.options = ListenOptions()  # where none are named: of captions, and of a conversation
        self.glossary = Glossary()
        self._rules = rules
        self._vad = vad

    def listen(self, sound: Audio | SoundStream, options: ListenOptions | None = None, *,
               progress: Callable[[float], None] = lambda share: None) -> Transcript:  # fmt: skip
        """The whole transcript. `progress` receives the share of the sound that is done."""
        segments = []
        for segment in self.segments(sound, options):
            segments.append(segment)
            if isinstance(sound, Audio):
                progress(min(1.0, segment.end / sound.seconds))
            elif sound.expected > 0:
                progress(min(1.0, (segment.end - sound.start) / sound.expected))
        progress(1.0)
        return Transcript(segments, sound.seconds, self.model.language)

    def segments(self, sound: Audio | SoundStream, options: ListenOptions | None = None) -> Iterator[TranscriptSegment]:
        """Segments in order, each once it and all before it are done. Closing the iterator cancels the work."""
        if sound.rate != SAMPLE_RATE:
            raise BadRequest(f"The model takes {SAMPLE_RATE} samples a second, not {sound.rate}.", "rate")
        options = options or self.options
        self.check(_of_model(options))
        if options.speakers is None:
            yield from self._segments(sound, options)
            return
        shift = 0.0 if isinstance(sound, Audio) else sound.start
        voices, waiting = SpeakerActivity(self._engine, options.speakers), deque[TranscriptSegment]()
        timed = self.timed(options)
        for segment in self._segments(sound, timed, voices.feed):
            waiting.append(segment)
            while waiting and waiting[0].end - shift + SPEAKERS_NEAR <= voices.decided:
                yield from _asked(voices.attributed(waiting.popleft(), shift), options)
        voices.finish()
        for segment in waiting:
            yield from _asked(voices.attributed(segment, shift), options)

    def timed(self, options: ListenOptions) -> ListenOptions:
        """With times of words, where the model gives some: they say where one speaker ends and the next begins."""
        timed = replace(options, words=True)
        try:
            self.check(_of_model(timed))
        except BadRequest:
            return options
        return timed

    def _segments(
        self,
        sound: Audio | SoundStream,
        options: ListenOptions,
        tap: Callable[[np.ndarray], None] | None = None,
    ) -> Iterator[TranscriptSegment]:
        """`tap` receives the samples as they are read."""
        shift = 0.0 if isinstance(sound, Audio) else sound.start
        blocks: Iterable[np.ndarray] = [sound.samples] if isinstance(sound, Audio) else sound
        if tap is not None:
            blocks = _tapped(blocks, tap)
        aligner = ForcedAligner(self._engine, options.aligner) if options.aligner and options.words else None
        options = _of_model(options)
        in_flight: deque[tuple[SampleSpan, np.ndarray, Any]] = deque()
        admitted = False  # later segments of a sound bypass the queue limit
        parts = self.parts(blocks)
        try:
            while True:
                while len(in_flight) < self.ahead and (found := next(parts, None)) is not None:
                    span, part = found
                    in_flight.append((span, part, self.submit(part, options, admitted=admitted)))
                    admitted = True
                if not in_flight:
                    return
                span, part, handle = in_flight[0]
                begins = shift + span.start / SAMPLE_RATE
                made = self.finished(part, begins, handle, options)
                in_flight.popleft()
                if aligner is not None:
                    made = [self._aligned(aligner, segment, part, begins) for segment in made]
                yield from (self.glossary.corrected(segment) for segment in made if segment.text)
        finally:
            for _, _, handle in in_flight:
                handle.cancel()

    def _aligned(
        self, aligner: ForcedAligner, segment: TranscriptSegment, samples: np.ndarray, begins: float
    ) -> TranscriptSegment:
        first, last = (round((time - begins) * SAMPLE_RATE) for time in (segment.start, segment.end))
        return aligner.timed(segment, samples[max(0, first) : last], self.model.language)

    def check(self, options: ListenOptions) -> None:
        """Raise BadRequest for what the model cannot do."""
        self.check_language(options.language)
        name = self.model.name
        if self._elsewhere:
            if options.words:
                raise BadRequest(
                    ErrorText("{model} runs on another server, which gives no times of words.", model=name), "words"
                )
            asked = {"prompt": options.prompt, "model": options.translate, "temperature": options.temperature}
            if refused := next((field for field, value in asked.items() if value), None):
                raise BadRequest(f"{name} runs on another server: only its language is chosen here.", refused)
            return
        if options.translate:
            raise BadRequest(f"{name} does not translate. Whisper models do.", "model")
        if options.prompt:
            raise BadRequest(f"{name} takes no prompt. Whisper and Qwen3-ASR models do.", "prompt")
        if options.temperature:
            raise BadRequest(f"{name} takes no temperature. Whisper models do.", "temperature")

    @property
    def _elsewhere(self) -> bool:
        return self.model.language == "auto"

    def check_language(self, language: str | None) -> None:
        if not self._elsewhere and language not in (None, "auto", self.model.language):
            raise BadRequest(
                ErrorText(
                    "{model} transcribes {own}, not {language}. Choose a model for that language.",
                    model=self.model.name,
                    own=repr(self.model.language),
                    language=repr(language),
                ),
                "language",
            )

    def parts(self, blocks: Iterable[np.ndarray]) -> Iterator[tuple[SampleSpan, np.ndarray]]:
        """What is submitted together: spans of speech, with their samples."""
        return speech_parts(self._engine, blocks, self._rules, self._vad)

    def submit(
        self,
        samples: np.ndarray,
        options: ListenOptions | None = None,
        *,
        penalty: float | None = None,
        admitted: bool = False,
    ) -> Any:
        """Begin to hear samples. What comes back has `cancel()`, and is for `finished`: a request's handle, or a task."""
        rate = _TOKENS_PER_SECOND.get(self.model.language, _TOKENS_PER_SECOND_ELSE)
        most = max(2, min(self.model.context - 2, int(rate * len(samples) / SAMPLE_RATE) + 2))
        params = transcript_sampling(most, penalty)
        chosen = (options or self.options).language
        spoken = chosen if self._elsewhere and chosen != "auto" else None
        request = Request(self.model.name, [self.model.start_id], params, sound=sound_of(samples, spoken))
        return self._engine.submit(request, admitted=admitted)

    def finished(
        self, samples: np.ndarray, begins: float, handle: Any, options: ListenOptions
    ) -> Sequence[TranscriptSegment]:
        """Wait for what was submitted. A transcript that loops is retried with a repetition penalty."""
        result = handle.result()
        loop = loop_start(result.text.split())
        if loop is not None:
            result = self.submit(samples, options, penalty=_AGAIN, admitted=True).result()
            loop = loop_start(result.text.split())
        text = " ".join(result.text.split()[:loop])
        logprobs = [token.logprob for token in result.logprobs]
        made = TranscriptSegment(
            start=begins,
            end=begins + len(samples) / SAMPLE_RATE,
            text=text,
            confidence=float(np.exp(np.mean(logprobs))) if logprobs else 1.0,  # not every server elsewhere says
            doubtful=loop is not None,
            tokens=[TranscriptToken(one.id, self.model.bytes_of(one.id), one.logprob) for one in result.logprobs],
            scores=TranscriptScores(float(np.mean(logprobs)) if logprobs else 0.0),
        )
        return [replace(made, words=self._words(samples, made, result)) if options.words and text else made]

    def partials(self) -> PartialSpeech | None:
        """What hears a stretch of speech before it has ended, for less than hearing all of it again; None where there is no such."""
        return None

    def segment(self, samples: np.ndarray, begins: float, handle: Any) -> TranscriptSegment:
        """What was submitted, as one segment."""
        made = self.finished(samples, begins, handle, self.options)
        if len(made) == 1:
            return self.glossary.corrected(made[0])
        text = " ".join(one.text for one in made if one.text)
        confidence = float(np.mean([one.confidence for one in made])) if made else 0.0
        whole = TranscriptSegment(begins, begins + len(samples) / SAMPLE_RATE, text, confidence)
        return self.glossary.corrected(whole)

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

    def __init__(
        self,
        engine: EngineLike,
        listener: Transcriber,
        rules: VadRules = DEFAULT_RULES,
        speakers: SpeakerActivity | None = None,
    ) -> None:
        """`speakers`: who is heard. Final text then waits until it is decided whose it is, and is cut between speakers."""
        self._listener = listener
        self._speakers, self._undecided = speakers, deque[TranscriptSegment]()
        self._activity = VoiceActivityStream(engine, rules)
        self._kept = np.zeros(0, np.float32)  # samples that may still be transcribed
        self._first = 0  # position of the first of them in the stream
        self._captioned = 0  # end of the last partial text
        self._ongoing: tuple[int, PartialSpeech | None] = (-1, None)  # the start of the speech that it hears

    @property
    def speaking(self) -> bool:
        """True during speech."""
        return self._activity.speaking

    def feed(self, samples: np.ndarray) -> list[Caption]:
        """Process f32 samples at 16 kHz and return new captions. Blocks until the models are done."""
        self._kept = np.concatenate((self._kept, samples.astype(np.float32, copy=False)))
        ended = [change.span for change in self._activity.feed(samples) if isinstance(change, SpeechEnded)]
        if self._speakers is not None:
            self._speakers.feed(samples)
        made = self._final(ended) + self._partial()
        self._drop_old()
        return [caption for caption in made if caption.segment.text]

    def finish(self) -> list[Caption]:
        """End the stream: the current speech becomes final."""
        ended = [change.span for change in self._activity.finish()]
        if self._speakers is not None:
            self._speakers.finish()
        return [caption for caption in self._final(ended) if caption.segment.text]

    def _final(self, ended: Iterable[SampleSpan]) -> list[Caption]:
        """Of speech that has ended; of earlier speech too, if it was not known whose it is."""
        made = [self._caption(span, True) for span in ended]
        if self._speakers is None:
            return made
        self._undecided += [caption.segment for caption in made if caption.segment.text]
        known: list[Caption] = []
        while self._undecided and self._undecided[0].end + SPEAKERS_NEAR <= self._speakers.decided:
            parts = self._speakers.attributed(self._undecided.popleft())
            known += [Caption(part, True) for part in parts]
        return known

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
        if not final:
            if self._ongoing[0] != wide.start:
                self._ongoing = wide.start, self._listener.partials()
            if (ongoing := self._ongoing[1]) is not None:
                return Caption(self._listener.glossary.corrected(ongoing.segment(part, begins)), False)
        return Caption(self._listener.segment(part, begins, self._listener.submit(part)), final)

    def _drop_old(self) -> None:
        """Drop samples that are no longer needed."""
        begun = self._activity.begun
        keep_from = (self._activity.seen if begun is None else begun) - 2 * _LEAD
        if keep_from > self._first:
            self._kept = self._kept[keep_from - self._first :]
            self._first = keep_from
