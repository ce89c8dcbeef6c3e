"""The OpenAPI document: what it says of errors in each family's shape and of streams, its page at `GET /docs`, and itself at `GET /openapi.json`."""

from __future__ import annotations

import asyncio
from html import escape
from typing import Any, Literal

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse
from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

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
_PLACE = "#/components/schemas/{model}"  # of a schema in the document


def errors(*statuses: int, family: str = "openai") -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route: those errors, and the ones that every route has. Only named, and defined in
    `_with_errors`: FastAPI would make a validator of each one of each route, 900 in all, in a twelfth of the time that a server takes to start."""
    content = {"application/json": {"schema": {"$ref": _PLACE.format(model=_SHAPES[family].__name__)}}}
    always = [529 if s == 503 and family == "anthropic" else s for s in _ALWAYS]
    return {s: {"content": content, "description": _MEANINGS[s]} for s in sorted({*statuses, *always})}


def streams(media_type: str = "text/event-stream") -> dict[int | str, dict[str, Any]]:
    return {200: {"content": {media_type: {}}, "description": "What was asked for."}}


# -- the page, whole in itself: the usual one loads its scripts from the network, and this server asks nobody for anything

router = APIRouter()

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
h2 { margin-top: 2rem; font-size: 1.1rem } code { font: 13px ui-monospace, monospace }
summary { cursor: pointer; padding: .2rem 0 } table { border-collapse: collapse; margin: .3rem 0 1rem 1.2rem }
td { padding: .1rem .8rem .1rem 0; vertical-align: top } .m { display: inline-block; width: 4rem; font-weight: 600 }
@media (prefers-color-scheme: dark) { body { background: #181818; color: #ddd } a { color: #8bf } }
"""


@router.get("/openapi.json", include_in_schema=False)
async def openapi(request: Request) -> JSONResponse:
    return JSONResponse(await _document(request))


async def _document(request: Request) -> dict[str, Any]:
    """The first time it is made, which takes most of a second: beside the event loop."""
    return await asyncio.to_thread(_with_errors, request.app)


def _with_errors(app: FastAPI) -> dict[str, Any]:
    document = app.openapi()
    _, defined = models_json_schema([(shape, "serialization") for shape in _SHAPES.values()], ref_template=_PLACE)
    document.setdefault("components", {}).setdefault("schemas", {}).update(defined["$defs"])
    return document


@router.get("/docs", include_in_schema=False)
async def docs(request: Request) -> HTMLResponse:
    page = render(await _document(request))
    policy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
    return HTMLResponse(page, headers={"Content-Security-Policy": policy})


def render(document: dict[str, Any]) -> str:
    families: dict[str, list[str]] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            families.setdefault(operation.get("tags", ["More"])[0], []).append(
                _operation(path, method, operation, document)
            )
    body = "".join(f"<h2>{escape(name)}</h2>{''.join(parts)}" for name, parts in families.items())
    title = escape(document["info"]["title"])
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>"
        f"<h1>{title}</h1><p>{escape(document['info']['description'])} "
        f'The same for programs: <a href="/openapi.json">openapi.json</a>.</p>{body}</html>'
    )


def _operation(path: str, method: str, operation: dict[str, Any], document: dict[str, Any]) -> str:
    body: dict[str, Any] = operation.get("requestBody", {}).get("content", {})
    schema = _resolved(next(iter(body.values()))["schema"] if body else {}, document)
    required = schema.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{'required' if name in required else ''}</td>"
        f"<td>{escape(_type(field))}</td></tr>"
        for name, field in schema.get("properties", {}).items()
    )
    text = escape(operation.get("description") or operation.get("summary") or "")
    return (
        f"<details><summary><code><span class=m>{method.upper()}</span>{escape(path)}</code> {text}</summary>"
        f"<table>{rows}</table></details>"
    )


def _resolved(schema: dict[str, Any], document: dict[str, Any]) -> dict[str, Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    return document["components"]["schemas"][name] if name else schema


def _type(field: dict[str, Any]) -> str:
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "enum" in field:
        return ", ".join(map(str, field["enum"]))
    if "const" in field:
        return str(field["const"])
    options = field.get("anyOf") or field.get("oneOf")
    if options:
        return " or ".join(dict.fromkeys(_type(option) for option in options if option.get("type") != "null"))
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    return str(field.get("type", "any"))
