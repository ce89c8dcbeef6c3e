"""A text, or several, to be continued; without a chat template."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from app.server.chat.protocol import StreamOptions, Usage
from app.server.sampling import SamplingFields, TokenId

Ids = Annotated[list[TokenId], Field(min_length=1, max_length=1_000_000)]


class CompletionRequest(SamplingFields):
    model: str | None = None
    prompt: (
        str
        | Ids
        | Annotated[list[str], Field(min_length=1, max_length=128)]
        | Annotated[list[Ids], Field(min_length=1, max_length=128)]
    )
    suffix: str | None = None
    max_tokens: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None  # None: 16, as OpenAI has it
    echo: bool | None = None
    logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    best_of: Annotated[int, Field(ge=1, le=16)] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    user: str | None = None  # without effect on the reply


class CompletionLogprobs(BaseModel):
    tokens: list[str]
    token_logprobs: list[float | None]
    top_logprobs: list[dict[str, float] | None] | None
    text_offset: list[int]


class CompletionChoice(BaseModel):
    index: int
    text: str
    logprobs: CompletionLogprobs | None
    finish_reason: Literal["stop", "length"]


class Completion(BaseModel):
    id: str
    object: Literal["text_completion"] = "text_completion"
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: Usage
    system_fingerprint: str | None = None
    timings: dict[str, float] | None = None
