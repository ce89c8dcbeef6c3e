"""`/v1/audio/*`: speech, transcription, voice activity, and described, cloned and saved voices."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from app.server.audio import speech as speaking
from app.server.audio.models import choose_model, default_model, served_models
from app.server.audio.protocol import (
    ActivityForm,
    ClonePrompt,
    CloneRequest,
    DesignRequest,
    DiarizedTranscription,
    ReferenceForm,
    SaveForm,
    SpeechActivity,
    SpeechModels,
    SpeechRequest,
    Transcription,
    TranscriptionForm,
    TranslationForm,
    VerboseTranscription,
    VoiceCard,
    VoiceDeleted,
    VoiceList,
    VoiceName,
)
from app.server.audio.threads import cancel_scope
from app.server.audio.transcription import find_speech, transcribe
from app.server.body import JsonRoute
from app.server.context import Here
from app.server.openapi import errors
from engine.media import sound as sound_files
from engine.media.sound import FORMATS
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import SavedVoice

router = APIRouter(route_class=JsonRoute, tags=["Voices"])

_TYPES: tuple[str, ...] = (*FORMATS.values(), sound_files.AAC_TYPE, "text/event-stream")
_SOUND: dict[int | str, dict[str, Any]] = {
    200: {"content": {kind: {} for kind in _TYPES}, "description": "The audio, or its chunks as events."},
    **errors(400, 404, 429),
}
_SPANS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {}}, "description": "Spans of speech."},
    **errors(400, 429),
}
_TRANSCRIPT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {}, "text/event-stream": {}}, "description": "What was said."},
    **errors(400, 404, 429),
}


@router.post("/v1/audio/speech", response_class=Response, responses=_SOUND)
async def speech(body: SpeechRequest, request: Request, server: Here) -> Response:
    """Text to speech, sent while it is synthesized."""
    return await speaking.speak(server, request, body, speaking.named(server, body), "custom_voice")


_Transcribed = VerboseTranscription | DiarizedTranscription | Transcription


@router.post("/v1/audio/transcriptions", response_model=_Transcribed, responses=_TRANSCRIPT)
async def transcriptions(form: Annotated[TranscriptionForm, Form()], request: Request, server: Here) -> Any:
    """Speech to text."""
    return await transcribe(server, request, form)


@router.post("/v1/audio/activity", response_model=SpeechActivity, responses=_SPANS)
async def activity(form: Annotated[ActivityForm, Form()], request: Request, server: Here) -> Any:
    """Where there is speech in a recording. The model for it comes with the server."""
    return await find_speech(server, request, form)


@router.post("/v1/audio/translations", response_model=VerboseTranscription | Transcription, responses=_TRANSCRIPT)
async def translations(form: Annotated[TranslationForm, Form()], request: Request, server: Here) -> Any:
    """Speech in any language to English text."""
    return await transcribe(server, request, form)


@router.post("/v1/audio/voice-design", response_class=Response, responses=_SOUND)
async def voice_design(body: DesignRequest, request: Request, server: Here) -> Response:
    """Speech in a voice that is described in words."""
    return await speaking.speak(server, request, body, speaking.described(body), "voice_design")


@router.post("/v1/audio/voice-clone/prompt", responses=errors(400, 404, 429))
async def voice_clone_prompt(form: Annotated[ReferenceForm, Form()], request: Request, server: Here) -> ClonePrompt:
    """A recording's voice as a prompt for cloning."""
    return await speaking.learn(server, request, form)


@router.post("/v1/audio/voice-clone", response_class=Response, responses=_SOUND)
async def voice_clone(body: CloneRequest, request: Request, server: Here) -> Response:
    """Speech in a recorded voice."""
    return await speaking.speak(server, request, body, speaking.cloned(body), "base")


@router.get("/v1/audio/voices", responses=errors(400, 404))
async def voices(server: Here, model: str | None = None) -> VoiceList:
    """Saved voices; with `model`, that model's own too. `voices` are the names that a front-end offers: without `model`
    those of the default model and the saved ones."""
    saved = [_card(voice) for voice in await asyncio.to_thread(speaking.voices(server).list)]
    own: list[VoiceCard] = []
    if model is not None or await default_model(server, "speak", "custom_voice") is not None:
        name, _ = await choose_model(server, model, "speak", "custom_voice")
        presets = (await asyncio.to_thread(speaker, cancel_scope(server), name)).presets
        own = [VoiceCard(id=one, name=one, kind="preset", model=name) for one in presets]
    names = [VoiceName(id=card.id, name=card.name) for card in (*own, *saved)]
    return VoiceList(data=[*own, *saved] if model is not None else saved, voices=names)


@router.get("/v1/audio/models", responses=errors(400))
async def speech_models(server: Here) -> SpeechModels:
    """The models that speak, as front-ends read them."""
    names = await asyncio.to_thread(served_models, server, "speak")
    return SpeechModels(models=[VoiceName(id=name, name=name) for name in names])


@router.post("/v1/audio/voices", responses=errors(400, 404, 429))
async def save_voice(form: Annotated[SaveForm, Form()], request: Request, server: Here) -> VoiceCard:
    """Save a voice under a name, made from a recording."""
    return _card(await speaking.save(server, request, form, form.name))


@router.delete("/v1/audio/voices/{name}", responses=errors(400, 404))
async def delete_voice(name: str, server: Here) -> VoiceDeleted:
    """Delete a saved voice."""
    saved = speaking.voices(server)
    if not saved.has(name):
        raise speaking.not_found(name)
    await asyncio.to_thread(saved.delete, name)
    return VoiceDeleted(id=name)


def _card(saved: SavedVoice) -> VoiceCard:
    return VoiceCard(
        id=saved.name,
        name=saved.name,
        kind="saved",
        model=saved.model,
        text=saved.text,
        seconds=saved.seconds,
        created=saved.made,
    )
