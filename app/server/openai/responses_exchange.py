"""One request of `/v1/responses` and its response: what the model is asked, the resource, its events, and its storage."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from starlette.requests import Request

from app.runtime.chat import PreparedChat, ReplyEvent, ToolChoice
from app.runtime.library.answers import has_room
from app.runtime.tools.loop import ROUNDS
from app.server.body import ignore
from app.server.context import Server
from app.server.errors import ApiError, as_api_error, bad_request, error_body, unsupported
from app.server.openai.file_search import RESULTS, file_search
from app.server.openai.responses_conversation import (
    LOGPROBS,
    OfferedTools,
    chat_request,
    check_outputs,
    is_instruction,
    offered_tools,
    resolved,
    without_oldest,
)
from app.server.openai.responses_items import (
    ResponseItem,
    ResponseMcpCall,
    ResponseMcpListTools,
    ResponseMessage,
    new_item_id,
    stored_form,
    stored_items,
)
from app.server.openai.responses_mcp import RequestTools, approved_calls, check_entries, shown_entry
from app.server.openai.responses_output import OutputItems, ResponseEvent
from app.server.openai.responses_protocol import (
    ResponseCustomTool,
    ResponseFileSearchTool,
    ResponseFunctionTool,
    ResponseMcpTool,
    ResponseOtherTool,
    ResponsesRequest,
    ResponseTool,
    SchemaFormat,
)
from app.server.openai.responses_store import ResponseStore, StoredResponse
from app.server.requests import RunningRequest, joined, while_connected
from app.server.tools import ServerTools
from engine.errors import ContextOverflow, GrusError
from engine.loading import LoadedModel
from engine.types import SamplingParams, Timings

log = logging.getLogger("grus.server")

Find = Callable[[str], StoredResponse | None]


class Exchange:
    """Reads the previous response from disk: create it off the event loop."""

    def __init__(
        self, body: ResponsesRequest, store: ResponseStore, find: Find | None = None, tools: ServerTools | None = None
    ) -> None:
        """`find` looks stored responses up, in the store by default. `tools`: what a request may have this server call."""
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
        entries = [tool for tool in body.tools or () if isinstance(tool, ResponseMcpTool)]
        allowed = [one for one in entries if tools is not None and tools.allows(one.server_label, one.server_url)]
        check_entries(allowed)
        self.mcp = RequestTools(allowed, tools) if allowed and tools is not None else None
        self._approved = approved_calls(self._items, self._places)
        self._opening: list[
            dict[str, Any]
        ] = []  # items that come before the reply: lists of tools, calls that were approved
        self._markers: frozenset[str] = frozenset()
        self.offered = offered_tools(body) if self.mcp is None else OfferedTools()
        self._search = file_search(body.tools or (), self._items, body.tool_choice)
        self.items: OutputItems | None = None
        self.running: RunningRequest | None = None
        self._rounds: list[RunningRequest] = []  # replies before the one that runs
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
        self.conversation = chat_request(self.body, items, self._places, self.offered, self._markers)

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
        self._request, self._server = request, server
        try:
            if self._search is not None:
                await while_connected(request.receive, self._search.run(server), self.stop)
            if self.mcp is not None:
                await while_connected(request.receive, self._open_tools(self.mcp), self.stop)
            called = self.mcp is not None or any(isinstance(item, ResponseMcpCall) for item in self._items)
            if called:
                _, found = await server.service.find(self.body.model)
                self._markers = found.tokenizer.markers
            if called or self._search is not None:
                await asyncio.to_thread(self._arrange)
            return await self._submit()
        except BaseException:
            self.stop()
            raise

    async def _open_tools(self, mcp: RequestTools) -> None:
        """List the tools, and make the calls that the client has approved."""
        listed = {item.server_label for item in self._items if isinstance(item, ResponseMcpListTools)}
        self._opening = await mcp.open(listed)
        for item in self._approved:
            await mcp.run(item)
            self._add_items([item])
        self._opening += self._approved
        self.offered = offered_tools(self.body, mcp)

    def _add_items(self, made: list[dict[str, Any]]) -> None:
        """Of this response, for the model to go on from."""
        self._items += stored_items(made)
        self._places += ["output"] * len(made)

    async def _submit(self) -> RunningRequest:
        request, server = self._request, self._server
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
        if self.items is None:
            offered = {} if self.mcp is None else self.mcp.offered
            with_results = RESULTS in (self.body.include or ())
            self.items = OutputItems(
                model.tokenizer, self.offered.custom, summarize, offered, self._search, with_results
            )
            self.items.output += self._opening
            self.items.begin_reply()

    def cancel(self) -> dict[str, Any]:
        """End the reply where it is."""
        self.cancelled = True
        self.stop()
        return self.resource("cancelled")

    def stop(self) -> None:
        """End what runs for the reply, and what was opened for it. No effect on one that has ended."""
        if self.running is not None:
            self.running.cancel()
        if self.mcp is not None:
            self.mcp.stop()

    async def _call_tools(self) -> AsyncIterator[ResponseEvent]:
        """Make the calls of the reply that has ended."""
        assert self.items is not None
        for at in self.items.waiting:
            assert self.mcp is not None
            await self.mcp.run(self.items.output[at])
            for event in self.items.called(at):
                yield event

    async def _next_round(self) -> bool:
        """Ask the model again where calls were made, and nothing is left for the client to do."""
        assert self.items is not None
        assert self.running is not None
        made, waiting = self.items.output[self.items.first :], self.items.waiting
        self.items.waiting = []
        for_client = ("function_call", "custom_tool_call", "mcp_approval_request")
        if not waiting or self.cancelled or any(item["type"] in for_client for item in made):
            return False
        self._rounds.append(self.running)
        self._add_items(made)
        calls = sum(item["type"] == "mcp_call" for item in self.items.output)
        most = self.body.max_tool_calls
        if len(self._rounds) >= ROUNDS or (most is not None and calls >= most):
            self.offered = OfferedTools()
        elif self.offered.choice.kind in ("required", "named"):  # it was called
            self.offered = replace(self.offered, choice=ToolChoice("auto"))
        await asyncio.to_thread(self._arrange)
        await self._submit()
        return True

    # -- the reply

    async def whole(self) -> dict[str, Any]:
        """The response when it has ended."""
        try:
            return await while_connected(self._request.receive, self._whole(), self.stop)
        finally:
            self.stop()

    async def _whole(self) -> dict[str, Any]:
        assert self.items is not None
        while True:
            assert self.running is not None
            self.items.begin_reply()
            self._add_parts([part async for part in self.running.parts()])
            async for _ in self._call_tools():
                pass
            if not await self._next_round():
                return await asyncio.to_thread(self._store_response, self.resource())

    def complete(self, parts: Sequence[ReplyEvent]) -> dict[str, Any]:
        self._add_parts(parts)
        return self._store_response(self.resource())

    def _add_parts(self, parts: Sequence[ReplyEvent]) -> None:
        assert self.items is not None
        broken = {part.call for part in parts if part.kind == "broken"}
        for part in parts:
            if part.kind in ("call", "arguments") and part.call in broken:
                continue
            for _ in self.items.add(replace(part, kind="answer") if part.kind == "broken" else part):
                pass

    async def events(self) -> AsyncIterator[ResponseEvent]:
        assert self.items is not None
        assert self.running is not None
        for kind in ("response.created", "response.in_progress"):
            yield kind, {"response": self.resource("in_progress")}
        first = 0
        if self._search is not None:
            first = 1
            for event in self._search.events(0, RESULTS in (self.body.include or ())):
                yield event
        for at, item in enumerate(self._opening, first):
            for event in _opened(at, item):
                yield event
        try:
            again = True
            while again:
                self.items.begin_reply()
                async for part in self.running.streamed():
                    for added in self.items.add(part):
                        yield added
                async for called in self._call_tools():
                    yield called
                again = await self._next_round()
        except GrusError as error:
            yield "response.failed", {"response": self._failed(as_api_error(error))}
            return
        finally:
            self.stop()
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
            "tools": self._shown_tools(),
            "top_logprobs": body.top_logprobs or 0,
            "top_p": 1.0 if sampling.top_p is None else sampling.top_p,
            "truncation": body.truncation or "disabled",
            "usage": _usage([*self._rounds, self.running]) if over and self.running is not None else None,
        }

    def _shown_tools(self) -> list[dict[str, Any]]:
        if self.mcp is None:
            return [_tool(tool) for tool in self.body.tools or () if tool in self.offered.tools or _searches(tool)]
        own = [tool for tool in self.body.tools or () if not isinstance(tool, ResponseMcpTool | ResponseOtherTool)]
        return [*(_tool(tool) for tool in own), *map(shown_entry, self.mcp.given)]


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


def _opened(at: int, item: dict[str, Any]) -> Iterator[ResponseEvent]:
    """The events of an item that was there before the reply began."""
    place, begun = {"item_id": item["id"], "output_index": at}, dict(item)
    if item["type"] == "mcp_list_tools":
        yield "response.output_item.added", {"output_index": at, "item": begun | {"tools": []}}
        yield "response.mcp_list_tools.in_progress", place
        yield "response.mcp_list_tools.completed", place
    else:
        begun |= {"status": "in_progress", "output": None, "error": None}
        yield "response.output_item.added", {"output_index": at, "item": begun}
        yield "response.mcp_call.in_progress", place
        yield f"response.mcp_call.{'completed' if item['status'] == 'completed' else 'failed'}", place
    yield "response.output_item.done", {"output_index": at, "item": item}


def _usage(rounds: Sequence[RunningRequest]) -> dict[str, Any]:
    """Of all replies: each reads the conversation again, most of it from the prefix cache."""
    timings: Timings = rounds[0].timings
    for running in rounds[1:]:
        timings = joined(timings, running.timings)
    return {
        "input_tokens": timings.prompt_tokens,
        "input_tokens_details": {"cached_tokens": timings.cached_tokens, "cache_write_tokens": 0},
        "output_tokens": timings.output_tokens,
        "output_tokens_details": {"reasoning_tokens": sum(running.reader.reasoning_tokens for running in rounds)},
        "total_tokens": timings.prompt_tokens + timings.output_tokens,
    }
