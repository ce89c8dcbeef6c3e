"""`GET /docs`: the routes, readable in a browser; `GET /openapi.json`, which describes them for programs. Made here and whole in itself: the usual page loads its scripts from
the network, and this server asks nobody for anything."""

from __future__ import annotations

import asyncio
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse

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
    return await asyncio.to_thread(request.app.openapi)


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
