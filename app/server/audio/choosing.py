"""Which model speaks, listens or writes where none is named: among those served by name, the first that can."""

from __future__ import annotations

import asyncio
from typing import Any

from app.runtime.capabilities import DOES, Capability, capabilities, config_in, folder_of, serves
from app.server.context import Server
from engine.errors import MissingCapability


async def chosen(
    server: Server, name: str | None, capability: Capability, variant: str | None = None
) -> tuple[str, Any]:
    """The served name and the facts of the model. `variant`: which sort of Qwen3-TTS is preferred."""
    if name is None:
        name = await asyncio.to_thread(_first, server, capability, variant)
    return await server.service.find(name, capability)


async def usual(server: Server, capability: Capability, variant: str | None = None) -> str | None:
    """The name of the model that is chosen where none is named; None where none can."""
    try:
        return await asyncio.to_thread(_first, server, capability, variant)
    except MissingCapability:
        return None


def _first(server: Server, capability: Capability, variant: str | None) -> str:
    catalogue, able = server.service.catalogue, []
    for name in catalogue.named:
        folder = folder_of(catalogue.look_up(name).source, catalogue.cache_dir)
        config = config_in(folder)
        if serves(capability, capabilities(config, folder)):
            able.append((config.get("tts_model_type") != variant, name))
    if not able:
        sentence = f"No model was named, and the server was started without one that {DOES[capability]}."
        raise MissingCapability(sentence, capability, nowhere=True)
    return min(able, key=lambda found: found[0])[1]
