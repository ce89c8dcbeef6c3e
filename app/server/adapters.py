"""`POST /v1/load_lora_adapter` and `/v1/unload_lora_adapter` as vLLM has them, and without `/v1` as SGLang has them: adapters that
come and go while the server runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.responses import PlainTextResponse, Response

from app.server.body import Hint, JsonRoute, RequestFields
from app.server.context import Here, Server
from app.server.errors import bad_request
from app.server.openapi import errors, streams
from engine.errors import CheckpointError, ModelNotFound
from engine.hub.cache import parse

router = APIRouter(route_class=JsonRoute, tags=["Adapters"])

AdapterName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\w.-]+$")]


class LoadAdapterRequest(RequestFields):
    lora_name: AdapterName
    lora_path: Annotated[
        str, Field(min_length=1, max_length=4096)
    ]  # below --adapters-dir, or a repository in the cache
    model: str | None = None  # that it is for; the default model
    pinned: Hint[Any] = None
    load_inplace: Hint[Any] = None


class UnloadAdapterRequest(RequestFields):
    lora_name: AdapterName
    model: str | None = None
    lora_int_id: Hint[Any] = None


class AdaptersReply(BaseModel):
    success: bool = True
    error_message: str = ""
    loaded_adapters: dict[str, str]  # by name, the model's name with it


@router.post("/v1/load_lora_adapter", response_model=None, responses=streams("text/plain") | errors(400, 404))
async def load_lora_adapter(body: LoadAdapterRequest, server: Here) -> Response:
    """Load an adapter, which requests then choose as `MODEL:NAME`, or by its name alone."""
    await _load(body, server)
    return PlainTextResponse(f"Success: LoRA adapter '{body.lora_name}' added successfully.")


@router.post("/v1/unload_lora_adapter", response_model=None, responses=streams("text/plain") | errors(400, 404))
async def unload_lora_adapter(body: UnloadAdapterRequest, server: Here) -> Response:
    """Take an adapter away. Requests that use it are answered to their end, then its memory is free."""
    await _unload(body, server)
    return PlainTextResponse(f"Success: LoRA adapter '{body.lora_name}' removed successfully.")


@router.post("/load_lora_adapter", responses=errors(400, 404))
async def load_adapter(body: LoadAdapterRequest, server: Here) -> AdaptersReply:
    """The same in SGLang's shape."""
    return AdaptersReply(loaded_adapters=_adapters_of(await _load(body, server), server))


@router.post("/unload_lora_adapter", responses=errors(400, 404))
async def unload_adapter(body: UnloadAdapterRequest, server: Here) -> AdaptersReply:
    """The same in SGLang's shape."""
    return AdaptersReply(loaded_adapters=_adapters_of(await _unload(body, server), server))


async def _load(body: LoadAdapterRequest, server: Server) -> str:
    """The name of the adapter's model."""
    service = server.service
    model = service.known(body.model).model
    source = await asyncio.to_thread(_allowed, body.lora_path, server)
    service.offer_adapter(model, body.lora_name, source)
    try:
        await service.find(f"{model}:{body.lora_name}")
    except BaseException as error:
        service.withdraw_adapter(model, body.lora_name)
        if isinstance(error, CheckpointError):
            raise bad_request(str(error), "lora_path") from None
        raise
    return model


async def _unload(body: UnloadAdapterRequest, server: Server) -> str:
    model = server.service.known(body.model).model
    server.service.withdraw_adapter(model, body.lora_name)
    return model


def _adapters_of(model: str, server: Server) -> dict[str, str]:
    return {name: f"{model}:{name}" for name in server.service.catalogue.adapters.get(model, ())}


def _allowed(path: str, server: Server) -> str:
    """Where an adapter lies that a request may load: a client must not read any file of this machine. Reads the disk."""
    folder = server.settings.adapters_dir
    if folder is not None:
        root = Path(folder).expanduser().resolve()
        place = (root / path).resolve()
        if place.is_relative_to(root) and place != root and place.exists():
            return str(place)
    if parse(path) is not None and server.service.catalogue.has_cached_adapter(path):
        return path
    if folder is None:
        raise bad_request(
            "Start the server with --adapters-dir DIR: what lies there may be loaded by name.", "lora_path"
        )
    raise ModelNotFound(f"There is no adapter {path[:200]!r} in the folder of --adapters-dir, nor in the cache.")
