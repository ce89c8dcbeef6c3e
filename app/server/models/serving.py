"""What is known of each model, without loading one."""

from __future__ import annotations

from app.runtime.capabilities import Use, capabilities, config_in, folder_of, main_use
from app.runtime.catalogue import KnownModel
from app.runtime.models import ModelService
from app.server.models.protocol import Kind, ModelCard

KINDS: dict[Use, Kind] = {  # what a model is mostly for, in the words of the HTTP interface
    "chat": "text",
    "read": "text",
    "speak": "speech",
    "listen": "transcription",
    "layout": "part",
    "part": "part",
}


def card(known: KnownModel, service: ModelService) -> ModelCard:
    """Reads the disk; call it from a thread."""
    loaded = service.loaded.get(known.name)
    folder = loaded.folder if loaded is not None else folder_of(known.source, service.catalogue.cache_dir)
    return ModelCard(
        id=known.name,
        created=known.created,
        loaded=known.name in service.resident(),
        kind=KINDS[main_use(capabilities(loaded.config if loaded is not None else config_in(folder), folder))],
        context_length=getattr(loaded, "context", None),
    )
