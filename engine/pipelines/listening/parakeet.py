"""Transcription with Parakeet: a stretch of speech is one task, whose tokens come with their times."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.errors import BadRequest
from engine.media.sound import SAMPLE_RATE
from engine.models.parakeet import HeadMemory, TimedIds
from engine.pipelines.listening.transcript import TranscriptScores, TranscriptSegment, TranscriptToken, words_in_time
from engine.pipelines.listening.transcription import AsrModel, ListenOptions, Transcriber
from engine.tasks import EngineLike, Task

# of the models with a large vocabulary (TDT 0.6B v3), which write the language that they hear and do not name it
LANGUAGES = (
    *("bg", "cs", "da", "de", "el", "en", "es", "et", "fi", "fr", "hr", "hu", "it", "lt", "lv", "mt", "nl", "pl", "pt"),
    *("ro", "ru", "sk", "sl", "sv", "uk"),
)
UNKNOWN = "und"  # ISO 639: undetermined
LOOK_BACK = 64  # frames before those that are new: 5 seconds
HOLD = 12  # frames at the end, a second, whose tokens more sound may change
_ENGLISH = 2048  # the English ones have 1,024 tokens


class ParakeetPartials:
    """The text of speech that has not ended. What was heard stays: each time only the last seconds are encoded, so that the work does not grow with
    the speech."""

    def __init__(self, engine: EngineLike, model: AsrModel) -> None:
        self._engine, self._model = engine, model
        self._memory: HeadMemory | None = None
        self._ids: list[int] = []
        self._logprobs: list[float] = []

    def segment(self, samples: np.ndarray, begins: float) -> TranscriptSegment:
        """Of the speech so far, from its beginning on. Blocks."""

        def work(loaded: Any) -> Generator[None, None, TimedIds]:
            model = loaded.model
            memory = self._memory = self._memory or model.start()
            first = max(0, min(memory.at, len(samples) // model.frame) - LOOK_BACK)
            stays, may_change = yield from model.continued(samples[first * model.frame :], first, memory, HOLD)
            self._ids += stays.ids
            self._logprobs += stays.logprobs
            return may_change

        rest: TimedIds = self._engine.task(self._model.name, work, admitted=True).result()
        ids, logprobs = [*self._ids, *rest.ids], [*self._logprobs, *rest.logprobs]
        return TranscriptSegment(
            start=begins,
            end=begins + len(samples) / SAMPLE_RATE,
            text=self._model.decode(ids),
            confidence=float(np.exp(np.mean(logprobs))) if ids else 0.0,
        )


class ParakeetTranscriber(Transcriber):
    starts_bare = False

    ahead = 4  # whole stretches wait for the one before: more in flight win nothing

    def __init__(self, engine: EngineLike, model: AsrModel, vocab: int) -> None:
        self.languages = ("en",) if vocab <= _ENGLISH else LANGUAGES
        self._unnamed = "en" if len(self.languages) == 1 else UNKNOWN
        super().__init__(engine, replace(model, language=self._unnamed))

    def check_language(self, language: str | None) -> None:
        if language not in (None, "auto", *self.languages):
            have = ", ".join(self.languages)
            raise BadRequest(
                f"{self.model.name} does not know the language {language!r}. It knows: {have}.", "language"
            )

    def submit(
        self,
        samples: np.ndarray,
        options: ListenOptions | None = None,
        *,
        penalty: float | None = None,
        admitted: bool = False,
    ) -> Task[TimedIds]:
        chosen = (options or self.options).language
        # as the person names it for this sound: the model itself names none
        self.model = replace(self.model, language=chosen if chosen and chosen in self.languages else self._unnamed)

        def work(loaded: Any) -> Generator[None, None, TimedIds]:
            made: TimedIds = yield from loaded.model.recognize(samples)
            return made

        return self._engine.task(self.model.name, work, admitted=admitted)

    def partials(self) -> ParakeetPartials:
        return ParakeetPartials(self._engine, self.model)

    def finished(
        self, samples: np.ndarray, begins: float, handle: Task[TimedIds], options: ListenOptions
    ) -> Sequence[TranscriptSegment]:
        recognized = handle.result()
        made = TranscriptSegment(
            start=begins,
            end=begins + len(samples) / SAMPLE_RATE,
            text=self.model.decode(recognized.ids),
            confidence=float(np.exp(np.mean(recognized.logprobs))) if recognized.ids else 0.0,
            tokens=[
                TranscriptToken(id, self.model.bytes_of(id), p) for id, p in zip(recognized.ids, recognized.logprobs)
            ],
            scores=TranscriptScores(float(np.mean(recognized.logprobs)) if recognized.ids else 0.0),
        )
        if options.words and made.text:
            middle = (np.array(recognized.starts) + np.array(recognized.ends)) / (2 * max(1, recognized.frames))
            made = replace(made, words=words_in_time(made, recognized.ids, middle.clip(0.0, 1.0), self.model.decode))
        return [made]
