"""Who takes part in a conversation: the model that answers, the ears and the voice, found when they are first needed."""

from __future__ import annotations

import secrets
from typing import Any

from app.server.audio.choosing import chosen
from app.server.audio.pump import in_thread
from app.server.audio.speech import voices
from app.server.context import Server
from app.server.errors import ApiError
from app.server.realtime.protocol import AudioOutput, SessionFields, Transcription
from engine.loading import LoadedModel
from engine.pipelines.listening.transcription import Transcriber, asr_model
from engine.pipelines.speaking.leash import Leash
from engine.pipelines.speaking.long_form import SpeechOptions, SpeechQueue
from engine.pipelines.speaking.speech_models import speaker


async def chat_model(server: Server, name: str | None) -> tuple[str, LoadedModel]:
    """None: the first that writes text."""
    found, model = await chosen(server, name, "text")
    if model.sight is not None and model.sight.strips is not None:
        raise ApiError(
            400,
            f"The model {found} reads pages and does not talk. Choose another one.",
            code="missing_capability",
            param="model",
        )
    return found, model


class Cast:
    """`engine` is on the session's leash: what ears and voice ask of it ends with the session."""

    def __init__(self, server: Server, engine: Leash) -> None:
        self._server, self._engine = server, engine
        self._seed = secrets.randbits(31)  # of the voice: the same in every answer
        self._mouth: SpeechQueue | None = None
        self._spoken: tuple[AudioOutput, int | None] | None = None  # what the mouth was made for

    async def ears(self, wished: Transcription | None) -> Transcriber:
        name, loaded = await chosen(self._server, wished.model if wished is not None else None, "transcription")
        listener = Transcriber(self._engine, asr_model(name, loaded))
        listener.check_language(wished.language if wished is not None else None)
        return listener

    async def mouth(self, fields: SessionFields) -> SpeechQueue:
        """Raises an error for a voice, a language or a manner that the model does not have."""
        output, seed = fields.audio.output, fields.seed
        if self._mouth is None or self._spoken != (output, seed):
            name, _ = await chosen(self._server, output.model, "speech", "custom_voice")
            self._mouth = await in_thread(self._made, name, output, self._seed if seed is None else seed)
            self._spoken = output, seed
        return self._mouth

    def _made(self, name: str, output: AudioOutput, seed: int) -> SpeechQueue:
        model: Any = speaker(self._engine, name)
        manner = voices(self._server).settings(output.named, model.presets, output.language, output.instructions)
        return SpeechQueue(model, manner, SpeechOptions(speed=output.speed, seed=seed))
