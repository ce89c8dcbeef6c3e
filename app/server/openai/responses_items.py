"""The input items of `/v1/responses`: messages, calls and their outputs, reasoning, and references to stored items.

The tags of unions have a "-", which an error's place omits: a client receives `input[2].content[0].image_url`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, Tag, TypeAdapter

from app.server.body import Hint, Preference, RequestFields, type_of
from app.server.openai.chat import Name
from engine.types import new_id

ItemStatus = Literal["in_progress", "completed", "incomplete"]


def new_item_id(prefix: str) -> str:
    return new_id(prefix, "_")


def text_or_list(value: Any) -> str:
    return "as-text" if isinstance(value, str) else "as-list"


# -- the parts of a content


class ResponseInputText(RequestFields):
    type: Literal["input_text", "text", "summary_text", "reasoning_text"]
    text: str


class ResponseOutputText(RequestFields):
    type: Literal["output_text"]
    text: str
    annotations: list[Any] | None = None  # accepted back; the model does not read them
    logprobs: list[Any] | None = None


class ResponseRefusal(RequestFields):
    type: Literal["refusal"]
    refusal: str


class ResponseInputImage(RequestFields):
    type: Literal["input_image"]
    image_url: str | None = None
    file_id: str | None = None
    detail: Preference[Literal["auto", "low", "high", "original"]] = None


class ResponseOtherPart(BaseModel):
    """What no model here reads: sounds, files."""

    type: str


_PARTS = {
    **dict.fromkeys(("input_text", "text", "summary_text", "reasoning_text"), "part-text"),
    "output_text": "part-output",
    "refusal": "part-refusal",
    "input_image": "part-image",
}

ResponseInputPart = Annotated[
    Annotated[ResponseInputText, Tag("part-text")]
    | Annotated[ResponseOutputText, Tag("part-output")]
    | Annotated[ResponseRefusal, Tag("part-refusal")]
    | Annotated[ResponseInputImage, Tag("part-image")]
    | Annotated[ResponseOtherPart, Tag("part-other")],
    Discriminator(lambda part: _PARTS.get(type_of(part), "part-other")),
]
ResponseContent = Annotated[
    Annotated[str, Tag("as-text")] | Annotated[list[ResponseInputPart], Tag("as-list")], Discriminator(text_or_list)
]


# -- the items


class _Item(RequestFields):
    id: str | None = None
    status: Preference[ItemStatus] = None


class ResponseMessage(_Item):
    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: ResponseContent
    phase: Hint[str] = None


class ResponseFunctionCall(_Item):
    type: Literal["function_call"]
    call_id: str
    name: Name
    arguments: str


class ResponseFunctionCallOutput(_Item):
    type: Literal["function_call_output"]
    call_id: str
    output: ResponseContent


class ResponseCustomCall(_Item):
    type: Literal["custom_tool_call"]
    call_id: str
    name: Name
    input: str


class ResponseCustomCallOutput(_Item):
    type: Literal["custom_tool_call_output"]
    call_id: str
    output: ResponseContent


class ResponseReasoning(_Item):
    type: Literal["reasoning"]
    summary: list[ResponseInputText] | None = None
    content: list[ResponseInputText] | None = None
    encrypted_content: Hint[str] = None  # of another server


class ResponseMcpListTools(RequestFields):
    """The tools of an MCP server, as a response before this one listed them."""

    type: Literal["mcp_list_tools"]
    id: str | None = None
    server_label: str
    tools: list[dict[str, Any]]
    error: Any = None


class ResponseMcpCall(_Item):
    """A call that the server of a response before this one made, with what came of it."""

    type: Literal["mcp_call"]
    status: Preference[Literal["in_progress", "completed", "incomplete", "calling", "failed"]] = None  # type: ignore[assignment]
    server_label: str
    name: str
    arguments: str
    approval_request_id: str | None = None
    output: str | None = None
    error: Any = None


class ResponseMcpApprovalRequest(RequestFields):
    type: Literal["mcp_approval_request"]
    id: str
    server_label: str
    name: str
    arguments: str


class ResponseMcpApprovalResponse(RequestFields):
    type: Literal["mcp_approval_response"]
    id: str | None = None
    approval_request_id: str
    approve: bool
    reason: str | None = None


class ResponseFileSearchCall(_Item):
    """A search that was made here. The model read its passages then; later it reads its answer alone."""

    type: Literal["file_search_call"]
    queries: list[str] | None = None
    results: list[dict[str, Any]] | None = None


class ResponseItemReference(RequestFields):
    """An item that a stored response holds."""

    type: Literal["item_reference"] = "item_reference"
    id: str


class ResponseCompaction(RequestFields):
    """A conversation that `/v1/responses/compact` made short."""

    type: Literal["compaction"]
    encrypted_content: str
    id: str | None = None
    created_by: Hint[str] = None


class ResponseOtherItem(BaseModel):
    """What another server's tools did. The model reads nothing of it."""

    type: str


_ITEMS = {
    kind: f"item-{kind}"
    for kind in (
        "message",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "reasoning",
        "file_search_call",
        "item_reference",
        "compaction",
        "mcp_list_tools",
        "mcp_call",
        "mcp_approval_request",
        "mcp_approval_response",
    )
}


_OF_MCP = ("mcp_list_tools", "mcp_call", "mcp_approval_request")


def _item_kind(item: Any) -> str:
    """A message may omit its type, and so may a reference, which is nothing but an id. Items that were read once are looked at
    again: when they are written, and when a request is made from another."""
    keys = item if isinstance(item, dict) else getattr(item, "model_fields_set", ())
    default = "item_reference" if "id" in keys and "role" not in keys and "content" not in keys else "message"
    kind = type_of(item, default)
    if kind in _OF_MCP and "server_label" not in keys:
        return "item-other"
    return _ITEMS.get(kind, "item-other")


ResponseItem = Annotated[
    Annotated[ResponseMessage, Tag("item-message")]
    | Annotated[ResponseFunctionCall, Tag("item-function_call")]
    | Annotated[ResponseFunctionCallOutput, Tag("item-function_call_output")]
    | Annotated[ResponseCustomCall, Tag("item-custom_tool_call")]
    | Annotated[ResponseCustomCallOutput, Tag("item-custom_tool_call_output")]
    | Annotated[ResponseReasoning, Tag("item-reasoning")]
    | Annotated[ResponseFileSearchCall, Tag("item-file_search_call")]
    | Annotated[ResponseItemReference, Tag("item-item_reference")]
    | Annotated[ResponseCompaction, Tag("item-compaction")]
    | Annotated[ResponseMcpListTools, Tag("item-mcp_list_tools")]
    | Annotated[ResponseMcpCall, Tag("item-mcp_call")]
    | Annotated[ResponseMcpApprovalRequest, Tag("item-mcp_approval_request")]
    | Annotated[ResponseMcpApprovalResponse, Tag("item-mcp_approval_response")]
    | Annotated[ResponseOtherItem, Tag("item-other")],
    Discriminator(_item_kind),
]
ResponseInput = Annotated[
    Annotated[str, Tag("as-text")] | Annotated[list[ResponseItem], Field(min_length=1), Tag("as-list")],
    Discriminator(text_or_list),
]

_STORED: TypeAdapter[ResponseItem] = TypeAdapter(ResponseItem)
_ID_PREFIXES = {
    "message": "msg",
    "function_call": "fc",
    "function_call_output": "fco",
    "custom_tool_call": "ctc",
    "custom_tool_call_output": "ctco",
    "reasoning": "rs",
    "mcp_list_tools": "mcpl",
    "mcp_call": "mcp",
    "mcp_approval_request": "mcpr",
    "mcp_approval_response": "mcpa",
    "file_search_call": "fs",
}
_WITHOUT_STATUS = ("mcp_list_tools", "mcp_approval_request", "mcp_approval_response")


def stored_items(items: list[dict[str, Any]]) -> list[ResponseItem]:
    return [_STORED.validate_python(item) for item in items]


def stored_form(item: ResponseItem) -> dict[str, Any]:
    """An input item as it is stored and listed: with an id, a status, and a message's text as a part."""
    form = item.model_dump(exclude_none=True)
    form["id"] = form.get("id") or new_item_id(_ID_PREFIXES[form["type"]])
    if form["type"] not in _WITHOUT_STATUS:
        form.setdefault("status", "completed")
    if form["type"] == "message" and isinstance(form["content"], str):
        written = form["role"] == "assistant"
        part = {"type": "output_text", "annotations": []} if written else {"type": "input_text"}
        form["content"] = [part | {"text": form["content"]}]
    if form["type"] == "reasoning":
        form.setdefault("summary", [])
    return form
