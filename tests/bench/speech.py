"""Speaking on this CPU at Qwen3-TTS 0.6B's shape: seconds of work for a second of sound, and when the first is heard;
beside the reference package, which lives in an environment of its own.

Measured apart: the talker with its predictor, and the codec; then both as they run, one voice and four.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from threading import Thread

import numpy as np

from engine.engine import Engine
from engine.loading import LoadOptions, load_any
from engine.pipelines.speaking.qwen3_tts import RATE, Qwen3TTSPrompts, embed_prompt, synthesize
from engine.pipelines.speaking.voice import VoiceSettings
from engine.types import Frames, Request, SamplingParams, Settings
from tests.bench.kernels import bandwidth
from tests.bench.shapes import KEPT
from tests.bench.speech_peer import Reference
from tests.bench.speech_shapes import TALKER, TEXT, speaking_checkpoint
from tests.bench.table import Row, paired

FRAME = 0.08  # seconds of sound
FRAMES = 24  # of which the talker alone is measured
SENTENCE = 50  # four seconds, as sentences have
ROUNDS = 3
WORK = "s of work a s of sound"
WAYS = {  # name -> dtype, quantization, the reference's dtype
    "f32": ("f32", "none", "f32"),
    "bf16": ("bf16", "none", "bf16"),
    "q8_0": ("f32", "q8_0", "bf16"),
    "q4_0": ("f32", "q4_0", "bf16"),
}
# of a weight; the checkpoint is bf16, which comes to lie in twelve bits
BYTES = {"f32": 1.5, "bf16": 1.5, "q8_0": 34 / 32, "q4_0": 18 / 32}


class Rig:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.model = str(speaking_checkpoint())
        self.codec = f"{self.model}/speech_tokenizer"
        engine.load(self.model, pin=True)
        engine.load(self.codec, pin=True)
        facts = engine.task(self.model, lambda loaded: _facts(loaded)).result()
        self.pad = facts.special.pad
        layout = facts.layout(TEXT, VoiceSettings(preset="vivian"))
        self.rows, self.track = engine.task(self.model, lambda loaded: embed_prompt(loaded.model, layout)).result()

    def request(self, seed: int, frames: int) -> Request:
        params = SamplingParams(max_tokens=frames, ignore_eos=True, seed=seed)
        rows = self.rows
        return Request(
            self.model, [self.pad] * len(rows), params, embeds=rows, positions=range(len(rows)), track=self.track
        )

    def talker(self) -> float:
        """Work for a second of sound, without the codec and the prompt."""
        events = iter(self.engine.submit(self.request(1, FRAMES)))
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
        for chunk in synthesize(self.engine, self.codec, self.request(seed, SENTENCE)):
            first = first or time.perf_counter() - begin
            samples += len(chunk)
        return first, time.perf_counter() - begin, samples / RATE

    def voices(self, count: int) -> float:
        """Seconds of sound a second, of several voices together."""
        seconds: list[float] = []
        threads = [Thread(target=lambda seed=seed: seconds.append(self.voice(seed)[2])) for seed in range(count)]
        begin = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(seconds) / (time.perf_counter() - begin)


def _facts(loaded):  # type: ignore[no-untyped-def]
    return Qwen3TTSPrompts(loaded.config, loaded.tokenizer)
    yield


@contextmanager
def rig(way: str, backend: str = "torch") -> Iterator[Rig]:
    dtype, quant, _ = WAYS[way]
    options = LoadOptions(backend=backend, device="cpu", dtype=dtype, quant=quant)
    with Engine(lambda name: load_any(name, options), Settings()) as engine:
        yield Rig(engine)


def weights_of_a_frame() -> int:
    """That are read once a frame of one voice: the talker's, and those of each pass of the predictor."""
    hidden, dim = TALKER["hidden_size"], TALKER["head_dim"]
    heads, kv_heads = TALKER["num_attention_heads"], TALKER["num_key_value_heads"]
    layer = hidden * dim * (2 * heads + 2 * kv_heads) + 3 * hidden * TALKER["intermediate_size"]
    predictor, passes = TALKER["code_predictor_config"], TALKER["num_code_groups"] - 1
    head = hidden * (TALKER["vocab_size"] + passes * predictor["vocab_size"])
    return layer * (TALKER["num_hidden_layers"] + passes * predictor["num_hidden_layers"]) + head


def rows() -> list[Row]:
    return [row for way in WAYS for row in rows_of(way)]


def eight_bit_rows() -> list[Row]:
    """One voice at 8 bits without the reference: minutes less, to compare what `GRUS_KERNELS` names."""
    with rig("q8_0") as made:
        made.talker()
        made.decode(4)
        made.voice(1)
        talker, codec = (median(measure() for _ in range(ROUNDS)) for measure in (made.talker, made.decode))
        return [
            Row("q8_0 talker and predictor", WORK, talker, more_is_better=False),
            Row("q8_0 codec", WORK, codec, more_is_better=False),
            *sound_rows("q8_0", [made.voice(2) for _ in range(ROUNDS)]),
        ]


def sound_rows(way: str, voices: list[tuple[float, float, float]]) -> list[Row]:
    aim = "<= 1.0" if way.startswith("q") else ""
    whole = median(spent / sound for _, spent, sound in voices)
    first = median(first for first, _, _ in voices)
    return [
        Row(f"{way} all of it", WORK, whole, aim=aim, more_is_better=False),
        Row(f"{way} first sound", "s", first, more_is_better=False),
    ]


def rows_of(way: str) -> list[Row]:
    """The reference and both halves in turn, A B A B; medians."""
    dtype = WAYS[way][2]
    with rig(way) as made, Reference(KEPT, speaking_checkpoint(), dtype, FRAMES) as reference:
        talker, peer = paired(ROUNDS, made.talker, reference.talker)
        made.decode(4)
        codec = median(made.decode() for _ in range(ROUNDS))
        made.voice(1)
        voices = [made.voice(2) for _ in range(ROUNDS)]
        one, four = (median(made.voices(count) for _ in range(ROUNDS)) for count in (1, 4))
    share = 100 * weights_of_a_frame() * BYTES[way] / FRAME / talker / bandwidth()
    of_sound, better = "s of sound a s", ">= 2x" if way.startswith("q") else ">= 1x"
    return [
        Row(f"{way} talker and predictor", WORK, talker, peer, f"qwen-tts, {dtype}", better, more_is_better=False),
        Row(f"{way} talker and predictor: share of bandwidth", "%", share),
        Row(f"{way} codec", WORK, codec, more_is_better=False),
        *sound_rows(way, voices),
        Row(f"{way} four voices together", of_sound, four, one, "one voice", ">= 2x"),
    ]
