"""Transcription with Whisper: the language, timestamps, prompts, translation, and the rules for what is believed.

Speech is put together to windows of up to 30 seconds, the length of the model's encoder. Each is decoded with timestamps, which
cut it into segments. A transcript that repeats itself, or that the model believes little, is sampled again at a higher temperature;
one that it believes little where it hears no speech is dropped. The rules are those of the reference (`WhisperForConditionalGeneration`).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.errors import BadRequest
from engine.media.sound import SAMPLE_RATE
from engine.models.whisper import token_frames
from engine.pipelines.listening.transcript import (
    TranscriptScores,
    TranscriptSegment,
    TranscriptToken,
    TranscriptWord,
    words_in_time,
)
from engine.pipelines.listening.transcription import AsrModel, ListenOptions, Transcriber, sound_of
from engine.pipelines.listening.voice_activity import VOICE_ACTIVITY, SampleSpan, VadRules
from engine.tasks import EngineLike
from engine.types import Failed, PromptScores, Request, RequestHandle, Result, SamplingParams, TranscriptRules
from engine.weights.ggml_whisper import LANGUAGES

TIME = 0.02  # seconds of a timestamp's step
_FRAME = 160  # samples of a spectrogram's frame; two make a step
TEMPERATURES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
MOST_COMPRESSION = 1.35
LEAST_LOGPROB = -1.0
NO_SPEECH = 0.6
_LEAST_ADVANCE = SAMPLE_RATE // 2  # samples; less than that is not decoded once more
_SURE = 3 * SAMPLE_RATE  # samples; the language of less is heard again in the next window
_AHEAD = 4  # windows in flight: each has keys and values of 1500 frames in every layer


@dataclass(frozen=True)
class WhisperTokens:
    """Ids of the special tokens."""

    start: int
    end: int
    zero: int  # the first timestamp
    previous: int | None
    no_speech: int
    languages: Mapping[str, int]  # empty: the model knows one language and no tasks
    tasks: Mapping[str, int]
    banned: tuple[int, ...]
    first_banned: tuple[int, ...]
    latest_first: int | None

    @classmethod
    def of(cls, tokenizer: Any, config: Mapping[str, Any], generation: Mapping[str, Any]) -> WhisperTokens:
        """As generation_config.json names them, else by their spelling."""

        def id(token: str, *named: str) -> int | None:
            for name in named:
                if isinstance(generation.get(name), int):
                    return int(generation[name])
            found: int | None = tokenizer.id(token)
            return found

        start = id("<|startoftranscript|>", "decoder_start_token_id")
        end = id("<|endoftext|>", "eos_token_id")
        untimed = id("<|notimestamps|>", "no_timestamps_token_id")
        if start is None or end is None or untimed is None:
            raise BadRequest("The model's tokenizer lacks Whisper's special tokens. Download it again.", "model")
        languages = generation.get("lang_to_id") or {
            token: found for code in LANGUAGES if (found := tokenizer.id(token := f"<|{code}|>")) is not None
        }
        tasks = {name: tokenizer.id(f"<|{name}|>") for name in ("transcribe", "translate")}
        tasks |= generation.get("task_to_id") or {}
        many = bool(generation.get("is_multilingual", len(languages) > 1))
        return cls(
            start=start,
            end=end,
            zero=untimed + 1,
            previous=id("<|startofprev|>", "prev_sot_token_id"),
            no_speech=untimed - 1,
            languages={token.strip("<|>"): found for token, found in languages.items()} if many else {},
            tasks={name: found for name, found in tasks.items() if found is not None} if many else {},
            banned=_ids(generation, config, "suppress_tokens"),
            first_banned=_ids(generation, config, "begin_suppress_tokens"),
            latest_first=generation.get("max_initial_timestamp_index"),
        )


def _ids(generation: Mapping[str, Any], config: Mapping[str, Any], name: str) -> tuple[int, ...]:
    found = generation.get(name) or config.get(name) or ()
    return tuple(int(id) for id in found if id >= 0)


@dataclass(frozen=True)
class TimedTokens:
    """A part of a window's tokens; times in seconds from its beginning."""

    start: float
    end: float
    first: int  # the place of the first one
    ids: Sequence[int]


def cut(ids: Sequence[int], zero: int, frames: int) -> tuple[list[TimedTokens], int]:
    """A window of `frames` of the spectrogram, cut at its timestamps, and how many frames of it are done: a window that ends in a
    pair of timestamps is continued there. `ids` are without the end of the text."""
    times = [id >= zero for id in ids]
    single = times[-2:] == [False, True]
    ends = [i + 1 for i in range(len(ids) - 1) if times[i] and times[i + 1]]
    if not ends:
        marks = [id - zero for id in ids if id >= zero]
        last = marks[-1] if marks and marks[-1] else frames // 2
        return [TimedTokens(0.0, last * TIME, 0, ids)], frames
    if single:
        ends.append(len(ids))
    else:
        ends[-1] += 1
    made, begin = list[TimedTokens](), 0
    for i, end in enumerate(ends):
        part = ids[begin:end]
        closing = part[-2] if i + 1 == len(ends) and not single else part[-1]
        made.append(TimedTokens((part[0] - zero) * TIME, (closing - zero) * TIME, begin, part))
        begin = end
    return made, frames if single else 2 * (ids[begin - 2] - zero)


def compression(ids: Sequence[int], vocab: int) -> float:
    """How much shorter zlib makes the tokens: loops compress well."""
    size = int(math.log2(vocab) / 8) + 1
    data = b"".join(id.to_bytes(size, "little") for id in ids)
    return len(data) / len(zlib.compress(data)) if data else 0.0


def believed(scores: TranscriptScores) -> tuple[bool, bool]:
    """Whether to try again at a higher temperature, and whether to drop the transcript because nobody speaks."""
    if scores.logprob < LEAST_LOGPROB and (scores.no_speech or 0.0) > NO_SPEECH:
        return False, True
    return (scores.compression or 0.0) > MOST_COMPRESSION or scores.logprob < LEAST_LOGPROB, False


class WhisperTranscriber(Transcriber):
    ahead = _AHEAD

    def __init__(
        self,
        engine: EngineLike,
        model: AsrModel,
        tokens: WhisperTokens,
        vocab: int,
        longest: int,
        vad: str = VOICE_ACTIVITY,
    ) -> None:
        """`longest`: samples of a window."""
        super().__init__(engine, model, VadRules(longest=longest / SAMPLE_RATE), vad)
        self.tokens, self._vocab, self._longest = tokens, vocab, longest
        self._found: str | None = None  # the language that was heard in this sound

    def segments(self, sound: Any, options: ListenOptions | None = None) -> Iterator[TranscriptSegment]:
        self._found = None
        return super().segments(sound, options)

    def check(self, options: ListenOptions) -> None:
        self.check_language(options.language)
        if options.translate and "translate" not in self.tokens.tasks:
            raise BadRequest(f"{self.model.name} knows English alone, and does not translate.", "model")
        if options.temperature is not None and not 0 <= options.temperature <= 1:
            raise BadRequest(f"temperature must be between 0 and 1, not {options.temperature!r}.", "temperature")

    def check_language(self, language: str | None) -> None:
        known = self.tokens.languages
        if language in (None, "auto") or language in known or (not known and language == "en"):
            return
        have = ", ".join(known) or "en"
        raise BadRequest(f"{self.model.name} does not know the language {language!r}. It knows: {have}.", "language")

    def parts(self, blocks: Iterable[np.ndarray]) -> Iterator[tuple[SampleSpan, np.ndarray]]:
        """Windows: neighbouring spans of speech, as long as they fit, with silence between them."""
        window: list[tuple[SampleSpan, np.ndarray]] = []
        for span, samples in super().parts(blocks):
            if window and span.stop - window[0][0].start > self._longest:
                yield _joined(window)
                window = []
            window.append((span, samples[: self._longest]))
        if window:
            yield _joined(window)

    # -- one window

    def submit(
        self,
        samples: np.ndarray,
        options: ListenOptions | None = None,
        *,
        penalty: float | None = None,
        admitted: bool = False,
        temperature: float | None = None,
    ) -> RequestHandle:
        options = options or self.options
        samples = samples[: self._longest]
        tokens = self.tokens
        prompt = [*self._before(options), *self._opening(samples, options, admitted)]
        rules = TranscriptRules(tokens.first_banned, tokens.zero, tokens.end, tokens.latest_first)
        first = options.temperature or 0.0
        params = SamplingParams(
            temperature=first if temperature is None else temperature,
            top_p=1.0,
            top_k=0,
            max_tokens=max(1, self.model.context - len(prompt) - 1),
            logprobs=True,
            banned_tokens=tokens.banned,
            ignore_eos=True,  # the rules end the transcript, with its end among its tokens
            transcript=rules,
            seed=0,
        )
        request = Request(self.model.name, prompt, params, sound=sound_of(samples))
        return self._engine.submit(request, admitted=admitted)

    def finished(
        self, samples: np.ndarray, begins: float, handle: RequestHandle, options: ListenOptions
    ) -> Sequence[TranscriptSegment]:
        made, at = list[TranscriptSegment](), 0
        while True:
            part = samples[at : at + self._longest]
            segments, frames = self._window(part, begins + at / SAMPLE_RATE, handle, options)
            made += segments
            done = frames * _FRAME
            if done < _LEAST_ADVANCE or len(samples) - at - done < _LEAST_ADVANCE:
                return made
            at += done
            handle = self.submit(samples[at : at + self._longest], options, admitted=True)

    def _window(
        self, samples: np.ndarray, begins: float, handle: RequestHandle, options: ListenOptions
    ) -> tuple[list[TranscriptSegment], int]:
        """The segments of a window, and how many frames of it are done."""
        frames = len(samples) // _FRAME
        result, scores = self._believable(samples, handle, options)
        _, silent = believed(scores)
        if silent:
            return [], frames
        ids = list(result.ids)
        spoken = ids[:-1] if ids and ids[-1] == self.tokens.end else ids
        parts, done = cut(spoken, self.tokens.zero, frames)
        times = self._times(samples, result, options) if options.words and spoken else None
        doubtful, _ = believed(scores)
        made = []
        for part in parts:
            segment = self._segment(part, result, begins, len(samples) / SAMPLE_RATE, scores)
            if times is not None:
                segment = replace(segment, words=self._words_of(segment, part, times, begins))
            made.append(replace(segment, doubtful=doubtful))
        return made, done

    def _believable(
        self, samples: np.ndarray, handle: RequestHandle, options: ListenOptions
    ) -> tuple[Result, TranscriptScores]:
        """The result of a window, sampled again until the rules believe it."""
        temperatures = TEMPERATURES if options.temperature is None else (options.temperature,)
        silence: float | None = None
        for i, temperature in enumerate(temperatures):
            result = (
                handle if i == 0 else self.submit(samples, options, admitted=True, temperature=temperature)
            ).result()
            logprobs = [token.logprob for token in result.logprobs]
            mean = float(np.mean(logprobs)) if logprobs else 0.0
            if silence is None and (options.scores or mean < LEAST_LOGPROB):
                silence = self._no_speech(samples, options)
            scores = TranscriptScores(mean, temperature, compression(list(result.ids), self._vocab), silence)
            again, _ = believed(scores)
            if not again:
                break
        return result, scores

    def _segment(
        self, part: TimedTokens, result: Result, begins: float, seconds: float, scores: TranscriptScores
    ) -> TranscriptSegment:
        text = [(id, result.logprobs[part.first + i].logprob) for i, id in enumerate(part.ids) if id < self.tokens.end]
        return TranscriptSegment(
            start=begins + min(part.start, seconds),
            end=begins + min(max(part.start, part.end), seconds),
            text=self.model.decode([id for id, _ in text]),
            confidence=float(np.exp(np.mean([logprob for _, logprob in text]))) if text else 0.0,
            tokens=[TranscriptToken(id, self.model.bytes_of(id), logprob) for id, logprob in text],
            scores=scores,
        )

    # -- the prompt

    def _before(self, options: ListenOptions) -> list[int]:
        previous = self.tokens.previous
        prompt = self.glossary.prompt(options.prompt)
        if not prompt or previous is None:
            return []
        most = self.model.context // 2 - 1
        return [previous, *self.model.encode(f" {prompt.strip()}")[-most:]]

    def _opening(self, samples: np.ndarray, options: ListenOptions, admitted: bool) -> list[int]:
        tokens = self.tokens
        if not tokens.languages:
            return [tokens.start]
        wanted = options.language if options.language not in (None, "auto") else self._found
        if wanted is None:
            wanted = self._detect_language(samples, admitted)
            if len(samples) >= min(_SURE, self._longest):
                self._found = wanted
        self.model = replace(self.model, language="en" if options.translate else wanted)
        task = tokens.tasks["translate" if options.translate else "transcribe"]
        return [tokens.start, tokens.languages[wanted], task]

    def _detect_language(self, samples: np.ndarray, admitted: bool) -> str:
        """The language of a window, by the token that the model would write for it."""
        languages = self.tokens.languages
        params = SamplingParams(
            temperature=0.0, max_tokens=1, required_tokens=list(languages.values()), ignore_eos=True
        )
        request = Request(self.model.name, [self.tokens.start], params, sound=sound_of(samples))
        (found,) = self._engine.submit(request, admitted=admitted).result().ids
        return next(language for language, id in languages.items() if id == found)

    def _no_speech(self, samples: np.ndarray, options: ListenOptions) -> float:
        """The probability of the token for silence, in the place of the language."""
        prompt = [*self._before(options), self.tokens.start, self.tokens.no_speech]
        params = SamplingParams(temperature=0.0, max_tokens=1, ignore_eos=True)
        request = Request(self.model.name, prompt, params, sound=sound_of(samples), prompt_logprobs=True)
        last = -math.inf
        for event in self._engine.submit(request, admitted=True):
            if isinstance(event, PromptScores) and event.logprobs:
                last = event.logprobs[-1].logprob
            elif isinstance(event, Failed):
                raise event.error
        return math.exp(last)

    # -- words

    def _times(self, samples: np.ndarray, result: Result, options: ListenOptions) -> np.ndarray:
        """When each token of a window is said, in seconds from its beginning."""
        opening = [*self._before(options), *self._opening(samples, options, True)]
        ids, frames = list(result.ids), max(1, len(samples) // (2 * _FRAME))

        def work(loaded: Any) -> Generator[None, None, np.ndarray]:
            (features,) = yield from loaded.model.encode([sound_of(samples)])
            return (yield from token_frames(loaded.model, features, [*opening, *ids], len(opening), frames))

        found: np.ndarray = self._engine.task(self.model.name, work, admitted=True).result()
        return found * TIME

    def _words_of(
        self, segment: TranscriptSegment, part: TimedTokens, times: np.ndarray, begins: float
    ) -> list[TranscriptWord]:
        places = [i for i, id in enumerate(part.ids) if id < self.tokens.end]
        span = segment.end - segment.start
        if not places or span <= 0:
            return []
        shares = (begins + times[[part.first + i for i in places]] - segment.start) / span
        return words_in_time(
            segment, [part.ids[i] for i in places], np.maximum.accumulate(shares.clip(0.0, 1.0)), self.model.decode
        )


def _joined(window: Sequence[tuple[SampleSpan, np.ndarray]]) -> tuple[SampleSpan, np.ndarray]:
    whole = SampleSpan(window[0][0].start, window[-1][0].start + len(window[-1][1]))
    samples = np.zeros(len(whole), np.float32)
    for span, part in window:
        samples[span.start - whole.start :][: len(part)] = part
    return whole, samples
