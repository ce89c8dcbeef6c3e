"""`/api/chat`, `/api/generate`, `/api/embed`, `/api/embeddings`: Ollama's replies, from its messages and options to its lines of JSON.

Streams are lines of JSON. A request streams unless `stream` is false.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.runtime.chat import ChatRequest, PreparedChat, ToolChoice, json_grammar
from app.runtime.embedding import tokenized
from app.runtime.replies import ReplyCollector, ReplyEvent, ReplyParser, with_logprobs
from app.server.body import JsonRoute
from app.server.context import Here, Server, answer
from app.server.documented import errors, streams
from app.server.errors import bad_request
from app.server.images import ImagePart, written_content
from app.server.ollama.protocol import (
    LINES,
    OllamaChatReply,
    OllamaChatRequest,
    OllamaEmbeddingsReply,
    OllamaEmbeddingsRequest,
    OllamaEmbedReply,
    OllamaEmbedRequest,
    OllamaGenerateReply,
    OllamaGenerateRequest,
    OllamaMessage,
    OllamaOptions,
    error_line,
    keep_alive_seconds,
    timestamp,
)
from app.server.openai.shapes import content_logprobs
from app.server.requests import RunningRequest
from app.server.sampling import repetition_window, stop_list
from app.server.streaming import line
from engine.errors import ContextOverflow
from engine.pipelines.embedding import text_ids
from engine.pipelines.prompt import Prompt, infill, text_prompt
from engine.text.tokenizer import Tokenizer
from engine.types import Request as EngineRequest
from engine.types import SamplingParams, Timings, TokenLogprob

router = APIRouter(route_class=JsonRoute, tags=["Ollama"])
_ERRORS = errors(400, 404, 429, family="ollama")

Shape = Callable[[str, str, list[dict[str, Any]]], dict[str, Any]]  # answer, thinking, calls

# -- routes


@router.post("/api/chat", response_model=OllamaChatReply, responses=streams(LINES) | _ERRORS)
async def chat(body: OllamaChatRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a conversation. Without messages: load the model, or unload it with keep_alive 0."""
    if not body.messages:
        return await _load_or_unload(body, server, _chat_shape)
    name, _, prepared = await server.prepare(_chat(body), body.model, request)
    return await _reply(body, request, server, name, prepared, _chat_shape)


@router.post("/api/generate", response_model=OllamaGenerateReply, responses=streams(LINES) | _ERRORS)
async def generate(body: OllamaGenerateRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a prompt, in the model's template unless `raw`."""
    if not body.prompt:
        return await _load_or_unload(body, server, _generate_shape)
    if body.raw or body.suffix is not None:
        name, prepared = await _plain(body, server)
    else:
        name, _, prepared = await server.prepare(_generate(body), body.model, request)
    return await _reply(body, request, server, name, prepared, _generate_shape)


async def _plain(body: OllamaGenerateRequest, server: Server) -> tuple[str, PreparedChat]:
    """A prompt without a template: a text to continue, or a gap to fill (`suffix`)."""
    for param in ("system", "think", "images", "format"):
        if getattr(body, param):
            raise bad_request(f"{param} does not go with raw or suffix.", param)
    text = body.prompt or ""
    server.check_prompt(len(text) + len(body.suffix or ""))
    params = _sampled(body)
    name, model = await server.service.find(body.model)
    if body.suffix is None:
        prompt = text_prompt(model, text)
    else:
        filled = infill(model.tokenizer, text, body.suffix)
        prompt, params = Prompt(text, filled.ids), replace(params, stop_token_ids=filled.stops)
    return name, PreparedChat(EngineRequest(name, prompt.ids, params), ReplyParser(), prompt, model)


async def _reply(
    body: OllamaChatRequest | OllamaGenerateRequest,
    request: Request,
    server: Server,
    name: str,
    prepared: PreparedChat,
    shape: Shape,
) -> Response:
    prepared = _within(prepared, body.options)
    tokenizer = prepared.model.tokenizer
    running = server.submit(prepared)
    try:
        await _keep(body, server, name)  # after `submit`: with keep_alive 0 the model would be unloaded before
    except BaseException:
        running.cancel()
        raise
    if body.stream is not False:
        chunks = _lines(running, name, shape, tokenizer)
        return await server.stream(running, chunks, tell=error_line, heartbeat=None, media_type=LINES)
    parts = await server.parts(request, running)
    return answer(_complete(parts, running, name, shape, tokenizer))


async def _load_or_unload(body: OllamaChatRequest | OllamaGenerateRequest, server: Server, shape: Shape) -> Response:
    if body.keep_alive is not None and keep_alive_seconds(body.keep_alive) == 0:
        name = server.service.known(body.model).name
        if name in server.service.resident():
            await server.service.unload(name)
        reason = "unload"
    else:
        name, _ = await server.service.find(body.model)
        await _keep(body, server, name)
        reason = "load"
    reply = {"model": name, "created_at": _now(), "done": True, "done_reason": reason}
    return Response(json.dumps(reply | shape("", "", [])), media_type="application/json")


async def _keep(
    body: OllamaChatRequest | OllamaGenerateRequest | OllamaEmbedRequest, server: Server, name: str
) -> None:
    if body.keep_alive is not None:
        await server.service.keep(name, keep_alive_seconds(body.keep_alive))


@router.post("/api/embed", response_model=OllamaEmbedReply, responses=_ERRORS)
async def embed(body: OllamaEmbedRequest, request: Request, server: Here) -> Any | Response:
    """Vectors that stand for texts, of length one. Without texts: load the model."""
    made = await _embed(body, request, server)
    await _keep(body, server, made["model"])
    return answer(made)


@router.post("/api/embeddings", response_model=OllamaEmbeddingsReply, responses=_ERRORS)
async def old_embed(body: OllamaEmbeddingsRequest, request: Request, server: Here) -> Any | Response:
    """One vector, as older clients ask for it."""
    asked = OllamaEmbedRequest(model=body.model, input=body.prompt, options=body.options, keep_alive=body.keep_alive)
    made = await _embed(asked, request, server)
    await _keep(asked, server, made["model"])
    return answer({"embedding": next(iter(made["embeddings"]), [])})


async def _embed(body: OllamaEmbedRequest, request: Request, server: Server) -> dict[str, Any]:
    """Texts longer than the context are truncated, unless `truncate` is false."""
    began = time.monotonic_ns()
    texts = [text for text in [body.input] if text] if isinstance(body.input, str) else body.input
    server.check_prompt(sum(map(len, texts)))
    name, model = await server.service.find(body.model)
    loaded = time.monotonic_ns()
    context = body.options.num_ctx if body.options is not None else None
    rows = await tokenized(texts, lambda text: text_ids(model, text, context, cut=body.truncate is not False))
    made = await server.embed(rows, name, model, body.dimensions, request)
    return {
        "model": name,
        "embeddings": [row.tolist() for row in made.rows],
        "total_duration": time.monotonic_ns() - began,
        "load_duration": loaded - began,
        "prompt_eval_count": made.prompt_tokens,
    }


# -- from a request to a conversation


def _chat(body: OllamaChatRequest) -> ChatRequest:
    return ChatRequest(
        messages=[_template_message(message, at) for at, message in enumerate(body.messages or ())],
        tools=[
            {"type": "function", "function": tool.function.model_dump(exclude_none=True)} for tool in body.tools or ()
        ],
        tool_choice=ToolChoice("auto" if body.tools else "none"),
        **_common(body),
    )


def _generate(body: OllamaGenerateRequest) -> ChatRequest:
    messages: list[dict[str, Any]] = [{"role": "system", "content": body.system}] if body.system else []
    messages.append({"role": "user", "content": _content(body.prompt, body.images, "images")})
    return ChatRequest(messages=messages, **_common(body))


def _common(body: OllamaChatRequest | OllamaGenerateRequest) -> dict[str, Any]:
    grammar = None
    if body.format == "json":
        grammar = json_grammar()
    elif isinstance(body.format, dict):
        grammar = json_grammar(body.format)
    effort = body.think if isinstance(body.think, str) else None
    thinking = body.think if isinstance(body.think, bool) else None
    return {
        "sampling": _sampled(body),
        "grammar": grammar,
        "thinking": thinking,
        "effort": effort,
        "schema_field": "format",
    }


def _sampled(body: OllamaChatRequest | OllamaGenerateRequest) -> SamplingParams:
    if body.top_logprobs and not body.logprobs:
        raise bad_request("top_logprobs needs logprobs: true.", "top_logprobs")
    params = _sampling(body.options or OllamaOptions())
    return replace(params, logprobs=bool(body.logprobs), top_logprobs=body.top_logprobs or 0)


def _sampling(options: OllamaOptions) -> SamplingParams:
    length = options.num_predict
    penalty = options.repeat_penalty
    if length == 0:
        raise bad_request("num_predict must be above 0, or negative for no limit.", "options.num_predict")
    return SamplingParams(
        max_tokens=length if length is not None and length > 0 else None,
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        min_p=options.min_p,
        typical_p=options.typical_p,
        repetition_penalty=penalty,
        repetition_window=repetition_window(options.repeat_last_n, penalty, "options.repeat_last_n", default=64),
        presence_penalty=options.presence_penalty or 0.0,
        frequency_penalty=options.frequency_penalty or 0.0,
        seed=None if options.seed is None else options.seed & ((1 << 63) - 1),
        stop=stop_list(options.stop),
    )


def _template_message(message: OllamaMessage, at: int) -> dict[str, Any]:
    content = _content(message.content, message.images, f"messages.{at}.images")
    plain: dict[str, Any] = {"role": message.role, "content": content}
    if message.thinking:
        plain["reasoning_content"] = message.thinking
    if message.tool_name:
        plain["name"] = message.tool_name
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        plain["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",
                "type": "function",
                "function": {"name": call.function.name, "arguments": json.dumps(call.function.arguments)},
            }
            for number, call in enumerate(message.tool_calls)
        ]
    return plain


def _content(text: str | None, images: list[str] | None, param: str) -> str | list[dict[str, Any]]:
    """Ollama's clients send images as base64 alone; they come before the text."""
    return written_content([*(ImagePart(param, image, "base64") for image in images or ()), text or ""])


def _within(prepared: PreparedChat, options: OllamaOptions | None) -> PreparedChat:
    """`num_ctx` bounds prompt and reply together."""
    room = options.num_ctx if options is not None else None
    if room is None:
        return prepared
    left = room - len(prepared.prompt.ids)
    if left < 1:
        count = len(prepared.prompt.ids)
        raise ContextOverflow(
            f"The prompt has {count} tokens; num_ctx is {room}.", "options.num_ctx", tokens=count, limit=room
        )
    params = prepared.request.sampling
    most = left if params.max_tokens is None else min(left, params.max_tokens)
    return replace(prepared, request=replace(prepared.request, sampling=replace(params, max_tokens=most)))


# -- from a reply to Ollama's objects


def _chat_shape(answer: str, thinking: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer}
    if thinking:
        message["thinking"] = thinking
    if calls:
        message["tool_calls"] = calls
    return {"message": message}


def _generate_shape(answer: str, thinking: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"response": answer} | ({"thinking": thinking} if thinking else {})


def _complete(
    parts: Sequence[ReplyEvent], running: RunningRequest, name: str, shape: Shape, tokenizer: Tokenizer
) -> dict[str, Any]:
    collector = ReplyCollector()
    for part in parts:
        collector.add(part)
    reply = collector.messages()[0]
    calls = [_call(call.id, call.name, call.arguments) for call in reply.calls]
    whole = _head(name) | shape(reply.answer, reply.reasoning, calls) | _figures(running.timings, reply.reason)
    return whole | ({"logprobs": content_logprobs(tokenizer, reply.logprobs)} if reply.logprobs else {})


async def _lines(running: RunningRequest, name: str, shape: Shape, tokenizer: Tokenizer) -> AsyncIterator[bytes]:
    """A streamed reply. Calls come whole, as Ollama's clients expect them."""
    open_calls: dict[int, tuple[str, str, list[str]]] = {}
    reason = "stop"
    unsent: list[TokenLogprob] = []  # of calls
    async for part in with_logprobs(running.parts()):
        scores = {"logprobs": content_logprobs(tokenizer, part.logprobs)} if part.logprobs else {}
        if part.kind in ("call", "arguments", "end"):
            unsent += part.logprobs
        if part.kind == "answer":
            yield line(_head(name) | shape(part.text, "", []) | scores | {"done": False})
        elif part.kind == "reasoning":
            yield line(_head(name) | shape("", part.text, []) | scores | {"done": False})
        elif part.kind == "call":
            open_calls[part.call] = (part.call_id, part.name, [])
        elif part.kind == "arguments":
            open_calls[part.call][2].append(part.text)
        elif part.kind == "broken":
            del open_calls[part.call]
            yield line(_head(name) | shape(part.text, "", []) | {"done": False})
        elif part.kind == "end":
            reason = part.reason
    for id, function, arguments in open_calls.values():
        yield line(_head(name) | shape("", "", [_call(id, function, "".join(arguments))]) | {"done": False})
    scores = {"logprobs": content_logprobs(tokenizer, unsent)} if unsent else {}
    yield line(_head(name) | shape("", "", []) | scores | _figures(running.timings, reason))


def _call(id: str, name: str, arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments)
    except ValueError:
        value = {}
    return {"id": id, "function": {"name": name, "arguments": value if isinstance(value, dict) else {}}}


def _head(name: str) -> dict[str, Any]:
    return {"model": name, "created_at": _now()}


def _now() -> str:
    return timestamp(datetime.now(UTC))


def _figures(timings: Timings, reason: str) -> dict[str, Any]:
    prompt = timings.first_token - timings.queued
    return {
        "done": True,
        "done_reason": "length" if reason in ("length", "cancelled") else "stop",
        "total_duration": _nanoseconds(timings.total),
        "load_duration": _nanoseconds(timings.queued),
        "prompt_eval_count": timings.prompt_tokens,
        "prompt_eval_duration": _nanoseconds(prompt),
        "eval_count": timings.output_tokens,
        "eval_duration": _nanoseconds(timings.total - timings.first_token),
    }


def _nanoseconds(seconds: float) -> int:
    return max(0, round(seconds * 1e9))
