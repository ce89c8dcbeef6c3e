"""SGLang's routes beside `/generate`: what the server and its model are, health, load, vectors, abort and flush."""

from __future__ import annotations

import asyncio
import dataclasses
import math
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from starlette.responses import Response

from app.bundled import grus_version
from app.runtime.catalogue import capabilities, main_use, require
from app.runtime.embedding import tokenized
from app.server.audio.threads import cancel_scope, in_thread
from app.server.body import JsonRoute
from app.server.context import Here, answer
from app.server.errors import ApiError, bad_request
from app.server.generation import check_ids, split_prompts
from app.server.management import Health
from app.server.openapi import errors
from app.server.sglang.protocol import (
    SglangAbortRequest,
    SglangActionReply,
    SglangEncodeReply,
    SglangEncodeRequest,
    SglangLoad,
    SglangModelInfo,
    SglangServerInfo,
    SglangServerStats,
    SglangUnsupportedRequest,
)
from engine.loaded import LoadedPart
from engine.loading import LoadedModel
from engine.media.sound import SAMPLE_RATE
from engine.pipelines.embedding import modules_of, text_ids
from engine.pipelines.listening.asr_models import transcriber
from engine.pipelines.speaking.qwen3_tts import Qwen3TTS, default_settings
from engine.pipelines.speaking.speech import FRAME_RATE
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.voice import SpeechSampling, VoiceSettings
from engine.tasks import CancelScope
from engine.types import Request as EngineRequest
from engine.types import SamplingParams, new_id
from engine.vision.processor import hearing, seeing

router = APIRouter(route_class=JsonRoute, tags=["SGLang"])

PROBE_SECONDS = 30.0


@router.get("/model_info", responses=errors(400, 404))
@router.get("/get_model_info", responses=errors(400, 404), operation_id="get_model_info_old_name")
async def model_info(server: Here) -> SglangModelInfo:
    """The default model, of any kind."""
    name, model = await server.service.find_any(None)
    use = main_use(capabilities(model.config, model.folder))
    return SglangModelInfo(
        model_path=str(model.folder),
        tokenizer_path=str(model.folder),
        device=device_name(model),
        is_generation=use in ("chat", "read", "speak", "listen"),
        served_model_name=name,
        preferred_sampling_params=dict(model.defaults) or None,
        model_type=str(model.config.get("model_type", "")),
        max_context_length=model.context or None,
        has_image_understanding=seeing(getattr(model, "vision", None)),
        has_audio_understanding=use == "listen" or hearing(getattr(model, "vision", None)) is not None,
    )


@router.get("/server_info", responses=errors())
@router.get("/get_server_info", responses=errors(), operation_id="get_server_info_old_name")
async def server_info(server: Here) -> SglangServerInfo:
    """Device, settings and live figures. Never a key."""
    service = server.service
    settings = {k: v for k, v in dataclasses.asdict(server.settings).items() if k != "api_keys"}
    name, engine, stats = service.catalogue.default, service.engine_settings(), service.stats()
    loaded = next(iter(service.loaded.values()), None)
    return SglangServerInfo(
        version=grus_version(),
        device=device_name(loaded) if loaded is not None else "none",
        served_model_name=name,
        model_path=await asyncio.to_thread(lambda: service.catalogue.look_up(name).source) if name else None,
        max_concurrent=engine.get("max_concurrent"),
        decode_tokens_per_seq=engine.get("decode_tokens_per_seq"),
        stats=SglangServerStats(
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
    """Generates one token or one frame of speech, or transcribes one second. Fails when that takes longer than 30 seconds."""
    name, model = await server.service.find_any(None)
    found = capabilities(model.config, model.folder)
    use = main_use(found)
    if use in ("part", "layout", "diarize", "verify", "align", "embed", "rank") or "lines" in found:
        require("chat", name, model)
    scope = cancel_scope(server)
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            if use == "speak":
                await in_thread(_speak_one_frame, scope, name)
            elif use == "listen":
                await in_thread(_transcribe_one_second, scope, name, model)
            else:
                await _generate_one_token(request, server, name, model)
    except TimeoutError:
        raise ApiError(503, "Nothing was made within 30 seconds.", code="unhealthy") from None
    finally:
        scope.cancel()
    return Health()


def _speak_one_frame(scope: CancelScope, name: str) -> None:
    """Runs in a thread."""
    voice = speaker(scope, name)
    settings = default_settings(voice.prompts) if isinstance(voice, Qwen3TTS) else VoiceSettings()
    tokens = math.ceil(voice.token_rate / FRAME_RATE) + 1  # of one frame, and of what precedes the first
    for _ in voice.speak("Hello.", settings, seed=0, sampling=SpeechSampling(max_tokens=tokens)):
        return


def _transcribe_one_second(scope: CancelScope, name: str, loaded: Any) -> None:
    """Runs in a thread. The input is a tone, and its transcript is ignored."""
    tone = 0.1 * np.sin(2 * np.pi * 220 * np.arange(SAMPLE_RATE) / SAMPLE_RATE)
    transcriber(scope, name, loaded).submit(tone.astype(np.float32)).result()


async def _generate_one_token(request: Request, server: Here, name: str, model: Any) -> None:
    begin = next(iter(model.tokenizer.encode("a", add_special=False)), 0)
    running = server.requests.submit(EngineRequest(name, [begin], SamplingParams(max_tokens=1, ignore_eos=True)))
    try:
        await server.parts(request, running)
    finally:
        running.cancel()


@router.post("/abort_request", responses=errors(400))
async def abort_request(body: SglangAbortRequest, server: Here) -> SglangActionReply:
    """Cancel a request by its id, or all. One that has ended already is no error."""
    if not body.abort_all and not body.rid:
        raise bad_request("Say which request: rid, or abort_all: true.", "rid")
    count = server.requests.abort(None if body.abort_all else body.rid)
    return SglangActionReply(message=f"{count} requests are being cancelled.")


@router.get("/flush_cache", responses=errors(), operation_id="flush_cache_get")
@router.post("/flush_cache", responses=errors())
async def flush_cache(server: Here) -> SglangActionReply:
    """Clear the prefix cache. Running requests continue."""
    count = await server.service.clear_prefix_cache()
    return SglangActionReply(message=f"{count} prefixes were forgotten.")


@router.get("/get_load", responses=errors())
async def load(server: Here) -> SglangLoad:
    """How busy the server is."""
    stats = server.service.stats()
    return SglangLoad(load=stats["active"] + stats["waiting"], num_reqs=stats["active"] + stats["waiting"],
                      num_waiting_reqs=stats["waiting"])  # fmt: skip


@router.post("/encode", response_model=SglangEncodeReply | list[SglangEncodeReply], responses=errors(400, 404, 429))
async def encode(body: SglangEncodeRequest, request: Request, server: Here) -> Any | Response:
    """The vectors of `/v1/embeddings` in SGLang's shape; a list for a list."""
    given = body.input_ids or [] if body.text is None else body.text
    texts, lists = split_prompts(given)
    server.check_prompt(sum(map(len, texts or lists)))
    name, model = await server.service.find(body.model, "embed")
    check_ids(lists, model, "input_ids")
    if texts:
        before = modules_of(model).prompt(None)
        lists = await tokenized(texts, lambda text: text_ids(model, before + text))
    made = await server.embed(lists, name, model, None, request)
    replies = [
        {
            "embedding": row.tolist(),
            "meta_info": {"id": new_id("emb"), "finish_reason": None, "prompt_tokens": tokens},
        }
        for row, tokens in zip(made.rows, made.tokens)
    ]
    several = not isinstance(given, str) and isinstance(given[0], str | list)
    return answer(replies if several else replies[0])


@router.post("/classify", responses=errors(400))
async def classify(body: SglangUnsupportedRequest, request: Request) -> None:
    """Refused: no model here sorts texts into classes. /v1/rerank and /v1/score rank them."""
    message = "is not supported. /v1/rerank and /v1/score rank texts."
    raise ApiError(400, f"{request.url.path} {message}", code="unsupported_parameter")
