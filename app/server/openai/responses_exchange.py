"""One request of `/v1/responses` and its response: what the model is asked, the resource, its events, and its storage."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from app.runtime.chat import PreparedChat, ReplyEvent
from app.runtime.library.answers import has_room
from app.server.body import ignore
from app.server.context import Server
from app.server.errors import ApiError, as_api_error, bad_request, error_body, unsupported
from app.server.openai.file_search import RESULTS, file_search
from app.server.openai.responses_conversation import (
    LOGPROBS,
    chat_request,
    check_outputs,
    is_instruction,
    offered_tools,
    resolved,
    without_oldest,
)
from app.server.openai.responses_items import (
    ResponseItem,
    ResponseMessage,
    new_item_id,
    stored_form,
    stored_items,
)
from app.server.openai.responses_output import OutputItems, ResponseEvent
from app.server.openai.responses_protocol import (
    ResponseCustomTool,
    ResponseFileSearchTool,
    ResponseFunctionTool,
    ResponsesRequest,
    ResponseTool,
    SchemaFormat,
)
from app.server.openai.responses_store import ResponseStore, StoredResponse
from app.server.requests import RunningRequest, while_connected
from engine.errors import ContextOverflow, GrusError
from engine.loading import LoadedModel
from engine.types import SamplingParams, Timings

log = logging.getLogger("grus.server")

Find = Callable[[str], StoredResponse | None]


class Exchange:
    """Reads the previous response from disk: create it off the event loop."""

    def __init__(self, body: ResponsesRequest, store: ResponseStore, find: Find | None = None) -> None:
        """`find` looks stored responses up, in the store by default."""
        self.body = body
        self._store = store
        self.id = new_item_id("resp")
        self.created = int(time.time())
        _check(body)
        self.history = self._history(find or store.get)
        past = stored_items(self.history)
        given, places = resolved(self._given(), self._stored_item)
        self.given = [stored_form(item) for item in given]
        self._items = [*past, *given]
        self._places = [*("previous_response_id" for _ in past), *places]
        if not self._items:
            raise bad_request("input is required: a text, or items.", "input")
        check_outputs(self._items, self._places)
        self.offered = offered_tools(body)
        self._search = file_search(body.tools or (), self._items, body.tool_choice)
        self.items: OutputItems | None = None
        self.running: RunningRequest | None = None
        self.cancelled = self.ended = False
        self._sampling = SamplingParams()
        self._name = body.model or ""
        self._arrange()

    def _given(self) -> list[ResponseItem]:
        if isinstance(self.body.input, str):
            return [ResponseMessage(role="user", content=self.body.input)]
        return self.body.input or []

    def _history(self, find: Find) -> list[dict[str, Any]]:
        previous = self.body.previous_response_id
        if previous is None:
            return []
        stored = find(previous)
        if stored is None:
            raise ApiError(
                404, f"There is no stored response {previous[:100]!r}.", code="previous_response_not_found",
                param="previous_response_id",
            )  # fmt: skip
        return stored.items

    def _stored_item(self, id: str) -> ResponseItem | None:
        item = next((item for item in self.history if item.get("id") == id), None) or self._store.item(id)
        return stored_items([item])[0] if item is not None else None

    def _arrange(self) -> None:
        items = self._items if self._search is None else self._search.asked(self._items)
        self.conversation = chat_request(self.body, items, self._places, self.offered)

    def _shorten(self, overflow: ContextOverflow) -> bool:
        """Drop the oldest items of a conversation that is too long. False where that was not asked for, or none may go."""
        if self.body.truncation != "auto":
            return False
        share = 1 - overflow.limit / max(overflow.tokens, overflow.limit + 1)
        count = without_oldest(self._items, share)
        kept = [at for at, item in enumerate(self._items) if at >= count or is_instruction(item)]
        self._items, self._places = [self._items[at] for at in kept], [self._places[at] for at in kept]
        self._arrange()
        return count > 0

    def ask(self, question: str) -> None:
        """Add a message of the user, which is no part of what is stored."""
        self._items.append(ResponseMessage(role="user", content=question))
        self._places.append("input")
        self._arrange()

    async def start(self, request: Request, server: Server) -> RunningRequest:
        """Submit the request and wait for its first event. Of a conversation that is too long the oldest items are dropped, where
        the client wants that; else ContextOverflow is raised. Before that, passages of files are left out."""
        if self._search is not None:
            await while_connected(request.receive, self._search.run(server), lambda: None)
            self._arrange()
        while True:
            try:
                name, model, prepared = await server.prepare(self.conversation, self.body.model, request)
                if not self._leaves_room(prepared, model):
                    continue
                running = server.submit(prepared)
                self._begin(running, name, model, prepared)
                await while_connected(request.receive, running.begun(server.settings.heartbeat_seconds), running.cancel)
                return running
            except ContextOverflow as overflow:
                if not self._show_less() and not await asyncio.to_thread(self._shorten, overflow):
                    raise

    def _leaves_room(self, prepared: PreparedChat, model: LoadedModel) -> bool:
        """Whether an answer fits behind the passages of files; else fewer of them are asked with."""
        prompt = len(prepared.request.prompt_ids)
        return has_room(prompt, model.context, self.body.max_output_tokens) or not self._show_less()

    def _show_less(self) -> bool:
        """False where no passage is left to leave out."""
        if self._search is None or not self._search.shown:
            return False
        self._search.shorten()
        self._arrange()
        return True

    def _begin(self, running: RunningRequest, name: str, model: LoadedModel, prepared: PreparedChat) -> None:
        self.running, self._name = running, name
        self._store.running[self.id] = self
        self._sampling = prepared.request.sampling.over(model.defaults)
        reasoning = self.body.reasoning
        summarize = reasoning is not None and (reasoning.summary or reasoning.generate_summary) is not None
        with_results = RESULTS in (self.body.include or ())
        self.items = OutputItems(model.tokenizer, self.offered.custom, summarize, self._search, with_results)

    def cancel(self) -> dict[str, Any]:
        """End the reply where it is."""
        self.cancelled = True
        if self.running is not None:
            self.running.cancel()
        return self.resource("cancelled")

    # -- the reply

    def complete(self, parts: Sequence[ReplyEvent]) -> dict[str, Any]:
        assert self.items is not None
        broken = {part.call for part in parts if part.kind == "broken"}
        for part in parts:
            if part.kind in ("call", "arguments") and part.call in broken:
                continue
            for _ in self.items.add(replace(part, kind="answer") if part.kind == "broken" else part):
                pass
        return self._store_response(self.resource())

    async def events(self) -> AsyncIterator[ResponseEvent]:
        assert self.items is not None
        assert self.running is not None
        for kind in ("response.created", "response.in_progress"):
            yield kind, {"response": self.resource("in_progress")}
        if self._search is not None:
            for event in self._search.events(0, RESULTS in (self.body.include or ())):
                yield event
        try:
            async for part in self.running.streamed():
                for added in self.items.add(part):
                    yield added
        except GrusError as error:
            yield "response.failed", {"response": self._failed(as_api_error(error))}
            return
        whole = await asyncio.to_thread(self._store_response, self.resource())
        ended = "incomplete" if whole["status"] == "cancelled" else whole["status"]
        yield f"response.{ended}", {"response": whole}

    async def silence(self) -> AsyncIterator[ResponseEvent]:
        """The events of a response without a reply."""
        for kind in ("response.created", "response.in_progress"):
            yield kind, {"response": self.resource("in_progress")}
        yield "response.completed", {"response": await asyncio.to_thread(self._store_response, self.resource())}

    async def refusal(self, error: ApiError) -> AsyncIterator[ResponseEvent]:
        """The events of a response that failed before it began."""
        for kind in ("response.created", "response.in_progress"):
            yield kind, {"response": self.resource("in_progress")}
        yield error_event(error)
        yield "response.failed", {"response": self._failed(error)}

    def _failed(self, error: ApiError) -> dict[str, Any]:
        codes = {429: "rate_limit_exceeded", 503: "server_is_overloaded", 500: "server_error"}
        message = error_body(error, "openai")["error"]["message"]
        return self.resource("failed") | {
            "error": {"code": codes.get(error.status_code, error.code), "message": message}
        }

    def _store_response(self, response: dict[str, Any]) -> dict[str, Any]:
        self.ended = True
        if self.body.store is not False:
            self._store.put(response, self.all_items(response))
        return response

    def all_items(self, response: dict[str, Any]) -> list[dict[str, Any]]:
        return [*self.history, *self.given, *response["output"]]

    # -- the resource

    def resource(self, status: str | None = None) -> dict[str, Any]:
        body, items = self.body, self.items
        if status is None:
            cut = items is not None and items.reason in ("length", "cancelled")
            status = "cancelled" if self.cancelled else "incomplete" if cut else "completed"
        why = "max_output_tokens" if items is None or items.reason == "length" else "cancelled"
        over = status in ("completed", "incomplete", "cancelled")
        reasoning, sampling = body.reasoning, self._sampling
        return {
            "id": self.id,
            "object": "response",
            "created_at": self.created,
            "completed_at": int(time.time()) if status == "completed" else None,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": why} if status == "incomplete" else None,
            "instructions": body.instructions,
            "max_output_tokens": body.max_output_tokens,
            "max_tool_calls": body.max_tool_calls,
            "metadata": body.metadata or {},
            "model": self._name,
            "output": items.output if over and items is not None else [],
            "parallel_tool_calls": body.parallel_tool_calls is not False,
            "previous_response_id": body.previous_response_id,
            "prompt_cache_key": body.prompt_cache_key,
            "reasoning": {
                "effort": reasoning.effort if reasoning is not None else None,
                "summary": reasoning.summary or reasoning.generate_summary if reasoning is not None else None,
            },
            "safety_identifier": body.safety_identifier,
            "service_tier": "default",
            "store": body.store is not False,
            "temperature": 1.0 if sampling.temperature is None else sampling.temperature,
            "presence_penalty": sampling.presence_penalty,
            "frequency_penalty": sampling.frequency_penalty,
            "text": _text(body),
            "tool_choice": _tool_choice(body),
            "tools": [_tool(tool) for tool in body.tools or () if tool in self.offered.tools or _searches(tool)],
            "top_logprobs": body.top_logprobs or 0,
            "top_p": 1.0 if sampling.top_p is None else sampling.top_p,
            "truncation": body.truncation or "disabled",
            "usage": _usage(self.running) if over and self.running is not None else None,
        }


def _check(body: ResponsesRequest) -> None:
    if body.background:
        raise unsupported("background", "Responses are made while the client waits: background must be false.")
    for entry in body.include or ():
        if entry not in (LOGPROBS, RESULTS) and not ignore(f"include.{entry}"):
            raise unsupported("include", f"{entry[:100]!r} cannot be included; {LOGPROBS} and {RESULTS} can.")
    if body.text is not None and body.text.verbosity is not None and not ignore("text.verbosity"):
        raise unsupported(
            "text.verbosity", "The length of an answer cannot be chosen here. Say it in the instructions."
        )


def error_event(error: ApiError) -> ResponseEvent:
    """In the shape of OpenAI's clients, and in that of Open Responses."""
    detail = error_body(error, "openai")["error"]
    return "error", {"code": detail["code"], "message": detail["message"], "param": detail["param"], "error": detail}


async def numbered(events: AsyncIterator[ResponseEvent]) -> AsyncIterator[dict[str, Any]]:
    """Events as they are sent. A fault ends them with an event too."""
    number = 0
    try:
        async for kind, data in events:
            yield {"type": kind, "sequence_number": number, **data}
            number += 1
    except Exception as error:
        log.exception("A stream failed.")
        kind, data = error_event(as_api_error(error))
        yield {"type": kind, "sequence_number": number, **data}


def _text(body: ResponsesRequest) -> dict[str, Any]:
    form = body.text.format if body.text is not None else None
    verbosity = (body.text.verbosity if body.text is not None else None) or "medium"
    if isinstance(form, SchemaFormat):
        shown: dict[str, Any] = {
            "type": "json_schema",
            "name": form.name or "",
            "description": form.description,
            "schema": form.schema_,
            "strict": form.strict is not False,
        }
    else:
        shown = {"type": form.type if form is not None else "text"}
    return {"format": shown, "verbosity": verbosity}


def _tool_choice(body: ResponsesRequest) -> Any:
    choice = body.tool_choice
    return "auto" if choice is None else choice if isinstance(choice, str) else choice.model_dump(exclude_none=True)


def _searches(tool: ResponseTool) -> bool:
    return isinstance(tool, ResponseFileSearchTool)


def _tool(tool: ResponseTool) -> dict[str, Any]:
    shown = tool.model_dump()
    if not isinstance(tool, ResponseFunctionTool | ResponseCustomTool):
        return tool.model_dump(exclude_none=True)
    if isinstance(tool, ResponseFunctionTool):
        return shown | {"strict": bool(tool.strict)}
    form = {"type": "text"} if tool.format is None else tool.format.model_dump(exclude_none=True)
    return shown | {"format": form}


def _usage(running: RunningRequest) -> dict[str, Any]:
    timings: Timings = running.timings
    return {
        "input_tokens": timings.prompt_tokens,
        "input_tokens_details": {"cached_tokens": timings.cached_tokens},
        "output_tokens": timings.output_tokens,
        "output_tokens_details": {"reasoning_tokens": running.reader.reasoning_tokens},
        "total_tokens": timings.prompt_tokens + timings.output_tokens,
    }
