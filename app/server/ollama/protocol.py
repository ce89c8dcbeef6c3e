"""Ollama's request and reply bodies, durations, timestamps and lines of JSON.

Ollama bounds no option: what lies beyond a range means the end of the range, and fractions of whole numbers are cut off.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field

from app.runtime.chat import Effort
from app.server.body import Hint, Preference, RequestFields
from app.server.errors import ApiError, bad_request, error_body
from app.server.requests import line
from app.server.sampling import ReasoningBudget, StopText, TokenId

LINES = "application/x-ndjson"

_UNITS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
}  # µ has two code points
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")
_LONGEST = 1e9  # seconds; above it, and below 0, a model stays until its room is needed


def _checked(given: float | str | None) -> float | str | None:
    if isinstance(given, str):
        _seconds(given)
    return given


KeepAlive = Annotated[float | str | None, AfterValidator(_checked)]


def keep_alive_seconds(given: float | str) -> float | None:
    """How long a model stays after a request: seconds, or a duration in Go's spelling. None: until its room is needed."""
    span = _seconds(given) if isinstance(given, str) else given
    return span if 0 <= span <= _LONGEST else None


def _seconds(text: str) -> float:
    body = text.removeprefix("-").removeprefix("+")
    sign = -1.0 if text.startswith("-") else 1.0
    if _NUMBER.fullmatch(body):
        return sign * float(body)
    parts = _PART.findall(body)
    if not parts or "".join(number + unit for number, unit in parts) != body:
        raise ValueError(f"{text[:40]!r} is no duration like 5m, 1h30m or 300s")
    return sign * sum(float(number) * _UNITS[unit] for number, unit in parts)


def _whole(given: Any) -> Any:
    return int(given) if isinstance(given, float) else given


def _texts(given: Any) -> Any:
    """An empty stop string is none."""
    texts = [given] if isinstance(given, str) else given
    return [text for text in texts if text != ""] if isinstance(texts, list) else texts


_Whole = Annotated[int, BeforeValidator(_whole)]


class OllamaOptions(RequestFields):
    num_predict: _Whole | None = None  # 0 and below: no limit
    num_ctx: _Whole | None = None
    temperature: float | None = None
    top_k: _Whole | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    repeat_penalty: float | None = None
    repeat_last_n: _Whole | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: _Whole | None = None  # -1: random
    stop: Annotated[list[StopText], BeforeValidator(_texts), Field(max_length=64)] | None = None
    # only the values that switch it off
    mirostat: Preference[Literal[0]] = None
    tfs_z: Preference[Literal[1]] = None
    # speed and memory are the server's
    num_keep: Hint[Any] = None
    num_thread: Hint[Any] = None
    num_batch: Hint[Any] = None
    num_gpu: Hint[Any] = None
    main_gpu: Hint[Any] = None
    use_mmap: Hint[Any] = None
    use_mlock: Hint[Any] = None
    low_vram: Hint[Any] = None
    numa: Hint[Any] = None


class OllamaFunctionCall(RequestFields):
    name: str
    arguments: dict[str, Any] | str | None = None  # a string: JSON, as OpenAI has it
    index: int | None = None


class OllamaToolCall(RequestFields):
    function: OllamaFunctionCall
    id: str | None = None
    type: str | None = None


class OllamaTextPart(RequestFields):
    """A part of a message as OpenAI's clients write it."""

    type: Literal["text"]
    text: str


class OllamaImageUrl(RequestFields):
    url: str


class OllamaImagePart(RequestFields):
    type: Literal["image_url"]
    image_url: OllamaImageUrl


OllamaPart = Annotated[OllamaTextPart | OllamaImagePart, Field(discriminator="type")]
OllamaRole = Literal["system", "developer", "user", "assistant", "tool", "function"]


class OllamaMessage(RequestFields):
    role: Annotated[OllamaRole, BeforeValidator(lambda role: role.lower() if isinstance(role, str) else role)]
    content: str | list[OllamaPart] | None = None
    thinking: str | None = None
    images: list[str] | None = None
    tool_calls: list[OllamaToolCall] | None = None
    tool_name: str | None = None
    name: str | None = None
    tool_call_id: str | None = None


class OllamaFunction(RequestFields):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class OllamaTool(RequestFields):
    type: str | None = None
    function: OllamaFunction | None = None  # None: a tool that is no function, and is left out


class OllamaNamedFunction(RequestFields):
    name: str


class OllamaNamedTool(RequestFields):
    type: Literal["function"] | None = None
    function: OllamaNamedFunction


class OllamaNameRequest(RequestFields):
    """`name` is the older spelling of `model`."""

    model: str | None = None
    name: str | None = None

    @property
    def wanted(self) -> str:
        if name := self.model or self.name:
            return name
        raise bad_request("model is required.", "model")


class _Common(OllamaNameRequest):
    stream: bool | None = None  # None: yes
    format: Literal["", "json"] | dict[str, Any] | None = None
    options: OllamaOptions | None = None
    think: Preference[bool | Effort] = None
    thinking_token_budget: ReasoningBudget | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None  # without effect where logprobs are off
    keep_alive: KeepAlive = None
    truncate: Preference[Literal[False]] = None  # a conversation that is too long is refused, never cut
    shift: Preference[Literal[False]] = None


class OllamaChatRequest(_Common):
    messages: list[OllamaMessage] | None = None
    tools: list[OllamaTool] | None = None
    tool_choice: Preference[Literal["auto", "none", "required"] | OllamaNamedTool] = None


class OllamaGenerateRequest(_Common):
    prompt: str | None = None
    suffix: str | None = None
    system: str | None = None
    template: str | None = None
    context: list[TokenId] | None = None
    raw: bool | None = None
    images: list[str] | None = None


class OllamaShowRequest(OllamaNameRequest):
    verbose: Hint[Any] = None
    system: Hint[Any] = None
    template: Hint[Any] = None
    options: Hint[Any] = None


class OllamaPullRequest(OllamaNameRequest):
    stream: bool | None = None
    insecure: Preference[Literal[False]] = None


class OllamaManageRequest(OllamaNameRequest):
    """The body of a request that changes models: only their names are read."""

    source: str | None = None


class OllamaEmbedRequest(OllamaNameRequest):
    input: str | Annotated[list[str], Field(max_length=2048)] | None = None
    truncate: bool | None = None  # None: yes
    dimensions: Annotated[int, Field(ge=1, lt=1 << 20)] | None = None
    options: OllamaOptions | None = None  # only num_ctx has an effect on the vectors
    keep_alive: KeepAlive = None


class OllamaEmbeddingsRequest(OllamaNameRequest):
    """The body of `/api/embeddings`, which is older than `/api/embed`."""

    prompt: str | None = None
    options: OllamaOptions | None = None
    keep_alive: KeepAlive = None


class OllamaEmbedReply(BaseModel):
    model: str
    embeddings: list[list[float]]
    total_duration: int
    load_duration: int
    prompt_eval_count: int


class OllamaEmbeddingsReply(BaseModel):
    embedding: list[float]


class _OllamaReply(BaseModel):
    model: str
    created_at: str
    done: bool
    done_reason: str | None = None
    total_duration: int | None = None
    load_duration: int | None = None
    prompt_eval_count: int | None = None
    prompt_eval_duration: int | None = None
    eval_count: int | None = None
    eval_duration: int | None = None
    logprobs: list[dict[str, Any]] | None = None


class OllamaReplyMessage(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str
    thinking: str | None = None
    tool_calls: list[dict[str, Any]] | None = None


class OllamaChatReply(_OllamaReply):
    message: OllamaReplyMessage


class OllamaGenerateReply(_OllamaReply):
    response: str
    context: list[int] | None = None
    thinking: str | None = None


class OllamaModelDetails(BaseModel):
    parent_model: str = ""
    format: str = "safetensors"
    family: str = ""
    families: list[str] | None = None
    parameter_size: str = ""
    quantization_level: str = ""
    context_length: int | None = None
    embedding_length: int | None = None


class OllamaModel(BaseModel):
    name: str
    model: str
    modified_at: str
    size: int
    digest: str
    details: OllamaModelDetails


class OllamaModelList(BaseModel):
    models: list[OllamaModel]


class OllamaRunningModel(OllamaModel):
    expires_at: str
    size_vram: int
    context_length: int


class OllamaRunningModels(BaseModel):
    models: list[OllamaRunningModel]


class OllamaShowReply(BaseModel):
    license: str
    modelfile: str
    parameters: str
    template: str
    modified_at: str
    details: OllamaModelDetails
    model_info: dict[str, Any]
    capabilities: list[str]


class OllamaVersion(BaseModel):
    version: str


def timestamp(when: datetime) -> str:
    return when.isoformat().replace("+00:00", "Z")


def error_line(error: ApiError) -> bytes:
    return line(error_body(error, "ollama"))
