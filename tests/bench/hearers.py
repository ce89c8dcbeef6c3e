"""Listeners that are compared: Moonshine, Whisper and Parakeet here, through the whole engine, and in other libraries."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.peers import THREADS, Reference
from tests.bench.shapes import KEPT

SECONDS, TOKENS = 10, 40
WINDOW, WINDOW_TOKENS = 30, 100  # of Whisper: what somebody says in half a minute
STRETCH, STRETCHES = 20, 3  # of Parakeet: as voice activity cuts speech at the latest
WHISPER_PROMPT = [50258, 50259, 50360]  # the start, English, transcribe
WHISPER_END = 50257
RATE = 16_000


def sound(seed: int, seconds: int = SECONDS) -> np.ndarray:
    """Noise that swells: what a model with random weights hears does not matter."""
    random, at = np.random.default_rng(seed), np.arange(seconds * RATE) / RATE
    made: np.ndarray = 0.1 * random.standard_normal(len(at)) * np.abs(np.sin(3 * at))
    return made.astype(np.float32)


class GrusHearer:
    """`dtype` is f32, or what to quantize the weights to."""

    seconds, tokens, prompt = SECONDS, TOKENS, [1]

    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        from engine.engine import Engine
        from engine.loading import LoadOptions, load_any
        from engine.types import Settings

        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        options = LoadOptions(backend="torch", device="cpu", dtype="f32", quant="none" if dtype == "f32" else dtype)
        self.opened: dict[str, Any] = {}

        def opened(name: str) -> Any:
            return self.opened.setdefault(name, load_any(name, options))

        self.engine, self.folder, self.seed = Engine(opened, Settings()), folder, 0
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
                temperature=0.0, max_tokens=self.tokens, ignore_eos=True, logprobs=True, approximate_logprobs=True
            )
            heard = Sound(sound(self.seed, self.seconds), str(self.seed))
            given.append(Request(self.folder, self.prompt, params, sound=heard))
        began = time.perf_counter()
        handles = [self.engine.submit(request) for request in given]
        made = [len(handle.result().ids) for handle in handles]
        took = time.perf_counter() - began
        assert made == [self.tokens] * sounds
        return took


class GrusWhisper(GrusHearer):
    seconds, tokens, prompt = WINDOW, WINDOW_TOKENS, WHISPER_PROMPT


class GrusParakeet(GrusHearer):
    def prefill(self, _: int) -> float:
        return self.recognize()[0]

    def recognize(self) -> tuple[float, int]:
        """Seconds for stretches of speech and for finding them in the sound, and how many tokens were heard."""
        from engine.media.sound import Audio
        from engine.pipelines.listening.asr_models import transcriber
        from engine.pipelines.listening.voice_activity import VOICE_ACTIVITY, speech_in

        self.seed += 1
        whole = sound(self.seed, STRETCHES * STRETCH)
        self.engine.load(VOICE_ACTIVITY, pin=True)
        listener = transcriber(self.engine, self.folder, self.opened[self.folder])
        began = time.perf_counter()
        speech_in(self.engine, Audio(whole, RATE))
        tasks = [listener.submit(part) for part in np.split(whole, STRETCHES)]
        heard = sum(len(task.result().ids) for task in tasks)
        return time.perf_counter() - began, heard


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


class TransformersWhisper(Reference):
    kind = "WhisperForConditionalGeneration"

    def __init__(self, folder: str, dtype: str) -> None:
        super().__init__(folder, dtype)
        import transformers

        mels = self.model.config.num_mel_bins
        self.extract = transformers.WhisperFeatureExtractor(feature_size=mels)

    def prefill(self, _: int) -> float:
        return self.transcribe(1)

    def transcribe(self, sounds: int) -> float:
        from transformers.generation import GenerationMixin

        given = [sound(seed, WINDOW) for seed in range(sounds)]
        began = time.perf_counter()
        features = self.extract(given, sampling_rate=RATE, return_tensors="pt").input_features
        made = GenerationMixin.generate(  # without the rules of long sounds, which may decode a window again
            self.model,
            input_features=features.to(self.model.dtype),
            decoder_input_ids=self.torch.tensor([WHISPER_PROMPT] * sounds),
            max_new_tokens=WINDOW_TOKENS,
            min_new_tokens=WINDOW_TOKENS,
            do_sample=False,
        )
        took = time.perf_counter() - began
        assert made.shape == (sounds, len(WHISPER_PROMPT) + WINDOW_TOKENS)
        return took


FASTER_WHISPER = ("faster-whisper==1.2.1", "ctranslate2>=4.6,<5")


def faster_whisper_packages() -> Path:
    """A folder with the packages; what else they share with us stays where it is."""
    folder = KEPT / "faster-whisper"
    if not (folder / "done").exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps", "--target", str(folder)]
        subprocess.run([*pip, *FASTER_WHISPER], check=True)
        (folder / "done").touch()
    return folder


class FasterWhisper:
    """`folder`: a checkpoint of the reference library, with the same weights for CTranslate2 in the folder `ctranslate2` in it."""

    def __init__(self, folder: str, dtype: str) -> None:
        began = time.perf_counter()
        sys.path.insert(0, str(faster_whisper_packages()))
        from faster_whisper import WhisperModel

        self.imported = time.perf_counter() - began
        self.began = time.perf_counter()
        made = str(Path(folder) / "ctranslate2")
        self.model = WhisperModel(made, device="cpu", compute_type=dtype, cpu_threads=int(THREADS))

    def prefill(self, _: int) -> float:
        return self.transcribe(1)

    def transcribe(self, sounds: int) -> float:
        given = [sound(seed, WINDOW) for seed in range(sounds)]
        began = time.perf_counter()
        made = []
        for samples in given:
            encoded = self.model.encode(self.model.feature_extractor(samples)[:, : 100 * WINDOW])
            (result,) = self.model.model.generate(
                encoded,
                [WHISPER_PROMPT],
                beam_size=1,
                max_length=2 * WINDOW_TOKENS,  # of which it makes half
                suppress_blank=False,
                suppress_tokens=[WHISPER_END],
                return_scores=True,
            )
            made.append(len(result.sequences_ids[0]))
        took = time.perf_counter() - began
        assert made == [WINDOW_TOKENS] * sounds
        return took
