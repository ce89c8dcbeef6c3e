"""Errors over HTTP: the status of each of the engine's errors, and the error body of each protocol.

A protocol is found by the request's path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.exceptions import HTTPException

from engine.errors import (
    BackendUnavailable,
    BadRequest,
    ContextOverflow,
    EngineStopped,
    GrusError,
    ModelNotFound,
    OutOfMemory,
    QueueFull,
    RemoteFailed,
    TemplateError,
)

RETRY_SECONDS = 2

_STATUS: tuple[tuple[type[GrusError], int], ...] = (  # the first that fits
    (QueueFull, 429),
    (ModelNotFound, 404),
    (BadRequest, 400),
    (TemplateError, 400),
    (OutOfMemory, 503),
    (BackendUnavailable, 503),
    (EngineStopped, 503),
    (RemoteFailed, 502),
)

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    408: "timeout_error",
    413: "request_too_large",
    415: "invalid_request_error",
    426: "invalid_request_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    529: "overloaded_error",
}


class ApiError(HTTPException):
    """An error response."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
        overflow: ContextOverflow | None = None,
    ) -> None:
        super().__init__(status, message, dict(headers or {}))
        self.message = message
        self.code = code or _TYPES.get(status, "error")
        self.param = param
        self.overflow = overflow

    @property
    def type(self) -> str:
        return _TYPES.get(self.status_code, "server_error")


def bad_request(message: str, param: str | None = None) -> ApiError:
    return ApiError(400, message, code="bad_request", param=param)


def unsupported(param: str, message: str) -> ApiError:
    """A parameter of the protocol that this server does not support."""
    return ApiError(400, message, code="unsupported_parameter", param=param)


def as_api_error(error: Exception) -> ApiError:
    """Any exception as a response. An unexpected one reveals nothing of the server's internals."""
    if isinstance(error, ApiError):
        return error
    if isinstance(error, HTTPException):
        return ApiError(error.status_code, str(error.detail), headers=error.headers)
    if isinstance(error, GrusError):
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
        headers = {"Retry-After": str(RETRY_SECONDS)} if status in (429, 503) else {}
        param = error.param if isinstance(error, BadRequest) else None
        overflow = error if isinstance(error, ContextOverflow) else None
        return ApiError(status, str(error), code=error.code, param=param, headers=headers, overflow=overflow)
    return ApiError(500, "The server met a fault of its own. Its log says more.", code="internal_error")


def from_validation(problems: Sequence[Mapping[str, Any]]) -> ApiError:
    """The first problem that pydantic found, as a sentence that names the parameter."""
    problem = problems[0]
    kind, message = str(problem.get("type", "")), str(problem.get("msg", "is not valid"))
    names = [str(part) for part in problem.get("loc", ()) if part not in ("body", "query", "path")]
    param = ".".join(name for name in names if not _is_branch(name)) or None
    if kind == "json_invalid":
        return ApiError(400, "The body is not valid JSON.", code="invalid_json")
    if kind == "extra_forbidden":
        return unsupported(param or "", f"There is no parameter {param!r} here, or it is not supported.")
    if kind == "none_required":
        return unsupported(param or "", f"{param} is not supported here. Leave it out, or send null.")
    if param is None and kind == "value_error":
        reason = message.removeprefix("Value error, ")
        return bad_request(f"{reason[:1].upper()}{reason[1:]}.")
    if param is None:
        return bad_request("The body must be a JSON object. Send it with Content-Type: application/json.")
    if kind == "missing":
        return bad_request(f"{param} is required.", param)
    return bad_request(f"{param}: {message.removeprefix('Value error, ')}.".replace("..", "."), param)


def _is_branch(name: str) -> bool:
    """pydantic names the branches of a union in a problem's place; they are no parameters. A form's lists end in []."""
    if name.endswith("[]"):
        return False
    return name.endswith("]") or name[:1].isupper() or name in ("str", "int", "float", "bool") or "-" in name


def family_of(path: str, headers: Mapping[str, str] | None = None) -> str:
    if path.startswith("/v1/messages") or "anthropic-version" in (headers or {}):
        return "anthropic"
    return "ollama" if path.startswith("/api/") else "openai"


def status_in(error: ApiError, family: str) -> int:
    """Anthropic's clients know a server that is too busy, or has no memory left, by a status of its own."""
    return 529 if family == "anthropic" and error.status_code == 503 else error.status_code


def error_body(error: ApiError, family: str, request_id: str | None = None) -> dict[str, Any]:
    """The error's body in the protocol's shape."""
    found: dict[str, Any]
    message = error.message if error.overflow is None else _overflow_message(error.overflow, family)
    if family == "ollama":
        return {"error": message}
    if family == "anthropic":
        kind = {400: "invalid_request_error", 500: "api_error"}.get(error.status_code, error.type)
        found = {"type": kind, "message": message}
        if error.code != error.type:
            found["details"] = {"error_code": error.code}
        return {"type": "error", "error": found, "request_id": request_id}
    found = {"message": message, "type": error.type, "param": error.param, "code": error.code}
    if error.overflow is not None:  # as llama.cpp's clients read it
        found |= {"n_prompt_tokens": error.overflow.tokens, "n_ctx": error.overflow.limit}
    return {"error": found}


def _overflow_message(error: ContextOverflow, family: str) -> str:
    """Clients look for these words: they summarize a conversation that is too long, and go on."""
    if family == "anthropic":
        more = "" if error.exact else " (it was not counted any further)"
        return f"prompt is too long: {error.tokens} tokens > {error.limit} maximum{more}"
    tokens = f"{error.tokens} tokens{'' if error.exact else ' or more'}"
    return f"This model's maximum context length is {error.limit} tokens. However, your request has {tokens}. {error}"
