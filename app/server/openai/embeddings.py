"""`POST /v1/embeddings`: texts or tokens to vectors of length one."""

from __future__ import annotations

import base64
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.runtime.embedding import tokenized
from app.server.body import JsonRoute, RequestFields
from app.server.context import Here, long_answer
from app.server.generation import TokenIds, check_ids, split_prompts
from app.server.openapi import errors
from engine.pipelines.embedding import modules_of, text_ids

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])


class EmbeddingsRequest(RequestFields):
    model: str | None = None
    input: (
        str
        | TokenIds
        | Annotated[list[str], Field(min_length=1, max_length=2048)]
        | Annotated[list[TokenIds], Field(min_length=1, max_length=2048)]
    )
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Field(ge=1, lt=1 << 20)] | None = None
    prompt_name: str | None = None  # of the model's own prompts, one that is put before each text
    user: str | None = None  # without effect on the vectors


class Embedding(BaseModel):
    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str  # a string: base64


class EmbeddingsUsage(BaseModel):
    prompt_tokens: int
    total_tokens: int


class Embeddings(BaseModel):
    object: Literal["list"] = "list"
    model: str
    data: list[Embedding]
    usage: EmbeddingsUsage


@router.post("/v1/embeddings", response_model=Embeddings, responses=errors(400, 404, 429))
async def embeddings(body: EmbeddingsRequest, request: Request, server: Here) -> Any | Response:
    """Vectors that stand for texts, of length one."""
    texts, prompts = split_prompts(body.input)
    server.check_prompt(sum(map(len, texts or prompts)))
    name, model = await server.service.find(body.model, "embed")
    check_ids(prompts, model, "input")
    if body.prompt_name is not None or texts:
        before = modules_of(model).prompt(body.prompt_name)
        prompts = await tokenized(texts, lambda text: text_ids(model, before + text)) if texts else prompts
    made = await server.embed(prompts, name, model, body.dimensions, request)
    as_base64 = body.encoding_format == "base64"
    usage = {"prompt_tokens": made.prompt_tokens, "total_tokens": made.prompt_tokens}

    def reply() -> dict[str, Any]:
        data = [
            {"object": "embedding", "index": at, "embedding": _base64(vector) if as_base64 else vector.tolist()}
            for at, vector in enumerate(made.rows)
        ]
        return {"object": "list", "model": name, "data": data, "usage": usage}

    return await long_answer(sum(vector.size for vector in made.rows), reply)


def _base64(vector: np.ndarray) -> str:
    """Of 32-bit floats, little-endian."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()
