"""`POST /v1/completions`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.server.completions import serving
from app.server.completions.protocol import Completion, CompletionRequest
from app.server.context import Here, answer
from app.server.documented import errors, streams
from app.server.requests import RequestGroup
from app.server.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["OpenAI"])


@router.post("/v1/completions", response_model=Completion, responses=streams() | errors(400, 404, 429))
async def completions(body: CompletionRequest, request: Request, server: Here) -> Any | Response:
    """A continuation of a text or of tokens, or of several at once."""
    made = await serving.job(body, server)
    together = RequestGroup.begin(server.requests, made.requests)
    if body.stream:
        return await server.stream(together, serving.chunks(made, together))
    await together.whole(request.receive, made.hear)
    return answer(made.result())
