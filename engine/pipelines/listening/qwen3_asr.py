"""Transcription with Qwen3-ASR: the sound stands in a chat prompt, and the reply begins with the language that is heard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from engine.errors import BadRequest
from engine.media.sound import SAMPLE_RATE
from engine.models.qwen3_asr import sound_tokens
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
from engine.types import Request, Result

# as the model was trained to write them
LANGUAGES = {
    "ar": "Arabic", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English", "es": "Spanish",
    "fa": "Persian", "fi": "Finnish", "fil": "Filipino", "fr": "French", "hi": "Hindi", "hu": "Hungarian",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "mk": "Macedonian", "ms": "Malay", "nl": "Dutch",
    "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sv": "Swedish", "th": "Thai", "tr": "Turkish",
    "vi": "Vietnamese", "yue": "Cantonese", "zh": "Chinese",
}  # fmt: skip
_MARK = "<asr_text>"  # between the language and the text
_SILENT = "None"  # the language of a sound in which nobody speaks
_NAMED = 12  # tokens for the language, before the text
_TOKENS_PER_SECOND = 13.0
_REPEATED = re.compile(r"(.{1,20}?)\1{19,}", re.DOTALL)  # loops of scripts without spaces, as the reference finds them
_AGAIN = 1.3  # repetition penalty of the retry


def parted(text: str) -> tuple[str | None, str]:
    """The language that a reply names, None where it names none; and what is said."""
    before, mark, said = text.partition(_MARK)
    if not mark:
        return None, text.strip()
    name = next((line.strip() for line in before.splitlines() if line.strip()), "").removeprefix("language ").strip()
    return name or None, "" if name == _SILENT else said.strip()


class Qwen3AsrTranscriber(Transcriber):
    starts_bare = False

    def __init__(self, engine: EngineLike, model: AsrModel, tokenizer: Any, audio_token: int, chunk: int) -> None:
        """`chunk`: see `sound_tokens`."""
        super().__init__(engine, replace(model, language="en"))
        self._tokenizer, self._audio_token, self._chunk = tokenizer, audio_token, chunk
        self._mark: int | None = tokenizer.id(_MARK)

    def check(self, options: ListenOptions) -> None:
        super().check(replace(options, prompt=None))
        if options.words:
            raise BadRequest(f"{self.model.name} gives no times of words by itself: its forced aligner does.", "words")

    def check_language(self, language: str | None) -> None:
        if language not in (None, "auto", *LANGUAGES):
            raise BadRequest(
                f"{self.model.name} does not know the language {language!r}. It knows: {', '.join(LANGUAGES)}.",
                "language",
            )

    def prompt(self, samples: int, options: ListenOptions) -> tuple[list[int], list[int]]:
        """The prompt's tokens, and the places of the sound among them."""
        context = self._plain((self.glossary.prompt(options.prompt) or "").strip())
        context = context[-self.model.context // 2 :]
        before = [
            *self._marked("<|im_start|>system\n"),
            *context,
            *self._marked("<|im_end|>\n<|im_start|>user\n<|audio_start|>"),
        ]
        places = sound_tokens(samples, self._chunk)
        behind = "<|audio_end|><|im_end|>\n<|im_start|>assistant\n"
        if options.language not in (None, "auto"):
            behind += f"language {LANGUAGES[str(options.language)]}{_MARK}"
        ids = [*before, *[self._audio_token] * places, *self._marked(behind)]
        return ids, list(range(len(before), len(before) + places))

    def submit(
        self,
        samples: np.ndarray,
        options: ListenOptions | None = None,
        *,
        penalty: float | None = None,
        admitted: bool = False,
    ) -> Any:
        ids, places = self.prompt(len(samples), options or self.options)
        most = min(self.model.context - len(ids) - 1, int(_TOKENS_PER_SECOND * len(samples) / SAMPLE_RATE) + _NAMED)
        params = transcript_sampling(most, penalty)
        request = Request(self.model.name, ids, params, sound=sound_of(samples), positions=places)
        return self._engine.submit(request, admitted=admitted)

    def finished(
        self, samples: np.ndarray, begins: float, handle: Any, options: ListenOptions
    ) -> Sequence[TranscriptSegment]:
        result = handle.result()
        named, said = parted(result.text)
        doubtful = loop_start(said.split()) is not None or _REPEATED.search(said) is not None
        if doubtful:
            result = self.submit(samples, options, penalty=_AGAIN, admitted=True).result()
            named, said = parted(result.text)
        said = _REPEATED.sub(r"\1", said)
        loop = loop_start(said.split())
        if loop is not None:
            said = " ".join(said.split()[:loop])
        self._note_language(named, options)
        tokens = self._spoken(result)
        mean = float(np.mean([one.logprob for one in tokens])) if tokens else 0.0
        return [
            TranscriptSegment(
                start=begins,
                end=begins + len(samples) / SAMPLE_RATE,
                text=said,
                confidence=float(np.exp(mean)) if tokens else 0.0,
                doubtful=doubtful,
                tokens=tokens,
                scores=TranscriptScores(mean),
            )
        ]

    def _note_language(self, named: str | None, options: ListenOptions) -> None:
        if options.language not in (None, "auto"):
            self.model = replace(self.model, language=str(options.language))
        elif code := next((code for code, name in LANGUAGES.items() if name == named), None):
            self.model = replace(self.model, language=code)

    def _spoken(self, result: Result) -> list[TranscriptToken]:
        """The tokens behind the language."""
        ids = [one.id for one in result.logprobs]
        first = ids.index(self._mark) + 1 if self._mark in ids else 0
        return [TranscriptToken(one.id, self.model.bytes_of(one.id), one.logprob) for one in result.logprobs[first:]]

    def _marked(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special=False))

    def _plain(self, text: str) -> list[int]:
        return list(self.model.encode(text)) if text else []
