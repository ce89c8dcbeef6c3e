"""`POST /v1/messages` and `/v1/messages/count_tokens`: Anthropic's messages, from their blocks to a reply's JSON and events.

`metadata`, `service_tier` and `cache_control` are accepted because Anthropic documents them to have no effect on the reply: the
prefix cache works without them. `signature` is accepted back with a thinking block; Grus signs none.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.runtime.chat import ChatRequest, ToolChoice, json_grammar
from app.runtime.replies import ReplyCollector, ReplyEvent, ReplyMessage
from app.server import pages
from app.server.body import JsonRoute, RequestFields
from app.server.context import Here, answer
from app.server.documented import errors, streams
from app.server.errors import ApiError, bad_request, error_body
from app.server.images import ImagePart, data_url, written_content
from app.server.requests import ReasoningBudget, RunningRequest
from app.server.sampling import Count, StopText
from app.server.streaming import event
from engine.types import Grammar, SamplingParams, Timings, new_id

router = APIRouter(route_class=JsonRoute, tags=["Anthropic"])
_ERRORS = errors(400, 404, 429, family="anthropic")
_PING = event({"type": "ping"}, "ping")


Name = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[\w.:/-]+$")]


class CacheControl(RequestFields):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class _Block(RequestFields):
    cache_control: CacheControl | None = None


class TextBlock(_Block):
    type: Literal["text"]
    text: str
    citations: list[Any] | None = Field(default=None, max_length=0)


class ImageBlock(_Block):
    type: Literal["image"]
    source: dict[str, Any]


class ThinkingBlock(RequestFields):
    type: Literal["thinking"]
    thinking: str
    signature: str | None = None


class ToolUseBlock(_Block):
    type: Literal["tool_use"]
    id: str
    name: Name
    input: dict[str, Any]


class ToolResultBlock(_Block):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[Annotated[TextBlock | ImageBlock, Field(discriminator="type")]] | None = None
    is_error: bool | None = None


AnthropicBlock = Annotated[
    TextBlock | ImageBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock, Field(discriminator="type")
]


class AnthropicMessageParam(RequestFields):
    role: Literal["user", "assistant"]
    content: str | list[AnthropicBlock]


class AnthropicTool(_Block):
    name: Name
    description: str | None = None
    input_schema: dict[str, Any]
    type: Literal["custom"] | None = None


class AutoChoice(RequestFields):
    type: Literal["auto", "any"]
    disable_parallel_tool_use: bool | None = None


class NoChoice(RequestFields):
    type: Literal["none"]


class NamedChoice(RequestFields):
    type: Literal["tool"]
    name: Name
    disable_parallel_tool_use: bool | None = None


AnthropicToolChoice = Annotated[AutoChoice | NoChoice | NamedChoice, Field(discriminator="type")]


class ThinkingOn(RequestFields):
    type: Literal["enabled"]
    budget_tokens: Count
    display: Literal["summarized"] | None = None  # reasoning is never summarized


class ThinkingOff(RequestFields):
    type: Literal["disabled"]


class ThinkingAdaptive(RequestFields):
    type: Literal["adaptive"]
    display: Literal["summarized"] | None = None


Thinking = Annotated[ThinkingOn | ThinkingOff | ThinkingAdaptive, Field(discriminator="type")]


class AnthropicJsonFormat(RequestFields):
    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputConfig(RequestFields):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: AnthropicJsonFormat | None = None


class Metadata(RequestFields):
    user_id: str | None = None


class CountTokensRequest(RequestFields):
    model: str
    messages: Annotated[list[AnthropicMessageParam], Field(min_length=1)]
    system: str | list[TextBlock] | None = None
    tools: Annotated[list[AnthropicTool], Field(max_length=128)] | None = None
    tool_choice: AnthropicToolChoice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    cache_control: CacheControl | None = None  # without effect on the reply


class MessagesRequest(CountTokensRequest):
    max_tokens: Count
    stream: bool | None = None
    temperature: Annotated[float, Field(ge=0, le=1)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    stop_sequences: Annotated[list[StopText], Field(max_length=16)] | None = None
    # without effect on the reply
    metadata: Metadata | None = None
    service_tier: Literal["auto", "standard_only"] | None = None


class TokenCount(BaseModel):
    input_tokens: int


class TextOut(BaseModel):
    type: Literal["text"]
    text: str


class ThinkingOut(BaseModel):
    type: Literal["thinking"]
    thinking: str
    signature: str


class ToolUseOut(BaseModel):
    type: Literal["tool_use"]
    id: str
    name: str
    input: dict[str, Any]


class AnthropicUsage(BaseModel):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int


class AnthropicMessage(BaseModel):
    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    model: str
    content: list[TextOut | ThinkingOut | ToolUseOut]
    stop_reason: Literal["end_turn", "max_tokens", "stop_sequence", "tool_use"] | None
    stop_sequence: str | None
    usage: AnthropicUsage


@router.post("/v1/messages", response_model=AnthropicMessage, responses=streams() | _ERRORS)
async def messages(body: MessagesRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a conversation, whole or as a stream of server-sent events."""
    name, _, prepared = await server.prepare(_conversation(body), body.model, request)
    running: RunningRequest | ReasoningBudget
    if isinstance(body.thinking, ThinkingOn):
        running = ReasoningBudget(server.requests, prepared, body.thinking.budget_tokens)
    else:
        running = server.submit(prepared)
    if body.stream:
        chunks = events(running, name, len(prepared.prompt.ids))
        return await server.stream(running, chunks, tell=_error_event, heartbeat=_PING)
    parts = await server.parts(request, running)
    return answer(_complete(parts, running, name))


@router.post("/v1/messages/count_tokens", responses=_ERRORS)
async def count_tokens(body: CountTokensRequest, request: Request, server: Here) -> TokenCount:
    """How many tokens the model would read."""
    _, _, prepared = await server.prepare(_conversation(body), body.model, request)
    pages.check_counted(prepared)
    return TokenCount(input_tokens=len(prepared.prompt.ids))


def _error_event(error: ApiError) -> bytes:
    return event(error_body(error, "anthropic"), "error")


# -- from the request to a conversation


def _image(block: ImageBlock, param: str) -> ImagePart:
    match block.source:
        case {"type": "url", "url": str(url), **rest} if not rest:
            return ImagePart(param, url)
        case {"type": "base64", "media_type": str(media_type), "data": str(data), **rest} if not rest:
            return ImagePart(param, data_url(media_type, data))
    raise bad_request(
        "An image's source must be of the type url, with url, or of the type base64, with media_type and data.", param
    )


def _conversation(body: CountTokensRequest) -> ChatRequest:
    messages: list[dict[str, Any]] = []
    if body.system:
        text = body.system if isinstance(body.system, str) else "\n".join(block.text for block in body.system)
        messages.append({"role": "system", "content": text})
    for at, message in enumerate(body.messages):
        messages += template_messages(message, at)
    sampling = SamplingParams()
    if isinstance(body, MessagesRequest):
        sampling = SamplingParams(
            max_tokens=body.max_tokens,
            temperature=body.temperature,
            top_p=body.top_p,
            top_k=body.top_k,
            stop=tuple(body.stop_sequences or ()),
        )
        if isinstance(body.thinking, ThinkingOn) and body.thinking.budget_tokens >= body.max_tokens:
            raise bad_request("thinking.budget_tokens must be below max_tokens.", "thinking.budget_tokens")
    choice, parallel = _choice(body)
    return ChatRequest(
        messages=messages,
        sampling=sampling,
        tools=[
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    **({"description": tool.description} if tool.description else {}),
                    "parameters": tool.input_schema,
                },
            }
            for tool in body.tools or ()
        ],
        tool_choice=choice,
        parallel_calls=parallel,
        grammar=_grammar(body),
        schema_field="output_config.format.schema",
        thinking=_thinking(body),
        effort=body.output_config.effort if body.output_config is not None else None,
        # a last message of the assistant is continued
        continue_last=body.messages[-1].role == "assistant",
    )


def _grammar(body: CountTokensRequest) -> Grammar | None:
    wanted = body.output_config.format if body.output_config is not None else None
    return json_grammar(wanted.schema_, strict=True) if wanted is not None else None


def _thinking(body: CountTokensRequest) -> bool | None:
    if isinstance(body.thinking, ThinkingOff):
        return False
    return True if isinstance(body.thinking, ThinkingOn) else None


def _choice(body: CountTokensRequest) -> tuple[ToolChoice, bool]:
    given = body.tool_choice
    if given is None or isinstance(given, NoChoice):
        return ToolChoice("auto" if body.tools and given is None else "none"), True
    if not body.tools:
        raise bad_request("tool_choice is given, but there are no tools.", "tool_choice")
    parallel = not given.disable_parallel_tool_use
    if isinstance(given, NamedChoice):
        return ToolChoice("named", given.name), parallel
    assert isinstance(given, AutoChoice)
    return ToolChoice("required" if given.type == "any" else "auto"), parallel


def template_messages(message: AnthropicMessageParam, at: int) -> list[dict[str, Any]]:
    """A message in the form that chat templates read: each tool result is a message of its own."""
    if isinstance(message.content, str):
        return [{"role": message.role, "content": message.content}]
    results = [block for block in message.content if isinstance(block, ToolResultBlock)]
    out = [{"role": "tool", "tool_call_id": r.tool_use_id, "content": _result(r, at)} for r in results]
    content: list[str | ImagePart] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    for block in message.content:
        if isinstance(block, ImageBlock):
            content.append(_image(block, f"messages.{at}.content"))
        elif isinstance(block, TextBlock):
            content.append(block.text)
        elif isinstance(block, ThinkingBlock):
            thoughts.append(block.thinking)
        elif isinstance(block, ToolUseBlock):
            arguments = json.dumps(block.input, ensure_ascii=False)
            calls.append({"id": block.id, "type": "function", "function": {"name": block.name, "arguments": arguments}})
    if content or thoughts or calls or not results:
        own: dict[str, Any] = {"role": message.role, "content": written_content(content)}
        if thoughts:
            own["reasoning_content"] = "\n".join(thoughts)
        if calls:
            own["tool_calls"] = calls
        out.append(own)
    return out


def _result(block: ToolResultBlock, at: int) -> str | list[dict[str, Any]]:
    if block.content is None or isinstance(block.content, str):
        parts: list[str | ImagePart] = [block.content or ""]
    else:
        param = f"messages.{at}.content"
        parts = [_image(part, param) if isinstance(part, ImageBlock) else part.text for part in block.content]
    if block.is_error:
        first = parts[0] if parts and isinstance(parts[0], str) else ""
        parts = [f"Error: {first}", *parts[bool(first) :]]
    return written_content(parts)


# -- from the reply to JSON and events


def _complete(parts: Sequence[ReplyEvent], running: RunningRequest | ReasoningBudget, name: str) -> dict[str, Any]:
    collector = ReplyCollector()
    for part in parts:
        collector.add(part)
    reply = collector.messages()[0]
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": name,
        "content": _blocks(reply),
        "stop_reason": _stop_reason(reply.reason, reply.stop),
        "stop_sequence": reply.stop if isinstance(reply.stop, str) else None,
        "usage": _usage(running.timings),
    }


def _blocks(reply: ReplyMessage) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.reasoning:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": ""})
    if reply.answer or not reply.calls:
        blocks.append({"type": "text", "text": reply.answer})
    calls = [{"type": "tool_use", "id": c.id, "name": c.name, "input": _input(c.arguments)} for c in reply.calls]
    return blocks + calls


def _input(arguments: str) -> dict[str, Any]:
    """The arguments of a call; empty for one that the length limit cut off."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _stop_reason(reason: str, stop: str | int | None) -> str:
    if reason == "tool_calls":
        return "tool_use"
    if reason != "stop":
        return "max_tokens"
    return "stop_sequence" if isinstance(stop, str) else "end_turn"


def _usage(timings: Timings) -> dict[str, int]:
    return {
        "input_tokens": timings.prompt_tokens - timings.cached_tokens,
        "output_tokens": timings.output_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": timings.cached_tokens,
    }


_OPENING: dict[str, dict[str, Any]] = {
    "answer": {"type": "text", "text": ""},
    "reasoning": {"type": "thinking", "thinking": "", "signature": ""},
}


async def events(running: RunningRequest | ReasoningBudget, name: str, prompt_tokens: int) -> AsyncIterator[bytes]:
    """One block is open at a time; a part of another kind closes it and opens the next."""
    message: dict[str, Any] = {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "model": name,
        "content": [],
    }
    message |= {"stop_reason": None, "stop_sequence": None, "usage": _usage(Timings(prompt_tokens=prompt_tokens))}
    yield event({"type": "message_start", "message": message}, "message_start")
    index, kind = -1, ""
    ending: ReplyEvent | None = None
    async for part in running.streamed():
        if part.kind == "end":
            ending = part
            continue
        if part.kind == "call" or (part.kind != "arguments" and part.kind != kind):
            if kind:
                yield event({"type": "content_block_stop", "index": index}, "content_block_stop")
            index, kind = index + 1, part.kind
            block = _OPENING.get(kind) or {"type": "tool_use", "id": part.call_id, "name": part.name, "input": {}}
            start = {"type": "content_block_start", "index": index, "content_block": block}
            yield event(start, "content_block_start")
        if part.kind != "call":
            delta = {"type": "content_block_delta", "index": index, "delta": _delta(part)}
            yield event(delta, "content_block_delta")
    if kind:
        yield event({"type": "content_block_stop", "index": index}, "content_block_stop")
    assert ending is not None  # a reply that failed raised instead
    sequence = ending.stop if isinstance(ending.stop, str) else None
    reason = {"stop_reason": _stop_reason(ending.reason, ending.stop), "stop_sequence": sequence}
    yield event({"type": "message_delta", "delta": reason, "usage": _usage(running.timings)}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def _delta(part: ReplyEvent) -> dict[str, str]:
    if part.kind == "answer":
        return {"type": "text_delta", "text": part.text}
    if part.kind == "reasoning":
        return {"type": "thinking_delta", "thinking": part.text}
    return {"type": "input_json_delta", "partial_json": part.text}
