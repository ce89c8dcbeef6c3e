"""OmniVoice as a speech model: how long a text lasts, the prompt, and the frames of a passage, which are made all at once.

A voice is a description ("female, low pitch, british accent"), a recording with or without its text, or one that the model chooses.
"""

from __future__ import annotations

import secrets
import unicodedata
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.media.sound import resampled
from engine.models.hubert import Hubert
from engine.models.omnivoice import OmniVoice, UnmaskRules
from engine.pipelines.speaking import OMNIVOICE_LANGUAGES
from engine.pipelines.speaking.voice import (
    MODEL_DEFAULTS,
    Clone,
    OnCodes,
    SpeechSampling,
    VoiceSettings,
    checked_recording,
    checked_text,
)
from engine.tasks import EngineLike

RATE, TOKEN_RATE = OmniVoice.rate, 25
LONGEST_TEXT = 1000  # characters per call; `text.passages` splits longer texts
LONGEST_HEARD = 10.0  # seconds of a recording
MOST = 1500  # frames of a passage: a minute
_LOUD = 0.1  # to which a quieter recording is raised
_CODES = dict(
    zip(
        OMNIVOICE_LANGUAGES,
        (
            "ar",
            "zh",
            "nl",
            "en",
            "fr",
            "de",
            "hi",
            "id",
            "it",
            "ja",
            "ko",
            "pl",
            "pt",
            "ru",
            "es",
            "th",
            "tr",
            "uk",
            "vi",
        ),
    )
)
_ENDS = ("<|text_start|>", "<|text_end|>")

# How long letters last, in Latin ones, as the reference library estimates it.
_WEIGHTS = {
    "CJK": 3.0, "HANGUL": 2.5, "HIRAGANA": 2.2, "KATAKANA": 2.2, "ETHIOPIC": 3.0, "YI": 3.0, "THAI": 1.5, "LAO": 1.5,
    "KHMER": 1.8, "MYANMAR": 1.8, "ARABIC": 1.5, "SYRIAC": 1.5, "HEBREW": 1.5, "DEVANAGARI": 1.8, "BENGALI": 1.8,
    "GURMUKHI": 1.8, "GUJARATI": 1.8, "ORIYA": 1.8, "TAMIL": 1.8, "TELUGU": 1.8, "KANNADA": 1.8, "MALAYALAM": 1.8,
    "SINHALA": 1.8, "TIBETAN": 1.8,
}  # fmt: skip
_LETTER, _DIGIT, _SIGN, _SPACE = 1.0, 3.5, 0.5, 0.2
_MEASURE, _MEASURED = "Nice to meet you.", 25  # a text, and its frames
_SHORT = 50  # frames, below which a text is given more than its share
_LONGER = 1.15  # what is added to an estimate


@lru_cache(maxsize=4096)
def weight(sign: str) -> float:
    kind = unicodedata.category(sign)[0]
    if kind == "M" or sign == "\u0640":
        return 0.0
    if kind in "PS":
        return _SIGN
    if kind == "Z":
        return _SPACE
    if kind == "N":
        return _DIGIT
    return _WEIGHTS.get(unicodedata.name(sign, "").split(" ")[0].split("-")[0], _LETTER)


def frames_of(text: str) -> int:
    """How many frames a text lasts at an even pace."""
    found = sum(map(weight, text)) * _MEASURED / sum(map(weight, _MEASURE))
    if found < _SHORT:
        found = _SHORT * (found / _SHORT) ** (1 / 3)
    return max(10, int(found * _LONGER))


def joined(text: str, before: str | None) -> str:
    """A text behind that of the recording, in one line, without spaces around Chinese signs."""
    words = " ".join(f"{before or ''} {text}".split())
    made = ""
    for i, sign in enumerate(words):
        near = words[max(0, i - 1) : i + 2]
        if not (sign == " " and any("\u4e00" <= one <= "\u9fff" for one in near)):
            made += sign
    return made


@dataclass(frozen=True)
class _Facts:
    folder: Path
    tokenizer: Any
    books: int
    mask: int


class OmniVoiceSpeech:
    """OmniVoice of an engine, with its codec. Implements `speech_models.SpeechModel`."""

    rate = RATE
    token_rate = float(TOKEN_RATE)
    clones = True
    heard_whole = True  # all frames of a passage are made together
    presets: tuple[str, ...] = ()

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.engine, self.model = engine, model
        self.speed = 1.0  # at which it speaks by itself
        self._facts: _Facts = engine.task(model, _facts).result()
        self.codec = codec_of(self._facts.folder)

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that OmniVoice does not support."""
        if settings.preset is not None:
            raise BadRequest(
                ErrorText("OmniVoice has no voices by name: describe one, or clone one from a recording."), "voice"
            )
        self._heard(settings)

    def needs_example(self, settings: VoiceSettings) -> bool:
        return settings.clone is None

    def _heard(self, settings: VoiceSettings) -> tuple[np.ndarray, str | None]:
        """The frames that a passage continues, and their text."""
        if settings.after is not None:
            return settings.after.codes, settings.after.text
        if settings.clone is None:
            return np.zeros((0, self._facts.books), np.int32), None
        codes = settings.clone.codes if settings.clone.codes is not None else settings.clone.vector
        fits = codes.size and codes.size % self._facts.books == 0
        if not fits or (codes != np.floor(codes)).any() or codes.min() < 0 or codes.max() >= self._facts.mask:
            raise BadRequest(ErrorText("The voice was made for another model. Make it again."), "voice")
        return codes.reshape(-1, self._facts.books).astype(np.int32), settings.clone.text

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        """Samples at `rate`, once the whole passage is there."""
        self.check(settings)
        words, (heard, before) = checked_text(text, LONGEST_TEXT), self._heard(settings)
        ids = self._prompt(words, settings, before, bool(len(heard)))
        count = min(MOST, max(1, int(frames_of(words) / self.speed)), sampling.most(MOST))
        still = sampling.temperature == 0
        rules = UnmaskRules(scatter=0.0) if still else UnmaskRules(temperature=sampling.temperature or 0.0)
        random = np.random.default_rng(secrets.randbits(32) if seed is None else seed)
        made = self.engine.task(
            self.model, lambda loaded: loaded.model.speak(ids, heard, count, rules, random)
        ).result()
        if on_codes is not None:
            on_codes(made)
        yield self.engine.task(self.codec, lambda loaded: loaded.model.decode(made)).result()

    def _prompt(self, text: str, settings: VoiceSettings, before: str | None, continues: bool) -> list[int]:
        language = settings.language.lower()
        language = "None" if language in ("auto", "") else _CODES.get(language, language)
        style = "<|denoise|>" if continues else ""
        style += f"<|lang_start|>{language}<|lang_end|>"
        style += f"<|instruct_start|>{settings.instructions or 'None'}<|instruct_end|>"
        encode = self._facts.tokenizer.encode
        first, last = (encode(mark, False) for mark in _ENDS)
        return [*encode(style, False), *first, *encode(joined(text, before), False, parse_special=False), *last]

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate`."""
        sound = checked_recording(samples, RATE)
        if text is None:
            sound = sound[: int(LONGEST_HEARD * RATE)]
        loud = float(np.sqrt(np.mean(sound * sound)))
        sound = sound * np.float32(max(1.0, _LOUD / loud))
        narrow = resampled(sound, RATE, Hubert.rate)
        codes = self.engine.task(f"{self.codec}#encoder", lambda loaded: loaded.model.encode(sound, narrow)).result()
        return Clone(codes.reshape(-1).astype(np.float32), codes if text else None, text)


def codec_of(folder: Path) -> str:
    return str(folder / "audio_tokenizer")


def has_codec(folder: Path) -> bool:
    return (folder / "audio_tokenizer" / "config.json").is_file()


def _facts(loaded: Any) -> Generator[None, None, _Facts]:
    if not has_codec(loaded.folder):
        raise BadRequest(
            f"{loaded.folder} has no folder audio_tokenizer, OmniVoice's codec. Download it again.", "model"
        )
    return _Facts(loaded.folder, loaded.tokenizer, loaded.model.books, loaded.model.mask)
    yield  # a task's work is a generator
