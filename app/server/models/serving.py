"""What is known of each model, without loading one."""

from __future__ import annotations

from app.server.catalogue import Known
from app.server.models.protocol import ModelCard
from app.server.service import Service


def card(known: Known, service: Service) -> ModelCard:
    loaded = service.loaded.get(known.name)
    return ModelCard(
        id=known.name,
        created=known.created,
        loaded=known.name in service.resident(),
        context_length=loaded.context if loaded is not None else None,
    )
