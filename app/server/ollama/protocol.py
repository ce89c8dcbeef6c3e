"""Ollama's request and reply bodies, durations, timestamps and lines of JSON.

Options that Ollama documents as a matter of speed or memory (`num_thread`, `num_batch`, `num_gpu`, `main_gpu`, `use_mmap`,
`use_mlock`, `low_vram`, `numa`, `num_keep`) are accepted and do nothing.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field

from app.server.body import RequestFields
from app.server.errors import ApiError, error_body
from app.server.sampling import StopText
from app.server.streaming import line

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


class OllamaOptions(RequestFields):
    num_predict: Annotated[int, Field(ge=-2, lt=1 << 31)] | None = None  # negative: no limit
    num_ctx: Annotated[int, Field(ge=1, lt=1 << 31)] | None = None
    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    top_k: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    typical_p: Annotated[float, Field(gt=0, le=1)] | None = None
    repeat_penalty: Annotated[float, Field(gt=0, le=100)] | None = None
    repeat_last_n: Annotated[int, Field(ge=-1, lt=1 << 31)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    seed: int | None = None
    stop: StopText | Annotated[list[StopText], Field(max_length=16)] | None = None
    # without effect on the reply
    num_keep: int | None = None
    num_thread: int | None = None
    num_batch: int | None = None
    num_gpu: int | None = None
    main_gpu: int | None = None
    use_mmap: bool | None = None
    numa: bool | None = None
    low_vram: bool | None = None
    use_mlock: bool | None = None
    # only the values that switch it off
    mirostat: Literal[0] | None = None
    tfs_z: Literal[1] | None = None


class OllamaFunctionCall(RequestFields):
    name: str
    arguments: dict[str, Any]
    index: int | None = None


class OllamaToolCall(RequestFields):
    function: OllamaFunctionCall
    id: str | None = None
    type: Literal["function"] | None = None


class OllamaMessage(RequestFields):
    role: Literal["system", "user", "assistant", "tool"]
    content: str | None = None
    thinking: str | None = None
    images: list[str] | None = None
    tool_calls: list[OllamaToolCall] | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None


class OllamaFunction(RequestFields):
    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


class OllamaTool(RequestFields):
    type: Literal["function"] | None = None
    function: OllamaFunction


class _Common(RequestFields):
    model: str
    stream: bool | None = None  # None: yes
    format: Literal["", "json"] | dict[str, Any] | None = None
    options: OllamaOptions | None = None
    think: bool | Literal["low", "medium", "high"] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    keep_alive: KeepAlive = None


class OllamaChatRequest(_Common):
    messages: list[OllamaMessage] | None = None
    tools: list[OllamaTool] | None = None


class OllamaGenerateRequest(_Common):
    prompt: str | None = None
    suffix: str | None = None
    system: str | None = None
    raw: bool | None = None
    images: list[str] | None = None


class OllamaNameRequest(RequestFields):
    """`name` is the older spelling of `model`."""

    model: str | None = None
    name: str | None = None


class OllamaShowRequest(OllamaNameRequest):
    verbose: Literal[False] | None = None


class OllamaPullRequest(OllamaNameRequest):
    stream: bool | None = None
    insecure: Literal[False] | None = None


class OllamaEmbedRequest(RequestFields):
    model: str
    input: str | Annotated[list[str], Field(max_length=2048)]
    truncate: bool | None = None  # None: yes
    dimensions: Annotated[int, Field(ge=1, lt=1 << 20)] | None = None
    options: OllamaOptions | None = None  # only num_ctx has an effect on the vectors
    keep_alive: KeepAlive = None


class OllamaEmbeddingsRequest(RequestFields):
    """The body of `/api/embeddings`, which is older than `/api/embed`."""

    model: str
    prompt: str
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
    thinking: str | None = None


class OllamaModelDetails(BaseModel):
    format: str = "safetensors"
    family: str = ""
    families: list[str] | None = None
    parameter_size: str = ""
    quantization_level: str = ""


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
    modelfile: str
    parameters: str
    template: str
    details: OllamaModelDetails
    model_info: dict[str, Any]
    capabilities: list[str]


class OllamaVersion(BaseModel):
    version: str


def timestamp(when: datetime) -> str:
    return when.isoformat().replace("+00:00", "Z")


def error_line(error: ApiError) -> bytes:
    return line(error_body(error, "ollama"))
