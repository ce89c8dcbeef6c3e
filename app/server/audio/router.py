"""`/v1/audio/*`: each says honestly that its capability is not here yet."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from app.server.documented import errors
from app.server.errors import ApiError, NotImplementedYet
from app.server.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["Voices"])
_MISSING: dict[int | str, dict[str, Any]] = errors(501)


@router.post("/v1/audio/speech", responses=_MISSING)
async def speech() -> None:
    """Text to speech."""
    raise NotImplementedYet("Speech is not served yet: no speech engine is here.")


@router.post("/v1/audio/transcriptions", responses=_MISSING)
async def transcriptions() -> None:
    """Speech to text."""
    raise NotImplementedYet("Transcription is not served yet: no transcription engine is here.")


@router.post("/v1/audio/translations", responses=errors(400))
async def translations() -> None:
    """Speech in one language to text in another."""
    raise ApiError(400, "No loaded model translates speech.", code="missing_capability", param="model")


@router.post("/v1/audio/voice-design", responses=_MISSING)
async def voice_design() -> None:
    """Speech in a voice that is described in words."""
    raise NotImplementedYet("Voice design is not served yet: no speech engine is here.")


@router.post("/v1/audio/voice-clone/prompt", responses=_MISSING)
async def voice_clone_prompt() -> None:
    """What a cloned voice needs to know of a recording."""
    raise NotImplementedYet("Voice cloning is not served yet: no speech engine is here.")


@router.post("/v1/audio/voice-clone", responses=_MISSING)
async def voice_clone() -> None:
    """Speech in a recorded voice."""
    raise NotImplementedYet("Voice cloning is not served yet: no speech engine is here.")


@router.get("/v1/audio/voices", responses=_MISSING)
async def voices() -> None:
    """Saved voices."""
    raise NotImplementedYet("Voices are not served yet: no speech engine is here.")


@router.post("/v1/audio/voices", responses=_MISSING)
async def save_voice() -> None:
    """Save a voice."""
    raise NotImplementedYet("Voices are not served yet: no speech engine is here.")


@router.delete("/v1/audio/voices/{name}", responses=_MISSING)
async def delete_voice(name: str) -> None:
    """Forget a voice."""
    raise NotImplementedYet("Voices are not served yet: no speech engine is here.")
