"""Text-to-speech models behind one interface: Qwen3-TTS, Orpheus and Spark-TTS."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.cancel import EngineLike
from engine.errors import BadRequest
from engine.pipelines.speaking.orpheus import Orpheus, is_orpheus
from engine.pipelines.speaking.qwen3_tts import Qwen3TTS
from engine.pipelines.speaking.spark import Spark, is_spark
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, Clone, OnCodes, SpeechSampling, VoiceSettings


class SpeechModel(Protocol):
    """A text-to-speech model. Each architecture implements it in a module of its own."""

    engine: EngineLike

    @property
    def rate(self) -> int: ...
    @property
    def token_rate(self) -> float:
        """Tokens per second of sound, as `max_tokens` counts them."""

    @property
    def presets(self) -> Sequence[str]:
        """Names of the model's own voices."""

    @property
    def clones(self) -> bool:
        """True if the model clones voices from recordings."""

    def check(self, settings: VoiceSettings) -> None:
        """Raise BadRequest for settings that the model does not support."""

    def needs_example(self, settings: VoiceSettings) -> bool:
        """True if the voice differs from text to text unless `VoiceSettings.after` holds an earlier passage."""

    def speak(self, text: str, settings: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, buffered: bool = False,
              on_codes: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        """Samples at `rate`, chunk by chunk. `buffered`: only once they are all generated, so that a bad take is never
        played. `on_codes` receives the frames of a text spoken to its end, if the voice needs an example."""

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate` and their transcript."""


def speaker(engine: EngineLike, model: str) -> SpeechModel:
    """The speech model of a loaded checkpoint. Raises BadRequest for any other model."""
    config, folder = engine.task(model, _facts).result()
    if config.get("model_type") == "qwen3_tts":
        return Qwen3TTS(engine, model)
    if is_orpheus(config):
        return Orpheus(engine, model)
    if is_spark(folder):
        return Spark(engine, model)
    raise BadRequest(f"{model} does not speak. Qwen3-TTS, Orpheus and Spark-TTS models do.", "model")


def _facts(loaded: Any) -> Generator[None, None, tuple[Mapping[str, Any], Path]]:
    return loaded.config, loaded.folder
    yield  # a task's work is a generator
