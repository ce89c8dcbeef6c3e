"""The text-to-speech models by their checkpoints: Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus, Spark-TTS, and the system's own
voices."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import BadRequest, ErrorText
from engine.pipelines.speaking import is_kokoro, is_orpheus, is_spark
from engine.pipelines.speaking.chatterbox import Chatterbox
from engine.pipelines.speaking.kokoro import KokoroVoice
from engine.pipelines.speaking.omnivoice import OmniVoiceSpeech
from engine.pipelines.speaking.orpheus import Orpheus
from engine.pipelines.speaking.pocket_tts import PocketTTS
from engine.pipelines.speaking.qwen3_tts import Qwen3TTS
from engine.pipelines.speaking.spark import Spark
from engine.pipelines.speaking.speech import SpeechModel
from engine.pipelines.speaking.system_voice import SystemVoice
from engine.tasks import EngineLike

MakeSpeech = Callable[[EngineLike], SpeechModel]  # of a model elsewhere


def speaker(engine: EngineLike, model: str) -> SpeechModel:
    """The speech model of a loaded checkpoint. Raises BadRequest for any other model."""
    config, folder, elsewhere = engine.task(model, _facts).result()
    if elsewhere is not None:
        return elsewhere(engine)
    if config.get("model_type") == "qwen3_tts":
        return Qwen3TTS(engine, model)
    if config.get("model_type") == "pocket_tts":
        return PocketTTS(engine, model)
    if config.get("model_type") == "omnivoice":
        return OmniVoiceSpeech(engine, model)
    if is_kokoro(config):
        return KokoroVoice(engine, model)
    if config.get("model_type") == "chatterbox":
        return Chatterbox(engine, model)
    if is_orpheus(config):
        return Orpheus(engine, model)
    if config.get("model_type") == "system_voice":
        return SystemVoice(engine)
    if is_spark(folder):
        return Spark(engine, model)
    raise BadRequest(
        ErrorText(
            "{model} does not speak. Qwen3-TTS, OmniVoice, Pocket-TTS, Chatterbox, Kokoro, Orpheus and Spark-TTS models do.",
            model=model,
        ),
        "model",
    )


def _facts(loaded: Any) -> Generator[None, None, tuple[Mapping[str, Any], Path, MakeSpeech | None]]:
    return loaded.config, loaded.folder, getattr(loaded, "speech_elsewhere", None)
    yield  # a task's work is a generator
