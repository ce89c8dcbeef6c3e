"""What is known of each model, without loading one."""

from __future__ import annotations

from app.server.catalogue import Known
from app.server.kinds import config_at, folder_of, kind_of
from app.server.models.protocol import ModelCard
from app.server.service import Service


def card(known: Known, service: Service) -> ModelCard:
    """Reads the disk; call it from a thread."""
    loaded = service.loaded.get(known.name)
    folder = loaded.folder if loaded is not None else folder_of(known, service.catalogue.cache_dir)
    return ModelCard(
        id=known.name,
        created=known.created,
        loaded=known.name in service.resident(),
        kind=kind_of(loaded.config if loaded is not None else config_at(folder), folder),
        context_length=getattr(loaded, "context", None),
    )
