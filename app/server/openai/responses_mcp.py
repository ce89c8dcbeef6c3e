"""MCP tools of a response: which the model is offered, which calls need an approval, and what came of a call, as OpenAI's items say it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from app.runtime.tools.connection import McpConnection, McpTool, model_name
from app.runtime.tools.loop import bounded, checked_arguments
from app.runtime.tools.tool import Tool, ToolResult
from app.server.errors import ApiError, bad_request, unsupported
from app.server.openai.responses_items import (
    ResponseItem,
    ResponseMcpApprovalRequest,
    ResponseMcpApprovalResponse,
    ResponseMcpCall,
    new_item_id,
)
from app.server.openai.responses_protocol import (
    ResponseFunctionTool,
    ResponseMcpApproval,
    ResponseMcpFilter,
    ResponseMcpTool,
)
from app.server.tools import ServerTools
from engine.errors import GrusError

_FAILED_DEPENDENCY = 424
_INVALID_PARAMS, _INTERNAL = -32602, -32603  # of JSON-RPC


@dataclass(frozen=True)
class OfferedMcpTool:
    label: str  # of the server, as the request calls it
    name: str
    tool: Tool
    approval: bool  # the client is asked before each call


class RequestTools:
    """The MCP tools of one request, by the names that the model uses. `stop` ends what runs and closes what was opened for it."""

    def __init__(self, given: Sequence[ResponseMcpTool], tools: ServerTools) -> None:
        self.given = given
        self.offered: dict[str, OfferedMcpTool] = {}
        self._tools = tools
        self._connections: list[McpConnection] = []
        self._stop: Future[None] = Future()

    async def open(self, listed: Collection[str]) -> list[dict[str, Any]]:
        """Ask the servers for their tools. The items that say what they have, but for those of `listed` labels."""
        items = []
        for entry in self.given:
            found = [one for one in await self._found(entry) if _allowed(entry.allowed_tools, one[0])]
            for tool, free in found:
                name = tool.label.partition("/")[2] or tool.name
                asks = not free or _asks(entry.require_approval, tool)
                self.offered[model_name(entry.server_label, name)] = OfferedMcpTool(
                    entry.server_label, name, tool, asks
                )
            if entry.server_label not in listed:
                shown = [_shown(tool) for tool, _ in found]
                head = {"type": "mcp_list_tools", "id": new_item_id("mcpl"), "server_label": entry.server_label}
                items.append({**head, "tools": shown, "error": None})
        return items

    async def _found(self, entry: ResponseMcpTool) -> list[tuple[Tool, bool]]:
        label = entry.server_label
        try:
            if entry.server_url is None:
                return await self._tools.added(label)
            headers = dict(entry.headers or {})
            if entry.authorization is not None:
                headers["Authorization"] = f"Bearer {entry.authorization}"
            connection, tools = await self._tools.at(label, entry.server_url, headers)
        except GrusError as error:
            raise ApiError(
                _FAILED_DEPENDENCY,
                f"The tools of {label} cannot be listed: {error}",
                code="external_connector_error",
                param="tools",
            ) from None
        self._connections.append(connection)
        return [(tool, True) for tool in tools]

    def functions(self, labels: Mapping[str, Collection[str]] | None = None) -> list[ResponseFunctionTool]:
        """As the model is offered them. `labels`: of these servers alone, and of these names where there are any."""
        return [
            ResponseFunctionTool(
                type="function", name=name, description=one.tool.description, parameters=dict(one.tool.parameters)
            )
            for name, one in self.offered.items()
            if labels is None or (one.label in labels and (not labels[one.label] or one.name in labels[one.label]))
        ]

    async def run(self, item: dict[str, Any]) -> None:
        """Make the call of an item of the type mcp_call, and say in it what came of it."""
        offered = self.offered.get(model_name(item["server_label"], item["name"]))
        error: dict[str, Any]
        try:
            arguments = checked_arguments(item["arguments"])
            if offered is None:
                raise ValueError(f"{item['server_label']} has no tool {item['name']}, or it is not allowed.")
            result = await self._result(offered.tool, arguments)
        except (ValueError, GrusError) as problem:
            code = _INVALID_PARAMS if isinstance(problem, ValueError) else _INTERNAL
            error = {"type": "mcp_protocol_error", "code": code, "message": bounded(str(problem))}
            item |= {"status": "failed", "error": error}
            return
        if result is None:
            item["status"] = "incomplete"
        elif result.failed:
            content = [{"type": "text", "text": bounded(result.text)}]
            item |= {"status": "failed", "error": {"type": "mcp_tool_execution_error", "content": content}}
        else:
            left_out = f"\n[{len(result.pictures)} pictures are left out.]" if result.pictures else ""
            item |= {"status": "completed", "output": bounded(result.text) + left_out}

    async def _result(self, tool: Tool, arguments: Mapping[str, Any]) -> ToolResult | None:
        """None where it was stopped. Whatever a tool raises is for the model to read."""
        call: asyncio.Future[ToolResult]
        if isinstance(tool, McpTool):
            call = asyncio.wrap_future(tool.begin(arguments))
        else:
            call = asyncio.ensure_future(asyncio.to_thread(tool.run, arguments, self._stop))
        stop: asyncio.Future[Any] = asyncio.wrap_future(self._stop)
        both: list[asyncio.Future[Any]] = [call, stop]
        try:
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not call.done() or call.cancelled():
                return None
            try:
                return call.result()
            except GrusError:
                raise
            except Exception as error:
                return ToolResult(f"Error: {error}", failed=True)
        finally:
            call.cancel()

    def stop(self) -> None:
        if not self._stop.done():
            self._stop.set_result(None)
        for connection in self._connections:
            connection.stop_soon()
        self._connections = []


def check_entries(given: Sequence[ResponseMcpTool]) -> None:
    if twice := [
        one.server_label for at, one in enumerate(given) if one.server_label in [two.server_label for two in given[:at]]
    ]:
        raise bad_request(f"Two MCP servers are called {twice[0]}.", "tools")
    for entry in given:
        if entry.connector_id is not None or entry.tunnel_id is not None:
            raise unsupported("tools", "Connectors and tunnels are OpenAI's own. Name an MCP server with server_url.")


def _allowed(wanted: list[str] | ResponseMcpFilter | None, tool: Tool) -> bool:
    if wanted is None:
        return True
    return _matches(ResponseMcpFilter(tool_names=wanted) if isinstance(wanted, list) else wanted, tool)


def _matches(wanted: ResponseMcpFilter, tool: Tool) -> bool:
    name = tool.label.partition("/")[2] or tool.name
    return (wanted.tool_names is None or name in wanted.tool_names) and wanted.read_only in (None, tool.read_only)


def _asks(wanted: str | ResponseMcpApproval | None, tool: Tool) -> bool:
    """Whether the client wants to be asked: yes, unless it says otherwise."""
    if wanted is None or isinstance(wanted, str):
        return wanted != "never"
    if wanted.never is not None and _matches(wanted.never, tool):
        return False
    return wanted.always is None or _matches(wanted.always, tool) or wanted.never is not None


def _shown(tool: Tool) -> dict[str, Any]:
    name = tool.label.partition("/")[2] or tool.name
    return {
        "name": name, "description": tool.description, "input_schema": dict(tool.parameters),
        "annotations": {"readOnlyHint": True} if tool.read_only else None,
    }  # fmt: skip


def shown_entry(entry: ResponseMcpTool) -> dict[str, Any]:
    """As a response repeats it: no header and no token."""
    shown = entry.model_dump(exclude={"headers", "authorization", "connector_id", "tunnel_id"})
    return shown | {"headers": None}


# -- approvals


def approved_calls(items: Sequence[ResponseItem], places: Sequence[str]) -> list[dict[str, Any]]:
    """Calls that the client has approved and that were not made yet, as items."""
    requests = {item.id: item for item in items if isinstance(item, ResponseMcpApprovalRequest)}
    made = {item.approval_request_id for item in items if isinstance(item, ResponseMcpCall)}
    found = []
    for item, place in zip(items, places):
        if not isinstance(item, ResponseMcpApprovalResponse):
            continue
        asked = requests.get(item.approval_request_id)
        if asked is None:
            raise bad_request(
                f"{place}: there is no approval request {item.approval_request_id[:100]!r} before this response.",
                f"{place}.approval_request_id",
            )
        if item.approve and asked.id not in made:
            made.add(asked.id)
            found.append(new_call(asked.server_label, asked.name, asked.arguments, asked.id))
    return found


def new_call(label: str, name: str, arguments: str = "", approval: str | None = None) -> dict[str, Any]:
    head = {"type": "mcp_call", "id": new_item_id("mcp"), "server_label": label, "name": name, "arguments": arguments}
    return {**head, "approval_request_id": approval, "output": None, "error": None, "status": "in_progress"}


def call_result(item: ResponseMcpCall) -> str:
    """What the model reads of a call."""
    if item.output is not None:
        return item.output
    error = item.error if isinstance(item.error, dict) else {"message": item.error}
    parts = error.get("content")
    if isinstance(parts, list):
        return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))
    return f"Error: {error.get('message') or 'the call was not completed'}"
