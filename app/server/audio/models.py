"""The model of a capability: the one that a request names, or the default, which is the first with it among those served by
name. OpenAI's own names, which many clients cannot change, are the default too where no model of that name is served."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from app.runtime.catalogue import DOES, Capability, capabilities, config_in, folder_of, serves
from app.server.body import ignore
from app.server.context import Server
from engine.errors import MissingCapability, ModelNotFound

_OPENAI = re.compile(r"(gpt(?!-oss)|tts|whisper|chatgpt|o\d)-")


async def choose_model(
    server: Server, name: str | None, capability: Capability, variant: str | None = None, param: str = "model"
) -> tuple[str, Any]:
    """A model's served name and facts, loaded; None: the default. `variant`: the preferred kind of Qwen3-TTS. `param`: the
    field that is reported where OpenAI's name is replaced by the default."""
    if name is None or (is_openai_name(server, name) and ignore(param)):
        name = await asyncio.to_thread(_first, server, capability, variant)
    return await server.service.find(name, capability)


def is_openai_name(server: Server, name: str) -> bool:
    """True for the name of a model of OpenAI's that is not served here."""
    if not _OPENAI.match(name):
        return False
    try:
        server.service.known(name)
    except ModelNotFound:
        return True
    return False


async def default_model(server: Server, capability: Capability, variant: str | None = None) -> str | None:
    """The default model's name; None where no served model has the capability."""
    try:
        return await asyncio.to_thread(_first, server, capability, variant)
    except MissingCapability:
        return None


def served_models(server: Server, capability: Capability, variant: str | None = None) -> list[str]:
    """The names of those served that have the capability, in the order in which they were named, the `variant` first. Reads
    the disk."""
    catalogue, able = server.service.catalogue, []
    for name in catalogue.named:
        folder = folder_of(catalogue.look_up(name).source, catalogue.cache_dir)
        config = config_in(folder)
        if serves(capability, capabilities(config, folder)):
            able.append((config.get("tts_model_type") != variant, name))
    return [name for _, name in sorted(able, key=lambda found: found[0])]


def _first(server: Server, capability: Capability, variant: str | None) -> str:
    able = served_models(server, capability, variant)
    if not able:
        sentence = f"No model was named, and the server was started without one that {DOES[capability]}."
        raise MissingCapability(sentence, capability, nowhere=True)
    return able[0]
