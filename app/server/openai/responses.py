"""`/v1/responses`: OpenAI's responses, from input items to a conversation, from a reply to output items and events, and their storage."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.runtime.chat import ChatRequest, ToolChoice, json_grammar
from app.runtime.replies import ReplyEvent
from app.server.body import JsonRoute
from app.server.context import Here, answer
from app.server.documented import errors, streams
from app.server.errors import ApiError, as_api_error, bad_request, unsupported
from app.server.images import ImagePart, little_detail, written_content
from app.server.openai.responses_protocol import (
    ResponseDeleted,
    ResponseFunctionCall,
    ResponseFunctionCallOutput,
    ResponseFunctionTool,
    ResponseInputImage,
    ResponseInputPart,
    ResponseInputText,
    ResponseItem,
    ResponseMessage,
    ResponseNamedFunction,
    ResponseObject,
    ResponseOutputText,
    ResponseReasoning,
    ResponsesRequest,
    SchemaFormat,
)
from app.server.openai.responses_store import ResponseStore
from app.server.openai.shapes import content_logprobs
from app.server.requests import RunningRequest
from app.server.streaming import event
from engine.errors import GrusError
from engine.text.tokenizer import Tokenizer
from engine.types import Grammar, SamplingParams, Timings, new_id

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])


@router.post("/v1/responses", response_model=ResponseObject, responses=streams() | errors(400, 404, 429))
async def create(body: ResponsesRequest, request: Request, server: Here) -> Any | Response:
    """A reply to items, whole or as a stream of events. It can be continued by its id unless `store` is false."""
    exchange = await asyncio.to_thread(Exchange, body, server.responses)  # reads the previous response from disk
    name, model, prepared = await server.prepare(exchange.conversation, body.model, request)
    running = server.submit(prepared)
    exchange.begin(running, name, model.tokenizer)
    if body.stream:
        return await server.stream(running, exchange.events())
    return answer(await asyncio.to_thread(exchange.complete, await server.parts(request, running)))


@router.get("/v1/responses/{id}", response_model=ResponseObject, responses=errors(400, 404))
async def retrieve(id: str, server: Here) -> Response:
    """A stored response."""
    stored = await asyncio.to_thread(server.responses.get, id)
    if stored is None:
        raise _missing(id)
    return answer(stored.response)


@router.delete("/v1/responses/{id}", responses=errors(400, 404))
async def delete(id: str, server: Here) -> ResponseDeleted:
    """Delete a stored response."""
    if not await asyncio.to_thread(server.responses.delete, id):
        raise _missing(id)
    return ResponseDeleted(id=id)


def _missing(id: str) -> ApiError:
    return ApiError(404, f"There is no stored response {id[:100]!r}.", code="response_not_found", param="id")


class Exchange:
    """One request and its response."""

    def __init__(self, body: ResponsesRequest, store: ResponseStore) -> None:
        self.body = body
        self._store = store
        self.id = new_id("resp")
        self.created = int(time.time())
        self.history = self._history()
        given: list[ResponseItem] = (
            [ResponseMessage(role="user", content=body.input)] if isinstance(body.input, str) else body.input
        )
        self.given = [item.model_dump(exclude_none=True) for item in given]
        self.conversation = self._conversation(given)
        self.items: OutputItems | None = None
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

    def _conversation(self, given: Sequence[ResponseItem]) -> ChatRequest:
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
            strict_grammar=_is_strict(body),
            schema_field="text.format.schema",
            effort=body.reasoning.effort if body.reasoning is not None else None,
        )

    def begin(self, running: RunningRequest, name: str, tokenizer: Tokenizer) -> None:
        self.running, self.name, self.items = running, name, OutputItems(tokenizer)

    def complete(self, parts: Sequence[ReplyEvent]) -> dict[str, Any]:
        assert self.items is not None
        broken = {part.call for part in parts if part.kind == "broken"}
        for part in parts:
            if part.kind in ("call", "arguments") and part.call in broken:
                continue
            for _ in self.items.add(replace(part, kind="answer") if part.kind == "broken" else part):
                pass
        return self._store_response(self._object())

    async def events(self) -> AsyncIterator[bytes]:
        assert self.items is not None
        assert self.running is not None
        number = 0

        def numbered(kind: str, data: dict[str, Any]) -> bytes:
            nonlocal number
            number += 1
            return event({"type": kind, "sequence_number": number - 1, **data}, kind)

        for kind in ("response.created", "response.in_progress"):
            yield numbered(kind, {"response": self._object("in_progress")})
        try:
            async for part in self.running.streamed():
                for kind, data in self.items.add(part):
                    yield numbered(kind, data)
        except GrusError as error:
            problem = as_api_error(error)
            failed = self._object("failed") | {"error": {"code": "server_error", "message": problem.message}}
            yield numbered("response.failed", {"response": failed})
            return
        whole = await asyncio.to_thread(self._store_response, self._object())
        yield numbered(f"response.{whole['status']}", {"response": whole})

    def _store_response(self, response: dict[str, Any]) -> dict[str, Any]:
        if self.body.store is not False:
            self._store.put(response, [*self.history, *self.given, *response["output"]])
        return response

    def _object(self, status: str | None = None) -> dict[str, Any]:
        assert self.items is not None
        assert self.running is not None
        body = self.body
        cut = self.items.reason in ("length", "cancelled")
        status = status or ("incomplete" if cut else "completed")
        over = status in ("completed", "incomplete")
        dumped = body.model_dump(exclude_none=True, by_alias=True)
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": "max_output_tokens"} if status == "incomplete" else None,
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


def stored_items(items: Sequence[dict[str, Any]]) -> list[ResponseItem]:
    kinds: dict[str, Any] = {
        "message": ResponseMessage,
        "function_call": ResponseFunctionCall,
        "function_call_output": ResponseFunctionCallOutput,
        "reasoning": ResponseReasoning,
    }
    return [kinds[item["type"]].model_validate(item) for item in items]


def template_messages(items: Sequence[ResponseItem]) -> list[dict[str, Any]]:
    """Items as chat messages. Consecutive reasoning, text and calls are one message of the assistant."""
    messages: list[dict[str, Any]] = []

    def assistant() -> dict[str, Any]:
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": ""})
        return messages[-1]

    for at, item in enumerate(items):
        if isinstance(item, ResponseReasoning):
            reasoning = "\n".join(part.text for part in item.content or ())
            messages.append(
                {"role": "assistant", "content": ""} | ({"reasoning_content": reasoning} if reasoning else {})
            )
        elif isinstance(item, ResponseFunctionCall):
            function = {"name": item.name, "arguments": item.arguments}
            call = {"id": item.call_id, "type": "function", "function": function}
            assistant().setdefault("tool_calls", []).append(call)
        elif isinstance(item, ResponseFunctionCallOutput):
            output = item.output if isinstance(item.output, str) else "\n".join(part.text for part in item.output)
            messages.append({"role": "tool", "tool_call_id": item.call_id, "content": output})
        elif item.role == "assistant" and messages and _is_reasoning_only(messages[-1]):
            messages[-1]["content"] = _content(item, at)
        else:
            role = "system" if item.role == "developer" else item.role
            messages.append({"role": role, "content": _content(item, at)})
    return messages


def _is_reasoning_only(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and not message["content"] and "tool_calls" not in message


def _content(item: ResponseMessage, at: int) -> str | list[dict[str, Any]]:
    if isinstance(item.content, str):
        return item.content
    return written_content([_written(part, f"input.{at}.content") for part in item.content])


def _written(part: ResponseInputPart, param: str) -> str | ImagePart:
    if isinstance(part, ResponseInputText | ResponseOutputText):
        return part.text
    if isinstance(part, ResponseInputImage):
        if part.image_url is None or part.file_id is not None:
            raise unsupported(param, "An image must come in image_url; files that were uploaded are not kept here.")
        return ImagePart(param, part.image_url, low=little_detail(part.detail, param))
    kind = part.type.removeprefix("input_")
    raise unsupported(param, f"The loaded models read text and images; {kind} parts are not taken.")


def template_tools(tools: Sequence[ResponseFunctionTool] | None) -> list[dict[str, Any]]:
    return [
        {"type": "function", "function": tool.model_dump(exclude_none=True, exclude={"type"})} for tool in tools or ()
    ]


def tool_choice(wanted: str | ResponseNamedFunction | None, tools: Sequence[ResponseFunctionTool] | None) -> ToolChoice:
    if wanted is None:
        return ToolChoice("auto" if tools else "none")
    choice = ToolChoice("named", wanted.name) if isinstance(wanted, ResponseNamedFunction) else ToolChoice(wanted)  # type: ignore[arg-type]
    if not tools and choice.kind in ("required", "named"):
        raise bad_request("tool_choice asks for a call, but there are no tools.", "tool_choice")
    return choice


def _is_strict(body: ResponsesRequest) -> bool:
    return body.text is not None and isinstance(body.text.format, SchemaFormat) and bool(body.text.format.strict)


def _grammar(body: ResponsesRequest) -> Grammar | None:
    wanted = body.text.format if body.text is not None else None
    if isinstance(wanted, SchemaFormat):
        return json_grammar(wanted.schema_, _is_strict(body))
    return json_grammar() if wanted is not None and wanted.type == "json_object" else None


def _usage(timings: Timings, reasoning: int) -> dict[str, Any]:
    return {
        "input_tokens": timings.prompt_tokens,
        "input_tokens_details": {"cached_tokens": timings.cached_tokens},
        "output_tokens": timings.output_tokens,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": timings.prompt_tokens + timings.output_tokens,
    }


ResponseEvent = tuple[str, dict[str, Any]]  # an event's type and fields


class OutputItems:
    """A reply's parts as output items, in `output`, and the events that report them. One item is open at a time."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._kind = ""  # of the open item
        self._scores: list[dict[str, Any]] = []
        self.output: list[dict[str, Any]] = []
        self.reason = "stop"

    def add(self, part: ReplyEvent) -> Iterator[ResponseEvent]:
        if part.kind == "tokens":
            self._scores += content_logprobs(self._tokenizer, part.logprobs)
        elif part.kind == "end":
            self.reason = part.reason
            if not self.output:  # an empty reply is an empty message
                yield from self._open("answer", part)
            yield from self._close("completed" if part.reason != "length" else "incomplete")
        elif part.kind == "arguments":
            self.output[-1]["arguments"] += part.text
            yield "response.function_call_arguments.delta", {**self._place, "delta": part.text}
        else:
            if part.kind == "call" or part.kind != self._kind:
                yield from self._close("completed")
                yield from self._open(part.kind, part)
            if part.kind != "call":
                yield from self._add_text(part.text)

    @property
    def _place(self) -> dict[str, Any]:
        return {"item_id": self.output[-1]["id"], "output_index": len(self.output) - 1}

    def _open(self, kind: str, part: ReplyEvent) -> Iterator[ResponseEvent]:
        self._kind = kind
        item: dict[str, Any]
        if kind == "call":
            item = {"type": "function_call", "id": new_id("fc"), "call_id": part.call_id, "name": part.name}
            item |= {"arguments": ""}
        elif kind == "reasoning":
            item = {"type": "reasoning", "id": new_id("rs"), "summary": [], "content": []}
        else:
            item = {"type": "message", "id": new_id("msg"), "role": "assistant", "content": []}
        self.output.append({**item, "status": "in_progress"})
        yield "response.output_item.added", {"output_index": len(self.output) - 1, "item": dict(self.output[-1])}
        if kind != "call":
            self.output[-1]["content"] = [self._empty()]
            yield "response.content_part.added", {**self._place, "content_index": 0, "part": self._empty()}

    def _empty(self) -> dict[str, Any]:
        if self._kind == "reasoning":
            return {"type": "reasoning_text", "text": ""}
        return {"type": "output_text", "text": "", "annotations": [], "logprobs": []}

    def _add_text(self, text: str) -> Iterator[ResponseEvent]:
        content = self.output[-1]["content"][0]
        content["text"] += text
        delta = {**self._place, "content_index": 0, "delta": text}
        if self._kind == "reasoning":
            yield "response.reasoning_text.delta", delta
        else:
            scores, self._scores = self._scores, []
            content["logprobs"] += scores
            yield "response.output_text.delta", {**delta, "logprobs": scores}

    def _close(self, status: str) -> Iterator[ResponseEvent]:
        if not self._kind:
            return
        item = self.output[-1]
        item["status"] = status
        if self._kind == "call":
            done = {"name": item["name"], "arguments": item["arguments"]}
            yield "response.function_call_arguments.done", {**self._place, **done}
        else:
            content = item["content"][0]
            at = {**self._place, "content_index": 0}
            if self._kind == "reasoning":
                yield "response.reasoning_text.done", {**at, "text": content["text"]}
            else:
                content["logprobs"] += self._scores
                done = {**at, "text": content["text"], "logprobs": content["logprobs"]}
                yield "response.output_text.done", done
            yield "response.content_part.done", {**at, "part": content}
        self._kind, self._scores = "", []
        yield "response.output_item.done", {"output_index": len(self.output) - 1, "item": item}
