"""SGLang's request and reply bodies."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, Field, model_validator

from app.server.body import Hint, Preference, RequestFields
from app.server.generation import TokenIds
from app.server.sampling import GrammarFields, RepeatLastN, StopText, TokenId


def _refused(given: Any) -> Any:
    """Clients send null, false or empty lists for what they do not use, one for each prompt."""
    if given and not (isinstance(given, list) and not any(map(_given, given))):
        raise ValueError("is not supported here")
    return given


def _given(one: Any) -> bool:
    return any(map(_given, one)) if isinstance(one, list) else bool(one)


Refused = Annotated[Any, AfterValidator(_refused)]
_Length = Annotated[int, Field(ge=-1, lt=1 << 31)]
_Top = Annotated[int, Field(ge=0, le=100)]


class SglangSamplingParams(GrammarFields):
    max_new_tokens: Annotated[int, Field(ge=0, lt=1 << 31)] | None = 128  # 0: the prompt alone
    min_new_tokens: Annotated[int, Field(ge=0, lt=1 << 31)] = 0
    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1, lt=1 << 31)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    repetition_penalty: Annotated[float, Field(gt=0, le=100)] | None = None
    repeat_last_n: RepeatLastN | None = None
    stop: StopText | Annotated[list[StopText], Field(max_length=64)] | None = None
    stop_token_ids: Annotated[list[TokenId], Field(max_length=64)] | None = None
    ignore_eos: bool = False
    no_stop_trim: bool = False
    skip_special_tokens: bool = True
    seed: int | None = None
    sampling_seed: int | None = None
    n: Annotated[int, Field(ge=1, le=16)] = 1
    logit_bias: dict[str, Annotated[float, Field(ge=-100, le=100)]] | None = None
    structural_tag: Refused = None
    spaces_between_special_tokens: Preference[Literal[True]] = None
    custom_params: Any = None  # `thinking_budget`
    stream_interval: Hint[Any] = None


class SglangGenerateRequest(RequestFields):
    """A text, tokens, or a list of either."""

    model: str | None = None
    text: str | Annotated[list[str], Field(min_length=1, max_length=128)] | None = None
    input_ids: TokenIds | Annotated[list[TokenIds], Field(min_length=1, max_length=128)] | None = None
    sampling_params: SglangSamplingParams | Annotated[list[SglangSamplingParams], Field(max_length=128)] | None = None
    rid: str | Annotated[list[str], Field(max_length=128)] | None = None
    image_data: str | list[Any] | None = None
    image_url: str | list[Any] | None = None
    return_logprob: bool | list[bool] | None = None
    logprob_start_len: _Length | list[_Length] | None = None  # -1: of the output alone
    top_logprobs_num: _Top | list[_Top] | None = None
    return_text_in_logprobs: bool | None = None
    stream: bool | None = None
    input_embeds: Refused = None
    audio_data: Refused = None
    video_data: Refused = None
    token_ids_logprob: Refused = None
    return_hidden_states: Refused = None
    custom_logit_processor: Refused = None
    lora_path: str | Annotated[list[str | None], Field(max_length=128)] | None = None  # names of adapters
    session_params: Refused = None
    log_metrics: Hint[Any] = None
    modalities: Hint[Any] = None

    @model_validator(mode="after")
    def _one_source(self) -> SglangGenerateRequest:
        if (self.text is None) == (self.input_ids is None):
            raise ValueError("give either text or input_ids")
        return self


class SglangEncodeRequest(RequestFields):
    model: str | None = None
    text: str | Annotated[list[str], Field(min_length=1, max_length=2048)] | None = None
    input_ids: TokenIds | Annotated[list[TokenIds], Field(min_length=1, max_length=2048)] | None = None
    rid: Hint[Any] = None
    sampling_params: Hint[Any] = None
    image_data: Refused = None

    @model_validator(mode="after")
    def _one_source(self) -> SglangEncodeRequest:
        if (self.text is None) == (self.input_ids is None):
            raise ValueError("give either text or input_ids")
        return self


class SglangUnsupportedRequest(RequestFields):
    """Of a route that is refused, whatever it asks for."""


class SglangAbortRequest(RequestFields):
    rid: str | None = None
    abort_all: bool = False


class SglangFinishReason(BaseModel):
    type: str
    matched: str | int | None = None
    length: int | None = None


class SglangMetaInfo(BaseModel):
    id: str
    finish_reason: SglangFinishReason | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    e2e_latency: float | None = None
    timings: dict[str, float] | None = None
    input_token_logprobs: list[list[Any]] | None = None
    output_token_logprobs: list[list[Any]] | None = None
    input_top_logprobs: list[list[list[Any]] | None] | None = None
    output_top_logprobs: list[list[list[Any]]] | None = None


class SglangGenerateReply(BaseModel):
    index: int | None = None
    text: str
    output_ids: list[int]
    meta_info: SglangMetaInfo


class SglangModelInfo(BaseModel):
    model_path: str
    tokenizer_path: str
    device: str
    is_generation: bool = True
    served_model_name: str
    preferred_sampling_params: dict[str, Any] | None
    model_type: str
    max_context_length: int | None
    has_image_understanding: bool = False
    has_audio_understanding: bool = False


class SglangServerStats(BaseModel):
    total_requests: int
    completed_requests: int
    avg_decode_tokens_per_sec: float
    active_sequences: int
    waiting_sequences: int


class SglangServerInfo(BaseModel):
    version: str
    device: str
    served_model_name: str | None
    model_path: str | None
    max_concurrent: int | None
    decode_tokens_per_seq: int | None
    stats: SglangServerStats
    settings: dict[str, Any]
    internal_states: list[dict[str, Any]]


class SglangActionReply(BaseModel):
    success: bool = True
    message: str


class SglangLoad(BaseModel):
    load: int
    num_reqs: int
    num_waiting_reqs: int


class SglangEncodeReply(BaseModel):
    embedding: list[float]
    meta_info: dict[str, Any]
