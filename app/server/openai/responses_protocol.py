"""The request and reply bodies of `/v1/responses`."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, Tag

from app.runtime.chat import Effort
from app.server.body import Hint, Preference, RequestFields, type_of
from app.server.openai.chat import Name
from app.server.openai.responses_items import ResponseInput
from app.server.openai.vector_stores import FileFilter, RankingOptions
from app.server.sampling import Count, ReasoningBudget

# -- tools


class ResponseFunctionTool(RequestFields):
    type: Literal["function"]
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ResponseInputFormat(RequestFields):
    """What a custom tool's input must match: anything, or a grammar."""

    type: Literal["text", "grammar"]
    syntax: Literal["lark", "regex"] | None = None
    definition: Annotated[str, Field(max_length=20_000)] | None = None


class ResponseCustomTool(RequestFields):
    """A tool whose input is a text."""

    type: Literal["custom"]
    name: Name
    description: str | None = None
    format: ResponseInputFormat | None = None


class ResponseMcpFilter(RequestFields):
    """Tools of an MCP server: by name, or those that say of themselves that they only read."""

    tool_names: list[str] | None = None
    read_only: bool | None = None


class ResponseMcpApproval(RequestFields):
    always: ResponseMcpFilter | None = None
    never: ResponseMcpFilter | None = None


def _list_or_object(value: Any) -> str:
    return "as-list" if isinstance(value, list) else "as-object"


def _word_or_object(value: Any) -> str:
    return "as-word" if isinstance(value, str) else "as-object"


class ResponseMcpTool(RequestFields):
    """The tools of an MCP server, which this server calls: at an address, or one that was added here, by its name."""

    type: Literal["mcp"]
    server_label: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
    server_url: str | None = None
    headers: dict[str, str] | None = None
    authorization: str | None = None
    allowed_tools: (
        Annotated[
            Annotated[list[str], Tag("as-list")] | Annotated[ResponseMcpFilter, Tag("as-object")],
            Discriminator(_list_or_object),
        ]
        | None
    ) = None
    require_approval: (
        Annotated[
            Annotated[Literal["always", "never"], Tag("as-word")] | Annotated[ResponseMcpApproval, Tag("as-object")],
            Discriminator(_word_or_object),
        ]
        | None
    ) = None
    connector_id: str | None = None  # refused: OpenAI's own
    tunnel_id: str | None = None  # the same
    server_description: Hint[str] = None
    allowed_callers: Hint[list[str]] = None
    defer_loading: Hint[bool] = None


class ResponseFileSearchTool(RequestFields):
    """Searches vector stores for the last message of the user, before the model answers."""

    type: Literal["file_search"]
    vector_store_ids: Annotated[list[str], Field(min_length=1, max_length=16)]
    max_num_results: Annotated[int, Field(ge=1, le=50)] = 5
    filters: FileFilter | None = None
    ranking_options: RankingOptions | None = None


class ResponseOtherTool(BaseModel):
    """A tool that another server would run."""

    type: str


RunnableTool = ResponseFunctionTool | ResponseCustomTool


def _tool_kind(tool: Any) -> str:
    kind = type_of(tool)
    return f"tool-{kind}" if kind in ("function", "custom", "mcp", "file_search") else "tool-other"


ResponseTool = Annotated[
    Annotated[ResponseFunctionTool, Tag("tool-function")]
    | Annotated[ResponseCustomTool, Tag("tool-custom")]
    | Annotated[ResponseMcpTool, Tag("tool-mcp")]
    | Annotated[ResponseFileSearchTool, Tag("tool-file_search")]
    | Annotated[ResponseOtherTool, Tag("tool-other")],
    Discriminator(_tool_kind),
]


class ResponseNamedFunction(RequestFields):
    type: Literal["function"]
    name: Name


class ResponseNamedCustom(RequestFields):
    type: Literal["custom"]
    name: Name


class ResponseNamedMcp(RequestFields):
    type: Literal["mcp"]
    server_label: str
    name: str | None = None


class ResponseAllowedTool(RequestFields):
    type: str = "function"
    name: str | None = None
    server_label: str | None = None  # of the type mcp


class ResponseAllowedTools(RequestFields):
    type: Literal["allowed_tools"]
    mode: Literal["auto", "required"] = "auto"
    tools: list[ResponseAllowedTool]


class ResponseOtherChoice(BaseModel):
    """A tool that another server would run, by its type alone."""

    type: str


def _choice_kind(choice: Any) -> str:
    if isinstance(choice, str):
        return "choice-word"
    kind = type_of(choice)
    return f"choice-{kind}" if kind in ("function", "custom", "mcp", "allowed_tools") else "choice-other"


ResponseToolChoice = Annotated[
    Annotated[Literal["auto", "none", "required"], Tag("choice-word")]
    | Annotated[ResponseNamedFunction, Tag("choice-function")]
    | Annotated[ResponseNamedCustom, Tag("choice-custom")]
    | Annotated[ResponseNamedMcp, Tag("choice-mcp")]
    | Annotated[ResponseAllowedTools, Tag("choice-allowed_tools")]
    | Annotated[ResponseOtherChoice, Tag("choice-other")],
    Discriminator(_choice_kind),
]


# -- the request


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
    verbosity: Preference[Literal["low", "medium", "high"]] = None  # returned; it changes no reply


class ResponseReasoningConfig(RequestFields):
    effort: Preference[Effort] = None
    max_tokens: ReasoningBudget | None = None  # OpenRouter's
    summary: Preference[Literal["auto", "concise", "detailed"]] = None
    generate_summary: Preference[Literal["auto", "concise", "detailed"]] = None  # its older name


class ResponseStreamOptions(RequestFields):
    include_obfuscation: Hint[bool] = None


class ResponsesRequest(RequestFields):
    model: str | None = None
    input: ResponseInput | None = None
    instructions: str | None = None
    max_output_tokens: Count | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    tools: list[ResponseTool] | None = None
    tool_choice: ResponseToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_tool_calls: Count | None = None
    text: ResponseTextConfig | None = None
    reasoning: ResponseReasoningConfig | None = None
    thinking_token_budget: ReasoningBudget | None = None  # vLLM's
    previous_response_id: str | None = None
    store: bool | None = None  # None: yes
    include: list[str] | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    stream: bool | None = None
    stream_options: ResponseStreamOptions | None = None
    truncation: Literal["auto", "disabled"] | None = None
    background: bool | None = None  # refused where true
    conversation: None = None
    prompt: None = None
    # returned, without effect on the reply
    metadata: Preference[Annotated[dict[str, str], Field(max_length=16)]] = None
    safety_identifier: Preference[str] = None
    prompt_cache_key: Preference[str] = None
    # without effect
    user: Hint[str] = None
    prompt_cache_retention: Hint[str] = None
    service_tier: Hint[str] = None
    client_metadata: Hint[dict[str, Any]] = None


class InputTokensRequest(RequestFields):
    """The fields of a response that its prompt depends on."""

    model: str | None = None
    input: ResponseInput | None = None
    instructions: str | None = None
    previous_response_id: str | None = None
    tools: list[ResponseTool] | None = None
    tool_choice: ResponseToolChoice | None = None
    parallel_tool_calls: bool | None = None
    reasoning: ResponseReasoningConfig | None = None
    text: ResponseTextConfig | None = None
    truncation: Literal["auto", "disabled"] | None = None
    conversation: None = None


# -- the replies


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
    completed_at: int | None
    status: Literal["in_progress", "completed", "incomplete", "failed", "cancelled"]
    error: dict[str, Any] | None
    incomplete_details: dict[str, str] | None
    model: str
    instructions: str | None
    previous_response_id: str | None
    output: list[dict[str, Any]]
    usage: ResponseUsage | None
    tools: list[dict[str, Any]]
    tool_choice: str | dict[str, Any]
    parallel_tool_calls: bool
    max_tool_calls: int | None
    text: dict[str, Any]
    reasoning: dict[str, Any]
    temperature: float
    top_p: float
    presence_penalty: float
    frequency_penalty: float
    top_logprobs: int
    max_output_tokens: int | None
    truncation: Literal["auto", "disabled"]
    background: Literal[False]
    store: bool
    service_tier: str
    metadata: dict[str, str]
    safety_identifier: str | None
    prompt_cache_key: str | None


class ResponseItemList(BaseModel):
    object: Literal["list"] = "list"
    data: list[dict[str, Any]]
    first_id: str | None
    last_id: str | None
    has_more: bool


class InputTokens(BaseModel):
    object: Literal["response.input_tokens"] = "response.input_tokens"
    input_tokens: int


class ResponseDeleted(BaseModel):
    id: str
    object: Literal["response"] = "response"
    deleted: bool = True
