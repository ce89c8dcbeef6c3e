"""`/api/tags`, `/api/show`, `/api/ps`, `/api/version`, `/api/pull`: the models as Ollama lists and shows them, and their download."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi import APIRouter
from starlette.responses import PlainTextResponse, Response

from app.runtime.catalogue import KnownModel
from app.runtime.models import ModelService
from app.server.body import JsonRoute
from app.server.context import Here, with_errors
from app.server.documented import errors, streams
from app.server.errors import bad_request
from app.server.ollama.protocol import (
    LINES,
    OllamaModel,
    OllamaModelDetails,
    OllamaModelList,
    OllamaNameRequest,
    OllamaPullRequest,
    OllamaRunningModel,
    OllamaRunningModels,
    OllamaShowReply,
    OllamaShowRequest,
    OllamaVersion,
    error_line,
    timestamp,
)
from app.server.streaming import StreamingReply, line
from engine.errors import GrusError, Offline
from engine.hub import offline
from engine.hub.cache import find
from engine.hub.download import download
from engine.hub.naming import parse
from engine.hub.snapshots import model_in
from engine.loading import LoadedModel
from engine.text.reasoning import tags_for

SPOKEN_VERSION = "0.13.0"  # of Ollama's API; clients refuse servers with an older one
_NEVER = "9999-12-31T23:59:59Z"

router = APIRouter(route_class=JsonRoute, tags=["Ollama"])
_ERRORS = errors(400, 404, 429, family="ollama")


@router.get("/api/tags", responses=errors(family="ollama"))
async def tags(server: Here) -> OllamaModelList:
    """Every model that a request may name."""

    def read() -> OllamaModelList:
        return OllamaModelList(models=[_tagged(known, server.service) for known in server.service.catalogue.all()])

    return await asyncio.to_thread(read)


@router.post("/api/show", responses=_ERRORS)
async def show(body: OllamaShowRequest, server: Here) -> OllamaShowReply:
    """A model's template, parameters and capabilities. Loads the model."""
    _, model = await server.service.find(_name_of(body))
    return _shown(model)


@router.get("/api/ps", responses=errors(family="ollama"))
async def ps(server: Here) -> OllamaRunningModels:
    """The models that are in memory, and until when if nobody uses them."""
    here, loaded = server.service.engine.models(), server.service.loaded
    return OllamaRunningModels(
        models=[_resident(loaded[m.name], server.service, m.expires_in) for m in here if m.name in loaded]
    )


@router.get("/api/version", responses=errors(family="ollama"))
async def version() -> OllamaVersion:
    """The version of Ollama's API that is spoken here."""
    return OllamaVersion(version=SPOKEN_VERSION)


@router.post("/api/pull", response_model=None, responses=streams(LINES) | errors(400, 404, family="ollama"))
async def pull(body: OllamaPullRequest, server: Here) -> Response:
    """Download a model from Hugging Face, with progress."""
    name = _name_of(body)
    _repository(name)
    chunks = _download(name, server.service)
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


@router.head("/", include_in_schema=False)
@router.get("/", include_in_schema=False)
async def running() -> Response:
    """Clients probe whether the server runs."""
    return PlainTextResponse("Grus is running. /docs lists what it can do.")


def _name_of(body: OllamaNameRequest) -> str:
    name = body.model or body.name
    if not name:
        raise bad_request("model is required.", "model")
    return name


def _tagged(known: KnownModel, service: ModelService) -> OllamaModel:
    """Reads the disk; call it from a thread."""
    loaded = service.loaded.get(known.name)
    size = loaded.weight_bytes if loaded is not None else _size(known, service.catalogue.cache_dir)
    return OllamaModel(
        name=known.name,
        model=known.name,
        modified_at=timestamp(datetime.fromtimestamp(known.created, UTC)),
        size=size,
        digest=hashlib.sha256(known.name.encode()).hexdigest(),
        details=_details(loaded),
    )


def _size(known: KnownModel, cache_dir: str | None) -> int:
    path = Path(known.source).expanduser()
    if not path.exists():
        named = parse(known.source)
        snapshot = find(named.repo, named.revision, cache_dir) if named else None
        if named is None or snapshot is None:
            return 0
        path = model_in(snapshot, named.quant) or snapshot.path
    files = [path] if path.is_file() else path.iterdir()
    return sum(file.stat().st_size for file in files if file.suffix in (".safetensors", ".gguf"))


def _details(loaded: LoadedModel | None) -> OllamaModelDetails:
    family = str(loaded.config.get("model_type", "")) if loaded is not None else ""
    return OllamaModelDetails(family=family, families=[family] if family else None)


def _resident(loaded: LoadedModel, service: ModelService, expires_in: float | None) -> OllamaRunningModel:
    about = _tagged(KnownModel(loaded.name, loaded.name), service)
    on_device = loaded.weight_bytes if loaded.backend.device != "cpu" else 0
    expires = _NEVER if expires_in is None else timestamp(datetime.now(UTC) + timedelta(seconds=expires_in))
    return OllamaRunningModel(
        **about.model_dump(), expires_at=expires, size_vram=on_device, context_length=loaded.context
    )


def _shown(loaded: LoadedModel) -> OllamaShowReply:
    kind = str(loaded.config.get("model_type", ""))
    source = loaded.template.source() if loaded.template.names else ""
    capabilities = ["completion"] + (["vision"] if loaded.vision is not None else [])
    if "tools" in source:
        capabilities.append("tools")
    if tags_for(kind, source) is not None:
        capabilities.append("thinking")
    return OllamaShowReply(
        modelfile=f"FROM {loaded.name}",
        parameters="\n".join(_parameters(loaded.defaults)),
        template=source,
        details=_details(loaded),
        model_info={
            "general.architecture": kind,
            "general.basename": loaded.name,
            f"{kind}.context_length": loaded.context,
            f"{kind}.vocab_size": loaded.vocab,
        }
        | ({f"{kind}.vision.max_pixels": loaded.vision.max_pixels} if loaded.vision is not None else {}),
        capabilities=capabilities,
    )


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


def _repository(name: str) -> str:
    """The repository id of a model's name. Raises an error when it may not be downloaded."""
    repo = name.removeprefix("hf.co/").removeprefix("huggingface.co/").removesuffix(":latest")
    if parse(repo) is None:
        raise bad_request(
            f"{name[:100]!r} is no repository id like owner/name or owner/name-GGUF:Q8_0; models come from Hugging Face.",
            "model",
        )
    if why := offline.reason():
        raise Offline(f"{repo} is not downloaded, because {why}.")
    return repo


def _parameters(defaults: Mapping[str, Any]) -> Iterator[str]:
    """In a Modelfile's form: each stop string on a line of its own."""
    for name, value in defaults.items():
        yield from (f'stop "{text}"' for text in value) if name == "stop" else (f"{name} {value}",)
