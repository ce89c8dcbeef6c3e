"""`POST /v1/chat/completions`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.server.chat import serving
from app.server.chat.protocol import ChatCompletion, ChatCompletionRequest
from app.server.context import Here, answer
from app.server.documented import errors, streams
from app.server.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["OpenAI"])


@router.post("/v1/chat/completions", response_model=ChatCompletion, responses=streams() | errors(400, 404, 429))
async def chat_completions(body: ChatCompletionRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a conversation, whole or as a stream of server-sent events."""
    name, model, prepared = await server.prepare(serving.conversation(body), body.model, request)
    running = server.submit(prepared)
    if body.stream:
        options = body.stream_options
        with_usage = bool(options and options.include_usage)
        chunks = serving.chunks(running, name, model, body.n or 1, with_usage)
        return await server.stream(running, chunks)
    parts = await server.parts(request, running)
    return answer(serving.complete(parts, running, name, model, bool(body.logprobs)))
