"""`POST /v1/embeddings`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.server.context import Here, answer
from app.server.documented import errors
from app.server.embeddings import serving
from app.server.embeddings.protocol import Embeddings, EmbeddingsRequest
from app.server.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["OpenAI"])


@router.post("/v1/embeddings", response_model=Embeddings, responses=errors(400, 404, 429))
async def embeddings(body: EmbeddingsRequest, request: Request, server: Here) -> Any | Response:
    """Vectors that stand for texts, of length one."""
    return answer(await serving.embeddings(body, request, server))
