"""Which models speak, and what all of them have in common: one way of asking, whatever is inside."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from engine.errors import BadRequest
from engine.pipelines.speaking.leash import EngineLike
from engine.pipelines.speaking.orpheus import Orpheus, is_orpheus
from engine.pipelines.speaking.qwen3_tts import Qwen3TTS
from engine.pipelines.speaking.spark import Spark, is_spark
from engine.pipelines.speaking.voice import MODEL_DEFAULTS, Clone, OnCodes, SpeechSampling, VoiceSettings


class SpeechModel(Protocol):
    """A model that speaks."""

    engine: EngineLike

    @property
    def rate(self) -> int: ...
    @property
    def token_rate(self) -> float:
        """Tokens of one second of sound, as `max_tokens` counts them."""

    @property
    def presets(self) -> Sequence[str]:
        """Voices that it knows by name."""

    @property
    def clones(self) -> bool:
        """Does it take voices from recordings?"""

    def check(self, manner: VoiceSettings) -> None:
        """Raise BadRequest for what the model cannot do."""

    def improvises(self, manner: VoiceSettings) -> bool:
        """Is it another voice with every text, unless it is told what it said before?"""

    def speak(self, text: str, manner: VoiceSettings, *, seed: int | None = None,
              sampling: SpeechSampling = MODEL_DEFAULTS, patient: bool = False,
              said: OnCodes | None = None) -> Iterator[np.ndarray]:  # fmt: skip
        """Samples at `rate`, chunk by chunk while they are made. `said` is given the frames of a text that was spoken to
        its end, by a voice that improvises."""

    def clone(self, samples: np.ndarray, text: str | None = None) -> Clone:
        """A voice from mono samples at `rate`, and what is said in them."""


def speaker(engine: EngineLike, model: str) -> SpeechModel:
    """The model's way of speaking. Raises BadRequest for one that does not."""
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
