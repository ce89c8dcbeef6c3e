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

from engine.errors import BadRequest, SpeechRanAway, TokenizerError
from engine.media.mel import bicodec_mel
from engine.models.bicodec import BiCodecStream
from engine.pipelines.speaking.leash import EngineLike
from engine.pipelines.speaking.synthesis import (
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
)
from engine.tasks import Task
from engine.types import Event, Failed, Request, SamplingParams, Text

LONGEST_TEXT = 2000  # characters at once; who has more splits it at sentences
GENDERS = {"female": 0, "male": 1, "woman": 0, "man": 1}
LEVELS = ("very low", "low", "moderate", "high", "very high")
SPEEDS = {"very slow": 0, "slow": 1, "fast": 3, "very fast": 4}
LANGUAGES = ("auto", "zh", "chinese", "en", "english")
HOW = 'Say it like "female, high pitch, slow": female or male; very low, low, moderate, high or very high pitch; very slow, slow, moderate, fast or very fast.'


@dataclass(frozen=True)
class SparkStyle:
    """A voice made of words. Levels go from 0 to 4."""

    gender: int = 0
    pitch: int = 2
    speed: int = 2


def style_of(manner: VoiceSettings) -> SparkStyle:
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
    return SparkStyle(**found)


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


class SparkPrompts:
    """A tokenizer's tokens for sound, and prompts made with them."""

    def __init__(self, tokenizer: Any, semantic: int, scalars: int, tokens: int) -> None:
        """`semantic`, `scalars`: how many tokens there are of each kind; `tokens` of the latter make a voice."""
        self._tokenizer, self.tokens = tokenizer, tokens
        self._semantic = [self._id(f"bicodec_semantic_{i}") for i in range(semantic)]
        self._global = [self._id(f"bicodec_global_{i}") for i in range(scalars)]
        self.semantic: Mapping[int, int] = {id: i for i, id in enumerate(self._semantic)}
        self.voice_ends = self._id("end_global_token")
        self.voices: Mapping[int, int] = {id: i for i, id in enumerate(self._global)}

    def check(self, manner: VoiceSettings) -> None:
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

    def prompt(self, text: str, manner: VoiceSettings) -> list[int]:
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

    def of_words(self, text: str, style: SparkStyle) -> list[int]:
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


RATE = 16000
TOKENS = 3000  # of one passage, a minute
TOKEN_RATE = 50
PREAMBLE = 32  # tokens beside the voice's that come before its last: marks, pitch and speed in numbers
KEPT = 64  # voices made of words
INTRODUCTION = "Hello, it is good to meet you. This is the voice that I will be speaking with today."
CHUNK = 25  # tokens that are given to the codec together
REFERENCE = 6 * RATE  # samples that a voice is taken from
SAMPLING: dict[str, Any] = {"temperature": 0.8, "top_k": 50, "top_p": 0.95}
_LOUDNESS = 0.2  # of the loud parts of a recording


def home_of(folder: Path) -> Path | None:
    """Where the language model's folder, or the one around it, has its codec beside it; None for other models."""
    return next((home for home in (folder, folder.parent) if (home / "BiCodec" / "config.yaml").is_file()), None)


def is_spark(folder: Path) -> bool:
    return home_of(folder) is not None


@dataclass(frozen=True)
class Made:
    """A voice that the model made of words: what it wrote of it, and the voice's tokens."""

    written: Sequence[int]
    tokens: np.ndarray


class Spark:
    """See `synth.Speaker`."""

    rate = RATE
    token_rate = float(TOKEN_RATE)
    presets = ("female", "male")
    clones = True

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.engine, self.model = engine, model
        home, tokenizer = engine.task(model, _facts).result()
        self.codec = str(home / "BiCodec")
        self.listens = f"{self.codec}#encoder"
        self.hears = str(home / "wav2vec2-large-xlsr-53")
        self.prompts = SparkPrompts(tokenizer, *engine.task(self.codec, _sizes).result())
        self._made: dict[tuple[SparkStyle, int, tuple[Any, ...]], Made] = {}
        self._making = Lock()

    def check(self, manner: VoiceSettings) -> None:
        """Raise BadRequest for what Spark-TTS cannot do."""
        self.prompts.check(manner)

    def improvises(self, manner: VoiceSettings) -> bool:
        return False

    def speak(self, text: str, manner: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, patient: bool = False,
              said: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        """Samples at `rate`, chunk by chunk; `patient`: all at once and later, so that a bad take is never heard."""
        prompt = self.prompts.prompt(text, manner)
        wishes = SAMPLING | sampling.given
        seed = secrets.randbits(32) if seed is None else seed
        usual = min(TOKENS, int(max_frames(text) * TOKEN_RATE / FRAME_RATE))
        most = sampling.most(usual)

        def take(attempt: int) -> Take:
            begun, voice = prompt, None
            if manner.clone is not None:
                voice = self.prompts.voice_of(manner.clone)
            else:
                made = self._voice(style_of(manner), seed, wishes)
                begun, voice = [*prompt, *made.written], made.tokens
            params = SamplingParams(max_tokens=most, seed=seed + attempt, **wishes)
            return (yield from self._take(Request(self.model, begun, params), voice))

        return retry_takes(take, 1 if wishes["temperature"] == 0 else TRIES, patient, may_be_cut=most < usual)

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate`; with `text`, what is said in them, it is imitated and not only resembled.

        Its vector holds the voice's tokens, whole numbers."""
        sound = louder(checked_recording(samples, RATE))
        mel = bicodec_mel(reference(sound))
        voice = self.engine.task(self.listens, lambda loaded: loaded.model.voice(mel)).result()
        said = (text or "").strip()
        if not said:
            return Clone(voice.astype(np.float32))
        features = self.engine.task(self.hears, lambda loaded: loaded.model.features(sound)).result()
        codes = self.engine.task(self.listens, lambda loaded: loaded.model.semantic(features)).result()
        return Clone(voice.astype(np.float32), codes[:, None], said)

    def _voice(self, style: SparkStyle, seed: int, wishes: Mapping[str, Any]) -> Made:
        """Passages that are spoken at the same time wait for the one of them that makes it."""
        key = (style, seed, tuple(sorted(wishes.items())))
        with self._making:
            made = self._made.pop(key, None) or self._introduced(style, seed, wishes)
            self._made[key] = made  # the one used last comes last
            while len(self._made) > KEPT:
                del self._made[next(iter(self._made))]
            return made

    def _introduced(self, style: SparkStyle, seed: int, wishes: Mapping[str, Any]) -> Made:
        prompt = self.prompts.of_words(INTRODUCTION, style)
        for attempt in range(TRIES):
            params = SamplingParams(max_tokens=self.prompts.tokens + PREAMBLE, seed=seed + attempt, **wishes)
            handle = self.engine.submit(Request(self.model, prompt, params))
            written: list[int] = []
            try:
                for event in handle:
                    if isinstance(event, Failed):
                        raise event.error
                    if isinstance(event, Text):
                        written += event.ids
                    if (made := self._whole(written)) is not None:
                        return made
            finally:
                handle.cancel()
        raise SpeechRanAway("The model made no voice of these words. Try another seed.")

    def _whole(self, written: Sequence[int]) -> Made | None:
        """The voice, when all of its tokens are written."""
        places = [i for i, id in enumerate(written) if id in self.prompts.voices][: self.prompts.tokens]
        if len(places) < self.prompts.tokens:
            return None
        tokens = np.array([self.prompts.voices[written[i]] for i in places], np.int32)
        return Made([*written[: places[-1] + 1], self.prompts.voice_ends], tokens)

    def _take(self, request: Request, voice: np.ndarray) -> Take:
        stream = self.engine.task(self.codec, _streaming(voice)).result()
        loops = RepetitionGuard(period=TOKEN_RATE // 3, lasts=int(LOOP_LASTS * TOKEN_RATE / FRAME_RATE))

        def render(waiting: list[np.ndarray], last: bool) -> Task[np.ndarray] | None:
            if not waiting and not stream.waits:
                return None
            return self.engine.task(self.codec, lambda _: stream.push(np.array(waiting, np.int32), last=last))

        return (yield from stream_take(self.engine.submit(request), self._codes, render, (CHUNK,), RATE, loops))

    def _codes(self, event: Event) -> Iterator[np.ndarray]:
        """What is none of the sound's codes is left out."""
        for id in event.ids if isinstance(event, Text) else ():
            if (code := self.prompts.semantic.get(id)) is not None:
                yield np.array(code, np.int32)


def louder(sound: np.ndarray) -> np.ndarray:
    """As loud as the recordings that the model was trained with. Measured in what is loud of it, peaks left out."""
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
    home = home_of(loaded.folder)
    if home is None:
        raise BadRequest(f"The model {loaded.name} is no Spark-TTS model.", "model")
    return home, loaded.tokenizer
    yield  # a task's work is a generator
