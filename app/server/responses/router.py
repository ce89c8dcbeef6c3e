"""`POST /v1/responses`, and what is stored of them."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.server.context import Here, answer
from app.server.documented import errors, streams
from app.server.errors import ApiError
from app.server.responses.protocol import Deleted, ResponseObject, ResponsesRequest
from app.server.responses.serving import Exchange
from app.server.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["OpenAI"])


@router.post("/v1/responses", response_model=ResponseObject, responses=streams() | errors(400, 404, 429))
async def create(body: ResponsesRequest, request: Request, server: Here) -> Any | Response:
    """A reply to items, whole or as a stream of events. It can be continued by its id unless `store` is false."""
    exchange = await asyncio.to_thread(Exchange, body, server.responses)  # it may read a history from the disk
    name, model, prepared = await server.prepare(exchange.conversation, body.model, request)
    running = server.submit(prepared)
    exchange.begin(running, name, model.tokenizer)
    if body.stream:
        return await server.stream(running, exchange.events())
    return answer(await asyncio.to_thread(exchange.complete, await server.parts(request, running)))


@router.get("/v1/responses/{id}", response_model=ResponseObject, responses=errors(400, 404))
async def retrieve(id: str, server: Here) -> Response:
    """A stored response."""
    stored = await asyncio.to_thread(server.responses.get, id)
    if stored is None:
        raise _missing(id)
    return answer(stored.response)


@router.delete("/v1/responses/{id}", responses=errors(400, 404))
async def delete(id: str, server: Here) -> Deleted:
    """Forget a stored response."""
    if not await asyncio.to_thread(server.responses.delete, id):
        raise _missing(id)
    return Deleted(id=id)


def _missing(id: str) -> ApiError:
    return ApiError(404, f"There is no stored response {id[:100]!r}.", code="response_not_found", param="id")
