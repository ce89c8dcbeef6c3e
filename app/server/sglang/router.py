"""SGLang's native routes."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.server.audio.probing import hear_one_second, speak_one_frame
from app.server.audio.pump import in_thread, leashed
from app.server.context import Here, answer
from app.server.documented import errors, streams
from app.server.errors import ApiError, bad_request
from app.server.kinds import kind_of, need
from app.server.management.protocol import Health
from app.server.many import Together
from app.server.sglang import serving
from app.server.sglang.protocol import (
    AbortRequest,
    Done,
    Generated,
    GenerateRequest,
    ModelInfo,
    ServerInfo,
    ServerStats,
)
from app.server.strict import StrictRoute
from app.server.version import server_version
from engine.loaded import LoadedPart
from engine.loading import LoadedModel
from engine.types import Request as EngineRequest
from engine.types import SamplingParams

router = APIRouter(route_class=StrictRoute, tags=["SGLang"])

PROBE_SECONDS = 30.0


@router.post("/generate", response_model=Generated | list[Generated], responses=streams() | errors(400, 404, 429))
async def generate(body: GenerateRequest, request: Request, server: Here) -> Any | Response:
    """A continuation of a text or of tokens; a list for a list."""
    made = await serving.generation(body, server, request)
    together = Together.begin(server.service, made.requests)
    if body.stream:
        return await server.stream(together, serving.chunks(made, together))
    await together.whole(request.receive, made.hear)
    return answer(made.result())


@router.get("/model_info", responses=errors(400, 404))
@router.get("/get_model_info", responses=errors(400, 404), operation_id="get_model_info_old_name")
async def model_info(server: Here) -> ModelInfo:
    """The model that answers where none is named, whatever it does."""
    name, model = await server.service.find_any(None)
    kind = kind_of(model.config, model.folder)
    return ModelInfo(
        model_path=str(model.folder),
        tokenizer_path=str(model.folder),
        device=device_name(model),
        is_generation=kind != "part",
        served_model_name=name,
        preferred_sampling_params=dict(model.defaults) or None,
        model_type=str(model.config.get("model_type", "")),
        max_context_length=model.context or None,
        has_image_understanding=getattr(model, "sight", None) is not None,
        has_audio_understanding=kind == "transcription",
    )


@router.get("/server_info", responses=errors())
@router.get("/get_server_info", responses=errors(), operation_id="get_server_info_old_name")
async def server_info(server: Here) -> ServerInfo:
    """Device, settings and live figures. Never a key."""
    service = server.service
    settings = {k: v for k, v in dataclasses.asdict(server.settings).items() if k != "api_keys"}
    name, engine, stats = service.catalogue.default, service.engine_settings(), service.stats()
    loaded = next(iter(service.loaded.values()), None)
    return ServerInfo(
        version=server_version(),
        device=device_name(loaded) if loaded is not None else "none",
        served_model_name=name,
        model_path=await asyncio.to_thread(lambda: service.catalogue.look_up(name).source) if name else None,
        max_concurrent=engine.get("max_concurrent"),
        decode_tokens_per_seq=engine.get("decode_tokens_per_seq"),
        stats=ServerStats(
            total_requests=stats["total"],
            completed_requests=stats["completed"],
            avg_decode_tokens_per_sec=round(stats["avg_decode_tokens_per_second"], 3),
            active_sequences=stats["active"],
            waiting_sequences=stats["waiting"],
        ),
        settings=settings | {"api_key": bool(server.settings.api_keys)} | engine,
        internal_states=[stats],
    )


def device_name(model: LoadedModel | LoadedPart) -> str:
    kind, _, index = model.backend.device.partition(":")
    if kind == "cpu":
        return "Cpu"
    return f"{'Metal' if kind == 'metal' else kind.capitalize()}({index or 0})"


@router.get("/health_generate", responses=errors(400, 404, 429))
async def health_generate(request: Request, server: Here) -> Health:
    """Makes one token, one frame of a voice, or listens to one second. Fails when that takes longer than half a minute."""
    name, model = await server.service.find_any(None)
    kind = kind_of(model.config, model.folder)
    if kind == "part":
        need("text", name, model)
    leash = leashed(server)
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            if kind == "speech":
                await in_thread(speak_one_frame, leash, name)
            elif kind == "transcription":
                await in_thread(hear_one_second, leash, name, model)
            else:
                await _write_one_token(request, server, name, model)
    except TimeoutError:
        raise ApiError(503, "Nothing was made within 30 seconds.", code="unhealthy") from None
    finally:
        leash.cut()
    return Health()


async def _write_one_token(request: Request, server: Here, name: str, model: Any) -> None:
    begin = next(iter(model.tokenizer.encode("a", add_special=False)), 0)
    running = server.service.submit(EngineRequest(name, [begin], SamplingParams(max_tokens=1, ignore_eos=True)))
    try:
        await server.parts(request, running)
    finally:
        running.cancel()


@router.post("/abort_request", responses=errors(400))
async def abort_request(body: AbortRequest, server: Here) -> Done:
    """Cancel a request by its id, or all. One that has ended already is no error."""
    if not body.abort_all and not body.rid:
        raise bad_request("Say which request: rid, or abort_all: true.", "rid")
    count = server.service.abort(None if body.abort_all else body.rid)
    return Done(message=f"{count} requests are being cancelled.")


@router.post("/flush_cache", responses=errors())
async def flush_cache(server: Here) -> Done:
    """Forget the beginnings of prompts that are kept for their next use. Replies that are being made go on."""
    count = await server.service.clear_prefix_cache()
    return Done(message=f"{count} prefixes were forgotten.")
