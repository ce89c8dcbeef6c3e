"""Spark-TTS: prompts, synthesis and voice cloning. A Qwen2 model generates BiCodec tokens, 50 a second.

A voice is either cloned from a recording or designed by a gender, a pitch and a speed. For a designed voice the model first
generates its global tokens, once for each style and seed; all passages continue from them and so share the voice. The codec
streams: a token's samples come as soon as the tokens that they depend on are there, about 1.5 seconds later.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText, SpeechRanAway, TokenizerError
from engine.media.mel import bicodec_mel
from engine.models.bicodec import BiCodecStream
from engine.pipelines.speaking import spark_folder
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
from engine.types import Event, Failed, Request, SamplingParams, Text

LONGEST_TEXT = 2000  # characters per call; `text.passages` splits longer texts
GENDERS = {"female": 0, "male": 1, "woman": 0, "man": 1}
LEVELS = ("very low", "low", "moderate", "high", "very high")
SPEEDS = {"very slow": 0, "slow": 1, "fast": 3, "very fast": 4}
LANGUAGES = ("auto", "zh", "chinese", "en", "english")
HOW = 'Say it like "female, high pitch, slow": female or male; very low, low, moderate, high or very high pitch; very slow, slow, moderate, fast or very fast.'


@dataclass(frozen=True)
class SparkStyle:
    """A designed voice. Pitch and speed are levels from 0 to 4."""

    gender: int = 0
    pitch: int = 2
    speed: int = 2


def style_of(settings: VoiceSettings) -> SparkStyle:
    """The style that settings describe. Raises BadRequest for unknown or contradictory instructions."""
    found: dict[str, int] = {}
    if settings.preset is not None:
        if settings.preset not in ("female", "male"):
            raise BadRequest(
                ErrorText("Spark-TTS has no voice {name}. It has: female, male.", name=repr(settings.preset)), "voice"
            )
        found["gender"] = GENDERS[settings.preset]
    for clause in re.split(r"[,;.]", (settings.instructions or "").lower().replace("_", " ")):
        words = " ".join(clause.split())
        if not words:
            continue
        part, level = _parse_clause(words)
        if found.get(part, level) != level:
            raise BadRequest(f"Two instructions for the voice's {part} contradict each other. {HOW}", "instructions")
        found[part] = level
    return SparkStyle(**found)


def _parse_clause(words: str) -> tuple[str, int]:
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


class SparkPrompts:
    """The tokenizer's audio tokens, and prompts built from them."""

    def __init__(self, tokenizer: Any, semantic: int, scalars: int, tokens: int) -> None:
        """`semantic`, `scalars`: the number of tokens of each kind; a voice is `tokens` of the latter."""
        self._tokenizer, self.tokens = tokenizer, tokens
        self._semantic = [self._id(f"bicodec_semantic_{i}") for i in range(semantic)]
        self._global = [self._id(f"bicodec_global_{i}") for i in range(scalars)]
        self.semantic: Mapping[int, int] = {id: i for i, id in enumerate(self._semantic)}
        self.voice_ends = self._id("end_global_token")
        self.voices: Mapping[int, int] = {id: i for i, id in enumerate(self._global)}

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that Spark-TTS does not support."""
        if settings.language.lower() not in LANGUAGES:
            raise BadRequest(
                ErrorText("Spark-TTS speaks Chinese and English, not {language}.", language=settings.language),
                "language",
            )
        if settings.clone is None:
            style_of(settings)
            return
        if settings.preset is not None:
            raise BadRequest(ErrorText("Choose either a preset voice or a cloned one, not both."), "voice")
        if settings.instructions is not None:
            raise BadRequest(
                ErrorText("Spark-TTS takes no instructions for a cloned voice: pitch and speed are the recording's."),
                "instructions",
            )
        self.voice_of(settings.clone)

    def voice_of(self, clone: Clone) -> np.ndarray:
        """The global tokens of a cloned voice."""
        tokens = np.asarray(clone.vector)
        whole = tokens.shape == (self.tokens,) and bool((tokens == np.floor(tokens)).all())
        if not whole or tokens.min() < 0 or tokens.max() >= len(self._global):
            raise BadRequest(ErrorText("This voice was made by another model. Clone it again with Spark-TTS."), "voice")
        codes = clone.codes
        if codes is not None and (codes.size == 0 or codes.min() < 0 or codes.max() >= len(self._semantic)):
            raise BadRequest(ErrorText("This voice was made by another model. Clone it again with Spark-TTS."), "voice")
        return tokens.astype(np.int32)

    def prompt(self, text: str, settings: VoiceSettings) -> list[int]:
        self.check(settings)
        text = checked_text(text, LONGEST_TEXT)
        clone = settings.clone
        if clone is None:
            return self.designed(text, style_of(settings))
        transcript = clone.text if clone.codes is not None and clone.text else ""
        voice = [self._global[token] for token in self.voice_of(clone)]
        ids = [*self._content("task_tts", transcript + text), *self._within("global_token", voice)]
        if transcript and clone.codes is not None:
            ids += [self._id("start_semantic_token"), *(self._semantic[code] for code in clone.codes.reshape(-1))]
        return ids

    def designed(self, text: str, style: SparkStyle) -> list[int]:
        """A prompt that the model continues with the global tokens of a new voice."""
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


RATE = 16000
TOKENS = 3000  # of one passage, a minute
TOKEN_RATE = 50
PREAMBLE = 32  # tokens generated before the voice is complete, besides its own: markers, pitch, speed
KEPT = 64  # designed voices in the cache
INTRODUCTION = "Hello, it is good to meet you. This is the voice that I will be speaking with today."
CHUNK = 25  # tokens per codec call
REFERENCE = 6 * RATE  # samples of a recording that define a voice
SAMPLING: dict[str, Any] = {"temperature": 0.8, "top_k": 50, "top_p": 0.95}
_LOUDNESS = 0.2  # target level of the loud parts of a recording


@dataclass(frozen=True)
class _DesignedVoice:
    """A voice that the model generated for a style: all generated tokens, and the voice's global tokens."""

    written: Sequence[int]
    tokens: np.ndarray


class Spark:
    """Spark-TTS of an engine, with its codec. Implements `speech_models.SpeechModel`."""

    rate = RATE
    token_rate = float(TOKEN_RATE)
    presets = ("female", "male")
    clones = True

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.engine, self.model = engine, model
        home, tokenizer = engine.task(model, _facts).result()
        self.codec = str(home / "BiCodec")
        self.codec_encoder = f"{self.codec}#encoder"
        self.feature_model = str(home / "wav2vec2-large-xlsr-53")
        self.prompts = SparkPrompts(tokenizer, *engine.task(self.codec, _sizes).result())
        self._made: dict[tuple[SparkStyle, int, tuple[Any, ...]], _DesignedVoice] = {}
        self._making = Lock()

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that Spark-TTS does not support."""
        self.prompts.check(settings)

    def needs_example(self, settings: VoiceSettings) -> bool:
        return False

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        """Samples at `rate`, chunk by chunk. `buffered`: only once they are all generated."""
        prompt = self.prompts.prompt(text, settings)
        params = SAMPLING | sampling.given
        seed = secrets.randbits(32) if seed is None else seed
        limit = min(TOKENS, int(max_frames(text) * TOKEN_RATE / FRAME_RATE))
        most = sampling.most(limit)

        def take(attempt: int) -> Take:
            begun, voice = prompt, None
            if settings.clone is not None:
                voice = self.prompts.voice_of(settings.clone)
            else:
                made = self._voice(style_of(settings), seed, params)
                begun, voice = [*prompt, *made.written], made.tokens
            sampled = SamplingParams(max_tokens=most, seed=seed + attempt, **params)
            return (yield from self._take(Request(self.model, begun, sampled), voice))

        return retry_takes(take, 1 if params["temperature"] == 0 else TRIES, buffered, may_be_cut=most < limit)

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate`. With `text`, their transcript, the recording itself is imitated.

        The clone's vector holds the global tokens, whole numbers."""
        sound = louder(checked_recording(samples, RATE))
        mel = bicodec_mel(reference(sound))
        voice = self.engine.task(self.codec_encoder, lambda loaded: loaded.model.voice(mel)).result()
        transcript = (text or "").strip()
        if not transcript:
            return Clone(voice.astype(np.float32))
        features = self.engine.task(self.feature_model, lambda loaded: loaded.model.features(sound)).result()
        codes = self.engine.task(self.codec_encoder, lambda loaded: loaded.model.semantic(features)).result()
        return Clone(voice.astype(np.float32), codes[:, None], transcript)

    def _voice(self, style: SparkStyle, seed: int, params: Mapping[str, Any]) -> _DesignedVoice:
        """The designed voice of a style and a seed, cached. Concurrent passages wait for the one that generates it."""
        key = (style, seed, tuple(sorted(params.items())))
        with self._making:
            made = self._made.pop(key, None) or self._design(style, seed, params)
            self._made[key] = made  # least recently used first
            while len(self._made) > KEPT:
                del self._made[next(iter(self._made))]
            return made

    def _design(self, style: SparkStyle, seed: int, params: Mapping[str, Any]) -> _DesignedVoice:
        prompt = self.prompts.designed(INTRODUCTION, style)
        for attempt in range(TRIES):
            sampled = SamplingParams(max_tokens=self.prompts.tokens + PREAMBLE, seed=seed + attempt, **params)
            handle = self.engine.submit(Request(self.model, prompt, sampled))
            written: list[int] = []
            try:
                for event in handle:
                    if isinstance(event, Failed):
                        raise event.error
                    if isinstance(event, Text):
                        written += event.ids
                    if (made := self._complete(written)) is not None:
                        return made
            finally:
                handle.cancel()
        raise SpeechRanAway(ErrorText("The model made no voice of these words. Try another seed."))

    def _complete(self, written: Sequence[int]) -> _DesignedVoice | None:
        """The voice, once all of its tokens are generated."""
        places = [i for i, id in enumerate(written) if id in self.prompts.voices][: self.prompts.tokens]
        if len(places) < self.prompts.tokens:
            return None
        tokens = np.array([self.prompts.voices[written[i]] for i in places], np.int32)
        return _DesignedVoice([*written[: places[-1] + 1], self.prompts.voice_ends], tokens)

    def _take(self, request: Request, voice: np.ndarray) -> Take:
        stream = self.engine.task(self.codec, _streaming(voice)).result()
        guard = RepetitionGuard(period=TOKEN_RATE // 3, lasts=int(LOOP_LASTS * TOKEN_RATE / FRAME_RATE))

        def render(waiting: list[np.ndarray], last: bool) -> Task[np.ndarray] | None:
            if not waiting and not stream.waits:
                return None
            return self.engine.task(self.codec, lambda _: stream.push(np.array(waiting, np.int32), last=last))

        return (yield from stream_take(self.engine.submit(request), self._codes, render, (CHUNK,), RATE, guard))

    def _codes(self, event: Event) -> Iterator[np.ndarray]:
        """The semantic codes of an event. Other tokens are skipped."""
        for id in event.ids if isinstance(event, Text) else ():
            if (code := self.prompts.semantic.get(id)) is not None:
                yield np.array(code, np.int32)


def louder(sound: np.ndarray) -> np.ndarray:
    """Normalize to the loudness of the training recordings, measured in the loud parts without peaks."""
    sizes = np.sort(np.abs(sound))
    if sizes[-1] < 0.1:
        sound = sound / max(float(sizes[-1]), 1e-3) * 0.1
    sizes = sizes[sizes > 0.01]
    if len(sizes) <= 10:
        return sound
    loud = float(np.mean(sizes[int(0.9 * len(sizes)) : int(0.99 * len(sizes))]))
    sound = sound * np.clip(_LOUDNESS / loud, 0.1, 10.0)
    return (sound / max(1.0, float(np.abs(sound).max()))).astype(np.float32)


def reference(sound: np.ndarray) -> np.ndarray:
    """The first six seconds; a shorter recording is repeated."""
    return np.resize(sound, REFERENCE)


def _streaming(voice: np.ndarray) -> Any:
    def work(loaded: Any) -> Generator[None, None, BiCodecStream]:
        return BiCodecStream(loaded.model, voice)
        yield  # a task's work is a generator

    return work


def _sizes(loaded: Any) -> Generator[None, None, tuple[int, int, int]]:
    decoder = loaded.model
    return decoder.config.entries, decoder.scalars.size, decoder.config.tokens
    yield  # a task's work is a generator


def _facts(loaded: Any) -> Generator[None, None, tuple[Path, Any]]:
    home = spark_folder(loaded.folder)
    if home is None:
        raise BadRequest(f"The model {loaded.name} is no Spark-TTS model.", "model")
    return home, loaded.tokenizer
    yield  # a task's work is a generator
