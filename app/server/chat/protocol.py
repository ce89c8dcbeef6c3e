"""What a chat completion's request may hold, and what its replies hold. Every field works, or is refused by name.

`user`, `metadata`, `safety_identifier`, `prompt_cache_key`, `service_tier` and `store: false` are taken because OpenAI
documents them to have no effect on the reply; whatever else is not listed here is answered with a 400.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from app.runtime.chat import Effort
from app.server.sampling import Count, SamplingFields
from app.server.strict import Strict

Name = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[\w.:/-]+$")]


class TextContent(Strict):
    type: Literal["text"]
    text: str


class ImageUrl(Strict):
    url: str
    detail: Literal["auto", "low", "high"] | None = None


class ImageContent(Strict):
    type: Literal["image_url"]
    image_url: ImageUrl


class InputAudio(Strict):
    data: str
    format: Literal["wav", "mp3"]


class AudioContent(Strict):
    type: Literal["input_audio"]
    input_audio: InputAudio


Content = TextContent | ImageContent | AudioContent


class FunctionCall(Strict):
    name: Name
    arguments: str


class ToolCallIn(Strict):
    id: str
    type: Literal["function"] = "function"
    function: FunctionCall
    index: int | None = None  # streaming clients send back what they were given


class SystemMessage(Strict):
    role: Literal["system", "developer"]
    content: str | list[TextContent]
    name: str | None = None


class UserMessage(Strict):
    role: Literal["user"]
    content: str | list[Annotated[Content, Field(discriminator="type")]]
    name: str | None = None


class AssistantMessage(Strict):
    role: Literal["assistant"]
    content: str | list[TextContent] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: None = None
    audio: None = None
    function_call: None = None
    annotations: list[Any] | None = Field(default=None, max_length=0)
    tool_calls: list[ToolCallIn] | None = None
    name: str | None = None


class ToolMessage(Strict):
    role: Literal["tool"]
    content: str | list[TextContent]
    tool_call_id: str
    name: str | None = None


Message = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class Function(Strict):
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class Tool(Strict):
    type: Literal["function"]
    function: Function


class NamedFunction(Strict):
    name: Name


class NamedTool(Strict):
    type: Literal["function"]
    function: NamedFunction


class TextFormat(Strict):
    type: Literal["text"]


class JsonObjectFormat(Strict):
    type: Literal["json_object"]


class JsonSchema(Strict):
    name: str | None = None
    description: str | None = None
    schema_: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None


class JsonSchemaFormat(Strict):
    type: Literal["json_schema"]
    json_schema: JsonSchema


ResponseFormat = Annotated[TextFormat | JsonObjectFormat | JsonSchemaFormat, Field(discriminator="type")]


class StreamOptions(Strict):
    include_usage: bool | None = None
    include_obfuscation: Literal[False] | None = None


class Prediction(Strict):
    type: Literal["content"]
    content: str | list[TextContent]


class ChatCompletionRequest(SamplingFields):
    model: str | None = None
    messages: Annotated[list[Message], Field(min_length=1)]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    tools: Annotated[list[Tool], Field(max_length=128)] | None = None
    tool_choice: Literal["auto", "none", "required"] | NamedTool | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: Effort | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    prediction: Prediction | None = None
    continue_final_message: bool | None = None
    modalities: list[Literal["text"]] | None = None
    # without effect on the reply
    user: str | None = None
    metadata: dict[str, str] | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: Literal["in_memory", "in-memory", "24h"] | None = None
    service_tier: Literal["auto", "default"] | None = None
    store: Literal[False] | None = None


# -- replies, for the OpenAPI document


class TopLogprob(BaseModel):
    token: str
    logprob: float
    bytes: list[int] | None


class ContentLogprob(TopLogprob):
    top_logprobs: list[TopLogprob]


class Logprobs(BaseModel):
    content: list[ContentLogprob] | None
    refusal: None = None


class FunctionOut(BaseModel):
    name: str
    arguments: str


class ToolCallOut(BaseModel):
    id: str
    type: Literal["function"] = "function"
    function: FunctionOut


class MessageOut(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str | None
    reasoning_content: str | None = None
    tool_calls: list[ToolCallOut] | None = None


class Choice(BaseModel):
    index: int
    message: MessageOut
    logprobs: Logprobs | None
    finish_reason: Literal["stop", "length", "tool_calls"]


class Usage(BaseModel):
    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: dict[str, int]
    completion_tokens_details: dict[str, int]


class ChatCompletion(BaseModel):
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[Choice]
    usage: Usage
    system_fingerprint: str | None = None
    timings: dict[str, float] | None = None
