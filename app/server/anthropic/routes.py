"""`POST /v1/messages` and `/v1/messages/count_tokens`: from a reply to Anthropic's JSON and events.

Reasoning that the client did not ask for is switched off where the model's template can do that, and else left out of the reply.
`signature` is accepted back with a thinking block; Grus verifies none.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.runtime.chat import PreparedChat, ReplyCollector, ReplyEvent, ReplyMessage, reasoning_off
from app.server.anthropic.conversation import conversation, signature
from app.server.anthropic.protocol import AnthropicMessage, CountTokensRequest, MessagesRequest, TokenCount
from app.server.body import JsonRoute
from app.server.context import Here, Server, answer
from app.server.errors import ApiError, error_body
from app.server.images import check_counted
from app.server.openapi import errors, streams
from app.server.requests import RunningRequest, event
from engine.errors import ContextOverflow
from engine.loading import LoadedModel
from engine.types import Timings, new_id

router = APIRouter(route_class=JsonRoute, tags=["Anthropic"])
_ERRORS = errors(400, 404, 429, family="anthropic")
_PING = event({"type": "ping"}, "ping")


@router.post("/v1/messages", response_model=AnthropicMessage, responses=streams() | _ERRORS)
async def messages(body: MessagesRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a conversation, whole or as a stream of server-sent events."""
    name, model, prepared = await _prepare(body, request, server)
    running = server.submit(prepared)
    reply = _Reply(body, running, name, model.context)
    if body.stream:
        chunks = reply.events(len(prepared.prompt.ids))
        return await server.stream(running, chunks, encode_error=_error_event(request), heartbeat=_PING)
    parts = await server.parts(request, running)
    return answer(reply.whole(parts))


@router.post("/v1/messages/count_tokens", responses=_ERRORS)
async def count_tokens(body: CountTokensRequest, request: Request, server: Here) -> TokenCount:
    """How many tokens the model would read, also of a conversation that is too long for it, unless it is so long that it was
    not counted to its end."""
    try:
        _, _, prepared = await _prepare(body, request, server)
    except ContextOverflow as error:
        if not error.exact:
            raise
        return TokenCount(input_tokens=error.tokens)
    check_counted(prepared)
    return TokenCount(input_tokens=len(prepared.prompt.ids))


async def _prepare(body: CountTokensRequest, request: Request, server: Server) -> tuple[str, LoadedModel, PreparedChat]:
    chat = conversation(body)
    name: str | None = body.model
    if chat.thinking is None:
        name, model = await server.service.find(name)
        chat = replace(chat, thinking=reasoning_off(model, tools=bool(chat.tools)))
    return await server.prepare(chat, name, request)


def _error_event(request: Request) -> Callable[[ApiError], bytes]:
    id = request.scope["state"]["request_id"]
    return lambda error: event(error_body(error, "anthropic", id), "error")


@dataclass
class _Reply:
    body: MessagesRequest
    running: RunningRequest
    name: str
    context: int  # tokens of prompt and reply together

    def __post_init__(self) -> None:
        thinking = self.body.thinking
        self.shows_reasoning = thinking is not None and thinking.type != "disabled"
        self.omits_text = thinking is not None and thinking.display == "omitted"

    def whole(self, parts: Sequence[ReplyEvent]) -> dict[str, Any]:
        collector = ReplyCollector()
        for part in filter(self._is_shown, parts):
            collector.add(part)
        reply = collector.messages()[0]
        return {
            **self._opened(),
            "content": self._blocks(reply),
            **self._stop(reply.reason, reply.stop),
            "usage": _usage(self.running.timings, self.running.reader.reasoning_tokens),
        }

    async def events(self, prompt_tokens: int) -> AsyncIterator[bytes]:
        """One block is open at a time; a part of another kind closes it and opens the next."""
        start = {**self._opened(), "content": [], "stop_reason": None, "stop_sequence": None}
        start["usage"] = _usage(Timings(prompt_tokens=prompt_tokens))
        yield event({"type": "message_start", "message": start}, "message_start")
        yield _PING
        index, kind, reasoning = -1, "", ""
        ending: ReplyEvent | None = None
        async for part in self.running.streamed():
            if part.kind == "end":
                ending = part
            if part.kind == "end" or not self._is_shown(part):
                continue
            if part.kind == "call" or (part.kind != "arguments" and part.kind != kind):
                for chunk in self._closed(index, kind, reasoning):
                    yield chunk
                index, kind = index + 1, part.kind
                block = _OPENING.get(kind) or {
                    "type": "tool_use",
                    "id": _call_id(part.call_id),
                    "name": part.name,
                    "input": {},
                }
                yield _at("content_block_start", index, content_block=block)
            if part.kind == "reasoning":
                reasoning += part.text
            if part.kind != "call" and not (part.kind == "reasoning" and self.omits_text):
                yield _at("content_block_delta", index, delta=_delta(part))
        if not kind and self.body.max_tokens:
            index, kind = 0, "answer"
            yield _at("content_block_start", index, content_block=_OPENING[kind])
        for chunk in self._closed(index, kind, reasoning):
            yield chunk
        assert ending is not None  # a reply that failed raised instead
        usage = _usage(self.running.timings, self.running.reader.reasoning_tokens)
        stop = self._stop(ending.reason, ending.stop)
        yield event({"type": "message_delta", "delta": stop, "usage": usage}, "message_delta")
        yield event({"type": "message_stop"}, "message_stop")

    def _is_shown(self, part: ReplyEvent) -> bool:
        if self.body.max_tokens == 0:
            return part.kind == "end"
        return part.kind != "tokens" and (part.kind != "reasoning" or self.shows_reasoning)

    def _opened(self) -> dict[str, Any]:
        id = new_id("msg").replace("-", "_")
        return {"id": id, "type": "message", "role": "assistant", "model": self.name}

    def _closed(self, index: int, kind: str, reasoning: str) -> list[bytes]:
        if not kind:
            return []
        signed = {"type": "signature_delta", "signature": self._signature(reasoning)}
        signing = [_at("content_block_delta", index, delta=signed)] if kind == "reasoning" else []
        return [*signing, _at("content_block_stop", index)]

    def _signature(self, reasoning: str) -> str:
        return signature(reasoning if self.omits_text else "")

    def _blocks(self, reply: ReplyMessage) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = []
        if reply.reasoning:
            shown = "" if self.omits_text else reply.reasoning
            blocks.append({"type": "thinking", "thinking": shown, "signature": self._signature(reply.reasoning)})
        if reply.answer or not (reply.calls or blocks or self.body.max_tokens == 0):
            blocks.append({"type": "text", "text": reply.answer})
        calls = [
            {"type": "tool_use", "id": _call_id(c.id), "name": c.name, "input": _input(c.arguments)}
            for c in reply.calls
        ]
        return blocks + calls

    def _stop(self, reason: str, stop: str | int | None) -> dict[str, Any]:
        sequence = stop if isinstance(stop, str) and reason == "stop" else None
        if reason == "stop":
            return {"stop_reason": "stop_sequence" if sequence is not None else "end_turn", "stop_sequence": sequence}
        timings, most = self.running.timings, self.body.max_tokens
        full = timings.prompt_tokens + timings.output_tokens >= self.context and timings.output_tokens < most
        ended = "model_context_window_exceeded" if full else "max_tokens"
        return {"stop_reason": "tool_use" if reason == "tool_calls" else ended, "stop_sequence": None}


def _at(kind: str, index: int, **fields: Any) -> bytes:
    return event({"type": kind, "index": index, **fields}, kind)


_OPENING: dict[str, dict[str, Any]] = {
    "answer": {"type": "text", "text": ""},
    "reasoning": {"type": "thinking", "thinking": "", "signature": ""},
}


def _delta(part: ReplyEvent) -> dict[str, str]:
    if part.kind == "answer":
        return {"type": "text_delta", "text": part.text}
    if part.kind == "reasoning":
        return {"type": "thinking_delta", "thinking": part.text}
    return {"type": "input_json_delta", "partial_json": part.text}


def _call_id(id: str) -> str:
    return "toolu_" + id.removeprefix("call_")


def _input(arguments: str) -> dict[str, Any]:
    """The arguments of a call; empty for one that the length limit cut off."""
    try:
        value = json.loads(arguments)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _usage(timings: Timings, reasoning_tokens: int = 0) -> dict[str, Any]:
    return {
        "input_tokens": timings.prompt_tokens - timings.cached_tokens,
        "output_tokens": timings.output_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": timings.cached_tokens,
        "output_tokens_details": {"thinking_tokens": reasoning_tokens},
    }
