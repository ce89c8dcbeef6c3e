"""Bodies of llama.cpp's native requests: the fields that change what is generated. Those of its slots and sampler chains are ignored."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from app.runtime.chat import ChatRequest, Effort
from app.server.body import Hint, Preference, RequestFields
from app.server.openai.chat import ChatCompletionRequest, ChatMessage, ChatTool, ChatToolChoice, conversation
from app.server.sampling import RepeatLastN, StopText, TokenId

Bias = float | bool  # false: never
PromptPart = str | TokenId


class LlamaPromptObject(RequestFields):
    prompt_string: str
    multimodal_data: Any = None


LlamaPrompt = str | LlamaPromptObject | Annotated[list[PromptPart], Field(max_length=1_000_000)]


class LlamaAdapterScale(RequestFields):
    id: Annotated[int, Field(ge=0, lt=1 << 31)]
    scale: Annotated[float, Field(ge=-1e3, le=1e3)]


class LlamaCompletionRequest(RequestFields):
    model: str | None = None
    prompt: LlamaPrompt | Annotated[list[LlamaPrompt], Field(min_length=1, max_length=128)] = ""
    n_predict: Annotated[int, Field(ge=-2, lt=1 << 31)] | None = None  # below 0: up to the context's end
    stream: bool | None = None
    temperature: Annotated[float, Field(ge=0, le=100)] | None = None
    top_k: Annotated[int, Field(ge=-1, lt=1 << 31)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    typical_p: Annotated[float, Field(gt=0, le=1)] | None = None
    repeat_penalty: Annotated[float, Field(gt=0, le=100)] | None = None
    repeat_last_n: RepeatLastN | None = None
    presence_penalty: Annotated[float, Field(ge=-100, le=100)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-100, le=100)] | None = None
    logit_bias: (
        dict[str, Bias] | Annotated[list[Annotated[tuple[TokenId | str, Bias], Field()]], Field(max_length=4096)] | None
    ) = None
    seed: int | None = None  # below 0: another one each time
    stop: StopText | Annotated[list[StopText], Field(max_length=64)] | None = None
    ignore_eos: bool | None = None
    grammar: str | None = None
    json_schema: dict[str, Any] | None = None
    n_probs: Annotated[int, Field(ge=0, le=100)] | None = None
    return_tokens: bool | None = None
    response_fields: list[str] | None = None
    lora: Annotated[list[LlamaAdapterScale], Field(max_length=1000)] | None = None
    cache_prompt: Hint[bool] = None
    id_slot: Hint[int] = None


class LlamaExtraFile(RequestFields):
    text: str
    filename: str = "tmp"


class LlamaInfillRequest(LlamaCompletionRequest):
    prompt: str = ""  # what was typed after `input_prefix`
    input_prefix: str = ""
    input_suffix: str = ""
    input_extra: Annotated[list[LlamaExtraFile], Field(max_length=1000)] | None = None


class LlamaCompletionReply(BaseModel):
    index: int
    content: str
    tokens: list[int]
    stop: bool
    model: str
    prompt: str
    tokens_predicted: int
    tokens_evaluated: int
    tokens_cached: int
    truncated: bool
    has_new_line: bool
    stop_type: str
    stopping_word: str
    generation_settings: dict[str, Any]
    timings: dict[str, float]


class LlamaConversation(RequestFields):
    """What of a chat completion's fields changes its prompt."""

    model: str | None = None
    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    tools: list[ChatTool] | None = None
    tool_choice: Literal["auto", "none", "required"] | ChatToolChoice | None = None
    reasoning_effort: Preference[Effort] = None
    chat_template_kwargs: dict[str, Any] | None = None
    continue_final_message: bool | None = None
    add_generation_prompt: bool | None = None

    def chat(self) -> ChatRequest:
        return conversation(ChatCompletionRequest(**{name: getattr(self, name) for name in self.model_fields_set}))


class LlamaAppliedTemplate(BaseModel):
    prompt: str


class LlamaInputTokens(BaseModel):
    object: str = "response.input_tokens"
    input_tokens: int


class LlamaAdapter(BaseModel):
    id: int
    path: str  # the adapter's name: its location is not disclosed
    scale: float


class LlamaSuccess(BaseModel):
    success: bool = True


class LlamaProps(BaseModel):
    model_alias: str
    model_path: str  # the model's name: its location is not disclosed
    chat_template: str
    bos_token: str
    eos_token: str
    modalities: dict[str, bool]
    total_slots: int
    default_generation_settings: dict[str, Any]
    build_info: str
