"""Ollama's routes. Streams are lines of JSON, and streaming is what happens unless it is switched off."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from app.server.context import Here, Server, answer, told
from app.server.conversation import Prepared
from app.server.documented import errors, streams
from app.server.errors import ApiError, bad_request, error_body
from app.server.ollama import embedding, serving, shelf
from app.server.ollama.keeping import seconds
from app.server.ollama.protocol import (
    ChatReply,
    ChatRequest,
    Embedded,
    EmbedRequest,
    GenerateReply,
    GenerateRequest,
    OldEmbedded,
    OldEmbedRequest,
    PullRequest,
    Residents,
    Shown,
    ShowRequest,
    Tags,
    Version,
)
from app.server.replies import ReplyReader
from app.server.streaming import Stream, line
from app.server.strict import StrictRoute
from engine.pipelines.prompt import Prompt, infill, text_prompt
from engine.types import Request as EngineRequest

LINES = "application/x-ndjson"
SPOKEN_VERSION = "0.13.0"  # of Ollama's API; tools refuse servers that tell an older one

router = APIRouter(route_class=StrictRoute, tags=["Ollama"])
_ERRORS = errors(400, 404, 429, family="ollama")


@router.post("/api/chat", response_model=ChatReply, responses=streams(LINES) | _ERRORS)
async def chat(body: ChatRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a conversation. Without messages: load the model, or unload it with keep_alive 0."""
    if not body.messages:
        return await _load_or_unload(body, server, serving.chat_shape)
    name, _, prepared = await server.prepare(serving.chat(body), body.model, request)
    return await _reply(body, request, server, name, prepared, serving.chat_shape)


@router.post("/api/generate", response_model=GenerateReply, responses=streams(LINES) | _ERRORS)
async def generate(body: GenerateRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a prompt, in the model's template unless `raw`."""
    if not body.prompt:
        return await _load_or_unload(body, server, serving.generate_shape)
    if body.raw or body.suffix is not None:
        name, prepared = await _plain(body, server)
    else:
        name, _, prepared = await server.prepare(serving.generate(body), body.model, request)
    return await _reply(body, request, server, name, prepared, serving.generate_shape)


async def _plain(body: GenerateRequest, server: Server) -> tuple[str, Prepared]:
    """A text to be continued, or a middle to be filled in."""
    for param in ("system", "think", "images", "format"):
        if getattr(body, param):
            raise bad_request(f"{param} does not go with raw or suffix.", param)
    text = body.prompt or ""
    server.check_prompt(len(text) + len(body.suffix or ""))
    params = serving.sampled(body)
    name, model = await server.service.find(body.model)
    if body.suffix is None:
        prompt = text_prompt(model, text)
    else:
        filled = infill(model.tokenizer, text, body.suffix)
        prompt, params = Prompt(text, filled.ids), replace(params, stop_token_ids=filled.stops)
    return name, Prepared(EngineRequest(name, prompt.ids, params), ReplyReader(), prompt, model)


async def _reply(
    body: ChatRequest | GenerateRequest,
    request: Request,
    server: Server,
    name: str,
    prepared: Prepared,
    shape: serving.Shape,
) -> Response:
    prepared = serving.within(prepared, body.options)
    tokenizer = prepared.model.tokenizer
    running = server.submit(prepared)
    try:
        await _keep(body, server, name)  # now that the request is there: one kept for no time must not go before
    except BaseException:
        running.cancel()
        raise
    if body.stream is not False:
        chunks = serving.lines(running, name, shape, tokenizer)
        return await server.stream(running, chunks, tell=_error_line, heartbeat=None, media_type=LINES)
    parts = await server.parts(request, running)
    return answer(serving.complete(parts, running, name, shape, tokenizer))


async def _load_or_unload(body: ChatRequest | GenerateRequest, server: Server, shape: serving.Shape) -> Response:
    if body.keep_alive is not None and seconds(body.keep_alive) == 0:
        name = server.service.known(body.model).name
        if name in server.service.resident():
            await server.service.unload(name)
        reason = "unload"
    else:
        name, _ = await server.service.find(body.model)
        await _keep(body, server, name)
        reason = "load"
    said = {"model": name, "created_at": serving.now(), "done": True, "done_reason": reason}
    return Response(json.dumps(said | shape("", "", [])), media_type="application/json")


async def _keep(body: ChatRequest | GenerateRequest | EmbedRequest, server: Server, name: str) -> None:
    if body.keep_alive is not None:
        await server.service.keep(name, seconds(body.keep_alive))


@router.post("/api/embed", response_model=Embedded, responses=_ERRORS)
async def embed(body: EmbedRequest, request: Request, server: Here) -> Any | Response:
    """Vectors that stand for texts, of length one. Without texts: load the model."""
    made = await embedding.embed(body, request, server)
    await _keep(body, server, made["model"])
    return answer(made)


@router.post("/api/embeddings", response_model=OldEmbedded, responses=_ERRORS)
async def old_embed(body: OldEmbedRequest, request: Request, server: Here) -> Any | Response:
    """One vector, as older clients ask for it."""
    asked = EmbedRequest(model=body.model, input=body.prompt, options=body.options, keep_alive=body.keep_alive)
    made = await embedding.embed(asked, request, server)
    await _keep(asked, server, made["model"])
    return answer({"embedding": next(iter(made["embeddings"]), [])})


@router.get("/api/tags", responses=errors(family="ollama"))
async def tags(server: Here) -> Tags:
    """Every model that a request may name."""

    def read() -> Tags:
        return Tags(models=[shelf.tagged(known, server.service) for known in server.service.catalogue.all()])

    return await asyncio.to_thread(read)


@router.post("/api/show", responses=_ERRORS)
async def show(body: ShowRequest, server: Here) -> Shown:
    """What a model is. Loads it if it was not."""
    _, model = await server.service.find(shelf.name_of(body))
    return shelf.shown(model)


@router.get("/api/ps", responses=errors(family="ollama"))
async def ps(server: Here) -> Residents:
    """The models that are in memory, and until when if nobody uses them."""
    here, loaded = server.service.engine.models(), server.service.loaded
    return Residents(
        models=[shelf.resident(loaded[m.name], server.service, m.expires_in) for m in here if m.name in loaded]
    )


@router.get("/api/version", responses=errors(family="ollama"))
async def version() -> Version:
    """The version of Ollama's API that is spoken here."""
    return Version(version=SPOKEN_VERSION)


@router.post("/api/pull", response_model=None, responses=streams(LINES) | errors(400, 404, family="ollama"))
async def pull(body: PullRequest, server: Here) -> Response:
    """Download a model from Hugging Face, with progress."""
    name = shelf.name_of(body)
    shelf.repository(name)
    chunks = shelf.pull(name, server.service)
    if body.stream is False:
        last = b""
        async for chunk in chunks:
            last = chunk
        return Response(last, media_type="application/json")
    settings = server.settings
    shown = told(chunks, _error_line)
    return Stream(
        shown, lambda: None, heartbeat=None, every=settings.heartbeat_seconds, patience=settings.send_seconds,
        media_type=LINES,
    )  # fmt: skip


@router.head("/", include_in_schema=False)
@router.get("/", include_in_schema=False)
async def running() -> Response:
    """Tools ask whether somebody is there."""
    return PlainTextResponse("Grus is running. /docs lists what it can do.")


def _error_line(error: ApiError) -> bytes:
    return line(error_body(error, "ollama"))
