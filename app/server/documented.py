"""What the OpenAPI document says of replies that are no plain success: errors in each family's shape, and streams."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

_MEANINGS = {
    400: "Something in the request is wrong; `param` names it.",
    401: "An API key is needed.",
    403: "The Host or Origin header names a page or a name that was not let in.",
    404: "There is no such model, voice, response or route.",
    405: "The route does not take this method.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body is compressed, or is of a type that is not taken.",
    426: "This is a websocket.",
    429: "Too many requests wait. `Retry-After` says when to ask again.",
    500: "A fault of the server.",
    503: "The model does not fit into memory, or the server is stopping.",
    529: "The model does not fit into memory, or the server is stopping.",
}
_ALWAYS = (401, 403, 408, 413, 415, 500, 503)


class ErrorDetail(BaseModel):
    message: str
    type: str
    param: str | None
    code: str | None


class OpenAIError(BaseModel):
    error: ErrorDetail


class AnthropicErrorCode(BaseModel):
    error_code: str


class AnthropicDetail(BaseModel):
    type: str
    message: str
    details: AnthropicErrorCode | None = None


class AnthropicError(BaseModel):
    type: Literal["error"]
    error: AnthropicDetail
    request_id: str


class OllamaError(BaseModel):
    error: str


_SHAPES: dict[str, type[BaseModel]] = {"openai": OpenAIError, "anthropic": AnthropicError, "ollama": OllamaError}


def errors(*statuses: int, family: str = "openai") -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: those errors, and the ones that every route has."""
    shape = _SHAPES[family]
    always = [529 if s == 503 and family == "anthropic" else s for s in _ALWAYS]
    return {s: {"model": shape, "description": _MEANINGS[s]} for s in sorted({*statuses, *always})}


def streams(media_type: str = "text/event-stream") -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {media_type: {}}, "description": "What was asked for."}}
