"""The benchmarks of `grus bench`: models that write, speak, listen and read, through the engine and its pipelines.

Every figure is a median of several runs. Prompts are random tokens, and sounds and pages differ a little from run to run,
so that no cache is measured unless reuse is what is measured.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np

from engine.engine import Engine
from engine.errors import SpeechRanAway, UnreadableFile
from engine.loading import LoadedModel
from engine.media.sound import SAMPLE_RATE, Audio
from engine.metrics import EngineStats
from engine.pipelines.listening.transcription import Transcriber
from engine.pipelines.reading.session import ReadingSession
from engine.pipelines.speaking.speech import SpeechModel, SpeechOptions, speak_long_form
from engine.pipelines.speaking.voice import VoiceSettings
from engine.tasks import EngineLike
from engine.types import Request, Result, SamplingParams, Sound

Say = Callable[[str], None]


@dataclass(frozen=True)
class Figure:
    what: str
    value: float
    unit: str

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class TextBenchmark:
    """Benchmarks text generation with a loaded model."""

    def __init__(self, engine: Engine, model: LoadedModel, say: Say = lambda _: None, seed: int = 0) -> None:
        self._engine, self._model, self._say = engine, model, say
        self._random = random.Random(seed)
        special = model.tokenizer.special_ids
        self._plain = [i for i in range(min(model.vocab, model.tokenizer.vocab_size)) if i not in special]

    def all(
        self, prompt: int = 512, reply: int = 32, streams: Sequence[int] = (1, 4, 8, 16), runs: int = 3
    ) -> list[Figure]:
        """Prefill, decode at several numbers of streams, and a follow-up turn."""
        room = self._model.context - reply
        prompt = max(1, min(prompt, room // 2))
        history = max(1, min(2000, room - 32))
        found = [Figure(f"prefill of {prompt} tokens", self._prefill(prompt, runs), "tokens/s")]
        for count in streams:
            self._say(f"decoding {count} at once")
            found.append(Figure(f"decode, {count} at once", self.decode(count, reply, runs), "tokens/s"))
        self._say("a follow-up turn")
        cold, warm = self.follow_up(history)
        found.append(Figure(f"first token, {history} tokens new", 1000 * cold, "ms"))
        found.append(Figure(f"first token, {history} tokens remembered", 1000 * warm, "ms"))
        return found

    def tokens(self, n: int) -> list[int]:
        return self._random.choices(self._plain, k=n)

    def run(self, prompt: Sequence[int], reply: int) -> Result:
        return self._engine.submit(self._request(prompt, reply)).result()

    def _request(self, prompt: Sequence[int], reply: int) -> Request:
        return Request(self._model.name, prompt, SamplingParams(max_tokens=reply, temperature=0.0, ignore_eos=True))

    def _prefill(self, prompt: int, runs: int) -> float:
        self._say("prefill")
        return statistics.median(self.run(self.tokens(prompt), 1).timings.prefill_rate for _ in range(runs))

    def decode(self, streams: int, reply: int, runs: int, prompt: int = 16) -> float:
        """Tokens per second of all streams together, while they reply."""

        def once() -> float:
            handles = [self._engine.submit(self._request(self.tokens(prompt), reply)) for _ in range(streams)]
            timings = [handle.result().timings for handle in handles]
            # each stream gives its tokens evenly from its first to its last
            return sum((t.output_tokens - 1) / max(1e-9, t.total - t.first_token) for t in timings)

        return statistics.median(once() for _ in range(runs))

    def follow_up(self, history: int, runs: int = 3) -> tuple[float, float]:
        """Seconds to the first token of a long prompt, and of the same conversation's next turn."""
        cold, warm = [], []
        for _ in range(runs):
            prompt = self.tokens(history)
            first = self.run(prompt, 2)
            cold.append(first.timings.first_token)
            again = self.run([*prompt, *first.ids, *self.tokens(8)], 2)
            warm.append(again.timings.first_token)
        return statistics.median(cold), statistics.median(warm)

    def overhead(self, reply: int = 64) -> float:
        """Seconds a token that the engine adds to what the runner alone needs for the same step."""
        from backends.base import Sampling, Segment

        through = []
        for _ in range(3):
            timings = self.run(self.tokens(8), reply).timings
            through.append((timings.total - timings.first_token) / (timings.output_tokens - 1))
        kv, runner = self._model.kv, self._model.runner
        alone = []
        for _ in range(3):
            slot = kv.open(8 + reply)
            if slot is None:
                break
            runner.run([Segment(slot, self.tokens(8), sample=Sampling())]).read()
            began = time.perf_counter()
            for _ in range(reply):
                runner.run([Segment(slot, sample=Sampling())]).read()
            alone.append((time.perf_counter() - began) / reply)
            kv.close(slot)
        return statistics.median(through) - statistics.median(alone) if alone else 0.0


WORK = "s of work per s of sound"
TEXT = "The crane is a tall bird that lives in wet meadows. Every autumn it flies south, in long lines, and calls."
_TRIES = 4
_SEGMENT = 10  # seconds of sound in one request
_TOKENS = 3.5  # per second of speech, about


class HasStats(Protocol):
    def stats(self) -> EngineStats: ...


def voice_like(seconds: float, rate: int = SAMPLE_RATE) -> np.ndarray:
    """A synthetic sound with a voice's pitch and rhythm."""
    t = np.arange(int(seconds * rate)) / rate
    tones = sum(np.sin(2 * np.pi * 130 * i * t * (1 + 0.01 * np.sin(9 * t))) / i for i in (1, 2, 3, 4))
    noise = np.random.default_rng(0).standard_normal(len(t))
    return (0.02 * noise + 0.3 * tones * np.clip(np.sin(2 * np.pi * 3 * t), 0, 1)).astype(np.float32)


@dataclass
class SpeechBenchmark:
    """Benchmarks speech synthesis."""

    voice: SpeechModel
    settings: VoiceSettings
    text: str = TEXT
    say: Say = lambda _: None

    def all(self, streams: Sequence[int], runs: int) -> list[Figure]:
        self.say("the first sound")
        alone = [self._once(seed) for seed in range(runs)]
        found = [Figure("first sound", 1000 * statistics.median(first for first, _, _ in alone), "ms")]
        for count in streams:
            self.say(f"speaking {count} at once")
            made = [_together(range(1000 * run, 1000 * run + count), self._sound_seconds) for run in range(runs)]
            found.append(
                Figure(
                    f"speech, {count} at once", statistics.median(spent / sum(seconds) for spent, seconds in made), WORK
                )
            )
        return found

    def _sound_seconds(self, seed: int) -> float:
        return self._once(seed)[2]

    def _once(self, seed: int) -> tuple[float, float, float]:
        """Seconds until the first sound, until the end, and of sound. Runaway speech is retried with other seeds."""
        for again in range(_TRIES - 1):
            try:
                return self._spoken(seed + 7919 * again)
            except SpeechRanAway:
                continue
        return self._spoken(seed + 7919 * _TRIES)

    def _spoken(self, seed: int) -> tuple[float, float, float]:
        began, first, samples = time.perf_counter(), 0.0, 0
        for chunk in speak_long_form(self.voice, self.text, self.settings, SpeechOptions(seed=seed)):
            first = first or time.perf_counter() - began
            samples += len(chunk)
        return first, time.perf_counter() - began, samples / self.voice.rate


@dataclass
class ListeningBenchmark:
    """Benchmarks transcription: of a recording, else of a voice-like sound with as many tokens as speech has."""

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
            made = [_together(range(count), self._sound_seconds) for _ in range(runs)]
            rate = statistics.median(spent / sum(seconds) for spent, seconds in made)
            found.append(Figure(f"real-time factor, {count} at once", rate, WORK))
        return found

    def _sound_seconds(self, _: int) -> float:
        self._once()
        return self._given.seconds

    def _once(self) -> tuple[float, float]:
        """Seconds until the first words (or until the end, without any), and until the end."""
        samples = self._given.samples
        noise = self._random.standard_normal(len(samples)).astype(np.float32)
        audio = Audio(samples + 1e-5 * noise, self._given.rate)
        began, first = time.perf_counter(), 0.0
        for _ in self.listener.segments(audio) if self.audio is not None else self._spoken(audio):
            first = first or time.perf_counter() - began
        return first or time.perf_counter() - began, time.perf_counter() - began

    def _spoken(self, audio: Audio) -> Sequence[object]:
        """Do the work of transcribing speech of this length; whatever the model generates, where a request needs no more than the sound."""
        listener, engine = self.listener, self.engine
        list(listener.parts([audio.samples]))
        most = min(int(_SEGMENT * _TOKENS), listener.model.context - 2)
        params = SamplingParams(temperature=0.0, max_tokens=most, ignore_eos=True)
        step = _SEGMENT * audio.rate
        parts = [audio.samples[at : at + step] for at in range(0, len(audio.samples), step)]
        if not listener.starts_bare:
            return [handle.result() for handle in [listener.submit(part) for part in parts]]
        requests = [
            Request(
                listener.model.name, [listener.model.start_id], params, sound=Sound(part, str(time.perf_counter_ns()))
            )
            for part in parts
        ]
        return [handle.result() for handle in [engine.submit(request) for request in requests]]


@dataclass
class ReadingBenchmark:
    """Benchmarks page reading; pages are arrays [H, W, 3]."""

    session: ReadingSession
    engine: HasStats
    pages: Sequence[np.ndarray]
    say: Say = lambda _: None

    def all(self, runs: int) -> list[Figure]:
        spent, tokens = [], []
        random = np.random.default_rng(0)
        for _ in range(runs):
            self.say(f"reading {len(self.pages)} pages" if len(self.pages) > 1 else "reading a page")
            pages = [_with_noise(page, random) for page in self.pages]
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


def _with_noise(page: np.ndarray, random: np.random.Generator) -> np.ndarray:
    noise = random.integers(-1, 2, page.shape, dtype=np.int16)
    return np.clip(page.astype(np.int16) + noise, 0, 255).astype(np.uint8)


def _together(which: range, once: Callable[[int], float]) -> tuple[float, list[float]]:
    """Run all at once: the total seconds, and the result of each."""
    began = time.perf_counter()
    with ThreadPoolExecutor(len(which)) as pool:
        given = list(pool.map(once, which))
    return time.perf_counter() - began, given
