"""`POST /v1/embeddings`: says honestly that the engine gives out no hidden states yet."""

from __future__ import annotations

from fastapi import APIRouter

from app.server.context import Here
from app.server.documented import errors
from app.server.embeddings.protocol import EmbeddingsRequest
from app.server.errors import NotImplementedYet
from app.server.strict import StrictRoute

router = APIRouter(route_class=StrictRoute, tags=["OpenAI"])


@router.post("/v1/embeddings", responses=errors(400, 404, 501))
async def embeddings(body: EmbeddingsRequest, server: Here) -> None:
    """Vectors that stand for texts. Not here yet."""
    server.service.known(body.model)
    raise NotImplementedYet("Embeddings are not served yet: the engine gives out no hidden states.")
