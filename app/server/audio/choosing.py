"""Which model speaks, listens or writes where none is named: among those served by name, the first that can."""

from __future__ import annotations

import asyncio
from typing import Any

from app.server.context import Server
from app.server.errors import ApiError
from app.server.kinds import DOES, Kind, config_at, folder_of, kind_of


async def chosen(server: Server, name: str | None, kind: Kind, variant: str | None = None) -> tuple[str, Any]:
    """The served name and the facts of the model. `variant`: which sort of Qwen3-TTS is preferred."""
    if name is None:
        name = await asyncio.to_thread(_first, server, kind, variant)
    return await server.service.find(name, kind)


async def usual(server: Server, kind: Kind, variant: str | None = None) -> str | None:
    """The name of the model that is chosen where none is named; None where none can."""
    try:
        return await asyncio.to_thread(_first, server, kind, variant)
    except ApiError:
        return None


def _first(server: Server, kind: Kind, variant: str | None) -> str:
    catalogue, able = server.service.catalogue, []
    for name in catalogue.named:
        folder = folder_of(catalogue.look_up(name), catalogue.cache_dir)
        config = config_at(folder)
        if kind_of(config, folder) == kind:
            able.append((config.get("tts_model_type") != variant, name))
    if not able:
        raise ApiError(
            400,
            f"No model was named, and the server was started without one that {DOES[kind]}.",
            code="missing_capability",
            param="model",
        )
    return min(able, key=lambda found: found[0])[1]
