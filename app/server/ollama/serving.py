"""Ollama's chats and prompts into conversations, the reply's parts into its objects, one a line when streamed."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from app.server.calls import json_grammar
from app.server.conversation import Conversation, Prepared, ToolChoice
from app.server.errors import bad_request
from app.server.images import ImagePart, written_content
from app.server.ollama.protocol import OllamaChatRequest, OllamaGenerateRequest, OllamaMessage, OllamaOptions
from app.server.openai_shapes import content_logprobs
from app.server.replies import Collector, Part
from app.server.sampling import repetition_window, stop_list
from app.server.service import Running
from app.server.streaming import line
from engine.errors import ContextOverflow
from engine.text.tokenizer import Tokenizer
from engine.types import SamplingParams, Timings

Shape = Callable[[str, str, list[dict[str, Any]]], dict[str, Any]]  # answer, thinking, calls


def chat(body: OllamaChatRequest) -> Conversation:
    return Conversation(
        messages=[template_message(message, at) for at, message in enumerate(body.messages or ())],
        tools=[
            {"type": "function", "function": tool.function.model_dump(exclude_none=True)} for tool in body.tools or ()
        ],
        tool_choice=ToolChoice("auto" if body.tools else "none"),
        **_common(body),
    )


def generate(body: OllamaGenerateRequest) -> Conversation:
    messages: list[dict[str, Any]] = [{"role": "system", "content": body.system}] if body.system else []
    messages.append({"role": "user", "content": _content(body.prompt, body.images, "images")})
    return Conversation(messages=messages, **_common(body))


def _common(body: OllamaChatRequest | OllamaGenerateRequest) -> dict[str, Any]:
    grammar = None
    if body.format == "json":
        grammar = json_grammar()
    elif isinstance(body.format, dict):
        grammar = json_grammar(body.format)
    effort = body.think if isinstance(body.think, str) else None
    thinking = body.think if isinstance(body.think, bool) else None
    return {"sampling": sampled(body), "grammar": grammar, "thinking": thinking, "effort": effort}


def sampled(body: OllamaChatRequest | OllamaGenerateRequest) -> SamplingParams:
    if body.top_logprobs and not body.logprobs:
        raise bad_request("top_logprobs needs logprobs: true.", "top_logprobs")
    params = sampling(body.options or OllamaOptions())
    return replace(params, logprobs=bool(body.logprobs), top_logprobs=body.top_logprobs or 0)


def sampling(options: OllamaOptions) -> SamplingParams:
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


def template_message(message: OllamaMessage, at: int) -> dict[str, Any]:
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
    """Ollama's clients send images as base64 alone; they are seen before the words."""
    return written_content([*(ImagePart(param, image, "base64") for image in images or ()), text or ""])


def within(prepared: Prepared, options: OllamaOptions | None) -> Prepared:
    """`num_ctx` bounds prompt and reply together."""
    room = options.num_ctx if options is not None else None
    if room is None:
        return prepared
    left = room - len(prepared.prompt.ids)
    if left < 1:
        raise ContextOverflow(
            f"The prompt has {len(prepared.prompt.ids)} tokens; num_ctx is {room}.", "options.num_ctx"
        )
    params = prepared.request.sampling
    most = left if params.max_tokens is None else min(left, params.max_tokens)
    return replace(prepared, request=replace(prepared.request, sampling=replace(params, max_tokens=most)))


def chat_shape(answer: str, thinking: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": answer}
    if thinking:
        message["thinking"] = thinking
    if calls:
        message["tool_calls"] = calls
    return {"message": message}


def generate_shape(answer: str, thinking: str, calls: list[dict[str, Any]]) -> dict[str, Any]:
    return {"response": answer} | ({"thinking": thinking} if thinking else {})


def complete(parts: Sequence[Part], running: Running, name: str, shape: Shape, tokenizer: Tokenizer) -> dict[str, Any]:
    collector = Collector()
    for part in parts:
        collector.add(part)
    reply = collector.messages()[0]
    calls = [_call(call.id, call.name, call.arguments) for call in reply.calls]
    whole = _head(name) | shape(reply.answer, reply.reasoning, calls) | _figures(running.timings, reply.reason)
    return whole | ({"logprobs": content_logprobs(tokenizer, reply.logprobs)} if reply.logprobs else {})


async def lines(running: Running, name: str, shape: Shape, tokenizer: Tokenizer) -> AsyncIterator[bytes]:
    """Calls come whole, as Ollama's clients expect them."""
    open_calls: dict[int, tuple[str, str, list[str]]] = {}
    reason = "stop"
    async for part in running.parts():
        if part.kind == "answer":
            yield line(_head(name) | shape(part.text, "", []) | {"done": False})
        elif part.kind == "reasoning":
            yield line(_head(name) | shape("", part.text, []) | {"done": False})
        elif part.kind == "tokens":
            scores = content_logprobs(tokenizer, part.logprobs)
            yield line(_head(name) | shape("", "", []) | {"logprobs": scores, "done": False})
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
    yield line(_head(name) | shape("", "", []) | _figures(running.timings, reason))


def _call(id: str, name: str, arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments)
    except ValueError:
        value = {}
    return {"id": id, "function": {"name": name, "arguments": value if isinstance(value, dict) else {}}}


def _head(name: str) -> dict[str, Any]:
    return {"model": name, "created_at": now()}


def now() -> str:
    return moment(datetime.now(UTC))


def moment(when: datetime) -> str:
    return when.isoformat().replace("+00:00", "Z")


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
