"""Chat completions: the request into a conversation, the reply's parts into OpenAI's objects and chunks."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

from app.runtime.chat import ChatRequest, ToolChoice, json_grammar
from app.runtime.replies import ReplyCollector, ReplyEvent
from app.runtime.replies import ReplyMessage as Reply
from app.server.chat.protocol import (
    AudioContent,
    ChatCompletionRequest,
    Content,
    ImageContent,
    JsonObjectFormat,
    JsonSchemaFormat,
    Message,
    NamedTool,
    TextContent,
)
from app.server.errors import bad_request, unsupported
from app.server.images import ImagePart, little_detail, written_content
from app.server.openai_shapes import content_logprobs, finish_reason, usage
from app.server.requests import RunningRequest, told_timings
from app.server.streaming import DONE, event
from engine.loading import LoadedModel
from engine.types import Grammar, new_id


def conversation(body: ChatCompletionRequest) -> ChatRequest:
    """Raises an ApiError for what this server cannot do."""
    if body.max_tokens is not None and body.max_completion_tokens is not None:
        raise bad_request("Give max_completion_tokens or max_tokens, not both.", "max_tokens")
    if body.top_logprobs is not None and not body.logprobs:
        raise bad_request("top_logprobs needs logprobs: true.", "top_logprobs")
    if body.stream_options is not None and not body.stream:
        raise bad_request("stream_options needs stream: true.", "stream_options")
    choice = _tool_choice(body)
    thinking = (body.chat_template_kwargs or {}).get("enable_thinking")
    if thinking is not None and not isinstance(thinking, bool):
        raise bad_request("enable_thinking must be true or false.", "chat_template_kwargs.enable_thinking")
    variables = {k: v for k, v in (body.chat_template_kwargs or {}).items() if k != "enable_thinking"}
    return ChatRequest(
        messages=[template_message(message, at) for at, message in enumerate(body.messages)],
        sampling=body.params(
            body.max_completion_tokens or body.max_tokens,
            logprobs=bool(body.logprobs),
            top_logprobs=body.top_logprobs or 0,
        ),
        tools=[tool.model_dump(exclude_none=True) for tool in body.tools or ()],
        tool_choice=choice,
        parallel_calls=body.parallel_tool_calls is not False,
        grammar=_grammar(body),
        thinking=thinking,
        effort=body.reasoning_effort,
        variables=variables,
        prediction=_text(body.prediction.content) if body.prediction is not None else "",
        continue_last=bool(body.continue_final_message),
    )


def template_message(message: Message, at: int) -> dict[str, Any]:
    """As chat templates know it. What a message leaves out is left out."""
    plain = message.model_dump(exclude_none=True, exclude={"annotations"})
    if plain["role"] == "developer":
        plain["role"] = "system"
    for call in plain.get("tool_calls", ()):
        call.pop("index", None)
    if isinstance(message.content, list):
        plain["content"] = written_content([_written(part, f"messages.{at}.content") for part in message.content])
    plain.setdefault("content", "")
    return plain


def _written(part: Content, param: str) -> str | ImagePart:
    if isinstance(part, AudioContent):
        raise unsupported(param, "The loaded models do not hear audio.")
    if isinstance(part, ImageContent):
        return ImagePart(param, part.image_url.url, low=little_detail(part.image_url.detail, param))
    return part.text


def _text(content: str | list[TextContent]) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)


def _tool_choice(body: ChatCompletionRequest) -> ToolChoice:
    if body.tool_choice is None:
        return ToolChoice("auto" if body.tools else "none")
    if isinstance(body.tool_choice, NamedTool):
        choice = ToolChoice("named", body.tool_choice.function.name)
    else:
        choice = ToolChoice(body.tool_choice)
    if not body.tools and choice.kind in ("required", "named"):
        raise bad_request("tool_choice asks for a call, but there are no tools.", "tool_choice")
    return choice


def _grammar(body: ChatCompletionRequest) -> Grammar | None:
    if isinstance(body.response_format, JsonObjectFormat):
        return json_grammar()
    if isinstance(body.response_format, JsonSchemaFormat):
        return json_grammar(body.response_format.json_schema.schema_)
    return None


def complete(
    parts: list[ReplyEvent], running: RunningRequest, name: str, model: LoadedModel, scored: bool
) -> dict[str, Any]:
    collector = ReplyCollector()
    for part in parts:
        collector.add(part)
    return {
        "id": new_id("chatcmpl"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": name,
        "choices": [_choice(i, message, model, scored) for i, message in enumerate(collector.messages())],
        "usage": usage(running.timings, running.reader.reasoning_tokens),
        "system_fingerprint": _fingerprint(model),
        **told_timings(),
    }


def _choice(index: int, reply: Reply, model: LoadedModel, scored: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.answer or (None if reply.calls else "")}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.calls
        ]
    return {
        "index": index,
        "message": message,
        "logprobs": {"content": content_logprobs(model.tokenizer, reply.logprobs), "refusal": None} if scored else None,
        "finish_reason": finish_reason(reply.reason),
    }


async def chunks(
    running: RunningRequest, name: str, model: LoadedModel, choices: int, with_usage: bool
) -> AsyncIterator[bytes]:
    head = {
        "id": new_id("chatcmpl"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": name,
        "system_fingerprint": _fingerprint(model),
    }
    tail: dict[str, Any] = {"usage": None} if with_usage else {}

    def chunk(index: int, delta: dict[str, Any], **more: Any) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None, **more}
        return event({**head, "choices": [choice], **tail})

    for index in range(choices):
        yield chunk(index, {"role": "assistant", "content": ""})
    async for part in running.streamed():
        if part.kind == "end":
            yield chunk(part.index, {}, finish_reason=finish_reason(part.reason))
        elif part.kind == "tokens":
            scores = {"content": content_logprobs(model.tokenizer, part.logprobs), "refusal": None}
            yield chunk(part.index, {}, logprobs=scores)
        else:
            yield chunk(part.index, _delta(part))
    if with_usage:
        yield event({**head, "choices": [], "usage": usage(running.timings, running.reader.reasoning_tokens)})
    if timings := told_timings():
        yield event({**head, "choices": [], **timings, **tail})
    yield DONE


def _delta(part: ReplyEvent) -> dict[str, Any]:
    if part.kind == "answer":
        return {"content": part.text}
    if part.kind == "reasoning":
        return {"reasoning_content": part.text}
    if part.kind == "call":
        function = {"name": part.name, "arguments": ""}
        return {"tool_calls": [{"index": part.call, "id": part.call_id, "type": "function", "function": function}]}
    return {"tool_calls": [{"index": part.call, "function": {"arguments": part.text}}]}


def _fingerprint(model: LoadedModel) -> str:
    return f"fp_{model.fingerprint[:12]}"
