"""Orpheus text to speech: a Llama that generates SNAC codes as tokens, seven a frame.

A frame is one coarse code, two middle codes and four fine ones, in the order coarse, middle, fine, fine, middle, fine,
fine; each position in the frame has 4096 tokens of its own. The codec is a separate model.
"""

from __future__ import annotations

import secrets
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.models.snac import SnacStream
from engine.pipelines.speaking import is_orpheus
from engine.pipelines.speaking.speech import TRIES, RepetitionGuard, Take, max_frames, retry_takes, stream_take
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, Clone, OnCodes, SpeechSampling, VoiceSettings, checked_text
from engine.tasks import EngineLike, Task
from engine.types import Event, Request, SamplingParams, Text

CODEC = "hubertsiuzdak/snac_24khz"
VOICES = ("tara", "leah", "jess", "leo", "dan", "mia", "zac", "zoe")
TAGS = ("laugh", "chuckle", "sigh", "cough", "sniffle", "groan", "yawn", "gasp")  # in the text, as <laugh>
LONGEST_TEXT = 2000  # characters per call; `text.passages` splits longer texts

BEGIN, END_OF_TEXT, END_OF_TURN = 128259, 128009, 128260  # around the text
SPEECH, END_OF_SPEECH, FIRST_CODE = 128257, 128258, 128266
SIZE, FRAME = 4096, 7
PLACES = ([0], [1, 4], [2, 3, 5, 6])  # positions of each level's codes in a frame
CHUNK = 8  # frames per codec call
RATE = 24000
FRAME_SAMPLES = 2048
SAMPLING = {"temperature": 0.6, "top_p": 0.8, "repetition_penalty": 1.3}


class FrameParser:
    """Groups tokens into frames of seven codes. Tokens that are not codes are skipped."""

    def __init__(self) -> None:
        self._codes: list[int] = []

    def push(self, ids: Sequence[int]) -> Iterator[np.ndarray]:
        for id in ids:
            code = id - FIRST_CODE - SIZE * len(self._codes)
            if id < FIRST_CODE:
                continue
            if not 0 <= code < SIZE:  # out of step: wait for a code of the first position
                self._codes.clear()
                code = id - FIRST_CODE
                if code >= SIZE:
                    continue
            self._codes.append(code)
            if len(self._codes) == FRAME:
                yield np.array(self._codes, np.int32)
                self._codes.clear()


class Orpheus:
    """Orpheus of an engine. Implements `speech_models.SpeechModel`."""

    rate = RATE
    token_rate = FRAME * RATE / FRAME_SAMPLES
    presets = VOICES
    clones = False

    def __init__(self, engine: EngineLike, model: str, codec: str = CODEC) -> None:
        self.engine, self.model, self.codec = engine, model, codec
        self._tokenizer, self._defaults = engine.task(model, _facts).result()

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that Orpheus does not support."""
        if settings.clone is not None:
            raise BadRequest(
                ErrorText("Orpheus has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone."),
                "voice",
            )
        if settings.instructions is not None:
            raise BadRequest(
                ErrorText(
                    "Orpheus takes no instructions; it supports tags in the text: {tags}.",
                    tags=", ".join(f"<{tag}>" for tag in TAGS),
                ),
                "instructions",
            )
        if settings.language not in ("auto", "en", "english"):
            raise BadRequest(
                ErrorText("Orpheus speaks English, not {language}.", language=settings.language), "language"
            )
        if settings.preset is not None and settings.preset not in VOICES:
            raise BadRequest(
                ErrorText(
                    "Orpheus has no voice {name}. It has: {voices}.",
                    name=repr(settings.preset),
                    voices=", ".join(VOICES),
                ),
                "voice",
            )

    def prompt(self, text: str, settings: VoiceSettings) -> list[int]:
        self.check(settings)
        text = checked_text(text, LONGEST_TEXT)
        ids = self._tokenizer.encode(f"{settings.preset or VOICES[0]}: {text}", parse_special=False)
        return [BEGIN, *ids, END_OF_TEXT, END_OF_TURN]

    def needs_example(self, settings: VoiceSettings) -> bool:
        return False

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        prompt = self.prompt(text, settings)
        params: dict[str, Any] = {key: self._defaults.get(key, value) for key, value in SAMPLING.items()}
        params |= sampling.given
        seed = secrets.randbits(32) if seed is None else seed
        limit = FRAME * (max_frames(text) + 2)
        most = sampling.most(limit)

        def take(attempt: int) -> Take:
            sampled = SamplingParams(max_tokens=most, stop_token_ids=(END_OF_SPEECH,), seed=seed + attempt, **params)
            return self._take(Request(self.model, prompt, sampled))

        return retry_takes(take, 1 if params["temperature"] == 0 else TRIES, buffered, may_be_cut=most < limit)

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        raise BadRequest(
            ErrorText("Orpheus has voices of its own and clones none. Choose a Qwen3-TTS Base model to clone."), "voice"
        )

    def _take(self, request: Request) -> Take:
        stream = self.engine.task(self.codec, _stream).result()
        frames = FrameParser()

        def render(waiting: list[np.ndarray], last: bool) -> Task[np.ndarray] | None:
            if not waiting and not stream.waits:
                return None
            return self.engine.task(self.codec, lambda _: stream.push(codes_by_level(waiting), last=last))

        def frames_of(event: Event) -> Iterable[np.ndarray]:
            return frames.push(event.ids) if isinstance(event, Text) else ()

        return (
            yield from stream_take(self.engine.submit(request), frames_of, render, (CHUNK,), RATE, RepetitionGuard())
        )


def codes_by_level(frames: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The codes of each level, coarsest first."""
    codes = np.array(frames, np.int32).reshape(-1, FRAME)
    return [codes[:, places].reshape(-1) for places in PLACES]


def _stream(loaded: Any) -> Generator[None, None, SnacStream]:
    return SnacStream(loaded.model)
    yield  # a task's work is a generator


def _facts(loaded: Any) -> Generator[None, None, tuple[Any, Any]]:
    if not is_orpheus(loaded.config):
        raise BadRequest(f"The model {loaded.name} is no Orpheus model.", "model")
    return loaded.tokenizer, loaded.defaults
    yield  # a task's work is a generator
