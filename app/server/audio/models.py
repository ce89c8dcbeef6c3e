"""The default model of a capability: the first with it among those that are served by name."""

from __future__ import annotations

import asyncio
from typing import Any

from app.runtime.capabilities import DOES, Capability, capabilities, config_in, folder_of, serves
from app.server.context import Server
from engine.errors import MissingCapability


async def choose_model(
    server: Server, name: str | None, capability: Capability, variant: str | None = None
) -> tuple[str, Any]:
    """A model's served name and facts, loaded; None: the default. `variant`: the preferred kind of Qwen3-TTS."""
    if name is None:
        name = await asyncio.to_thread(_first, server, capability, variant)
    return await server.service.find(name, capability)


async def default_model(server: Server, capability: Capability, variant: str | None = None) -> str | None:
    """The default model's name; None where no served model has the capability."""
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
