"""Transcription with Voxtral: the sound stands in an instruction that ends in a token of its own, and the reply is the transcript. Voxtral
Realtime writes along with the sound: a token for each 80 milliseconds, most of which have no text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.errors import BadRequest, TokenizerError
from engine.media.inputs import HeardSound
from engine.media.sound import SAMPLE_RATE
from engine.models.voxtral_realtime import STREAMING_PAD, VoxtralRealtime
from engine.pipelines.listening.transcript import TranscriptScores, TranscriptSegment, TranscriptToken
from engine.pipelines.listening.transcription import (
    AsrModel,
    ListenOptions,
    Transcriber,
    loop_start,
    sound_of,
    transcript_sampling,
)
from engine.tasks import EngineLike
from engine.types import Request
from engine.vision.voxtral import VoxtralSoundProcessor

UNKNOWN = "und"  # the code of a language that nobody named: Voxtral does not say which one it hears
_TOKENS_PER_SECOND = 13.0
_CODES = frozenset(  # ISO 639-1
    [
        "aa",
        "ab",
        "ae",
        "af",
        "ak",
        "am",
        "an",
        "ar",
        "as",
        "av",
        "ay",
        "az",
        "ba",
        "be",
        "bg",
        "bh",
        "bi",
        "bm",
        "bn",
        "bo",
        "br",
        "bs",
        "ca",
        "ce",
        "ch",
        "co",
        "cr",
        "cs",
        "cu",
        "cv",
        "cy",
        "da",
        "de",
        "dv",
        "dz",
        "ee",
        "el",
        "en",
        "eo",
        "es",
        "et",
        "eu",
        "fa",
        "ff",
        "fi",
        "fj",
        "fo",
        "fr",
        "fy",
        "ga",
        "gd",
        "gl",
        "gn",
        "gu",
        "gv",
        "ha",
        "he",
        "hi",
        "ho",
        "hr",
        "ht",
        "hu",
        "hy",
        "hz",
        "ia",
        "id",
        "ie",
        "ig",
        "ii",
        "ik",
        "io",
        "is",
        "it",
        "iu",
        "ja",
        "jv",
        "ka",
        "kg",
        "ki",
        "kj",
        "kk",
        "kl",
        "km",
        "kn",
        "ko",
        "kr",
        "ks",
        "ku",
        "kv",
        "kw",
        "ky",
        "la",
        "lb",
        "lg",
        "li",
        "ln",
        "lo",
        "lt",
        "lu",
        "lv",
        "mg",
        "mh",
        "mi",
        "mk",
        "ml",
        "mn",
        "mr",
        "ms",
        "mt",
        "my",
        "na",
        "nb",
        "nd",
        "ne",
        "ng",
        "nl",
        "nn",
        "no",
        "nr",
        "nv",
        "ny",
        "oc",
        "oj",
        "om",
        "or",
        "os",
        "pa",
        "pi",
        "pl",
        "ps",
        "pt",
        "qu",
        "rm",
        "rn",
        "ro",
        "ru",
        "rw",
        "sa",
        "sc",
        "sd",
        "se",
        "sg",
        "si",
        "sk",
        "sl",
        "sm",
        "sn",
        "so",
        "sq",
        "sr",
        "ss",
        "st",
        "su",
        "sv",
        "sw",
        "ta",
        "te",
        "tg",
        "th",
        "ti",
        "tk",
        "tl",
        "tn",
        "to",
        "tr",
        "ts",
        "tt",
        "tw",
        "ty",
        "ug",
        "uk",
        "ur",
        "uz",
        "ve",
        "vi",
        "vo",
        "wa",
        "wo",
        "xh",
        "yi",
        "yo",
        "za",
        "zh",
        "zu",
    ]
)


class _AnyLanguage(Transcriber):
    """A transcript is in the language that was named, or in one that the model does not name."""

    starts_bare = False

    def __init__(self, engine: EngineLike, model: AsrModel) -> None:
        super().__init__(engine, replace(model, language=UNKNOWN))

    def check(self, options: ListenOptions) -> None:
        super().check(options)
        if options.words:
            raise BadRequest(f"{self.model.name} gives no times of words by itself: a forced aligner does.", "words")
        named = options.language not in (None, "auto")
        self.model = replace(self.model, language=str(options.language) if named else UNKNOWN)

    def check_language(self, language: str | None) -> None:
        if language not in (None, "auto", *_CODES):
            raise BadRequest(
                f"{self.model.name} takes a language as its code of two letters, such as en, fr or hi, not {language!r}.",
                "language",
            )


class VoxtralTranscriber(_AnyLanguage):
    def __init__(self, engine: EngineLike, model: AsrModel, tokenizer: Any, ears: VoxtralSoundProcessor) -> None:
        super().__init__(engine, model)
        self._ears = ears
        names = ("<s>", "[INST]", "[/INST]", "[TRANSCRIBE]")
        marks = {name: tokenizer.id(name) for name in names}
        if missing := [name for name, id in marks.items() if id is None]:
            raise TokenizerError(
                f"The tokenizer of {model.name} has no token {missing[0]}, without which it does not transcribe. "
                "Download the model again."
            )
        self._start, self._begin, self._end, self._task = (int(marks[name]) for name in names)

    def prompt(self, sound: HeardSound, options: ListenOptions) -> tuple[list[int], list[int]]:
        """The prompt's tokens, and the places of the sound among them."""
        around = self._ears.surrounded(sound)
        before = [self._start, self._begin, *around[: len(around) - sound.tokens]]
        named = [] if options.language in (None, "auto") else self.model.encode(f"lang:{options.language}")
        ids = [*before, *around[len(around) - sound.tokens :], self._end, *named, self._task]
        return ids, list(range(len(before), len(before) + sound.tokens))

    def submit(
        self,
        samples: np.ndarray,
        options: ListenOptions | None = None,
        *,
        penalty: float | None = None,
        admitted: bool = False,
    ) -> Any:
        sound = self._ears.sound(samples)
        ids, places = self.prompt(sound, options or self.options)
        most = min(self.model.context - len(ids) - 1, int(_TOKENS_PER_SECOND * len(samples) / SAMPLE_RATE) + 2)
        params = transcript_sampling(most, penalty)
        request = Request(self.model.name, ids, params, pictures=(sound,), positions=np.asarray(places, np.int64))
        return self._engine.submit(request, admitted=admitted)


class VoxtralRealtimeTranscriber(_AnyLanguage):
    """A language that is named is a label: the model is not asked for one."""

    def __init__(
        self, engine: EngineLike, model: AsrModel, own: VoxtralRealtime, pad: int | None, special: Collection[int]
    ) -> None:
        """`pad`: the tokenizer's token for a place without a new word; `special`: tokens without text."""
        super().__init__(engine, model)
        if pad != STREAMING_PAD:
            raise TokenizerError(
                f"The tokenizer of {model.name} has no token [STREAMING_PAD] at {STREAMING_PAD}, without which it does not "
                "transcribe. Download the model again."
            )
        self._own, self._special = own, special

    def submit(
        self,
        samples: np.ndarray,
        options: ListenOptions | None = None,
        *,
        penalty: float | None = None,
        admitted: bool = False,
    ) -> Any:
        prompt = self._own.prompt
        most = min(self.model.context, self._own.tokens(len(samples))) - len(prompt)
        params = transcript_sampling(most)
        request = Request(
            self.model.name, prompt, params, sound=sound_of(samples), positions=range(len(prompt)), adds_sound=True
        )
        return self._engine.submit(request, admitted=admitted)

    def finished(
        self, samples: np.ndarray, begins: float, handle: Any, options: ListenOptions
    ) -> Sequence[TranscriptSegment]:
        """What repeats itself is cut and not asked for again: the sound ends it."""
        result = handle.result()
        words = result.text.split()
        loop = loop_start(words)
        spoken = [one for one in result.logprobs if one.id not in self._special]
        mean = float(np.mean([one.logprob for one in spoken])) if spoken else 0.0
        return [
            TranscriptSegment(
                start=begins,
                end=begins + len(samples) / SAMPLE_RATE,
                text=" ".join(words[:loop]),
                confidence=float(np.exp(mean)) if spoken else 0.0,
                doubtful=loop is not None,
                tokens=[TranscriptToken(one.id, self.model.bytes_of(one.id), one.logprob) for one in spoken],
                scores=TranscriptScores(mean),
            )
        ]
