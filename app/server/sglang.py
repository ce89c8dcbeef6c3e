"""SGLang's native routes: `/generate`, `/model_info`, `/server_info`, `/health_generate`, `/abort_request`, `/flush_cache`."""

from __future__ import annotations

import asyncio
import dataclasses
import math
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from itertools import accumulate
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Request
from pydantic import BaseModel, Field, model_validator
from starlette.responses import Response

from app.runtime.capabilities import capabilities, main_use, require
from app.runtime.chat import json_grammar
from app.server.audio.threads import cancel_scope, in_thread
from app.server.body import JsonRoute, RequestFields, parse
from app.server.config import server_version
from app.server.context import Here, answer
from app.server.documented import errors, streams
from app.server.errors import ApiError, bad_request
from app.server.generation import GeneratedChoice, Generation, TokenIds, check_ids, split_prompts
from app.server.images import ImagePart
from app.server.management import Health
from app.server.openai.shapes import LEAST_LOGPROB, token_text
from app.server.requests import RequestGroup, told_timings
from app.server.sampling import RepeatLastN, StopText, TokenId, repetition_window, report_schema, stop_list
from app.server.streaming import DONE, event
from engine.cancel import CancelScope
from engine.loaded import LoadedPart
from engine.loading import LoadedModel
from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.transcription import Transcriber, asr_model
from engine.pipelines.prompt import Prompt, placed, text_prompt
from engine.pipelines.speaking.qwen3_tts import Qwen3TTS, default_settings
from engine.pipelines.speaking.speech_models import speaker
from engine.pipelines.speaking.synthesis import FRAME_RATE
from engine.pipelines.speaking.voice import SpeechSampling, VoiceSettings
from engine.types import (
    Grammar,
    Picture,
    SamplingParams,
    new_id,
)
from engine.types import Request as EngineRequest

router = APIRouter(route_class=JsonRoute, tags=["SGLang"])

PROBE_SECONDS = 30.0


class SglangSamplingParams(RequestFields):
    max_new_tokens: Annotated[int, Field(ge=1, lt=1 << 31)] | None = 128
    min_new_tokens: Annotated[int, Field(ge=0, lt=1 << 31)] = 0
    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1, lt=1 << 31)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    repetition_penalty: Annotated[float, Field(gt=0, le=100)] | None = None
    repeat_last_n: RepeatLastN | None = None
    stop: StopText | Annotated[list[StopText], Field(max_length=16)] | None = None
    stop_token_ids: Annotated[list[TokenId], Field(max_length=64)] | None = None
    ignore_eos: bool = False
    seed: int | None = None
    sampling_seed: int | None = None
    n: Annotated[int, Field(ge=1, le=16)] = 1
    regex: str | None = None
    json_schema: str | dict[str, Any] | None = None
    ebnf: str | None = None
    logit_bias: dict[str, Annotated[float, Field(ge=-100, le=100)]] | None = None


class SglangGenerateRequest(RequestFields):
    """A text, tokens, or a list of either."""

    model: str | None = None
    text: str | Annotated[list[str], Field(min_length=1, max_length=128)] | None = None
    input_ids: TokenIds | Annotated[list[TokenIds], Field(min_length=1, max_length=128)] | None = None
    sampling_params: SglangSamplingParams | Annotated[list[SglangSamplingParams], Field(max_length=128)] | None = None
    rid: str | Annotated[list[str], Field(max_length=128)] | None = None
    image_data: str | list[Any] | None = None
    image_url: str | list[Any] | None = None
    return_logprob: bool | None = None
    logprob_start_len: Annotated[int, Field(ge=-1, lt=1 << 31)] | None = None  # -1: of the output alone
    top_logprobs_num: Annotated[int, Field(ge=0, le=20)] | None = None
    return_text_in_logprobs: bool | None = None
    stream: bool | None = None

    @model_validator(mode="after")
    def _one_source(self) -> SglangGenerateRequest:
        if (self.text is None) == (self.input_ids is None):
            raise ValueError("give either text or input_ids")
        return self


class SglangAbortRequest(RequestFields):
    rid: str | None = None
    abort_all: bool = False


class SglangFinishReason(BaseModel):
    type: str
    matched: str | int | None = None
    length: int | None = None


class SglangMetaInfo(BaseModel):
    id: str
    finish_reason: SglangFinishReason | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    e2e_latency: float | None = None
    timings: dict[str, float] | None = None
    input_token_logprobs: list[list[Any]] | None = None
    output_token_logprobs: list[list[Any]] | None = None
    output_top_logprobs: list[list[list[Any]]] | None = None


class SglangGenerateReply(BaseModel):
    index: int | None = None
    text: str
    output_ids: list[int]
    meta_info: SglangMetaInfo


class SglangModelInfo(BaseModel):
    model_path: str
    tokenizer_path: str
    device: str
    is_generation: bool = True
    served_model_name: str
    preferred_sampling_params: dict[str, Any] | None
    model_type: str
    max_context_length: int | None
    has_image_understanding: bool = False
    has_audio_understanding: bool = False


class SglangServerStats(BaseModel):
    total_requests: int
    completed_requests: int
    avg_decode_tokens_per_sec: float
    active_sequences: int
    waiting_sequences: int


class SglangServerInfo(BaseModel):
    version: str
    device: str
    served_model_name: str | None
    model_path: str | None
    max_concurrent: int | None
    decode_tokens_per_seq: int | None
    stats: SglangServerStats
    settings: dict[str, Any]
    internal_states: list[dict[str, Any]]


class SglangActionReply(BaseModel):
    success: bool = True
    message: str


@router.post(
    "/generate",
    response_model=SglangGenerateReply | list[SglangGenerateReply],
    responses=streams() | errors(400, 404, 429),
)
async def generate(body: SglangGenerateRequest, request: Request, server: Here) -> Any | Response:
    """A continuation of a text or of tokens; a list for a list."""
    if not body.return_logprob and (body.top_logprobs_num or body.logprob_start_len is not None):
        raise bad_request("top_logprobs_num and logprob_start_len need return_logprob: true.", "return_logprob")
    texts, lists = _prompts(body)
    server.check_prompt(sum(map(len, texts or lists)))
    images = _images(body, len(texts or lists))
    name, model = await server.service.find(body.model)
    pictures = iter(await server.look([part for own in images for part in own], model, request))
    call = _GenerateCall(body, name, model, [[next(pictures) for _ in own] for own in images])
    batch = RequestGroup.begin(server.requests, call.requests)
    if body.stream:
        return await server.stream(batch, call.chunks(batch))
    await batch.whole(request.receive, lambda number, event: call.generations[number].add(event))
    return answer(call.result())


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
        is_generation=use not in ("part", "layout"),
        served_model_name=name,
        preferred_sampling_params=dict(model.defaults) or None,
        model_type=str(model.config.get("model_type", "")),
        max_context_length=model.context or None,
        has_image_understanding=getattr(model, "vision", None) is not None,
        has_audio_understanding=use == "listen",
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
        version=server_version(),
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
    use = main_use(capabilities(model.config, model.folder))
    if use in ("part", "layout"):
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
    Transcriber(scope, asr_model(name, loaded)).submit(tone.astype(np.float32)).result()


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


@router.post("/flush_cache", responses=errors())
async def flush_cache(server: Here) -> SglangActionReply:
    """Clear the prefix cache. Running requests continue."""
    count = await server.service.clear_prefix_cache()
    return SglangActionReply(message=f"{count} prefixes were forgotten.")


class _GenerateCall:
    """One call of `/generate`: its engine requests, and the objects that are made of their events."""

    def __init__(
        self, body: SglangGenerateRequest, name: str, model: LoadedModel, pictures: Sequence[Sequence[Picture]]
    ) -> None:
        """`pictures` of each prompt."""
        self.body = body
        self.model = model
        prompts = self._prompts(pictures)
        params = self._per_prompt(body.sampling_params or SglangSamplingParams(), len(prompts), "sampling_params")
        rids = self._per_prompt(body.rid, len(prompts), "rid") if body.rid is not None else None
        # SGLang's own default is -1: the output alone
        self.start = -1 if body.logprob_start_len is None else body.logprob_start_len
        self.requests = [
            prompt.request(
                name,
                _sampling(one, bool(body.return_logprob), body.top_logprobs_num or 0),
                id=rids[at] if rids else new_id("gen"),
                prompt_logprobs=bool(body.return_logprob) and self.start >= 0,
            )
            for at, (prompt, one) in enumerate(zip(prompts, params))
        ]
        if len({request.id for request in self.requests}) < len(self.requests):
            raise bad_request("Each prompt needs a rid of its own.", "rid")
        self.generations = [Generation(request.sampling.n) for request in self.requests]
        self.several = _is_batch(body) or self.requests[0].sampling.n > 1
        self.began = time.monotonic()

    def _prompts(self, pictures: Sequence[Sequence[Picture]]) -> list[Prompt]:
        texts, lists = _prompts(self.body)
        check_ids(lists, self.model, "input_ids")
        if texts:
            return [text_prompt(self.model, text, own) for text, own in zip(texts, pictures)]
        return [placed(self.model, "", ids, own) for ids, own in zip(lists, pictures)]

    def _per_prompt(self, given: Any, count: int, name: str) -> list[Any]:
        if not isinstance(given, list):
            if name == "rid" and count > 1:
                return [f"{given}_{at}" for at in range(count)]
            return [given] * count
        if len(given) != count:
            raise bad_request(f"{name} has {len(given)} entries for {count} prompts.", name)
        return given

    def result(self) -> Any:
        whole = [
            self._shown(n, choice) for n, generation in enumerate(self.generations) for choice in generation.choices
        ]
        return whole if self.several else whole[0]

    async def chunks(self, batch: RequestGroup) -> AsyncIterator[bytes]:
        starts = list(accumulate((len(generation.choices) for generation in self.generations), initial=0))
        async for number, got in batch.events():
            for choice in self.generations[number].add(got):
                shown = self._shown(number, choice)
                if self.several:
                    shown["index"] = starts[number] + self.generations[number].choices.index(choice)
                yield event(shown)
        yield DONE

    def _shown(self, number: int, choice: GeneratedChoice) -> dict[str, Any]:
        request, generation = self.requests[number], self.generations[number]
        meta: dict[str, Any] = {
            "id": request.id,
            "finish_reason": _finish_reason(choice),
            "prompt_tokens": len(request.prompt_ids),
            "completion_tokens": len(choice.ids),
            "cached_tokens": generation.cached_tokens,
        }
        if choice.reason is not None:
            meta["e2e_latency"] = round(time.monotonic() - self.began, 6)
            meta |= told_timings()
        if self.body.return_logprob:
            first = self._score(request.prompt_ids[0], 0.0)
            scored = [self._score(score.id, score.logprob) for score in generation.prompt_scores]
            meta["input_token_logprobs"] = [[None, *first[1:]], *scored][self.start :] if self.start >= 0 else []
            meta["output_token_logprobs"] = [self._score(score.id, score.logprob) for score in choice.scores]
            if self.body.top_logprobs_num:
                meta["output_top_logprobs"] = [
                    [self._score(id, logprob) for id, logprob in score.top] for score in choice.scores
                ]
        return {"text": choice.text, "output_ids": choice.ids, "meta_info": meta}

    def _score(self, id: int, logprob: float) -> list[Any]:
        text = token_text(self.model.tokenizer, id) if self.body.return_text_in_logprobs else None
        return [max(logprob, LEAST_LOGPROB), id, text]


def _finish_reason(choice: GeneratedChoice) -> dict[str, Any] | None:
    if choice.reason is None:
        return None
    if choice.reason == "length":
        return {"type": "length", "length": len(choice.ids)}
    if choice.reason == "cancelled":
        return {"type": "abort"}
    return {"type": "stop", "matched": choice.stop}


def _sampling(given: SglangSamplingParams, scored: bool, top: int) -> SamplingParams:
    seed = given.seed if given.seed is not None else given.sampling_seed
    for key in given.logit_bias or {}:
        if not (key.isascii() and key.isdigit() and len(key) < 10):
            raise bad_request(f"logit_bias: {key[:40]!r} is not a token id.", "sampling_params.logit_bias")
    return SamplingParams(
        max_tokens=given.max_new_tokens,
        min_tokens=given.min_new_tokens,
        temperature=given.temperature,
        top_p=given.top_p,
        top_k=None if given.top_k is None else max(given.top_k, 0),
        min_p=given.min_p,
        repetition_penalty=given.repetition_penalty,
        repetition_window=repetition_window(
            given.repeat_last_n, given.repetition_penalty, "sampling_params.repeat_last_n"
        ),
        presence_penalty=given.presence_penalty,
        frequency_penalty=given.frequency_penalty,
        logit_bias={int(k): v for k, v in (given.logit_bias or {}).items()},
        stop=stop_list(given.stop),
        stop_token_ids=tuple(given.stop_token_ids or ()),
        ignore_eos=given.ignore_eos,
        seed=None if seed is None else seed & ((1 << 63) - 1),
        n=given.n,
        logprobs=scored,
        top_logprobs=top if scored else 0,
        grammar=_grammar(given),
    )


def _grammar(given: SglangSamplingParams) -> Grammar | None:
    grammars = {"regex": given.regex, "json_schema": given.json_schema, "ebnf": given.ebnf}
    chosen = [kind for kind, grammar in grammars.items() if grammar is not None]
    if len(chosen) > 1:
        raise bad_request(f"{chosen[0]} and {chosen[1]} exclude each other.", f"sampling_params.{chosen[1]}")
    if given.json_schema is not None:
        grammar = json_grammar(_schema(given.json_schema))
        report_schema(grammar, "sampling_params.json_schema")
        return grammar
    if given.regex is not None:
        return Grammar("regex", given.regex)
    return Grammar("ebnf", given.ebnf) if given.ebnf is not None else None


def _schema(given: str | dict[str, Any]) -> dict[str, Any]:
    """The schema, which SGLang's clients send as text."""
    try:
        schema = parse(given.encode()) if isinstance(given, str) else given
    except ApiError as error:
        raise bad_request(f"json_schema: {error.message}", "sampling_params.json_schema") from None
    if not isinstance(schema, dict):
        raise bad_request("json_schema must be an object.", "sampling_params.json_schema")
    return schema


def _prompts(body: SglangGenerateRequest) -> tuple[list[str], list[list[int]]]:
    return split_prompts(body.input_ids or [] if body.text is None else body.text)


def _is_batch(body: SglangGenerateRequest) -> bool:
    """Whether a list of prompts was given."""
    return isinstance(body.text, list) or isinstance((body.input_ids or [0])[0], list)


def _images(body: SglangGenerateRequest, count: int) -> list[list[ImagePart]]:
    """Of each prompt: a URL, a data URL or base64, or a list of these."""
    if body.image_data and body.image_url:
        raise bad_request("Give image_data or image_url, not both.", "image_url")
    param = "image_data" if body.image_data else "image_url"
    given = getattr(body, param) or []
    if not _is_batch(body):
        return [list(_flat(given, param))]
    if not given:
        return [[] for _ in range(count)]
    if not isinstance(given, list) or len(given) != count:
        raise bad_request(f"{param} needs one entry for each of {count} prompts.", param)
    return [list(_flat(own, param)) for own in given]


def _flat(given: Any, param: str) -> Iterator[ImagePart]:
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, list):
            yield from _flat(one, param)
        elif isinstance(one, str) and one:
            yield ImagePart(param, one, "either")
        elif one:
            raise bad_request(f"{param} must be texts: URLs, data URLs or base64.", param)
