"""The ASGI application: all protocols behind one gate, with one way of reporting errors."""

from __future__ import annotations

import logging
import time

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.bundled import grus_version
from app.runtime.models import ModelService
from app.server import adapters, management, openapi
from app.server.anthropic import routes as anthropic
from app.server.audio import routes as audio
from app.server.body import IGNORED_HEADER, IgnoredFields, IgnoredLog, ignored_fields, ignored_header
from app.server.config import ServerSettings
from app.server.context import Server
from app.server.errors import ApiError, as_api_error, error_body, family_of, from_validation, status_in
from app.server.gate import Gate
from app.server.images import Images
from app.server.llamacpp import routes as llamacpp
from app.server.metrics import Meters
from app.server.ollama import chat as ollama_chat
from app.server.ollama import models as ollama_models
from app.server.openai import (
    chat,
    completions,
    embeddings,
    files,
    models,
    ranking,
    responses,
    responses_socket,
    tokens,
    vector_stores,
)
from app.server.openai.file_store import FileStore
from app.server.openai.responses_store import ResponseStore
from app.server.openai.vector_index import VectorIndex
from app.server.realtime import routes as realtime
from app.server.requests import Account, ClientGone, Requests, as_header, as_log, current
from app.server.sglang import generate as sglang_generate
from app.server.sglang import info as sglang_info
from app.server.tools import ServerTools
from engine.errors import GrusError

log = logging.getLogger("grus.server")

FAMILIES = (
    chat,
    completions,
    responses,
    responses_socket,
    models,
    tokens,
    management,
    adapters,
    sglang_generate,
    sglang_info,
    llamacpp,
    anthropic,
    ollama_chat,
    ollama_models,
    embeddings,
    ranking,
    files,
    vector_stores,
    audio,
    realtime,
)


def create_app(service: ModelService, settings: ServerSettings) -> FastAPI:
    """The ASGI application over a service. The caller closes the service."""
    app = FastAPI(
        title="Grus",
        description="Private AI on this machine, in the words of OpenAI, Anthropic, Ollama, SGLang and llama.cpp.",
        version=grus_version(),
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    meters = Meters()
    requests = Requests(service, meters, settings.log_prompts)
    stored, index = ResponseStore(settings.responses_file), VectorIndex(FileStore(settings.files_dir), service)
    app.state.server = Server(settings, service, requests, stored, Images(settings), ServerTools(settings), index)
    for family in FAMILIES:
        app.include_router(family.router)
    app.include_router(openapi.router)
    app.add_exception_handler(RequestValidationError, _invalid)
    for kind in (HTTPException, GrusError, ClientGone, Exception):
        app.add_exception_handler(kind, _failed)
    meters.observe(service.stats, service.engine.request_metrics)
    app.add_middleware(_Observed, meters=meters, quiet=not settings.log_requests, strict=settings.strict)
    app.add_middleware(Gate, settings=settings)
    app.add_middleware(_VersionedPaths)
    _make_validators(app)
    return app


def _make_validators(app: FastAPI) -> None:
    """FastAPI makes those of all routes when it looks for the first request's: a tenth of a second in which nobody is answered."""
    nowhere = {"type": "http", "method": "GET", "path": "", "root_path": "", "headers": []}
    for route in app.routes:
        route.matches(nowhere)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return _error_response(request, from_validation(error.errors()))


async def _failed(request: Request, error: Exception) -> Response:
    if isinstance(error, ClientGone):
        return Response(status_code=499)  # nobody reads it
    return _error_response(request, as_api_error(error))


def _error_response(request: Request, error: ApiError) -> Response:
    family = family_of(request.url.path, request.headers)
    body = error_body(error, family, request.scope["state"]["request_id"])
    return JSONResponse(body, status_in(error, family), headers=dict(error.headers or {}))


class _VersionedPaths:
    """Middleware: a base URL without `/v1` works too. A path that is known with it only is served as that."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        served = {route.path for family in FAMILIES for route in family.router.routes if isinstance(route, Route)}
        versioned = {path.removeprefix("/v1") for path in served if path.startswith("/v1/") and "{" not in path}
        self._paths = versioned - served

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] in self._paths:
            path = f"/v1{scope['path']}"
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await self._app(scope, receive, send)


class _Observed:
    """Middleware: counts requests by route, adds the headers Server-Timing and x-grus-ignored, and logs a line for each request
    where that is wanted: never a body, never a header's value but the client's name."""

    def __init__(self, app: ASGIApp, meters: Meters, quiet: bool, strict: bool) -> None:
        self._app = app
        self._meters = meters
        self._quiet = quiet
        self._strict = strict
        self._ignored = IgnoredLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 500
        headers = dict(scope["headers"])
        account = Account(wanted=headers.get(b"x-grus-timings", b"").lower() in (b"1", b"true"))
        ignored = None if self._strict or scope["type"] == "websocket" else IgnoredFields()
        tokens = current.set(account), ignored_fields.set(ignored)

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
            elif message["type"] == "websocket.accept":
                status = 101
            if message["type"] == "http.response.start":
                more = []
                # of a stream nothing has ended when its head is sent
                if (timings := account.timings) is not None:
                    more.append((b"server-timing", as_header(timings).encode()))
                if ignored is not None and (names := ignored.names()):
                    more.append((IGNORED_HEADER, ignored_header(names)))
                    self._ignored.add(headers.get(b"user-agent", b"").decode("latin-1"), names)
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

        try:
            await self._app(scope, receive, watch)
        finally:
            current.reset(tokens[0])
            ignored_fields.reset(tokens[1])
            route = getattr(scope.get("route"), "path", "unknown")
            seconds = time.monotonic() - began
            method = scope.get("method", "WEBSOCKET")
            if method != "WEBSOCKET":  # whose length says nothing about how fast requests are
                self._meters.http(route, status, seconds)
            if not self._quiet:
                id = scope["state"]["request_id"]
                log.info("%s %s %s %d %.3fs%s", id, method, route, status, seconds, as_log(account))
