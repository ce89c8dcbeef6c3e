"""The request and reply bodies of `/v1/responses`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, Tag

from app.runtime.chat import Effort
from app.server.body import RequestFields
from app.server.openai.chat import Name
from app.server.sampling import Count

ResponseStatus = Literal["in_progress", "completed", "incomplete"]


class ResponseInputText(RequestFields):
    type: Literal["input_text"]
    text: str


class ResponseOutputText(RequestFields):
    type: Literal["output_text"]
    text: str
    annotations: list[Any] | None = Field(default=None, max_length=0)
    logprobs: list[Any] | None = None  # accepted back; the model does not read them


class ResponseInputImage(RequestFields):
    type: Literal["input_image"]
    image_url: str | None = None
    file_id: str | None = None
    detail: str | None = None


class ResponseInputAudio(RequestFields):
    type: Literal["input_audio"]
    input_audio: dict[str, Any]


class ResponseInputFile(RequestFields):
    type: Literal["input_file"]
    file_id: str | None = None
    file_data: str | None = None
    file_url: str | None = None
    filename: str | None = None


ResponseInputPart = Annotated[
    ResponseInputText | ResponseOutputText | ResponseInputImage | ResponseInputAudio | ResponseInputFile,
    Field(discriminator="type"),
]


class ResponseMessage(RequestFields):
    type: Literal["message"] = "message"
    role: Literal["user", "assistant", "system", "developer"]
    content: str | list[ResponseInputPart]
    id: str | None = None
    status: ResponseStatus | None = None


class ResponseFunctionCall(RequestFields):
    type: Literal["function_call"]
    call_id: str
    name: Name
    arguments: str
    id: str | None = None
    status: ResponseStatus | None = None


class ResponseFunctionCallOutput(RequestFields):
    type: Literal["function_call_output"]
    call_id: str
    output: str | list[ResponseInputText]
    id: str | None = None
    status: ResponseStatus | None = None


class ResponseReasoningText(RequestFields):
    type: Literal["reasoning_text"]
    text: str


class ResponseReasoning(RequestFields):
    type: Literal["reasoning"]
    id: str | None = None
    summary: list[Any] | None = Field(default=None, max_length=0)
    content: list[ResponseReasoningText] | None = None
    encrypted_content: None = None
    status: ResponseStatus | None = None


def _kind(item: Any) -> str:
    """A message may omit its type."""
    kind = item.get("type", "message") if isinstance(item, dict) else getattr(item, "type", "message")
    return str(kind)


ResponseItem = Annotated[
    Annotated[ResponseMessage, Tag("message")]
    | Annotated[ResponseFunctionCall, Tag("function_call")]
    | Annotated[ResponseFunctionCallOutput, Tag("function_call_output")]
    | Annotated[ResponseReasoning, Tag("reasoning")],
    Discriminator(_kind),
]


class ResponseFunctionTool(RequestFields):
    type: Literal["function"]
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ResponseNamedFunction(RequestFields):
    type: Literal["function"]
    name: Name


class PlainFormat(RequestFields):
    type: Literal["text", "json_object"]


class SchemaFormat(RequestFields):
    type: Literal["json_schema"]
    name: str | None = None
    description: str | None = None
    schema_: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None


class ResponseTextConfig(RequestFields):
    format: Annotated[PlainFormat | SchemaFormat, Field(discriminator="type")] | None = None


class ResponseReasoningConfig(RequestFields):
    effort: Effort | None = None


class ResponseStreamOptions(RequestFields):
    include_obfuscation: Literal[False] | None = None


class ResponsesRequest(RequestFields):
    model: str | None = None
    input: str | Annotated[list[ResponseItem], Field(min_length=1)]
    instructions: str | None = None
    max_output_tokens: Count | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    tools: Annotated[list[ResponseFunctionTool], Field(max_length=128)] | None = None
    tool_choice: Literal["auto", "none", "required"] | ResponseNamedFunction | None = None
    parallel_tool_calls: bool | None = None
    text: ResponseTextConfig | None = None
    reasoning: ResponseReasoningConfig | None = None
    previous_response_id: str | None = None
    store: bool | None = None  # None: yes
    metadata: Annotated[dict[str, str], Field(max_length=16)] | None = None
    include: list[Literal["message.output_text.logprobs"]] | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    stream: bool | None = None
    stream_options: ResponseStreamOptions | None = None
    truncation: Literal["disabled"] | None = None
    background: Literal[False] | None = None
    conversation: None = None
    prompt: None = None
    # without effect on the reply
    user: str | None = None
    safety_identifier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: Literal["in_memory", "in-memory", "24h"] | None = None
    service_tier: Literal["auto", "default"] | None = None


class ResponseUsage(BaseModel):
    input_tokens: int
    input_tokens_details: dict[str, int]
    output_tokens: int
    output_tokens_details: dict[str, int]
    total_tokens: int


class ResponseObject(BaseModel):
    id: str
    object: Literal["response"] = "response"
    created_at: int
    status: Literal["in_progress", "completed", "incomplete", "failed"]
    model: str
    output: list[dict[str, Any]]
    usage: ResponseUsage | None
    error: dict[str, Any] | None
    incomplete_details: dict[str, str] | None
    previous_response_id: str | None
    metadata: dict[str, str]


class ResponseDeleted(BaseModel):
    id: str
    object: Literal["response"] = "response"
    deleted: bool = True
