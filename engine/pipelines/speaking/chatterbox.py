"""Chatterbox as a speech model: a text becomes speech tokens (`engine/models/chatterbox_t3.py`), these become samples
(`engine/models/s3gen.py`), in the voice of a recording or in the one that comes with the model.

How much a voice expresses and how closely it keeps to the text are numbers, said as instructions: "exaggeration 0.7, guidance 0.3".
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText, WeightsError
from engine.media.sound import resampled
from engine.models.chatterbox_encoder import NARROW, RATE, ChatterboxVoice
from engine.models.chatterbox_t3 import START_SPEECH
from engine.models.s3gen import MELS, TOKENS, HeardVoice
from engine.pipelines.speaking import CHATTERBOX_VOICE as OWN
from engine.pipelines.speaking.speech import (
    FRAME_RATE,
    LOOP_LASTS,
    TRIES,
    RepetitionGuard,
    Take,
    max_frames,
    retry_takes,
    stream_take,
)
from engine.pipelines.speaking.voice import (
    MODEL_DEFAULTS,
    Clone,
    OnCodes,
    SpeechSampling,
    VoiceSettings,
    checked_recording,
    checked_text,
)
from engine.tasks import EngineLike, Task
from engine.types import Event, Request, SamplingParams, Text
from engine.weights.chatterbox_files import own_voice, read_voice_tensors

LANGUAGES = ("auto", "en", "english")
TOKEN_RATE = 25
LONGEST_TEXT = 1000  # characters per call; `text.passages` splits longer texts
MOST = 1000  # tokens of a passage
SAMPLING: dict[str, Any] = {"temperature": 0.8, "min_p": 0.05, "top_p": 1.0, "repetition_penalty": 1.2}
HOW = 'Say it like "exaggeration 0.7, guidance 0.3": an exaggeration from 0 to 2, 0.5 is usual; a guidance from 0 to 1, 0.5 is usual.'
_CLAUSE = re.compile(r"(exaggeration|guidance|cfg|cfg weight)\s*[:=]?\s*(\d+(?:\.\d+)?)")
_SIGNS = (
    ("...", ", "), ("…", ", "), (":", ","), (" - ", ", "), (";", ", "), ("—", "-"), ("–", "-"), (" ,", ","),
    ("“", '"'), ("”", '"'), ("‘", "'"), ("’", "'"),
)  # fmt: skip
_ENDS = (".", "!", "?", "-", ",")


@dataclass(frozen=True)
class Expression:
    """How much a voice expresses; how far the model keeps from what it would say without the text."""

    exaggeration: float = 0.5
    guidance: float = 0.5


def expression_of(instructions: str | None) -> Expression:
    """Raises BadRequest for what is not understood."""
    found = Expression()
    for clause in re.split(r"[,;]", (instructions or "").lower().replace("_", " ")):
        words = " ".join(clause.split())
        if not words:
            continue
        match = _CLAUSE.fullmatch(words)
        if match is None:
            raise BadRequest(
                ErrorText("Chatterbox does not understand the instruction {words}. {how}", words=repr(words), how=HOW),
                "instructions",
            )
        name, value = ("exaggeration" if match[1] == "exaggeration" else "guidance"), float(match[2])
        if value > (2.0 if name == "exaggeration" else 1.0):
            raise BadRequest(ErrorText("{words} is too much. {how}", words=words, how=HOW), "instructions")
        found = replace(found, **{name: value})
    return found


def normalized(text: str) -> str:
    """A text with the signs that the model has heard most of."""
    text = " ".join(text.split())
    text = text[:1].upper() + text[1:]
    for sign, usual in _SIGNS:
        text = text.replace(sign, usual)
    text = text.rstrip()
    return text if text.endswith(_ENDS) else f"{text}."


# -- voices: as one row of numbers, which is what a saved voice holds


def packed(voice: ChatterboxVoice) -> np.ndarray:
    heard = voice.heard
    counts = [len(part) for part in (voice.speaker, voice.speech, heard.vector, heard.tokens)]
    parts = [counts, voice.speaker, voice.speech, heard.vector, heard.tokens, heard.mel.reshape(-1)]
    return np.concatenate([np.asarray(part, np.float32) for part in parts])


def unpacked(clone: Clone) -> ChatterboxVoice:
    """Raises BadRequest for a voice of another model."""
    row = np.asarray(clone.vector, np.float32)
    counts = row[:4].astype(np.int64)
    if (
        len(row) < 4
        or (counts != row[:4]).any()
        or (counts < 1).any()
        or len(row) != 4 + counts.sum() + 2 * MELS * counts[3]
    ):
        raise BadRequest(ErrorText("This voice was made by another model. Clone it again with Chatterbox."), "voice")
    speaker, speech, vector, tokens, mel = np.split(row[4:], np.cumsum(counts))
    voice = ChatterboxVoice(
        speaker, speech.astype(np.int32), HeardVoice(tokens.astype(np.int32), mel.reshape(-1, MELS), vector)
    )
    for found in (speech, tokens):
        if (found != np.floor(found)).any() or found.min() < 0 or found.max() >= TOKENS:
            raise BadRequest(
                ErrorText("This voice was made by another model. Clone it again with Chatterbox."), "voice"
            )
    return voice


def read_own_voice(path: Path) -> ChatterboxVoice:
    """The voice that comes with a model."""
    found = read_voice_tensors(path)
    try:
        tokens, mel = found["gen.prompt_token"].reshape(-1), found["gen.prompt_feat"].reshape(-1, MELS)
        count = min(len(tokens), len(mel) // 2)
        voice = ChatterboxVoice(
            found["t3.speaker_emb"].reshape(-1).astype(np.float32),
            found["t3.cond_prompt_speech_tokens"].reshape(-1).astype(np.int32),
            HeardVoice(
                tokens[:count].astype(np.int32),
                mel[: 2 * count].astype(np.float32),
                found["gen.embedding"].reshape(-1).astype(np.float32),
            ),
        )
        return unpacked(Clone(packed(voice)))
    except (KeyError, ValueError, BadRequest):
        raise WeightsError(f"{path} is no voice of Chatterbox.") from None


@dataclass(frozen=True)
class _Facts:
    folder: Path
    tokenizer: Any
    own: ChatterboxVoice | None
    speaker: int  # numbers of a speaker's vector


class Chatterbox:
    """Chatterbox of an engine. Implements `speech_models.SpeechModel`."""

    rate = RATE
    token_rate = float(TOKEN_RATE)
    clones = True
    heard_whole = True  # a passage's tokens become sound together

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.engine, self.model = engine, model
        self._facts: _Facts = engine.task(model, _facts).result()
        self.encoder, self.decoder = f"{model}#encoder", f"{model}#decoder"

    @property
    def presets(self) -> tuple[str, ...]:
        return (OWN,) if self._facts.own is not None else ()

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that Chatterbox does not support."""
        if settings.language.lower().split("-")[0] not in LANGUAGES:
            raise BadRequest(
                ErrorText("This model speaks English, not {language}.", language=settings.language), "language"
            )
        expression_of(settings.instructions)
        self._voice(settings)

    def _voice(self, settings: VoiceSettings) -> ChatterboxVoice:
        if settings.clone is not None:
            if settings.preset is not None:
                raise BadRequest(ErrorText("Choose either a preset voice or a cloned one, not both."), "voice")
            voice = unpacked(settings.clone)
            if len(voice.speaker) != self._facts.speaker:
                raise BadRequest(
                    ErrorText("This voice was made by another model. Clone it again with Chatterbox."), "voice"
                )
            return voice
        if settings.preset not in (None, OWN):
            raise BadRequest(
                ErrorText("Chatterbox has no voice {name}. It has: {voices}.", name=repr(settings.preset), voices=OWN),
                "voice",
            )
        if self._facts.own is None:
            raise BadRequest(
                ErrorText("This copy of Chatterbox comes without a voice. Clone one from a recording."), "voice"
            )
        return self._facts.own

    def needs_example(self, settings: VoiceSettings) -> bool:
        return False

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        """Samples at `rate`, once the whole passage is there: its tokens are heard together."""
        self.check(settings)
        words, expression = checked_text(text, LONGEST_TEXT), expression_of(settings.instructions)
        voice, ids = self._voice(settings), self._ids(words)
        params = SAMPLING | sampling.given
        seed = secrets.randbits(32) if seed is None else seed
        limit = min(MOST, int(max_frames(words) * TOKEN_RATE / FRAME_RATE))
        most = sampling.most(limit)

        def prompt(loaded: Any) -> Any:
            return loaded.model.prompt(
                ids, voice.speaker, voice.speech, expression.exaggeration, expression.guidance, most
            )

        rows, track = self.engine.task(self.model, prompt).result()

        def take(attempt: int) -> Take:
            sampled = SamplingParams(max_tokens=most, seed=seed + attempt, repetition_window=0, **params)
            start = [START_SPEECH] * len(rows)
            request = Request(self.model, start, sampled, embeds=rows, positions=range(len(rows)), track=track)
            return self._take(request, voice, seed + attempt)

        return retry_takes(take, 1 if params["temperature"] == 0 else TRIES, buffered, may_be_cut=most < limit)

    def _ids(self, text: str) -> list[int]:
        """Words between tokens that are spaces. The text must not bring the tokens that begin and end one."""
        plain = normalized(text).replace("[START]", "").replace("[STOP]", "").replace(" ", "[SPACE]")
        return [int(id) for id in self._facts.tokenizer.encode(plain, add_special=False)]

    def _take(self, request: Request, voice: ChatterboxVoice, seed: int) -> Take:
        def render(waiting: list[np.ndarray], last: bool) -> Task[np.ndarray] | None:
            if not waiting:
                return None
            tokens = np.array(waiting, np.int32)
            return self.engine.task(self.decoder, lambda loaded: loaded.model.speak(tokens, voice.heard, seed))

        guard = RepetitionGuard(period=TOKEN_RATE // 3, lasts=int(LOOP_LASTS * TOKEN_RATE / FRAME_RATE))
        # the decoder hears all tokens together, so one call renders them
        return (yield from stream_take(self.engine.submit(request), _codes, render, (MOST + 1,), RATE, guard))

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate`; what is said in them does not matter."""
        sound = checked_recording(samples, RATE)
        narrow = resampled(sound, RATE, NARROW)
        voice = self.engine.task(self.encoder, lambda loaded: loaded.model.hear(sound, narrow)).result()
        return Clone(packed(voice))


def _codes(event: Event) -> Iterator[np.ndarray]:
    """The speech tokens of an event. Others are skipped."""
    for id in event.ids if isinstance(event, Text) else ():
        if id < TOKENS:
            yield np.array(id, np.int32)


def _facts(loaded: Any) -> Generator[None, None, _Facts]:
    path = own_voice(loaded.folder)
    own = read_own_voice(path) if path is not None else None
    return _Facts(loaded.folder, loaded.tokenizer, own, loaded.model.condition.size)
    yield  # a task's work is a generator
