"""`GET /v1/models` and `/v1/models/{id}`."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter

from app.server.context import Here
from app.server.documented import errors
from app.server.models.protocol import ModelCard, ModelList
from app.server.models.serving import card
from app.server.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["OpenAI"])


@router.get("/v1/models", responses=errors())
async def list_models(server: Here) -> ModelList:
    """Every model that a request may name: served by name, in the models folder, or whole in the cache."""

    def cards() -> list[ModelCard]:
        return [card(one, server.service) for one in server.service.catalogue.all()]

    return ModelList(data=await asyncio.to_thread(cards))


@router.get("/v1/models/{id:path}", responses=errors(400, 404))
async def get_model(id: str, server: Here) -> ModelCard:
    """One model. Names may hold a slash."""
    return await asyncio.to_thread(card, server.service.known(id), server.service)
