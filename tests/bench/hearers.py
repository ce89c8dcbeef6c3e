"""Two listeners that are compared: Moonshine here, through the whole engine, and in the reference library."""

from __future__ import annotations

import time

import numpy as np

from tests.bench.peers import Reference

SECONDS, TOKENS = 10, 40
RATE = 16_000


def sound(seed: int) -> np.ndarray:
    """Noise that swells: what a model with random weights hears does not matter."""
    random, at = np.random.default_rng(seed), np.arange(SECONDS * RATE) / RATE
    made: np.ndarray = 0.1 * random.standard_normal(len(at)) * np.abs(np.sin(3 * at))
    return made.astype(np.float32)


class GrusHearer:
    """`dtype` is f32, or what to quantize the weights to."""

    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        from engine.engine import Engine
        from engine.loading import LoadOptions, load_any
        from engine.types import Settings

        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        options = LoadOptions(backend="torch", device="cpu", dtype="f32", quant="none" if dtype == "f32" else dtype)
        self.engine, self.folder, self.seed = Engine(lambda name: load_any(name, options), Settings()), folder, 0
        self.engine.load(folder, pin=True)

    def prefill(self, _: int) -> float:
        return self.transcribe(1)

    def transcribe(self, sounds: int) -> float:
        """Seconds for so many sounds that come together."""
        from engine.types import Request, SamplingParams, Sound

        given = []
        for _ in range(sounds):
            self.seed += 1  # what was encoded is remembered: each must be new
            params = SamplingParams(  # as a listener asks, who wants to know how sure the model is
                temperature=0.0, max_tokens=TOKENS, ignore_eos=True, logprobs=True, approximate_logprobs=True
            )
            given.append(Request(self.folder, [1], params, sound=Sound(sound(self.seed), str(self.seed))))
        began = time.perf_counter()
        handles = [self.engine.submit(request) for request in given]
        made = [len(handle.result().ids) for handle in handles]
        took = time.perf_counter() - began
        assert made == [TOKENS] * sounds
        return took


class TransformersHearer(Reference):
    kind = "MoonshineForConditionalGeneration"

    def prefill(self, _: int) -> float:
        return self.transcribe(1)

    def transcribe(self, sounds: int) -> float:
        given = self.torch.from_numpy(np.stack([sound(seed) for seed in range(sounds)]))
        began = time.perf_counter()
        made = self.model.generate(
            input_values=given,
            attention_mask=self.torch.ones(given.shape, dtype=self.torch.long),
            max_new_tokens=TOKENS,
            min_new_tokens=TOKENS,
            do_sample=False,
        )
        took = time.perf_counter() - began
        assert made.shape[0] == sounds
        assert made.shape[1] >= TOKENS
        return took
