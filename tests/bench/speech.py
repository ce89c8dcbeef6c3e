"""Speaking on this CPU at Qwen3-TTS 0.6B's shape: seconds of work for a second of sound, and when the first is heard;
beside the reference package, which lives in an environment of its own.

Measured apart: the talker with its predictor, and the codec; then both as they run, one voice and four.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import numpy as np

from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.pipelines.speaking.qwen3_tts import Prompts, embedded
from engine.pipelines.speaking.synth import RATE, sound_of
from engine.pipelines.speaking.voice import Manner
from engine.settings import Settings
from engine.types import Frames, Request, SamplingParams
from tests.bench.shapes import KEPT
from tests.bench.speech_peer import talker as talker_of_the_reference
from tests.bench.speech_shapes import speaking_checkpoint
from tests.bench.table import Row

TEXT = "The quick brown fox jumps over the lazy dog, and then it rests."
FRAME = 0.08  # seconds of sound
FRAMES = 24
WAYS = {"f32": ("f32", "none"), "bf16": ("bf16", "none"), "q8_0": ("f32", "q8_0")}  # name -> dtype, quantization


class Rig:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.model = str(speaking_checkpoint())
        self.codec = f"{self.model}/speech_tokenizer"
        engine.load(self.model, pin=True)
        engine.load(self.codec, pin=True)
        facts = engine.task(self.model, lambda loaded: _facts(loaded)).result()
        self.pad = facts.marks.pad
        score = facts.score(TEXT, Manner(preset="vivian"))
        self.rows, self.track = engine.task(self.model, lambda loaded: embedded(loaded.model, score)).result()

    def request(self, seed: int, frames: int = FRAMES) -> Request:
        params = SamplingParams(max_tokens=frames, ignore_eos=True, seed=seed)
        rows = self.rows
        return Request(
            self.model, [self.pad] * len(rows), params, embeds=rows, positions=range(len(rows)), track=self.track
        )

    def talker(self) -> float:
        """Work for a second of sound, without the codec and the prompt."""
        events = iter(self.engine.submit(self.request(1)))
        times = [time.perf_counter() for event in events if isinstance(event, Frames)]
        return (times[-1] - times[0]) / (len(times) - 1) / FRAME

    def decode(self, frames: int = 24) -> float:
        codes = np.random.default_rng(0).integers(0, 2048, (frames, 16))
        begin = time.perf_counter()
        self.engine.task(self.codec, lambda loaded: loaded.model.decode(codes, {})).result()
        return (time.perf_counter() - begin) / frames / FRAME

    def voice(self, seed: int) -> tuple[float, float, float]:
        """Seconds until the first sound, until the end, and of sound."""
        begin, first, samples = time.perf_counter(), 0.0, 0
        for chunk in sound_of(self.engine, self.codec, self.request(seed)):
            first = first or time.perf_counter() - begin
            samples += len(chunk)
        return first, time.perf_counter() - begin, samples / RATE

    def voices(self, count: int) -> float:
        """Seconds of sound a second, of several voices together."""
        heard: list[float] = []
        threads = [Thread(target=lambda seed=seed: heard.append(self.voice(seed)[2])) for seed in range(count)]
        begin = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(heard) / (time.perf_counter() - begin)


def _facts(loaded):  # type: ignore[no-untyped-def]
    return Prompts(loaded.config, loaded.tokenizer)
    yield


@contextmanager
def rig(way: str, backend: str = "torch") -> Iterator[Rig]:
    dtype, quant = WAYS[way]
    options = LoadOptions(backend=backend, device="cpu", dtype=dtype, quant=quant)
    with Engine(lambda name: load_any(name, options), Settings()) as engine:
        yield Rig(engine)


def rows() -> list[Row]:
    found = []
    for way, (dtype, _) in WAYS.items():
        peer = talker_of_the_reference(KEPT, speaking_checkpoint(), dtype, FRAMES)
        with rig(way) as made:
            made.talker(), made.decode(4)
            talker, codec = made.talker(), made.decode()
            first, spent, sound = made.voice(2)
            one, four = made.voices(1), made.voices(4)
        work = "s of work a s of sound"
        found += [
            Row(
                f"talker and predictor, {way}",
                work,
                talker,
                peer,
                f"qwen-tts, {dtype}",
                aim=">= 2x quantized" if way == "q8_0" else ">= 1x",
                more_is_better=False,
            ),
            Row(f"codec beside {way}", work, codec, more_is_better=False),
            Row(f"all of it, {way}", work, spent / sound, aim="<= 1.0 quantized", more_is_better=False),
            Row(f"first sound, {way}", "s", first, more_is_better=False),
            Row(f"four voices together, {way}", "s of sound a s", four, one, "one voice", aim=">= 2x one"),
        ]
    return found
