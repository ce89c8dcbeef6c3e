"""`GET /health`, `/v1/stats`, `/metrics`, `POST /v1/load`, `/v1/unload`: for operators and supervisors."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field

from app.server.body import JsonRoute, RequestFields
from app.server.context import Here
from app.server.openapi import errors, streams

router = APIRouter(route_class=JsonRoute, tags=["Management"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


class LoadRequest(RequestFields):
    model: str
    devices: list[str] | None = None
    tensor_parallel: Annotated[int, Field(ge=1, le=64)] | None = None
    replicas: Annotated[int, Field(ge=1, le=64)] | None = None
    quant: str | None = None


class UnloadRequest(RequestFields):
    model: str


class UnloadReply(BaseModel):
    model: str
    loaded: bool
    context_length: int | None = None


class LoadReply(UnloadReply):
    devices: list[str] = []
    replicas: int = 1
    quant: str | None = None


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
    how: dict[str, Any] = {}
    if body.devices is not None:
        how["devices"] = tuple(body.devices)
    if body.devices or body.tensor_parallel is not None or body.replicas is not None:
        how["replicas"] = replicas = body.replicas or 1
        how["tensor_parallel"] = body.tensor_parallel or (len(body.devices or "1") if replicas == 1 else 1)
    if body.quant is not None:
        how["quant"] = body.quant
    name, model = await server.service.load_placed(body.model, how)
    known = getattr(model, "offered", model)  # of a model elsewhere: what its server has said
    return LoadReply(
        model=name,
        loaded=True,
        context_length=getattr(known, "context", None),
        devices=list(getattr(model, "devices", ())),
        replicas=1 + len(others.all) if (others := getattr(model, "replicas", None)) is not None else 1,
        quant=getattr(model, "quant", None),
    )


@router.post("/v1/unload", responses=errors(400, 404))
async def unload(body: UnloadRequest, server: Here) -> UnloadReply:
    """Unload a model after the requests that it still answers."""
    name = server.service.known(body.model).name
    await server.service.unload(name)
    return UnloadReply(model=name, loaded=False)
