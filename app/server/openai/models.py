"""`GET /v1/models` and `/v1/models/{id}`: the models that a request may name. Loads none."""

from __future__ import annotations

import asyncio
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel

from app.runtime.catalogue import KnownModel, Use, capabilities, config_in, folder_of, main_use
from app.runtime.models import ModelService
from app.server.anthropic.models import (
    AnthropicModel,
    AnthropicModelPage,
    anthropic_model,
    asked_by_anthropics_client,
    model_page,
)
from app.server.body import JsonRoute
from app.server.context import Here
from app.server.openapi import errors

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])


Kind = Literal[
    "text", "vectors", "ranking", "speech", "transcription", "diarization", "verification", "alignment", "part"
]
KINDS: dict[Use, Kind] = {  # what a model is mostly for, in the words of the HTTP interface
    "chat": "text",
    "embed": "vectors",
    "rank": "ranking",
    "read": "text",
    "speak": "speech",
    "listen": "transcription",
    "diarize": "diarization",
    "verify": "verification",
    "align": "alignment",
    "layout": "part",
    "part": "part",
}


class ModelCard(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "grus"
    loaded: bool
    kind: Kind  # what it does
    app: str | None = None  # the application that has downloaded it: LM Studio, Ollama, llama.cpp
    context_length: int | None = None  # only of a model that is loaded
    parent: str | None = None  # of a model with an adapter: the model without it
    server: str | None = None  # of a model elsewhere: the server that answers for it


class ModelList(BaseModel):
    object: Literal["list"] = "list"
    data: list[ModelCard]


@router.get("/v1/models", responses=errors())
async def list_models(server: Here, request: Request) -> ModelList | AnthropicModelPage:
    """Every model that a request may name: served by name, in the models folder, whole in the cache, or another
    application's. Anthropic's clients receive those that write text, in their own shape."""

    def cards() -> list[ModelCard]:
        return [_card(one, server.service) for one in server.service.catalogue.all()]

    found = await asyncio.to_thread(cards)
    if asked_by_anthropics_client(request.headers):
        texts = [_for_anthropic(card, server.service) for card in found if card.kind == "text"]
        return model_page(texts, request.query_params)
    return ModelList(data=found)


@router.get("/v1/models/{id:path}", responses=errors(400, 404))
async def get_model(id: str, server: Here, request: Request) -> ModelCard | AnthropicModel:
    """One model. Names may hold a slash."""
    card = await asyncio.to_thread(_card, server.service.known(id), server.service)
    return _for_anthropic(card, server.service) if asked_by_anthropics_client(request.headers) else card


def _for_anthropic(card: ModelCard, service: ModelService) -> AnthropicModel:
    loaded = service.loaded.get(card.parent or card.id)
    return anthropic_model(card.id, card.created, getattr(loaded, "context", None))


def _card(known: KnownModel, service: ModelService) -> ModelCard:
    """Reads config.json from disk: call it in a thread."""
    if known.config is not None:
        use = main_use(capabilities(known.config))
        return ModelCard(id=known.name, created=0, loaded=False, kind=KINDS[use], server=known.server)
    loaded = service.loaded.get(known.model)
    folder = loaded.folder if loaded is not None else folder_of(known.source, service.catalogue.cache_dir)
    return ModelCard(
        id=known.name,
        created=known.created,
        app=known.app,
        loaded=known.model in service.resident() and (known.base is None or service.has_adapter(known.name)),
        kind=KINDS[main_use(capabilities(loaded.config if loaded is not None else config_in(folder), folder))],
        context_length=getattr(loaded, "context", None),
        parent=known.base,
    )
