"""Responses: items into a conversation, the reply's parts into items, and what is remembered of both."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from app.runtime.chat import ChatRequest, ToolChoice, json_grammar
from app.runtime.replies import ReplyEvent
from app.server.errors import ApiError, as_api_error, bad_request, unsupported
from app.server.images import ImagePart, little_detail, written_content
from app.server.requests import RunningRequest
from app.server.responses.items import Items
from app.server.responses.protocol import (
    CallItem,
    FunctionTool,
    InputImage,
    InputText,
    Item,
    MessageItem,
    NamedFunction,
    OutputText,
    ReasoningItem,
    ResponsesRequest,
    ResultItem,
    SchemaFormat,
)
from app.server.responses.protocol import Part as Given
from app.server.responses.store import Store
from app.server.streaming import event
from engine.errors import GrusError
from engine.text.tokenizer import Tokenizer
from engine.types import Grammar, SamplingParams, Timings, new_id


class Exchange:
    """One request and the response that grows from it."""

    def __init__(self, body: ResponsesRequest, store: Store) -> None:
        self.body = body
        self._store = store
        self.id = new_id("resp")
        self.created = int(time.time())
        self.history = self._history()
        given: list[Item] = (
            [MessageItem(role="user", content=body.input)] if isinstance(body.input, str) else body.input
        )
        self.given = [item.model_dump(exclude_none=True) for item in given]
        self.conversation = self._conversation(given)
        self.items: Items | None = None
        self.running: RunningRequest | None = None
        self.name = ""

    def _history(self) -> list[dict[str, Any]]:
        previous = self.body.previous_response_id
        if previous is None:
            return []
        stored = self._store.get(previous)
        if stored is None:
            raise ApiError(
                404, f"There is no stored response {previous[:100]!r}.", code="response_not_found",
                param="previous_response_id",
            )  # fmt: skip
        return stored.items

    def _conversation(self, given: Sequence[Item]) -> ChatRequest:
        body = self.body
        logprobs = bool(body.include) or body.top_logprobs is not None
        messages = template_messages([*stored_items(self.history), *given])
        if body.instructions is not None:
            messages.insert(0, {"role": "system", "content": body.instructions})
        choice = tool_choice(body.tool_choice, body.tools)
        return ChatRequest(
            messages=messages,
            sampling=SamplingParams(
                max_tokens=body.max_output_tokens,
                temperature=body.temperature,
                top_p=body.top_p,
                logprobs=logprobs,
                top_logprobs=body.top_logprobs or 0,
            ),
            tools=template_tools(body.tools),
            tool_choice=choice,
            parallel_calls=body.parallel_tool_calls is not False,
            grammar=_grammar(body),
            effort=body.reasoning.effort if body.reasoning is not None else None,
        )

    def begin(self, running: RunningRequest, name: str, tokenizer: Tokenizer) -> None:
        self.running, self.name, self.items = running, name, Items(tokenizer)

    def complete(self, parts: Sequence[ReplyEvent]) -> dict[str, Any]:
        assert self.items is not None
        taken_back = {part.call for part in parts if part.kind == "broken"}
        for part in parts:
            if part.kind in ("call", "arguments") and part.call in taken_back:
                continue
            for _ in self.items.add(replace(part, kind="answer") if part.kind == "broken" else part):
                pass
        return self._keep(self._object())

    async def events(self) -> AsyncIterator[bytes]:
        assert self.items is not None
        assert self.running is not None
        number = 0

        def told(kind: str, data: dict[str, Any]) -> bytes:
            nonlocal number
            number += 1
            return event({"type": kind, "sequence_number": number - 1, **data}, kind)

        for kind in ("response.created", "response.in_progress"):
            yield told(kind, {"response": self._object("in_progress")})
        try:
            async for part in self.running.streamed():
                for kind, data in self.items.add(part):
                    yield told(kind, data)
        except GrusError as error:
            problem = as_api_error(error)
            failed = self._object("failed") | {"error": {"code": "server_error", "message": problem.message}}
            yield told("response.failed", {"response": failed})
            return
        whole = await asyncio.to_thread(self._keep, self._object())
        yield told(f"response.{whole['status']}", {"response": whole})

    def _keep(self, response: dict[str, Any]) -> dict[str, Any]:
        if self.body.store is not False:
            self._store.put(response, [*self.history, *self.given, *response["output"]])
        return response

    def _object(self, status: str | None = None) -> dict[str, Any]:
        assert self.items is not None
        assert self.running is not None
        body = self.body
        cut = self.items.reason in ("length", "cancelled")
        told = status or ("incomplete" if cut else "completed")
        over = told in ("completed", "incomplete")
        dumped = body.model_dump(exclude_none=True, by_alias=True)
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": told,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if told == "incomplete" else None,
            "instructions": body.instructions,
            "max_output_tokens": body.max_output_tokens,
            "metadata": body.metadata or {},
            "model": self.name,
            "output": self.items.output if over else [],
            "parallel_tool_calls": body.parallel_tool_calls is not False,
            "previous_response_id": body.previous_response_id,
            "reasoning": {"effort": body.reasoning.effort if body.reasoning else None, "summary": None},
            "store": body.store is not False,
            "temperature": body.temperature,
            "text": dumped.get("text") or {"format": {"type": "text"}},
            "tool_choice": dumped.get("tool_choice", "auto"),
            "tools": dumped.get("tools", []),
            "top_p": body.top_p,
            "truncation": "disabled",
            "usage": _usage(self.running.timings, self.running.reader.reasoning_tokens) if over else None,
        }


def stored_items(items: Sequence[dict[str, Any]]) -> list[Item]:
    kinds: dict[str, Any] = {
        "message": MessageItem,
        "function_call": CallItem,
        "function_call_output": ResultItem,
        "reasoning": ReasoningItem,
    }
    return [kinds[item["type"]].model_validate(item) for item in items]


def template_messages(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Reasoning, words and calls that follow each other are one message of the assistant."""
    messages: list[dict[str, Any]] = []

    def assistant() -> dict[str, Any]:
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": ""})
        return messages[-1]

    for at, item in enumerate(items):
        if isinstance(item, ReasoningItem):
            thought = "\n".join(part.text for part in item.content or ())
            messages.append({"role": "assistant", "content": ""} | ({"reasoning_content": thought} if thought else {}))
        elif isinstance(item, CallItem):
            function = {"name": item.name, "arguments": item.arguments}
            call = {"id": item.call_id, "type": "function", "function": function}
            assistant().setdefault("tool_calls", []).append(call)
        elif isinstance(item, ResultItem):
            output = item.output if isinstance(item.output, str) else "\n".join(part.text for part in item.output)
            messages.append({"role": "tool", "tool_call_id": item.call_id, "content": output})
        elif item.role == "assistant" and messages and _only_thought(messages[-1]):
            messages[-1]["content"] = _content(item, at)
        else:
            role = "system" if item.role == "developer" else item.role
            messages.append({"role": role, "content": _content(item, at)})
    return messages


def _only_thought(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and not message["content"] and "tool_calls" not in message


def _content(item: MessageItem, at: int) -> str | list[dict[str, Any]]:
    if isinstance(item.content, str):
        return item.content
    return written_content([_written(part, f"input.{at}.content") for part in item.content])


def _written(part: Given, param: str) -> str | ImagePart:
    if isinstance(part, InputText | OutputText):
        return part.text
    if isinstance(part, InputImage):
        if part.image_url is None or part.file_id is not None:
            raise unsupported(param, "An image must come in image_url; files that were uploaded are not kept here.")
        return ImagePart(param, part.image_url, low=little_detail(part.detail, param))
    kind = part.type.removeprefix("input_")
    raise unsupported(param, f"The loaded models read text and images; {kind} parts are not taken.")


def template_tools(tools: Sequence[FunctionTool] | None) -> list[dict[str, Any]]:
    return [
        {"type": "function", "function": tool.model_dump(exclude_none=True, exclude={"type"})} for tool in tools or ()
    ]


def tool_choice(wanted: str | NamedFunction | None, tools: Sequence[FunctionTool] | None) -> ToolChoice:
    if wanted is None:
        return ToolChoice("auto" if tools else "none")
    choice = ToolChoice("named", wanted.name) if isinstance(wanted, NamedFunction) else ToolChoice(wanted)  # type: ignore[arg-type]
    if not tools and choice.kind in ("required", "named"):
        raise bad_request("tool_choice asks for a call, but there are no tools.", "tool_choice")
    return choice


def _grammar(body: ResponsesRequest) -> Grammar | None:
    wanted = body.text.format if body.text is not None else None
    if isinstance(wanted, SchemaFormat):
        return json_grammar(wanted.schema_)
    return json_grammar() if wanted is not None and wanted.type == "json_object" else None


def _usage(timings: Timings, reasoning: int) -> dict[str, Any]:
    return {
        "input_tokens": timings.prompt_tokens,
        "input_tokens_details": {"cached_tokens": timings.cached_tokens},
        "output_tokens": timings.output_tokens,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": timings.prompt_tokens + timings.output_tokens,
    }
