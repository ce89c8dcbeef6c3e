"""SGLang's `/generate` and what stands around it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field, model_validator

from app.server.completions.protocol import Ids
from app.server.sampling import RepeatLastN, StopText, TokenId
from app.server.strict import Strict


class GenerateParams(Strict):
    max_new_tokens: Annotated[int, Field(ge=1, lt=1 << 31)] | None = 128
    min_new_tokens: Annotated[int, Field(ge=0, lt=1 << 31)] = 0
    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=-1, lt=1 << 31)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] = 0.0
    repetition_penalty: Annotated[float, Field(gt=0, le=100)] | None = None
    repeat_last_n: RepeatLastN | None = None
    stop: StopText | Annotated[list[StopText], Field(max_length=16)] | None = None
    stop_token_ids: Annotated[list[TokenId], Field(max_length=64)] | None = None
    ignore_eos: bool = False
    seed: int | None = None
    sampling_seed: int | None = None
    n: Annotated[int, Field(ge=1, le=16)] = 1
    regex: str | None = None
    json_schema: str | dict[str, Any] | None = None
    ebnf: str | None = None
    logit_bias: dict[str, Annotated[float, Field(ge=-100, le=100)]] | None = None


class GenerateRequest(Strict):
    """A text, tokens, or a list of either."""

    model: str | None = None
    text: str | Annotated[list[str], Field(min_length=1, max_length=128)] | None = None
    input_ids: Ids | Annotated[list[Ids], Field(min_length=1, max_length=128)] | None = None
    sampling_params: GenerateParams | Annotated[list[GenerateParams], Field(max_length=128)] | None = None
    rid: str | Annotated[list[str], Field(max_length=128)] | None = None
    image_data: str | list[Any] | None = None
    image_url: str | list[Any] | None = None
    return_logprob: bool | None = None
    logprob_start_len: Annotated[int, Field(ge=-1, lt=1 << 31)] | None = None  # -1: of the output alone
    top_logprobs_num: Annotated[int, Field(ge=0, le=20)] | None = None
    return_text_in_logprobs: bool | None = None
    stream: bool | None = None

    @model_validator(mode="after")
    def _one_source(self) -> GenerateRequest:
        if (self.text is None) == (self.input_ids is None):
            raise ValueError("give either text or input_ids")
        return self


class AbortRequest(Strict):
    rid: str | None = None
    abort_all: bool = False


class FinishReason(BaseModel):
    type: str
    matched: str | int | None = None
    length: int | None = None


class MetaInfo(BaseModel):
    id: str
    finish_reason: FinishReason | None
    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int
    e2e_latency: float | None = None
    timings: dict[str, float] | None = None
    input_token_logprobs: list[list[Any]] | None = None
    output_token_logprobs: list[list[Any]] | None = None
    output_top_logprobs: list[list[list[Any]]] | None = None


class Generated(BaseModel):
    index: int | None = None
    text: str
    output_ids: list[int]
    meta_info: MetaInfo


class ModelInfo(BaseModel):
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


class ServerStats(BaseModel):
    total_requests: int
    completed_requests: int
    avg_decode_tokens_per_sec: float
    active_sequences: int
    waiting_sequences: int


class ServerInfo(BaseModel):
    version: str
    device: str
    served_model_name: str | None
    model_path: str | None
    max_concurrent: int | None
    decode_tokens_per_seq: int | None
    stats: ServerStats
    settings: dict[str, Any]
    internal_states: list[dict[str, Any]]


class Done(BaseModel):
    success: bool = True
    message: str
