"""Spark-TTS's prompts: a task, the text, and a voice (a cloned one's tokens, or a gender, a pitch and a speed).

Knows which tokens a tokenizer has for sound. Does not know how sound is made of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import BadRequest, TokenizerError
from engine.pipelines.speaking.voice import Clone, Manner

LONGEST_TEXT = 2000  # characters at once; who has more splits it at sentences
GENDERS = {"female": 0, "male": 1, "woman": 0, "man": 1}
LEVELS = ("very low", "low", "moderate", "high", "very high")
SPEEDS = {"very slow": 0, "slow": 1, "fast": 3, "very fast": 4}
LANGUAGES = ("auto", "zh", "chinese", "en", "english")
HOW = 'Say it like "female, high pitch, slow": female or male; very low, low, moderate, high or very high pitch; very slow, slow, moderate, fast or very fast.'


@dataclass(frozen=True)
class Style:
    """A voice made of words. Levels go from 0 to 4."""

    gender: int = 0
    pitch: int = 2
    speed: int = 2


def style_of(manner: Manner) -> Style:
    """Raises BadRequest for what is not understood, or said twice."""
    found: dict[str, int] = {}
    if manner.preset is not None:
        if manner.preset not in ("female", "male"):
            raise BadRequest(f"Spark-TTS has no voice {manner.preset!r}. It has: female, male.", "voice")
        found["gender"] = GENDERS[manner.preset]
    for wish in re.split(r"[,;.]", (manner.instructions or "").lower().replace("_", " ")):
        words = " ".join(wish.split())
        if not words:
            continue
        part, level = _understood(words)
        if found.get(part, level) != level:
            raise BadRequest(f"Two wishes for the voice's {part} contradict each other. {HOW}", "instructions")
        found[part] = level
    return Style(**found)


def _understood(words: str) -> tuple[str, int]:
    if words in GENDERS:
        return "gender", GENDERS[words]
    if words in SPEEDS:
        return "speed", SPEEDS[words]
    level, _, part = words.rpartition(" ")
    level = "moderate" if level in ("medium", "normal") else level
    if part in ("pitch", "speed") and level in LEVELS:
        return part, LEVELS.index(level)
    if part == "speed" and level in SPEEDS:
        return part, SPEEDS[level]
    if words == "moderate":
        return "speed", LEVELS.index(words)
    raise BadRequest(f"Spark-TTS does not understand the instruction {words!r}. {HOW}", "instructions")


class Prompts:
    """A tokenizer's tokens for sound, and prompts made with them."""

    def __init__(self, tokenizer: Any, semantic: int, scalars: int, tokens: int) -> None:
        """`semantic`, `scalars`: how many tokens there are of each kind; `tokens` of the latter make a voice."""
        self._tokenizer, self.tokens = tokenizer, tokens
        self._semantic = [self._id(f"bicodec_semantic_{i}") for i in range(semantic)]
        self._global = [self._id(f"bicodec_global_{i}") for i in range(scalars)]
        self.semantic: Mapping[int, int] = {id: i for i, id in enumerate(self._semantic)}
        self.voice_ends = self._id("end_global_token")
        self.voices: Mapping[int, int] = {id: i for i, id in enumerate(self._global)}

    def check(self, manner: Manner) -> None:
        """Raise BadRequest for what Spark-TTS cannot do."""
        if manner.language.lower() not in LANGUAGES:
            raise BadRequest(f"Spark-TTS speaks Chinese and English, not {manner.language}.", "language")
        if manner.clone is None:
            style_of(manner)
            return
        if manner.preset is not None:
            raise BadRequest("Choose either a preset voice or a cloned one, not both.", "voice")
        if manner.instructions is not None:
            raise BadRequest(
                "Spark-TTS takes no instructions for a cloned voice: pitch and speed are the recording's.",
                "instructions",
            )
        self.voice_of(manner.clone)

    def voice_of(self, clone: Clone) -> np.ndarray:
        """A cloned voice's tokens."""
        tokens = np.asarray(clone.vector)
        whole = tokens.shape == (self.tokens,) and bool((tokens == np.floor(tokens)).all())
        if not whole or tokens.min() < 0 or tokens.max() >= len(self._global):
            raise BadRequest("This voice was made by another model. Clone it again with Spark-TTS.", "voice")
        codes = clone.codes
        if codes is not None and (codes.size == 0 or codes.min() < 0 or codes.max() >= len(self._semantic)):
            raise BadRequest("This voice was made by another model. Clone it again with Spark-TTS.", "voice")
        return tokens.astype(np.int32)

    def prompt(self, text: str, manner: Manner) -> list[int]:
        self.check(manner)
        if not text.strip():
            raise BadRequest("There is no text to speak.", "input")
        if len(text) > LONGEST_TEXT:
            raise BadRequest(f"The text has {len(text)} characters; {LONGEST_TEXT} are spoken at once.", "input")
        clone = manner.clone
        if clone is None:
            return self.of_words(text.strip(), style_of(manner))
        said = clone.text if clone.codes is not None and clone.text else ""
        voice = [self._global[token] for token in self.voice_of(clone)]
        ids = [*self._content("task_tts", said + text.strip()), *self._within("global_token", voice)]
        if said and clone.codes is not None:
            ids += [self._id("start_semantic_token"), *(self._semantic[code] for code in clone.codes.reshape(-1))]
        return ids

    def of_words(self, text: str, style: Style) -> list[int]:
        """The model goes on with the voice's tokens."""
        labels = [f"gender_{style.gender}", f"pitch_label_{style.pitch}", f"speed_label_{style.speed}"]
        ids = [self._id(label) for label in labels]
        return [*self._content("task_controllable_tts", text), *self._within("style_label", ids)]

    def _content(self, task: str, text: str) -> list[int]:
        words = self._tokenizer.encode(text, add_special=False, parse_special=False)
        return [self._id(task), *self._within("content", words)]

    def _within(self, mark: str, ids: Sequence[int]) -> list[int]:
        return [self._id(f"start_{mark}"), *ids, self._id(f"end_{mark}")]

    def _id(self, name: str) -> int:
        id = self._tokenizer.id(f"<|{name}|>")
        if id is None:
            raise TokenizerError(f"The tokenizer has no token <|{name}|>, which Spark-TTS needs. Download it again.")
        return int(id)
