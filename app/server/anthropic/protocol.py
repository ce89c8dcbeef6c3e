"""Anthropic's request and reply bodies.

What a client may send and this server cannot do anything with is accepted here, and reported where it is dropped
(app/server/anthropic/conversation.py). Blocks and tools of types that are not declared are kept as they came.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from app.server.body import Hint, Preference, RequestFields, type_of
from app.server.sampling import Count, StopText

Name = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[\w.:/-]+$")]


class Undeclared(BaseModel):
    """An object of a type that is not declared here, whole."""

    model_config = ConfigDict(extra="allow")

    type: str


class _Block(RequestFields):
    cache_control: Hint[Any] = None


# -- tools


class AnthropicTool(_Block):
    name: Name
    description: str | None = None
    input_schema: dict[str, Any]
    input_examples: list[Any] | None = None
    type: Literal["custom"] | None = None
    strict: bool | None = None
    defer_loading: bool | None = None
    eager_input_streaming: Hint[Any] = None
    allowed_callers: Hint[Any] = None


AnyTool = Annotated[
    Annotated[AnthropicTool, Tag("custom")] | Annotated[Undeclared, Tag("undeclared")],
    Discriminator(lambda value: "custom" if type_of(value) in ("", "custom") else "undeclared"),
]


class ToolChange(RequestFields):
    type: str
    name: str | None = None
    definition: AnyTool | None = None


# -- what messages hold


class TextBlock(_Block):
    type: Literal["text"]
    text: str
    citations: Hint[Any] = None


class ImageBlock(_Block):
    type: Literal["image"]
    source: dict[str, Any]


class DocumentBlock(_Block):
    type: Literal["document"]
    source: dict[str, Any]
    title: str | None = None
    context: str | None = None
    citations: Hint[Any] = None


class SearchResultBlock(_Block):
    type: Literal["search_result"]
    source: str
    title: str
    content: list[TextBlock]
    citations: Hint[Any] = None


class ToolReferenceBlock(_Block):
    type: Literal["tool_reference"]
    tool_name: str


class ThinkingBlock(_Block):
    type: Literal["thinking"]
    thinking: str
    signature: str | None = None


class ToolUseBlock(_Block):
    """A call, also one that Anthropic's servers answered themselves."""

    type: Literal["tool_use", "server_tool_use", "mcp_tool_use"]
    id: str
    name: str
    input: dict[str, Any]
    caller: Hint[Any] = None


class ToolChangeBlock(_Block):
    type: Literal["tool_addition", "tool_removal"]
    tool: ToolChange


def _block_tag(value: Any) -> str:
    given = type_of(value)
    if given in ("server_tool_use", "mcp_tool_use"):
        return "tool_use"
    return "tool_change" if given in ("tool_addition", "tool_removal") else given if given in _TAGS else "undeclared"


_TAGS = {"text", "image", "document", "search_result", "tool_reference", "thinking", "tool_use", "tool_result"}

ResultBlock = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ImageBlock, Tag("image")]
    | Annotated[DocumentBlock, Tag("document")]
    | Annotated[SearchResultBlock, Tag("search_result")]
    | Annotated[ToolReferenceBlock, Tag("tool_reference")]
    | Annotated[Undeclared, Tag("undeclared")],
    Discriminator(lambda value: tag if (tag := _block_tag(value)) not in _NOT_IN_RESULTS else "undeclared"),
]
_NOT_IN_RESULTS = {"thinking", "tool_use", "tool_result", "tool_change"}


class ToolResultBlock(_Block):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[ResultBlock] | None = None
    is_error: bool | None = None


AnthropicBlock = Annotated[
    Annotated[TextBlock, Tag("text")]
    | Annotated[ImageBlock, Tag("image")]
    | Annotated[DocumentBlock, Tag("document")]
    | Annotated[SearchResultBlock, Tag("search_result")]
    | Annotated[ToolReferenceBlock, Tag("tool_reference")]
    | Annotated[ThinkingBlock, Tag("thinking")]
    | Annotated[ToolUseBlock, Tag("tool_use")]
    | Annotated[ToolResultBlock, Tag("tool_result")]
    | Annotated[ToolChangeBlock, Tag("tool_change")]
    | Annotated[Undeclared, Tag("undeclared")],
    Discriminator(_block_tag),
]


class AnthropicMessageParam(RequestFields):
    role: Literal["user", "assistant", "system"]
    content: str | list[AnthropicBlock]


# -- requests


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


class ThinkingFields(RequestFields):
    """Any type but `disabled` asks for reasoning: types that are not known yet too."""

    type: str
    budget_tokens: Preference[Count] = None
    display: Preference[Literal["summarized", "omitted"]] = None


class AnthropicJsonFormat(RequestFields):
    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputConfig(RequestFields):
    effort: Preference[Literal["low", "medium", "high", "xhigh", "max"]] = None
    format: AnthropicJsonFormat | None = None


class CountTokensRequest(RequestFields):
    model: str
    messages: Annotated[list[AnthropicMessageParam], Field(min_length=1)]
    system: str | list[TextBlock] | None = None
    tools: list[AnyTool] | None = None
    tool_choice: AnthropicToolChoice | None = None
    thinking: ThinkingFields | None = None
    output_config: OutputConfig | None = None
    output_format: AnthropicJsonFormat | None = None  # what `output_config.format` was called first
    thread: dict[str, Any] | None = None
    cache_control: Hint[Any] = None
    context_management: Hint[Any] = None
    mcp_servers: Hint[Any] = None


class MessagesRequest(CountTokensRequest):
    max_tokens: Annotated[
        int, Field(ge=0, lt=1 << 31)
    ]  # 0: the prompt is computed for later requests, and not answered
    stream: bool | None = None
    temperature: Annotated[float, Field(ge=0, le=1)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    stop_sequences: Annotated[list[StopText], Field(max_length=256)] | None = None
    metadata: Hint[Any] = None
    service_tier: Hint[Any] = None
    container: Hint[Any] = None


# -- replies


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


class OutputDetails(BaseModel):
    thinking_tokens: int


class AnthropicUsage(BaseModel):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int
    output_tokens_details: OutputDetails


class AnthropicMessage(BaseModel):
    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    model: str
    content: list[TextOut | ThinkingOut | ToolUseOut]
    stop_reason: Literal["end_turn", "max_tokens", "stop_sequence", "tool_use", "model_context_window_exceeded"] | None
    stop_sequence: str | None
    usage: AnthropicUsage
