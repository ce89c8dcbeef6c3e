"""`Server`, which every handler receives: settings, model service, requests, and how a reply is prepared and sent."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ParamSpec, TypeVar

from fastapi import Depends, Request
from fastapi.responses import JSONResponse, Response

from app.runtime import embedding
from app.runtime.chat import ChatRequest, PreparedChat, ReplyEvent, applied_template, prepare
from app.runtime.long_prompts import LONG_PROMPT, run_beside
from app.runtime.models import ModelService
from app.server.body import ignore
from app.server.config import ServerSettings
from app.server.errors import ApiError, as_api_error, bad_request, error_body
from app.server.gate import EphemeralKeys
from app.server.images import ImagePart, Images, asked_pages, parts_of, prepared_pages, text_size, with_pictures
from app.server.openai.responses_store import ResponseStore
from app.server.openai.vector_index import VectorIndex
from app.server.requests import (
    COMMENT,
    RequestGroup,
    Requests,
    RunningRequest,
    StreamingReply,
    event,
    while_connected,
)
from app.server.tools import ServerTools
from engine.errors import GrusError
from engine.loading import LoadedModel
from engine.pipelines.embedding import Embedder
from engine.pipelines.reading.session import page_reply
from engine.types import Picture

log = logging.getLogger("grus.server")
P = ParamSpec("P")
T = TypeVar("T")
_PART = 4096


def _openai_error(error: ApiError) -> bytes:
    return event(error_body(error, "openai"))


async def with_errors(chunks: AsyncIterator[bytes], format_error: Callable[[ApiError], bytes]) -> AsyncIterator[bytes]:
    """The status has been sent when a reply fails half-way, so that the error must come as part of it."""
    try:
        async for chunk in chunks:
            yield chunk
    except Exception as error:
        if not isinstance(error, GrusError | ApiError):
            log.exception("A stream failed.")
        yield format_error(as_api_error(error))


@dataclass
class Server:
    """One running server's parts."""

    settings: ServerSettings
    service: ModelService
    requests: Requests
    responses: ResponseStore
    images: Images
    tools: ServerTools
    vectors: VectorIndex
    conversations: int = 0  # by voice, that are open
    ephemeral_keys: EphemeralKeys = field(default_factory=EphemeralKeys)

    async def prepare(
        self, chat: ChatRequest, name: str | None, request: Request
    ) -> tuple[str, LoadedModel, PreparedChat]:
        """Look the model up, look at the images, render and tokenize; all for nothing if the client goes away."""
        chat, size = self._checked(chat)
        served, model = await self.service.find(name)
        if model.vision is not None and model.vision.line_strips is not None:
            images = self.images.pages(asked_pages(chat, served))
            seen = await while_connected(request.receive, images, lambda: None)
            return served, model, prepared_pages(chat, served, model, seen)
        if parts := parts_of(chat.messages):
            pictures = await self.look(parts, model, request)
            chat = replace(chat, messages=with_pictures(chat.messages, pictures))
        size = max(size, _body_size(request))  # tools are rendered too
        prepared = await self.beside(size, request, prepare, chat, model, served)
        for name in prepared.ignored:
            ignore(name)
        return served, model, prepared

    async def rendered(self, chat: ChatRequest, name: str | None, request: Request) -> str:
        """The prompt's text, which may be longer than the model's context."""
        chat, size = self._checked(chat)
        _, model = await self.service.find(name)
        if parts := parts_of(chat.messages):
            chat = replace(chat, messages=with_pictures(chat.messages, await self.look(parts, model, request)))
        return await self.beside(max(size, _body_size(request)), request, applied_template, chat, model)

    def _checked(self, chat: ChatRequest) -> tuple[ChatRequest, int]:
        """With the characters of its texts."""
        size = sum(map(text_size, chat.messages)) + len(chat.prediction)
        self.check_prompt(size)
        return replace(chat, lenient=not self.settings.strict), size

    async def beside(self, size: int, request: Request, work: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """The result of `work` on a prompt of `size` characters: beside the event loop where that is long, and not at all if
        the client goes away before its turn."""
        if size < LONG_PROMPT:
            return work(*args, **options)
        return await while_connected(request.receive, run_beside(size, work, *args, **options), lambda: None)

    def submit(self, prepared: PreparedChat) -> RunningRequest:
        """Begin the reply."""
        if not prepared.pages:
            return self.requests.submit(prepared.request, prepared.reader)
        name, most = prepared.request.model, prepared.request.sampling.max_tokens
        reply = page_reply(self.requests.start, prepared.model, prepared.pages, most)
        return self.requests.follow(reply, name, prepared.reader)

    async def look(self, parts: Sequence[ImagePart], model: LoadedModel, request: Request) -> list[Picture]:
        """What the model sees of a request's images; nothing is fetched any more once the client has gone."""
        if not parts:
            return []
        return await while_connected(request.receive, self.images.look(parts, model), lambda: None)

    async def embed(
        self, rows: Sequence[Sequence[int]], name: str, model: Embedder, dimensions: int | None, request: Request
    ) -> embedding.Vectors:
        """The vectors of tokenized texts, in order; cancelled when the client goes away."""
        work = embedding.embed(rows, name, model, dimensions, self.requests)
        return await while_connected(request.receive, work, lambda: None)

    def check_prompt(self, size: int) -> None:
        if size > self.settings.max_prompt:
            raise bad_request(
                f"The prompt has {size} characters; this server takes {self.settings.max_prompt}.", "prompt"
            )

    async def parts(self, request: Request, running: RunningRequest) -> list[ReplyEvent]:
        """A whole reply."""

        async def read() -> list[ReplyEvent]:
            return [part async for part in running.parts()]

        return await while_connected(request.receive, read(), running.cancel)

    async def stream(
        self,
        running: RunningRequest | RequestGroup,
        chunks: AsyncIterator[bytes],
        *,
        encode_error: Callable[[ApiError], bytes] = _openai_error,
        heartbeat: bytes | None = COMMENT,
        media_type: str = "text/event-stream",
    ) -> StreamingReply:
        """A reply as it comes. What goes wrong before its first sign of life is raised here."""
        try:
            await running.begun(self.settings.heartbeat_seconds)
        except BaseException:
            running.cancel()
            raise
        return StreamingReply(
            with_errors(chunks, encode_error),
            running.cancel,
            heartbeat=heartbeat,
            every=self.settings.heartbeat_seconds,
            patience=self.settings.send_seconds,
            media_type=media_type,
        )


def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


Here = Annotated[Server, Depends(_server)]


def answer(body: Any, status: int = 200) -> JSONResponse:
    return JSONResponse(body, status)


def _body_size(request: Request) -> int:
    """What the client says; 0 for a message of a websocket."""
    lengths = [value for name, value in request.scope.get("headers", ()) if name == b"content-length"]
    return int(lengths[0]) if lengths and lengths[0].isdigit() else 0


async def long_answer(numbers: int, make: Callable[[], Any]) -> Response:
    """What `make` returns, which holds so many numbers: made and written beside the event loop where these are many."""
    text = await run_beside(numbers, lambda: "".join(_written(make())))
    return Response(text, media_type="application/json")


def _written(value: Any) -> Iterator[str]:
    """JSON in parts: Python's lock is held for one part at a time."""
    if isinstance(value, dict):
        for at, (key, item) in enumerate(value.items()):
            yield f"{',' if at else '{'}{_dumps(key)}:"
            yield from _written(item)
        yield "}" if value else "{}"
    elif isinstance(value, list) and value and isinstance(value[0], dict | list):
        for at, item in enumerate(value):
            yield "," if at else "["
            yield from _written(item)
        yield "]"
    elif isinstance(value, list):
        for at in range(0, len(value), _PART):
            yield ("," if at else "[") + _dumps(value[at : at + _PART])[1:-1]
        yield "]" if value else "[]"
    else:
        yield _dumps(value)


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
