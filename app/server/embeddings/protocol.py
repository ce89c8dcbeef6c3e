"""Texts to vectors."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from app.server.completions.protocol import Ids
from app.server.strict import Strict


class EmbeddingsRequest(Strict):
    model: str | None = None
    input: (
        str
        | Ids
        | Annotated[list[str], Field(min_length=1, max_length=2048)]
        | Annotated[list[Ids], Field(min_length=1, max_length=2048)]
    )
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Field(ge=1, lt=1 << 20)] | None = None
    user: str | None = None  # without effect on the vectors


class Embedding(BaseModel):
    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str  # base64 where that was asked for


class EmbeddingsUsage(BaseModel):
    prompt_tokens: int
    total_tokens: int


class Embeddings(BaseModel):
    object: Literal["list"] = "list"
    model: str
    data: list[Embedding]
    usage: EmbeddingsUsage
