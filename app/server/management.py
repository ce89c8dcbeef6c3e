"""`GET /health`, `/v1/stats`, `/metrics`, `POST /v1/load`, `/v1/unload`: for operators and supervisors."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel

from app.server.body import JsonRoute, RequestFields
from app.server.context import Here
from app.server.openapi import errors, streams

router = APIRouter(route_class=JsonRoute, tags=["Management"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class LoadRequest(RequestFields):
    model: str


class LoadReply(BaseModel):
    model: str
    loaded: bool
    context_length: int | None = None


class Stats(BaseModel):
    models: list[str]
    engine: dict[str, Any]


@router.get("/health")
async def health() -> Health:
    """The server answers. Needs no key."""
    return Health()


@router.get("/v1/stats", responses=errors())
async def stats(server: Here) -> Stats:
    """What the engine counts: active, waiting and evicted requests, memory, rates."""
    return Stats(models=sorted(server.service.resident()), engine=server.service.stats())


@router.get("/metrics", responses=streams("text/plain") | errors())
async def metrics(server: Here) -> Response:
    """The same and more for Prometheus."""
    return Response(server.requests.meters.page(), media_type=CONTENT_TYPE_LATEST)


@router.post("/v1/load", responses=errors(400, 404))
async def load(body: LoadRequest, server: Here) -> LoadReply:
    """Load a model now instead of at its first request. Downloads nothing: `/api/pull` does."""
    name, model = await server.service.find_any(body.model)
    known = getattr(model, "offered", model)  # of a model elsewhere: what its server has said
    return LoadReply(model=name, loaded=True, context_length=getattr(known, "context", None))


@router.post("/v1/unload", responses=errors(400, 404))
async def unload(body: LoadRequest, server: Here) -> LoadReply:
    """Unload a model after the requests that it still answers."""
    name = server.service.known(body.model).name
    await server.service.unload(name)
    return LoadReply(model=name, loaded=False)
