"""`/api/tags`, `/api/show`, `/api/ps`, `/api/version`, `/api/pull`: the models as Ollama lists and shows them, and their download.

Routes that would change the server's models answer with an error."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import PlainTextResponse, Response

from app.runtime.catalogue import KnownModel
from app.runtime.models import ModelService
from app.server.body import JsonRoute
from app.server.context import Here, Server, with_errors
from app.server.errors import ApiError, bad_request
from app.server.ollama import details
from app.server.ollama.protocol import (
    LINES,
    OllamaManageRequest,
    OllamaModel,
    OllamaModelList,
    OllamaPullRequest,
    OllamaRunningModel,
    OllamaRunningModels,
    OllamaShowReply,
    OllamaShowRequest,
    OllamaVersion,
    error_line,
    timestamp,
)
from app.server.openapi import errors, streams
from app.server.requests import StreamingReply, line
from engine.errors import GrusError, ModelNotFound, Offline
from engine.hub import offline
from engine.hub.cache import parse
from engine.hub.download import download
from engine.loading import LoadedModel

SPOKEN_VERSION = "0.14.0"  # of Ollama's API; clients refuse servers with an older one
_NEVER = "9999-12-31T23:59:59Z"

router = APIRouter(route_class=JsonRoute, tags=["Ollama"])
_ERRORS = errors(400, 404, 429, family="ollama")


@router.head("/api/tags", include_in_schema=False)
@router.get("/api/tags", responses=errors(family="ollama"))
async def tags(server: Here) -> OllamaModelList:
    """Every model that a request may name."""

    def read() -> OllamaModelList:
        return OllamaModelList(models=[_listed(known, server.service) for known in server.service.catalogue.all()])

    return await asyncio.to_thread(read)


@router.post("/api/show", responses=_ERRORS)
async def show(body: OllamaShowRequest, server: Here) -> OllamaShowReply:
    """A model's template, parameters and capabilities. Loads it only where its files do not contain them."""
    service = server.service
    known = known_model(server, body.wanted)
    found = await asyncio.to_thread(details.facts, known, service)
    if found is None:
        await service.find(known.name)
        found = await asyncio.to_thread(details.facts, known, service)
    if found is None:
        raise bad_request(f"The files of {known.name} cannot be read.", "model")
    return await asyncio.to_thread(details.shown, found)


@router.get("/api/ps", responses=errors(family="ollama"))
async def ps(server: Here) -> OllamaRunningModels:
    """The models that are in memory, and until when if nobody uses them."""
    here, service = server.service.engine.models(), server.service

    def read() -> OllamaRunningModels:
        loaded = service.loaded
        there = [(loaded[one.name], one.expires_in) for one in here if one.name in loaded]
        return OllamaRunningModels(models=[_resident(model, service, expires) for model, expires in there])

    return await asyncio.to_thread(read)


@router.head("/api/version", include_in_schema=False)
@router.get("/api/version", responses=errors(family="ollama"))
async def version() -> OllamaVersion:
    """The version of Ollama's API that is spoken here."""
    return OllamaVersion(version=SPOKEN_VERSION)


@router.post("/api/pull", response_model=None, responses=streams(LINES) | errors(400, 404, family="ollama"))
async def pull(body: OllamaPullRequest, server: Here) -> Response:
    """Download a model from Hugging Face, with progress."""
    name = body.wanted
    here = parse(_hub_name(name)) is None and _is_here(name, server)
    if not here:
        _repository(name)
    chunks = _already_here() if here else _download(name, server.service)
    if body.stream is False:
        last = b""
        async for chunk in chunks:
            last = chunk
        return Response(last, media_type="application/json")
    settings = server.settings
    shown = with_errors(chunks, error_line)
    return StreamingReply(
        shown, lambda: None, heartbeat=None, every=settings.heartbeat_seconds, patience=settings.send_seconds,
        media_type=LINES,
    )  # fmt: skip


@router.post("/api/push", include_in_schema=False)
@router.post("/api/copy", include_in_schema=False)
@router.delete("/api/delete", include_in_schema=False)
@router.post("/api/create", responses=errors(400, family="ollama"))
async def change(body: OllamaManageRequest, request: Request, server: Here) -> None:
    """Models are added and deleted on the machine of the server, and by `/api/pull` alone from elsewhere."""
    if not request.url.path.endswith("/create"):
        known_model(server, body.source or body.wanted)
    raise bad_request(f"{request.url.path} is not supported: this server's models are changed on its own machine.")


@router.head("/api/blobs/{digest}", include_in_schema=False)
async def blob(digest: str) -> Response:
    """Files of models are not kept by their digests."""
    return Response(status_code=404)


@router.post("/api/blobs/{digest}", responses=errors(400, family="ollama"))
async def upload(digest: str) -> None:
    """Refused: models are made on the machine of the server."""
    raise bad_request("/api/blobs is not supported: this server's models are changed on its own machine.")


@router.head("/", include_in_schema=False)
@router.get("/", include_in_schema=False)
async def running(request: Request) -> Response:
    """Clients probe whether the server runs, and look for these words."""
    if "text/html" in request.headers.get("accept", ""):
        return PlainTextResponse("Grus is running. /docs lists what it can do.")
    return PlainTextResponse("Ollama is running")


def known_model(server: Server, name: str) -> KnownModel:
    """Raises Ollama's own words where there is none: its clients look for them."""
    try:
        return server.service.known(name)
    except ModelNotFound as error:
        raise ApiError(404, f"model '{name[:200]}' not found. {error}", code=error.code, param="model") from None


def _listed(known: KnownModel, service: ModelService) -> OllamaModel:
    """Reads the disk; call it from a thread."""
    loaded, place = service.loaded.get(known.model), details.place_of(known, service)
    found = details.stored(place)
    config = loaded.config if loaded is not None else details.config_of(place, found)
    size = found.nbytes if found is not None else getattr(loaded, "weight_bytes", 0)
    name = details.tagged(known.name)
    return OllamaModel(
        name=name,
        model=name,
        modified_at=details.modified(place),
        size=size,
        digest=details.digest(place),
        details=details.details(config, found),
    )


def _resident(loaded: LoadedModel, service: ModelService, expires_in: float | None) -> OllamaRunningModel:
    about = _listed(KnownModel(loaded.name, loaded.name), service)
    on_device = loaded.weight_bytes if loaded.backend.device != "cpu" else 0
    expires = _NEVER if expires_in is None else timestamp(datetime.now(UTC) + timedelta(seconds=expires_in))
    context = getattr(loaded, "context", 0)
    return OllamaRunningModel(**about.model_dump(), expires_at=expires, size_vram=on_device, context_length=context)


def _is_here(name: str, server: Server) -> bool:
    try:
        return bool(server.service.known(name))
    except ModelNotFound:
        return False


async def _already_here() -> AsyncIterator[bytes]:
    yield line({"status": "pulling manifest"})
    yield line({"status": "success"})


async def _download(name: str, service: ModelService) -> AsyncIterator[bytes]:
    """Download a repository and report its progress. Closing the stream cancels the download."""
    repo = _repository(name)
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[dict[str, Any] | Exception | None] = asyncio.Queue()
    cancelled = threading.Event()

    def send(item: dict[str, Any] | Exception | None) -> None:
        with contextlib.suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(queue.put_nowait, item)

    class PullProgress:
        """Lines for the client, from the download's thread."""

        def __call__(self, done: int, total: int) -> None:
            if cancelled.is_set():
                raise _DownloadCancelled
            send({"status": f"pulling {repo}", "digest": repo, "total": total, "completed": done})

        def waiting(self, sentence: str) -> None:
            if sentence:
                send({"status": sentence})

    def work() -> None:
        try:
            download(repo, cache_dir=service.catalogue.cache_dir, progress=PullProgress())
        except Exception as error:
            send(error)
        else:
            send(None)

    yield line({"status": "pulling manifest"})
    threading.Thread(target=work, name="grus-pull", daemon=True).start()
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, Exception):
                raise item
            yield line(item)
    finally:
        cancelled.set()
    yield line({"status": "success"})


class _DownloadCancelled(GrusError):
    """The client has gone."""


def _hub_name(name: str) -> str:
    return name.removeprefix("hf.co/").removeprefix("huggingface.co/").removesuffix(":latest")


def _repository(name: str) -> str:
    """The repository id of a model's name. Raises an error when it may not be downloaded."""
    repo = _hub_name(name)
    if parse(repo) is None:
        raise bad_request(
            f"{name[:100]!r} is no repository id like owner/name or owner/name-GGUF:Q8_0; models come from Hugging Face.",
            "model",
        )
    if why := offline.reason():
        raise Offline(f"{repo} is not downloaded, because {why}.")
    return repo
