"""`POST /v1/tokenize` and `/v1/detokenize`."""

from __future__ import annotations

from fastapi import APIRouter, Request

from app.server.context import Here
from app.server.documented import errors
from app.server.strict import StrictRoute
from app.server.tokens import serving
from app.server.tokens.protocol import DetokenizeReply, DetokenizeRequest, TokenizeReply, TokenizeRequest

router = APIRouter(route_class=StrictRoute, tags=["Tokens"])


@router.post("/v1/tokenize", responses=errors(400, 404))
async def tokenize(body: TokenizeRequest, request: Request, server: Here) -> TokenizeReply:
    """The tokens of a text, or of a conversation as the model would read it."""
    return await serving.tokenize(body, server, request)


@router.post("/v1/detokenize", responses=errors(400, 404))
async def detokenize(body: DetokenizeRequest, server: Here) -> DetokenizeReply:
    """The text of tokens."""
    return await serving.detokenize(body, server)
