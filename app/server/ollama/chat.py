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

from app.runtime.chat import (
    ChatRequest,
    PreparedChat,
    ReplyCollector,
    ReplyEvent,
    ReplyParser,
    ToolChoice,
    json_grammar,
    with_logprobs,
)
from app.runtime.embedding import tokenized
from app.server.body import JsonRoute, ignore
from app.server.context import Here, Server, answer, long_answer
from app.server.errors import bad_request, unsupported
from app.server.generation import check_ids
from app.server.images import ImagePart, written_content
from app.server.ollama.models import known_model
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
    OllamaNamedTool,
    OllamaOptions,
    OllamaPart,
    OllamaTextPart,
    error_line,
    keep_alive_seconds,
    timestamp,
)
from app.server.openai.shapes import content_logprobs
from app.server.openapi import errors, streams
from app.server.requests import RunningRequest, line
from engine.errors import ContextOverflow
from engine.loading import LoadedModel
from engine.pipelines.embedding import modules_of, text_ids
from engine.pipelines.prompt import Prompt, infill_prompt, placed, text_prompt
from engine.types import Event, Grammar, SamplingParams, Text, Timings, TokenLogprob

router = APIRouter(route_class=JsonRoute, tags=["Ollama"])
_ERRORS = errors(400, 404, 429, family="ollama")

Shape = Callable[[str, str, list[dict[str, Any]]], dict[str, Any]]  # answer, thinking, calls

# -- routes


@router.post("/api/chat", response_model=OllamaChatReply, responses=streams(LINES) | _ERRORS)
async def chat(body: OllamaChatRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a conversation. Without messages: load the model, or unload it with keep_alive 0."""
    known_model(server, body.wanted)
    if not body.messages:
        return await _load_or_unload(body, server, _chat_shape)
    name, _, prepared = await server.prepare(_chat(body), body.wanted, request)
    return await _reply(body, request, server, name, prepared, _chat_shape)


@router.post("/api/generate", response_model=OllamaGenerateReply, responses=streams(LINES) | _ERRORS)
async def generate(body: OllamaGenerateRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a prompt, in the model's template unless `raw`."""
    known_model(server, body.wanted)
    if not body.prompt and not body.suffix:
        return await _load_or_unload(body, server, _generate_shape)
    if body.raw or body.suffix:
        name, prepared = await _plain(body, request, server)
    else:
        name, model, prepared = await server.prepare(_generate(body), body.wanted, request)
        _check_template(body.template, model)
        if body.context:
            prepared = _continued(body.context, prepared)
    return await _reply(body, request, server, name, prepared, _generate_shape)


async def _plain(body: OllamaGenerateRequest, request: Request, server: Server) -> tuple[str, PreparedChat]:
    """A prompt without a template: a text to continue, or a gap to fill (`suffix`)."""
    for param in ("system", "template", "context", *(("images",) if body.suffix else ())):
        if getattr(body, param):
            raise bad_request(f"{param} does not go with {'suffix' if body.suffix else 'raw'}.", param)
    if body.think is not None and not ignore("think"):
        raise unsupported("think", "think does not go with raw or suffix.")
    text = body.prompt or ""
    size = len(text) + len(body.suffix or "")
    server.check_prompt(size)
    params = replace(_sampled(body), grammar=_grammar(body))
    params.check()
    name, model = await server.service.find(body.wanted)
    if body.suffix:
        filled = await server.beside(size, request, infill_prompt, model, text, body.suffix)
        prompt, params = Prompt(text, filled.ids), replace(params, stop_token_ids=filled.stops)
    else:
        images = [ImagePart("images", image, "either") for image in body.images or ()]
        pictures = await server.look(images, model, request)
        prompt = await server.beside(size, request, text_prompt, model, text, pictures)
    return name, PreparedChat(prompt.request(name, params), ReplyParser(), prompt, model)


def _check_template(template: str | None, model: LoadedModel) -> None:
    """A template of Go cannot be run, so that the model's own is used."""
    own = model.template.source() if model.template.names else ""
    if template and template != own and not ignore("template"):
        raise unsupported("template", "Only the model's own template is used here. Leave template out.")


def _continued(context: Sequence[int], prepared: PreparedChat) -> PreparedChat:
    """The prompt behind the tokens of an earlier reply's `context`."""
    model = prepared.model
    check_ids([context], model, "context")
    if prepared.prompt.pictures:
        raise bad_request("context does not go with images.", "context")
    own = prepared.prompt.ids
    own = own[1:] if own[:1] == [model.tokenizer.bos_id] else own
    prompt = placed(model, prepared.prompt.text, [*context, *own])
    return replace(prepared, prompt=prompt, request=replace(prepared.request, prompt_ids=prompt.ids))


class _Recorder(ReplyParser):
    """Keeps the tokens of the reply as well, which are the end of its `context`."""

    def __init__(self, parser: ReplyParser) -> None:
        super().__init__()
        self._parser = parser
        self.ids: list[int] = []

    def read(self, event: Event) -> list[ReplyEvent]:
        if isinstance(event, Text):
            self.ids += event.ids
        return self._parser.read(event)


async def _reply(
    body: OllamaChatRequest | OllamaGenerateRequest,
    request: Request,
    server: Server,
    name: str,
    prepared: PreparedChat,
    shape: Shape,
) -> Response:
    prepared = _within(prepared, body.options)
    reply = _Reply(body, prepared, shape)
    running = server.submit(replace(prepared, reader=reply.recorder))
    try:
        await _keep(body, server, name)  # after `submit`: with keep_alive 0 the model would be unloaded before
    except BaseException:
        running.cancel()
        raise
    if body.stream is not False:
        chunks = reply.lines(running)
        return await server.stream(running, chunks, encode_error=error_line, heartbeat=None, media_type=LINES)
    return answer(reply.whole(await server.parts(request, running), running))


async def _load_or_unload(body: OllamaChatRequest | OllamaGenerateRequest, server: Server, shape: Shape) -> Response:
    if body.keep_alive is not None and keep_alive_seconds(body.keep_alive) == 0:
        name = server.service.known(body.wanted).name
        if name in server.service.resident():
            await server.service.unload(name)
        reason = "unload"
    else:
        name, _ = await server.service.find(body.wanted)
        await _keep(body, server, name)
        reason = "load"
    reply = {"model": body.wanted, "created_at": _now(), "done": True, "done_reason": reason}
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
    return await long_answer(sum(map(len, made["embeddings"])), lambda: made)


@router.post("/api/embeddings", response_model=OllamaEmbeddingsReply, responses=_ERRORS)
async def old_embed(body: OllamaEmbeddingsRequest, request: Request, server: Here) -> Any | Response:
    """One vector, as older clients ask for it."""
    asked = OllamaEmbedRequest(model=body.wanted, input=body.prompt, options=body.options, keep_alive=body.keep_alive)
    made = await _embed(asked, request, server)
    return answer({"embedding": next(iter(made["embeddings"]), [])})


async def _embed(body: OllamaEmbedRequest, request: Request, server: Server) -> dict[str, Any]:
    """Texts longer than the context are truncated, unless `truncate` is false."""
    began = time.monotonic_ns()
    texts = [text for text in [body.input] if text] if isinstance(body.input, str) else body.input or []
    server.check_prompt(sum(map(len, texts)))
    known_model(server, body.wanted)
    name, model = await server.service.find(body.wanted, "embed")
    loaded = time.monotonic_ns()
    room = body.options.num_ctx if body.options is not None else None
    context = room if room is not None and room > 0 else None
    before = modules_of(model).prompt(None)
    rows = await tokenized(texts, lambda text: text_ids(model, before + text, context, cut=body.truncate is not False))
    made = await server.embed(rows, name, model, body.dimensions, request)
    await _keep(body, server, name)
    return {
        "model": body.wanted,
        "embeddings": [row.tolist() for row in made.rows],
        "total_duration": time.monotonic_ns() - began,
        "load_duration": loaded - began,
        "prompt_eval_count": made.prompt_tokens,
    }


# -- from a request to a conversation


def _chat(body: OllamaChatRequest) -> ChatRequest:
    functions = [tool.function for tool in body.tools or () if tool.function is not None]
    if len(functions) < len(body.tools or ()) and not ignore("tools"):
        raise unsupported("tools", "Only tools with a function can be called here.")
    return ChatRequest(
        messages=[_template_message(message, at) for at, message in enumerate(body.messages or ())],
        tools=[{"type": "function", "function": function.model_dump(exclude_none=True)} for function in functions],
        tool_choice=_tool_choice(body, [function.name for function in functions]),
        **_common(body),
    )


def _tool_choice(body: OllamaChatRequest, functions: Sequence[str]) -> ToolChoice:
    """Ollama has no such field, so that one that cannot be followed is ignored."""
    choice = body.tool_choice
    if isinstance(choice, OllamaNamedTool):
        if choice.function.name in functions:
            return ToolChoice("named", choice.function.name)
    elif choice in ("auto", "none") or (choice == "required" and functions):
        return ToolChoice(choice)
    if choice is not None and not ignore("tool_choice"):
        raise bad_request("tool_choice asks for a function that is not among the tools.", "tool_choice")
    return ToolChoice("auto" if functions else "none")


def _generate(body: OllamaGenerateRequest) -> ChatRequest:
    messages: list[dict[str, Any]] = [{"role": "system", "content": body.system}] if body.system else []
    messages.append({"role": "user", "content": _content(body.prompt, body.images, "images")})
    return ChatRequest(messages=messages, **_common(body))


def _common(body: OllamaChatRequest | OllamaGenerateRequest) -> dict[str, Any]:
    return {
        "sampling": _sampled(body),
        "grammar": _grammar(body),
        "schema_field": "format",
        "thinking": body.think if isinstance(body.think, bool) else None,
        "effort": body.think if isinstance(body.think, str) else None,
        "thinking_field": "think",
        "effort_field": "think",
        "reasoning_tokens": None if (body.thinking_token_budget or 0) < 0 else body.thinking_token_budget,
    }


def _grammar(body: OllamaChatRequest | OllamaGenerateRequest) -> Grammar | None:
    if isinstance(body.format, dict):
        return json_grammar(body.format)
    return json_grammar() if body.format == "json" else None


def _sampled(body: OllamaChatRequest | OllamaGenerateRequest) -> SamplingParams:
    if body.top_logprobs and not body.logprobs and not ignore("top_logprobs"):
        raise bad_request("top_logprobs needs logprobs: true.", "top_logprobs")
    params = sampling(body.options or OllamaOptions())
    scored = bool(body.logprobs)
    return replace(params, logprobs=scored, top_logprobs=(body.top_logprobs or 0) if scored else 0)


def _template_message(message: OllamaMessage, at: int) -> dict[str, Any]:
    role = {"developer": "system", "function": "tool"}.get(message.role, message.role)
    plain: dict[str, Any] = {
        "role": role,
        "content": _content(message.content, message.images, f"messages.{at}.images"),
    }
    if message.thinking:
        plain["reasoning_content"] = message.thinking
    if name := message.tool_name or message.name:
        plain["name"] = name
    if message.tool_call_id:
        plain["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        plain["tool_calls"] = [
            {
                "id": call.id or f"call_{number}",
                "type": "function",
                "function": {"name": call.function.name, "arguments": _arguments(call.function.arguments)},
            }
            for number, call in enumerate(message.tool_calls)
        ]
    return plain


def _arguments(given: dict[str, Any] | str | None) -> str:
    return given or "{}" if isinstance(given, str) else json.dumps(given or {})


def _content(
    content: str | list[OllamaPart] | None, images: list[str] | None, param: str
) -> str | list[dict[str, Any]]:
    """Ollama's clients send images as base64 beside the text; they come before it. Others send OpenAI's parts."""
    parts: list[str | ImagePart] = [ImagePart(param, image, "either") for image in images or ()]
    if isinstance(content, list):
        parts += [
            part.text if isinstance(part, OllamaTextPart) else ImagePart(param, part.image_url.url, "either")
            for part in content
        ]
    else:
        parts.append(content or "")
    return written_content(parts)


def _within(prepared: PreparedChat, options: OllamaOptions | None) -> PreparedChat:
    """`num_ctx` bounds prompt and reply together."""
    room = options.num_ctx if options is not None else None
    if room is None or room < 1:
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


class _Reply:
    """One reply, whole or as lines."""

    def __init__(self, body: OllamaChatRequest | OllamaGenerateRequest, prepared: PreparedChat, shape: Shape) -> None:
        self._model = body.wanted
        self._shape = shape
        self._tokenizer = prepared.model.tokenizer
        self.recorder = _Recorder(prepared.reader)
        keeps = isinstance(body, OllamaGenerateRequest) and not (body.raw or body.suffix or prepared.prompt.pictures)
        self._prompt = prepared.prompt.ids if keeps else None

    def whole(self, parts: Sequence[ReplyEvent], running: RunningRequest) -> dict[str, Any]:
        collector = ReplyCollector()
        for part in parts:
            collector.add(part)
        reply = collector.messages()[0]
        calls = [_call(call.id, call.name, call.arguments) for call in reply.calls]
        end = self._end(running, reply.reason) | self._scores(reply.logprobs)
        return self._chunk(reply.answer, reply.reasoning, calls) | end

    async def lines(self, running: RunningRequest) -> AsyncIterator[bytes]:
        """A streamed reply. Calls come whole, as Ollama's clients expect them."""
        open_calls: dict[int, tuple[str, str, list[str]]] = {}
        reason = "stop"
        more = {"done": False}
        unsent: list[TokenLogprob] = []  # of calls
        async for part in with_logprobs(running.parts()):
            scores = self._scores(part.logprobs)
            if part.kind in ("call", "arguments", "end"):
                unsent += part.logprobs
            if part.kind == "answer":
                yield line(self._chunk(part.text) | scores | more)
            elif part.kind == "reasoning":
                yield line(self._chunk("", part.text) | scores | more)
            elif part.kind == "call":
                open_calls[part.call] = (part.call_id, part.name, [])
            elif part.kind == "arguments":
                open_calls[part.call][2].append(part.text)
            elif part.kind == "broken":
                del open_calls[part.call]
                yield line(self._chunk(part.text) | more)
            elif part.kind == "end":
                reason = part.reason
        for id, function, arguments in open_calls.values():
            yield line(self._chunk(calls=[_call(id, function, "".join(arguments))]) | more)
        yield line(self._chunk() | self._scores(unsent) | self._end(running, reason))

    def _scores(self, logprobs: Sequence[TokenLogprob]) -> dict[str, Any]:
        return {"logprobs": content_logprobs(self._tokenizer, logprobs)} if logprobs else {}

    def _chunk(self, text: str = "", thinking: str = "", calls: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        return {"model": self._model, "created_at": _now()} | self._shape(text, thinking, list(calls))

    def _end(self, running: RunningRequest, reason: str) -> dict[str, Any]:
        context = {} if self._prompt is None else {"context": [*self._prompt, *self.recorder.ids]}
        return _figures(running.timings, reason) | context


def _call(id: str, name: str, arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments)
    except ValueError:
        value = {}
    return {"id": id, "function": {"name": name, "arguments": value if isinstance(value, dict) else {}}}


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


# -- options as sampling parameters. Values beyond a range are its end, as in Ollama's own sampler

_MOST = (1 << 31) - 1
_LEAST_P = 1e-6  # nothing but the likeliest token


def sampling(options: OllamaOptions) -> SamplingParams:
    length = options.num_predict
    repeat = options.repeat_penalty
    last = options.repeat_last_n
    if last == 0 or (repeat is not None and repeat <= 0):
        repeat = 1.0  # off
    return SamplingParams(
        max_tokens=min(length, _MOST) if length is not None and length > 0 else None,
        temperature=_clamped(options.temperature, 0.0, 100.0),
        top_k=None if options.top_k is None else min(max(options.top_k, 0), _MOST),
        top_p=_clamped(options.top_p, _LEAST_P, 1.0),
        min_p=_clamped(options.min_p, 0.0, 1.0),
        typical_p=_clamped(options.typical_p, _LEAST_P, 1.0),
        repetition_penalty=_clamped(repeat, 1e-3, 100.0),
        repetition_window=64 if last is None else min(max(last, 0), _MOST),  # 0 in the engine, and -1 here: all
        presence_penalty=_clamped(options.presence_penalty, -100.0, 100.0) or 0.0,
        frequency_penalty=_clamped(options.frequency_penalty, -100.0, 100.0) or 0.0,
        seed=None if options.seed in (None, -1) else options.seed & ((1 << 63) - 1),
        stop=tuple(options.stop or ()),
    )


def _clamped(value: float | None, low: float, high: float) -> float | None:
    return None if value is None else min(max(value, low), high)
