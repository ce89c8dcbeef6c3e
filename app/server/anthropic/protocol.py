"""Anthropic's messages: what a request may hold, and what a reply holds.

`metadata`, `service_tier` and `cache_control` are taken because Anthropic documents them to have no effect on the reply:
prompts are remembered here without being asked. `signature` comes back with a thought; thoughts are not signed here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from app.server.sampling import Count, StopText
from app.server.strict import Strict

Name = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[\w.:/-]+$")]


class CacheControl(Strict):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] | None = None


class _Block(Strict):
    cache_control: CacheControl | None = None


class TextBlock(_Block):
    type: Literal["text"]
    text: str
    citations: list[Any] | None = Field(default=None, max_length=0)


class ImageBlock(_Block):
    type: Literal["image"]
    source: dict[str, Any]


class ThinkingBlock(Strict):
    type: Literal["thinking"]
    thinking: str
    signature: str | None = None


class ToolUseBlock(_Block):
    type: Literal["tool_use"]
    id: str
    name: Name
    input: dict[str, Any]


class ToolResultBlock(_Block):
    type: Literal["tool_result"]
    tool_use_id: str
    content: str | list[Annotated[TextBlock | ImageBlock, Field(discriminator="type")]] | None = None
    is_error: bool | None = None


Block = Annotated[TextBlock | ImageBlock | ThinkingBlock | ToolUseBlock | ToolResultBlock, Field(discriminator="type")]


class MessageIn(Strict):
    role: Literal["user", "assistant"]
    content: str | list[Block]


class ToolIn(_Block):
    name: Name
    description: str | None = None
    input_schema: dict[str, Any]
    type: Literal["custom"] | None = None


class AutoChoice(Strict):
    type: Literal["auto", "any"]
    disable_parallel_tool_use: bool | None = None


class NoChoice(Strict):
    type: Literal["none"]


class NamedChoice(Strict):
    type: Literal["tool"]
    name: Name
    disable_parallel_tool_use: bool | None = None


Choice = Annotated[AutoChoice | NoChoice | NamedChoice, Field(discriminator="type")]


class ThinkingOn(Strict):
    type: Literal["enabled"]
    budget_tokens: Count
    display: Literal["summarized"] | None = None  # thoughts are shown as they are


class ThinkingOff(Strict):
    type: Literal["disabled"]


class ThinkingAdaptive(Strict):
    type: Literal["adaptive"]
    display: Literal["summarized"] | None = None


Thinking = Annotated[ThinkingOn | ThinkingOff | ThinkingAdaptive, Field(discriminator="type")]


class JsonFormat(Strict):
    type: Literal["json_schema"]
    schema_: dict[str, Any] = Field(alias="schema")


class OutputConfig(Strict):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: JsonFormat | None = None


class Metadata(Strict):
    user_id: str | None = None


class CountRequest(Strict):
    model: str
    messages: Annotated[list[MessageIn], Field(min_length=1)]
    system: str | list[TextBlock] | None = None
    tools: Annotated[list[ToolIn], Field(max_length=128)] | None = None
    tool_choice: Choice | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    cache_control: CacheControl | None = None  # without effect on the reply


class MessagesRequest(CountRequest):
    max_tokens: Count
    stream: bool | None = None
    temperature: Annotated[float, Field(ge=0, le=1)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    stop_sequences: Annotated[list[StopText], Field(max_length=16)] | None = None
    # without effect on the reply
    metadata: Metadata | None = None
    service_tier: Literal["auto", "standard_only"] | None = None


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


class UsageOut(BaseModel):
    input_tokens: int
    output_tokens: int
    cache_creation_input_tokens: int
    cache_read_input_tokens: int


class MessageOut(BaseModel):
    id: str
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    model: str
    content: list[TextOut | ThinkingOut | ToolUseOut]
    stop_reason: Literal["end_turn", "max_tokens", "stop_sequence", "tool_use"] | None
    stop_sequence: str | None
    usage: UsageOut
