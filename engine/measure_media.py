"""How fast models that speak, listen and read are on this machine, through the engine and the pipelines that people use.

Every figure is a median of several runs. Sounds and pages differ a little from run to run, unseen and unheard, so that
nothing which was remembered of the last one is measured.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from engine.errors import SpeechRanAway, UnreadableFile
from engine.measure import Figure, Say
from engine.media.sound import Audio
from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.transcription import Transcriber
from engine.pipelines.ocr import Session
from engine.pipelines.speaking.leash import EngineLike
from engine.pipelines.speaking.long_form import SpeechOptions, speak_long_form
from engine.pipelines.speaking.speech_models import SpeechModel
from engine.pipelines.speaking.voice import VoiceSettings
from engine.stats import EngineStats
from engine.types import Request, SamplingParams, Sound

WORK = "s of work per s of sound"
TEXT = "The crane is a tall bird that lives in wet meadows. Every autumn it flies south, in long lines, and calls."
_TRIES = 4
_SEGMENT = 10  # seconds of sound that are heard in one piece
_TOKENS = 3.5  # a second of speech has about so many


class HasStats(Protocol):
    def stats(self) -> EngineStats: ...


def voice_like(seconds: float, rate: int = SAMPLE_RATE) -> np.ndarray:
    """Not speech, but a voice's pitch and beat."""
    t = np.arange(int(seconds * rate)) / rate
    tones = sum(np.sin(2 * np.pi * 130 * i * t * (1 + 0.01 * np.sin(9 * t))) / i for i in (1, 2, 3, 4))
    noise = np.random.default_rng(0).standard_normal(len(t))
    return (0.02 * noise + 0.3 * tones * np.clip(np.sin(2 * np.pi * 3 * t), 0, 1)).astype(np.float32)


@dataclass
class Speaking:
    """Times a voice."""

    voice: SpeechModel
    manner: VoiceSettings
    text: str = TEXT
    say: Say = lambda _: None

    def all(self, streams: Sequence[int], runs: int) -> list[Figure]:
        self.say("the first sound")
        alone = [self._once(seed) for seed in range(runs)]
        found = [Figure("first sound", 1000 * statistics.median(first for first, _, _ in alone), "ms")]
        for count in streams:
            self.say(f"speaking {count} at once")
            made = [_together(range(1000 * run, 1000 * run + count), self._heard) for run in range(runs)]
            found.append(
                Figure(f"speech, {count} at once", statistics.median(spent / sum(heard) for spent, heard in made), WORK)
            )
        return found

    def _heard(self, seed: int) -> float:
        return self._once(seed)[2]

    def _once(self, seed: int) -> tuple[float, float, float]:
        """Seconds until the first sound, until the end, and of sound. A voice that ran away is given other seeds."""
        for again in range(_TRIES - 1):
            try:
                return self._spoken(seed + 7919 * again)
            except SpeechRanAway:
                continue
        return self._spoken(seed + 7919 * _TRIES)

    def _spoken(self, seed: int) -> tuple[float, float, float]:
        began, first, samples = time.perf_counter(), 0.0, 0
        for chunk in speak_long_form(self.voice, self.text, self.manner, SpeechOptions(seed=seed)):
            first = first or time.perf_counter() - began
            samples += len(chunk)
        return first, time.perf_counter() - began, samples / self.voice.rate


@dataclass
class Listening:
    """Times a model that listens: with a recording as it is, else with a voice-like sound and as many tokens as speech has."""

    listener: Transcriber
    engine: EngineLike
    audio: Audio | None = None
    say: Say = lambda _: None
    _given: Audio = field(init=False)

    def __post_init__(self) -> None:
        self._given = self.audio or Audio(voice_like(2 * _SEGMENT), SAMPLE_RATE)
        self._random = np.random.default_rng(0)

    def all(self, streams: Sequence[int], runs: int) -> list[Figure]:
        self.say("the first words")
        firsts = [self._once()[0] for _ in range(runs)]
        found = [Figure("first words", 1000 * statistics.median(firsts), "ms")]
        for count in streams:
            self.say(f"listening to {count} at once")
            made = [_together(range(count), self._heard) for _ in range(runs)]
            rate = statistics.median(spent / sum(heard) for spent, heard in made)
            found.append(Figure(f"real-time factor, {count} at once", rate, WORK))
        return found

    def _heard(self, _: int) -> float:
        self._once()
        return self._given.seconds

    def _once(self) -> tuple[float, float]:
        """Seconds until the first words (of a sound without any: until it is known), and until the end."""
        samples = self._given.samples
        noise = self._random.standard_normal(len(samples)).astype(np.float32)
        audio = Audio(samples + 1e-5 * noise, self._given.rate)
        began, first = time.perf_counter(), 0.0
        for _ in self.listener.segments(audio) if self.audio is not None else self._spoken(audio):
            first = first or time.perf_counter() - began
        return first or time.perf_counter() - began, time.perf_counter() - began

    def _spoken(self, audio: Audio) -> Sequence[object]:
        """The work of listening to speech of this length, whatever the model makes of the sound."""
        listener, engine = self.listener, self.engine
        listener.spans(audio)
        most = min(int(_SEGMENT * _TOKENS), listener.model.context - 2)
        params = SamplingParams(temperature=0.0, max_tokens=most, ignore_eos=True)
        step = _SEGMENT * audio.rate
        parts = [audio.samples[at : at + step] for at in range(0, len(audio.samples), step)]
        requests = [
            Request(
                listener.model.name, [listener.model.start_id], params, sound=Sound(part, str(time.perf_counter_ns()))
            )
            for part in parts
        ]
        return [handle.result() for handle in [engine.submit(request) for request in requests]]


@dataclass
class Reading:
    """Times a model that reads pages, given as arrays [H, W, 3]."""

    session: Session
    engine: HasStats
    pages: Sequence[np.ndarray]
    say: Say = lambda _: None

    def all(self, runs: int) -> list[Figure]:
        spent, tokens = [], []
        random = np.random.default_rng(0)
        for _ in range(runs):
            self.say(f"reading {len(self.pages)} pages" if len(self.pages) > 1 else "reading a page")
            pages = [_unlike(page, random) for page in self.pages]
            before, began = self.engine.stats().output_tokens, time.perf_counter()
            documents = self.session.documents(pages)
            spent.append(time.perf_counter() - began)
            tokens.append(self.engine.stats().output_tokens - before)
            wrong = [document.error for document in documents if document.error]
            wrong += [page.error for document in documents for page in document.pages if page.error]
            if wrong:
                raise UnreadableFile(str(wrong[0]))
        a_page = statistics.median(spent) / len(self.pages)
        return [
            Figure("a page", a_page, "s"),
            Figure("pages", 60 / a_page, "pages/minute"),
            Figure("text", statistics.median(n / t for n, t in zip(tokens, spent)), "tokens/s"),
        ]


def _unlike(page: np.ndarray, random: np.random.Generator) -> np.ndarray:
    noise = random.integers(-1, 2, page.shape, dtype=np.int16)
    return np.clip(page.astype(np.int16) + noise, 0, 255).astype(np.uint8)


def _together(which: range, once: Callable[[int], float]) -> tuple[float, list[float]]:
    """Seconds that it takes for all, and what each gave."""
    began = time.perf_counter()
    with ThreadPoolExecutor(len(which)) as pool:
        given = list(pool.map(once, which))
    return time.perf_counter() - began, given
