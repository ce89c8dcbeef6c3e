"""Transcribing a sound: voice activity cuts it, the segments go to the model together, results come in order.

Everything that computes runs in the engine: voice activity and word times as tasks, each segment as a request, so that
several files, chats and pages share the device.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from engine.errors import BadRequest
from engine.media.sound import Audio
from engine.models.moonshine import SAMPLE_RATE
from engine.models.moonshine_times import token_times
from engine.pipelines.listening.cutting import USUAL, Rules, Span
from engine.pipelines.listening.repeats import loop_start
from engine.pipelines.listening.speech import VOICE_ACTIVITY, spans
from engine.pipelines.listening.transcript import Segment, Transcript, Word
from engine.pipelines.listening.words import words_in_time
from engine.tasks import Task, Work
from engine.types import Request, RequestHandle, Result, SamplingParams, Sound

LISTENING = ("moonshine", "moonshine_streaming")  # model types
_AHEAD = 32  # segments that are given to the engine before the first is awaited
_TOKENS_A_SECOND = {"en": 6.5}  # more is no speech; other scripts take more tokens
_TOKENS_A_SECOND_ELSE = 13.0
_LANGUAGE = re.compile(r"-(ar|es|ja|ko|uk|vi|zh)$")
_AGAIN = 1.3  # the repetition penalty of a second try


class EngineLike(Protocol):
    """The part of the engine that listening needs."""

    def submit(self, request: Request, *, admitted: bool = False) -> RequestHandle: ...
    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]: ...


@dataclass(frozen=True)
class Ear:
    """A model that listens, and the facts about it."""

    name: str
    start_id: int
    context: int
    language: str
    decode: Callable[[Sequence[int]], str]  # one token sequence as text


def ear(name: str, loaded: Any) -> Ear:
    """Raises BadRequest for a model that does not listen."""
    if loaded.config.get("model_type") not in LISTENING:  # the model itself may have been unloaded since it was found
        raise BadRequest(
            f"{name} does not listen. Moonshine models do: UsefulSensors/moonshine-base, for example.", "model"
        )
    found = _LANGUAGE.search(str(name).rstrip("/"))
    language = found[1] if found else "en"
    start = loaded.config.get("decoder_start_token_id")
    start = loaded.config.get("bos_token_id", 1) if start is None else start
    return Ear(name, int(start), loaded.context, language, lambda ids: loaded.tokenizer.decode(list(ids)).strip())


class Listener:
    def __init__(self, engine: EngineLike, model: Ear, rules: Rules = USUAL, vad: str = VOICE_ACTIVITY) -> None:
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

    def segments(self, audio: Audio, *, language: str | None = None, words: bool = False) -> Iterator[Segment]:
        """In order, each as soon as it and all before it are done. Closing the iterator stops the work."""
        self._check(audio, language)
        flying: deque[tuple[Span, np.ndarray, RequestHandle]] = deque()
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

    def spans(self, audio: Audio) -> list[Span]:
        """Where speech is."""
        return spans(self._engine, audio, self._rules, self._vad)

    def submit(self, samples: np.ndarray, penalty: float | None = None, *, admitted: bool = False) -> RequestHandle:
        rate = _TOKENS_A_SECOND.get(self.model.language, _TOKENS_A_SECOND_ELSE)
        most = max(2, min(self.model.context - 2, int(rate * len(samples) / SAMPLE_RATE) + 2))
        params = SamplingParams(
            temperature=0.0, max_tokens=most, logprobs=True, approximate_logprobs=True, repetition_penalty=penalty
        )
        key = hashlib.blake2b(samples.tobytes(), digest_size=16).hexdigest()
        request = Request(self.model.name, [self.model.start_id], params, sound=Sound(samples, key))
        return self._engine.submit(request, admitted=admitted)

    def segment(self, samples: np.ndarray, begins: float, handle: RequestHandle, words: bool = False) -> Segment:
        """Wait for a segment's text, and ask again where the model lost itself in repetitions."""
        result = handle.result()
        loop = loop_start(result.text.split())
        if loop is not None:
            result = self.submit(samples, _AGAIN, admitted=True).result()
            loop = loop_start(result.text.split())
        text = " ".join(result.text.split()[:loop])
        sure = [token.logprob for token in result.logprobs]
        made = Segment(
            start=begins,
            end=begins + len(samples) / SAMPLE_RATE,
            text=text,
            confidence=float(np.exp(np.mean(sure))) if sure else 0.0,
            doubtful=loop is not None,
        )
        return replace(made, words=self._words(samples, made, result)) if words and text else made

    def _words(self, samples: np.ndarray, segment: Segment, result: Result) -> list[Word]:
        ids = list(result.ids)

        def work(loaded: Any) -> Generator[None, None, np.ndarray]:
            (features,) = yield from loaded.model.encode([Sound(samples, "")])
            return token_times(loaded.model, features, [self.model.start_id, *ids])

        times: np.ndarray = self._engine.task(self.model.name, work, admitted=True).result()
        return words_in_time(segment, ids, times[: len(ids)], self.model.decode)
