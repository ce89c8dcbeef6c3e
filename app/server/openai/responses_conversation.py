"""From the items and tools of a response's request to the conversation that the model answers."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pydantic import BaseModel

from app.runtime.chat import ChatRequest, ToolChoice, json_grammar
from app.runtime.custom_tools import InputGrammar, as_arguments, as_function
from app.runtime.tools.connection import model_name
from app.runtime.tools.loop import REFUSED, from_outside
from app.server.body import Hint, RequestFields, ignore
from app.server.errors import ApiError, bad_request, unsupported
from app.server.images import ImagePart, little_detail, written_content
from app.server.openai.responses_items import (
    ResponseCompaction,
    ResponseCustomCall,
    ResponseCustomCallOutput,
    ResponseFunctionCall,
    ResponseFunctionCallOutput,
    ResponseInput,
    ResponseInputImage,
    ResponseInputPart,
    ResponseItem,
    ResponseItemReference,
    ResponseMcpApprovalRequest,
    ResponseMcpApprovalResponse,
    ResponseMcpCall,
    ResponseMessage,
    ResponseOtherItem,
    ResponseOtherPart,
    ResponseReasoning,
    ResponseRefusal,
    new_item_id,
)
from app.server.openai.responses_mcp import RequestTools, call_result
from app.server.openai.responses_protocol import (
    ResponseAllowedTools,
    ResponseCustomTool,
    ResponseFileSearchTool,
    ResponseFunctionTool,
    ResponseMcpTool,
    ResponseNamedCustom,
    ResponseNamedFunction,
    ResponseNamedMcp,
    ResponseOtherChoice,
    ResponseOtherTool,
    ResponsesRequest,
    ResponseTool,
    ResponseToolChoice,
    ResponseUsage,
    RunnableTool,
    SchemaFormat,
)
from engine.types import Grammar, SamplingParams

LOGPROBS = "message.output_text.logprobs"
Place = Callable[[int], str]  # where an item stands in the request


def chat_request(
    body: ResponsesRequest,
    items: Sequence[ResponseItem],
    places: Sequence[str],
    offered: OfferedTools,
    markers: Collection[str] = (),
) -> ChatRequest:
    messages = template_messages(items, places.__getitem__, markers)
    if body.instructions is not None:
        messages.insert(0, {"role": "system", "content": body.instructions})
    return ChatRequest(
        messages=messages,
        sampling=SamplingParams(
            max_tokens=body.max_output_tokens,
            temperature=body.temperature,
            top_p=body.top_p,
            presence_penalty=body.presence_penalty or 0.0,
            frequency_penalty=body.frequency_penalty or 0.0,
            logprobs=LOGPROBS in (body.include or ()) or body.top_logprobs is not None,
            top_logprobs=body.top_logprobs or 0,
        ),
        tools=template_tools(offered.tools),
        tool_choice=offered.choice,
        parallel_calls=body.parallel_tool_calls is not False,
        max_calls=body.max_tool_calls,
        input_grammars=offered.grammars,
        grammar=_grammar(body),
        strict_grammar=_is_strict(body),
        schema_field="text.format.schema",
        effort=body.reasoning.effort if body.reasoning is not None else None,
        effort_field="reasoning.effort",
        **_budget(body),
    )


def _budget(body: ResponsesRequest) -> dict[str, Any]:
    inner = body.reasoning.max_tokens if body.reasoning is not None else None
    given = body.thinking_token_budget if inner is None else inner
    field = "thinking_token_budget" if inner is None else "reasoning.max_tokens"
    return {} if given is None or given < 0 else {"reasoning_tokens": given, "budget_field": field}


def _is_strict(body: ResponsesRequest) -> bool:
    return body.text is not None and isinstance(body.text.format, SchemaFormat) and bool(body.text.format.strict)


def _grammar(body: ResponsesRequest) -> Grammar | None:
    wanted = body.text.format if body.text is not None else None
    if isinstance(wanted, SchemaFormat):
        return json_grammar(wanted.schema_, _is_strict(body))
    return json_grammar() if wanted is not None and wanted.type == "json_object" else None


# -- items


def resolved(
    items: Sequence[ResponseItem], find: Callable[[str], ResponseItem | None]
) -> tuple[list[ResponseItem], list[str]]:
    """The items that the model reads, and where each stands in the request. References become what they name."""
    found: list[ResponseItem] = []
    places: list[str] = []
    for at, item in enumerate(items):
        place = f"input[{at}]"
        if isinstance(item, ResponseCompaction):
            item = as_message(item) or ResponseOtherItem(type=item.type)
        if isinstance(item, ResponseOtherItem):
            if not ignore(f"input.{item.type}"):
                raise unsupported(place, f"Items of the type {item.type[:100]} are not read here.")
            continue
        if isinstance(item, ResponseItemReference):
            stored = find(item.id)
            if stored is None:
                raise ApiError(
                    404, f"There is no stored item {item.id[:100]!r}.", code="item_not_found", param=f"{place}.id"
                )
            item = stored
        found.append(item)
        places.append(place)
    return found, places


def check_outputs(items: Sequence[ResponseItem], places: Sequence[str]) -> None:
    """Each output belongs to a call before it."""
    calls: set[str] = set()
    for item, place in zip(items, places):
        if isinstance(item, ResponseFunctionCall | ResponseCustomCall):
            calls.add(item.call_id)
        elif isinstance(item, ResponseFunctionCallOutput | ResponseCustomCallOutput) and item.call_id not in calls:
            raise bad_request(
                f"{place}.call_id: there is no call {item.call_id[:100]!r} before this output.", f"{place}.call_id"
            )


def template_messages(
    items: Sequence[ResponseItem], place: Place = "input[{}]".format, markers: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Items as chat messages. Consecutive reasoning, text and calls are one message of the assistant. `markers` are taken out of
    what MCP tools returned."""
    messages: list[dict[str, Any]] = []
    asked = {item.id: item for item in items if isinstance(item, ResponseMcpApprovalRequest)}

    def assistant() -> dict[str, Any]:
        if not messages or messages[-1]["role"] != "assistant":
            messages.append({"role": "assistant", "content": ""})
        return messages[-1]

    def called(id: str, item: ResponseMcpCall | ResponseMcpApprovalRequest, result: str) -> None:
        function = {"name": model_name(item.server_label, item.name), "arguments": item.arguments}
        assistant().setdefault("tool_calls", []).append({"id": id, "type": "function", "function": function})
        messages.append({"role": "tool", "tool_call_id": id, "content": result})

    for at, item in enumerate(items):
        if isinstance(item, ResponseReasoning):
            reasoning = "\n".join(part.text for part in item.content or item.summary or ())
            messages.append(
                {"role": "assistant", "content": ""} | ({"reasoning_content": reasoning} if reasoning else {})
            )
        elif isinstance(item, ResponseFunctionCall | ResponseCustomCall):
            arguments = as_arguments(item.input) if isinstance(item, ResponseCustomCall) else item.arguments
            function = {"name": item.name, "arguments": arguments}
            call = {"id": item.call_id, "type": "function", "function": function}
            assistant().setdefault("tool_calls", []).append(call)
        elif isinstance(item, ResponseMcpCall):
            called(item.id or "", item, from_outside(f"{item.server_label}/{item.name}", call_result(item), markers))
        elif isinstance(item, ResponseMcpApprovalResponse):
            if not item.approve:
                request = asked[item.approval_request_id]
                called(request.id, request, f"{REFUSED} {item.reason or ''}".strip())
        elif isinstance(item, ResponseFunctionCallOutput | ResponseCustomCallOutput):
            output = _content(item.output, f"{place(at)}.output")
            messages.append({"role": "tool", "tool_call_id": item.call_id, "content": output})
        elif isinstance(item, ResponseMessage):
            content = _content(item.content, f"{place(at)}.content")
            if item.role == "assistant" and messages and _is_reasoning_only(messages[-1]):
                messages[-1]["content"] = content
            else:
                messages.append({"role": "system" if item.role == "developer" else item.role, "content": content})
    return messages


def _is_reasoning_only(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and not message["content"] and "tool_calls" not in message


def _content(content: str | Sequence[ResponseInputPart], place: str) -> str | list[dict[str, Any]]:
    if isinstance(content, str):
        return content
    return written_content([_written(part, f"{place}[{at}]") for at, part in enumerate(content)])


def _written(part: ResponseInputPart, place: str) -> str | ImagePart:
    if isinstance(part, ResponseOtherPart):
        kind = part.type.removeprefix("input_")[:100]
        raise unsupported(f"{place}.type", f"The loaded models read text and images; {kind} parts are not taken.")
    if isinstance(part, ResponseInputImage):
        if part.image_url is None or part.file_id is not None:
            name = "image_url" if part.file_id is None else "file_id"
            raise unsupported(
                f"{place}.{name}", "An image must come in image_url; files that were uploaded are not kept here."
            )
        param = f"{place}.image_url"
        return ImagePart(param, part.image_url, low=little_detail(part.detail, param))
    return part.refusal if isinstance(part, ResponseRefusal) else part.text


def without_oldest(items: Sequence[ResponseItem], share: float) -> int:
    """How many of the oldest items to drop, so that about this share of the text goes: instructions and the last turn of the
    user stay, and an output goes with its call. 0 where nothing can go."""
    last = max(
        (at for at, item in enumerate(items) if isinstance(item, ResponseMessage) and item.role == "user"), default=0
    )
    sizes = [len(json.dumps(item.model_dump(exclude_none=True))) for item in items]
    wanted, gone, count = share * sum(sizes), 0, 0
    while count < last and (gone < wanted or _has_lost_its_call(items, count)):
        gone += 0 if is_instruction(items[count]) else sizes[count]
        count += 1
    return count if gone else 0


def is_instruction(item: ResponseItem) -> bool:
    return isinstance(item, ResponseMessage) and item.role in ("system", "developer")


def _has_lost_its_call(items: Sequence[ResponseItem], dropped: int) -> bool:
    kept = items[dropped:]
    calls = {item.call_id for item in kept if isinstance(item, ResponseFunctionCall | ResponseCustomCall)}
    return any(
        isinstance(item, ResponseFunctionCallOutput | ResponseCustomCallOutput) and item.call_id not in calls
        for item in kept
    )


# -- tools


@dataclass(frozen=True)
class OfferedTools:
    tools: Sequence[RunnableTool] = ()
    choice: ToolChoice = field(default_factory=lambda: ToolChoice("none"))

    @property
    def custom(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.tools if isinstance(tool, ResponseCustomTool))

    @property
    def grammars(self) -> Mapping[str, InputGrammar]:
        found = {tool.name: input_grammar(tool) for tool in self.tools if isinstance(tool, ResponseCustomTool)}
        return {name: grammar for name, grammar in found.items() if grammar is not None}


def offered_tools(body: ResponsesRequest, mcp: RequestTools | None = None) -> OfferedTools:
    """The tools that the model may call. Those that cannot run here are ignored, unless the choice demands one of them."""
    tools = [tool for tool in runnable_tools(body.tools or (), mcp) if not isinstance(tool, ResponseMcpTool)]
    choice = body.tool_choice
    if mcp is not None:
        tools = [*([] if isinstance(choice, ResponseNamedMcp) else tools), *mcp.functions(_labels(choice))]
        choice = "required" if isinstance(choice, ResponseNamedMcp) else choice
    searches = any(isinstance(tool, ResponseFileSearchTool) for tool in body.tools or ())
    if searches and (
        (choice == "required" and not tools)
        or (isinstance(choice, ResponseOtherChoice) and choice.type == "file_search")
    ):
        choice = None  # it is searched in any case
    if isinstance(choice, ResponseOtherChoice | ResponseNamedMcp):
        raise _cannot_run(choice.type, "tool_choice")
    if isinstance(choice, ResponseAllowedTools):
        tools, choice = _allowed(choice, tools, mcp), choice.mode
        if not tools and choice == "auto":
            return OfferedTools()
    hosted = sorted({tool.type for tool in body.tools or () if isinstance(tool, ResponseOtherTool | ResponseMcpTool)})
    if choice == "required" and hosted and not tools:
        raise _cannot_run(", ".join(hosted), "tool_choice")
    return OfferedTools(tools, tool_choice(choice, tools))


def _labels(choice: ResponseToolChoice | None) -> dict[str, list[str]] | None:
    """The MCP servers that a choice names, with the names of their tools; None: it names none."""
    if isinstance(choice, ResponseNamedMcp):
        return {choice.server_label: [choice.name] if choice.name else []}
    if not isinstance(choice, ResponseAllowedTools):
        return None
    found: dict[str, list[str]] = {}
    for one in choice.tools:
        if one.type == "mcp" and one.server_label is not None:
            found.setdefault(one.server_label, []).extend([one.name] if one.name else [])
    return found


def runnable_tools(
    tools: Sequence[ResponseTool], mcp: RequestTools | None = None
) -> list[RunnableTool | ResponseMcpTool]:
    found: list[RunnableTool | ResponseMcpTool] = []
    for at, tool in enumerate(tools):
        if isinstance(tool, ResponseFunctionTool | ResponseCustomTool) or (mcp is not None and tool in mcp.given):
            found.append(tool)  # type: ignore[arg-type]
        elif isinstance(tool, ResponseFileSearchTool):
            continue
        elif not ignore(f"tools.{tool.type}"):
            raise _cannot_run(tool.type, f"tools[{at}].type")
    return found


def _allowed(
    choice: ResponseAllowedTools, tools: Sequence[RunnableTool], mcp: RequestTools | None
) -> list[RunnableTool]:
    names, servers = {tool.name for tool in tools}, set() if mcp is None else {one.server_label for one in mcp.given}
    for at, one in enumerate(choice.tools):
        if one.type in ("function", "custom") and one.name not in names:
            place = f"tool_choice.tools[{at}].name"
            raise bad_request(f"tool_choice allows {one.name!r}, which is none of the tools.", place)
        known = one.type in ("function", "custom") or one.server_label in servers
        if not known and choice.mode == "required" and len(choice.tools) == 1:
            raise _cannot_run(one.type, "tool_choice")
    wanted = {one.name for one in choice.tools if one.type in ("function", "custom")}
    offered = set() if mcp is None else set(mcp.offered)  # which were chosen by their servers
    return [tool for tool in tools if tool.name in wanted or tool.name in offered]


def _cannot_run(kind: str, param: str) -> ApiError:
    return unsupported(
        param, f"Tools of the type {kind[:100]} cannot run here; function and custom tools and file_search can."
    )


def input_grammar(tool: ResponseCustomTool) -> InputGrammar | None:
    form = tool.format
    if form is None or form.type == "text":
        return None
    if form.syntax is None or form.definition is None:
        raise bad_request("A grammar has a syntax, lark or regex, and a definition.", "tools.format")
    return InputGrammar(form.syntax, form.definition)


def template_tools(tools: Sequence[RunnableTool] | None) -> list[dict[str, Any]]:
    return [
        {
            "type": "function",
            "function": as_function(tool.name, tool.description, input_grammar(tool))
            if isinstance(tool, ResponseCustomTool)
            else tool.model_dump(exclude_none=True, exclude={"type"}),
        }
        for tool in tools or ()
    ]


def tool_choice(wanted: ResponseToolChoice | None, tools: Sequence[RunnableTool] | None) -> ToolChoice:
    if wanted is None:
        return ToolChoice("auto" if tools else "none")
    named = isinstance(wanted, ResponseNamedFunction | ResponseNamedCustom)
    choice = ToolChoice("named", wanted.name) if named else ToolChoice(wanted)  # type: ignore[arg-type, union-attr]
    if not tools and choice.kind in ("required", "named"):
        raise bad_request("tool_choice asks for a call, but there are no tools.", "tool_choice")
    return choice


# -- `/v1/responses/compact`: a conversation becomes one item, which holds a summary that the model wrote
#
# Clients pass the item back unchanged, and the model reads the summary in its place. Its content is opaque to them, but not secret.

SUMMARIZE = (
    "Summarize this conversation so that it can go on from the summary alone. Keep what was decided, the facts, names, numbers"
    " and paths that matter, and what is still to be done. Write the summary and nothing else."
)
_SUMMARY = "grus_summary"


class CompactRequest(RequestFields):
    model: str
    input: ResponseInput | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    prompt_cache_key: Hint[str] = None


class CompactedResponse(BaseModel):
    id: str
    object: Literal["response.compaction"] = "response.compaction"
    created_at: int
    output: list[dict[str, Any]]
    usage: ResponseUsage


def compacted(response: dict[str, Any]) -> CompactedResponse:
    """Made of the response that holds the summary."""
    messages = [item for item in response["output"] if item["type"] == "message"]
    summary = "".join(part["text"] for item in messages for part in item["content"])
    content = base64.b64encode(json.dumps({_SUMMARY: summary}).encode()).decode()
    item = {"type": "compaction", "id": new_item_id("cmp"), "encrypted_content": content}
    return CompactedResponse(
        id=response["id"], created_at=response["created_at"], output=[item], usage=response["usage"]
    )


def as_message(item: ResponseCompaction) -> ResponseMessage | None:
    """What the model reads in the item's place. None: another server made it."""
    try:
        summary = json.loads(base64.b64decode(item.encrypted_content, validate=True))[_SUMMARY]
    except (ValueError, binascii.Error, KeyError, TypeError):
        return None
    return ResponseMessage(role="user", content=f"A summary of the conversation so far:\n\n{summary}")
