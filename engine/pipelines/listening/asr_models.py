"""Which class transcribes with a loaded model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.models.registry import RECOGNIZERS
from engine.pipelines.listening.parakeet import ParakeetTranscriber
from engine.pipelines.listening.qwen3_asr import Qwen3AsrTranscriber
from engine.pipelines.listening.transcription import Transcriber, asr_model
from engine.pipelines.listening.voxtral import VoxtralRealtimeTranscriber, VoxtralTranscriber
from engine.pipelines.listening.whisper import WhisperTokens, WhisperTranscriber
from engine.tasks import EngineLike


def transcriber(engine: EngineLike, name: str, loaded: Any) -> Transcriber:
    """What transcribes with a loaded model. Raises BadRequest for one that does not listen."""
    model, kind = asr_model(name, loaded), loaded.config.get("model_type")
    if kind in RECOGNIZERS:
        return ParakeetTranscriber(engine, model, loaded.model.vocab)
    if kind == "qwen3_asr":
        own = loaded.model
        return Qwen3AsrTranscriber(engine, model, loaded.tokenizer, own.audio_token, own.encoder.chunk)
    if kind == "voxtral":
        return VoxtralTranscriber(engine, model, loaded.tokenizer, loaded.vision)
    if kind == "voxtral_realtime":
        special = loaded.tokenizer.special_ids
        return VoxtralRealtimeTranscriber(engine, model, loaded.model, loaded.tokenizer.id("[STREAMING_PAD]"), special)
    if kind != "whisper":
        return Transcriber(engine, model)
    tokens = WhisperTokens.of(loaded.tokenizer, loaded.config, loaded.model.generation)
    model = replace(model, start_id=tokens.start, language="en")
    return WhisperTranscriber(engine, model, tokens, loaded.vocab, loaded.model.longest)
