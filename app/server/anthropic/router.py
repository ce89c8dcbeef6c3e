"""`POST /v1/messages` and `/v1/messages/count_tokens`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.server import pages
from app.server.anthropic import serving
from app.server.anthropic.protocol import CountRequest, MessageOut, MessagesRequest, ThinkingOn, TokenCount
from app.server.context import Here, answer
from app.server.documented import errors, streams
from app.server.errors import ApiError, error_body
from app.server.requests import ReasoningBudget, RunningRequest
from app.server.streaming import event
from app.server.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["Anthropic"])
_ERRORS = errors(400, 404, 429, family="anthropic")


@router.post("/v1/messages", response_model=MessageOut, responses=streams() | _ERRORS)
async def messages(body: MessagesRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a conversation, whole or as a stream of server-sent events."""
    name, _, prepared = await server.prepare(serving.conversation(body), body.model, request)
    running: RunningRequest | ReasoningBudget
    if isinstance(body.thinking, ThinkingOn):
        running = ReasoningBudget(server.requests, prepared, body.thinking.budget_tokens)
    else:
        running = server.submit(prepared)
    if body.stream:
        chunks = serving.events(running, name, len(prepared.prompt.ids))
        return await server.stream(running, chunks, tell=_error_event, heartbeat=serving.PING)
    parts = await server.parts(request, running)
    return answer(serving.complete(parts, running, name))


@router.post("/v1/messages/count_tokens", responses=_ERRORS)
async def count_tokens(body: CountRequest, request: Request, server: Here) -> TokenCount:
    """How many tokens the model would read."""
    _, _, prepared = await server.prepare(serving.conversation(body), body.model, request)
    pages.check_counted(prepared)
    return TokenCount(input_tokens=len(prepared.prompt.ids))


def _error_event(error: ApiError) -> bytes:
    return event(error_body(error, "anthropic"), "error")
