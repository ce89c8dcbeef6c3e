"""Messages: Anthropic's blocks into a conversation, the reply's parts into blocks and events."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from app.runtime.chat import ChatRequest, ToolChoice, json_grammar
from app.runtime.replies import ReplyCollector, ReplyEvent, ReplyMessage
from app.server.anthropic.protocol import (
    AutoChoice,
    CountRequest,
    ImageBlock,
    MessageIn,
    MessagesRequest,
    NamedChoice,
    NoChoice,
    TextBlock,
    ThinkingBlock,
    ThinkingOff,
    ThinkingOn,
    ToolResultBlock,
    ToolUseBlock,
)
from app.server.errors import bad_request
from app.server.images import ImagePart, data_url, written_content
from app.server.requests import ReasoningBudget, RunningRequest
from app.server.streaming import event
from engine.types import Grammar, SamplingParams, Timings, new_id

PING = event({"type": "ping"}, "ping")


def _image(block: ImageBlock, param: str) -> ImagePart:
    match block.source:
        case {"type": "url", "url": str(url), **rest} if not rest:
            return ImagePart(param, url)
        case {"type": "base64", "media_type": str(media_type), "data": str(data), **rest} if not rest:
            return ImagePart(param, data_url(media_type, data))
    raise bad_request(
        "An image's source must be of the type url, with url, or of the type base64, with media_type and data.", param
    )


def conversation(body: CountRequest) -> ChatRequest:
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
        thinking=_thinking(body),
        effort=body.output_config.effort if body.output_config is not None else None,
        # an assistant's last message is one that the model shall go on with
        continue_last=body.messages[-1].role == "assistant",
    )


def _grammar(body: CountRequest) -> Grammar | None:
    wanted = body.output_config.format if body.output_config is not None else None
    return json_grammar(wanted.schema_) if wanted is not None else None


def _thinking(body: CountRequest) -> bool | None:
    if isinstance(body.thinking, ThinkingOff):
        return False
    return True if isinstance(body.thinking, ThinkingOn) else None


def _choice(body: CountRequest) -> tuple[ToolChoice, bool]:
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


def template_messages(message: MessageIn, at: int) -> list[dict[str, Any]]:
    """One message here may be several in a template: tool results are messages of their own."""
    if isinstance(message.content, str):
        return [{"role": message.role, "content": message.content}]
    results = [block for block in message.content if isinstance(block, ToolResultBlock)]
    out = [{"role": "tool", "tool_call_id": r.tool_use_id, "content": _result(r, at)} for r in results]
    said: list[str | ImagePart] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    for block in message.content:
        if isinstance(block, ImageBlock):
            said.append(_image(block, f"messages.{at}.content"))
        elif isinstance(block, TextBlock):
            said.append(block.text)
        elif isinstance(block, ThinkingBlock):
            thoughts.append(block.thinking)
        elif isinstance(block, ToolUseBlock):
            arguments = json.dumps(block.input, ensure_ascii=False)
            calls.append({"id": block.id, "type": "function", "function": {"name": block.name, "arguments": arguments}})
    if said or thoughts or calls or not results:
        spoken: dict[str, Any] = {"role": message.role, "content": written_content(said)}
        if thoughts:
            spoken["reasoning_content"] = "\n".join(thoughts)
        if calls:
            spoken["tool_calls"] = calls
        out.append(spoken)
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


def complete(parts: Sequence[ReplyEvent], running: RunningRequest | ReasoningBudget, name: str) -> dict[str, Any]:
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
    """A call that the length limit cut off has no arguments that could be read."""
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
