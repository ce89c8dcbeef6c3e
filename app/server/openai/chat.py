"""`POST /v1/chat/completions`: OpenAI's chat completions, from the request's fields to a reply's JSON.

Every field of `ChatCompletionRequest` works but for the `Hint`s, which OpenAI documents to have no effect on the reply. Fields
of type None would change the reply in a way that Grus cannot, and are refused.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.runtime.chat import ChatRequest, ReplyCollector, ReplyEvent, ToolChoice, json_grammar, with_logprobs
from app.runtime.chat import ReplyMessage as Reply
from app.server.body import Hint, JsonRoute, Preference, RequestFields, ignore
from app.server.context import Here, answer
from app.server.errors import bad_request, unsupported
from app.server.images import ImagePart, SoundPart, little_detail, written_content
from app.server.openai.shapes import content_logprobs, fingerprint, finish_reason, usage
from app.server.openapi import errors, streams
from app.server.requests import DONE, RunningRequest, event, requested_timings
from app.server.sampling import Count, ReasoningFields, SamplingFields
from engine.loading import LoadedModel
from engine.types import FinishReason, Grammar, SamplingParams, Timings, TokenLogprob, new_id

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])


# -- the request

# whatever clients name their functions: only what would end a name where a model writes it is left out
Name = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[^\x00-\x1f\x7f<>\"\\]+$")]


class ChatText(RequestFields):
    type: Literal["text", "input_text", "output_text"]
    text: str


class ChatImageUrl(RequestFields):
    url: str
    detail: Preference[Literal["auto", "low", "high"]] = None


class ChatImage(RequestFields):
    type: Literal["image_url"]
    image_url: ChatImageUrl


class ChatInputAudio(RequestFields):
    data: str
    format: Literal["wav", "mp3"]


class ChatAudio(RequestFields):
    type: Literal["input_audio"]
    input_audio: ChatInputAudio


class ChatFile(RequestFields):
    type: Literal["file"]
    file: Any


class ChatRefusal(RequestFields):
    type: Literal["refusal"]
    refusal: str


class ChatThinking(RequestFields):
    type: Literal["thinking"]
    thinking: str


ChatContent = ChatText | ChatImage | ChatAudio | ChatFile
ChatContents = list[Annotated[ChatContent, Field(discriminator="type")]]
AssistantContent = ChatText | ChatRefusal | ChatThinking


class ChatFunctionCall(RequestFields):
    name: str
    arguments: str | dict[str, Any] | None = None


class ChatToolCallParam(RequestFields):
    id: str
    type: Literal["function"] = "function"
    function: ChatFunctionCall
    index: int | None = None  # clients that stream send it back


class SystemMessage(RequestFields):
    role: Literal["system", "developer"]
    content: str | list[ChatText] | None = None
    name: str | None = None


class UserMessage(RequestFields):
    role: Literal["user"]
    content: str | ChatContents | None = None
    name: str | None = None


class AssistantMessage(RequestFields):
    role: Literal["assistant"]
    content: str | list[Annotated[AssistantContent, Field(discriminator="type")]] | None = None
    reasoning_content: Preference[str] = None
    reasoning: Preference[str] = None
    reasoning_details: Preference[list[dict[str, Any]]] = None
    refusal: str | None = None
    audio: Hint[Any] = None
    annotations: Hint[Any] = None
    function_call: ChatFunctionCall | None = None
    tool_calls: list[ChatToolCallParam] | None = None
    name: str | None = None


class ToolMessage(RequestFields):
    role: Literal["tool"]
    content: str | ChatContents | None = None
    tool_call_id: str
    name: str | None = None


class FunctionMessage(RequestFields):
    role: Literal["function"]
    content: str | None = None
    name: str


ChatMessage = Annotated[
    SystemMessage | UserMessage | AssistantMessage | ToolMessage | FunctionMessage, Field(discriminator="role")
]


class ChatFunction(RequestFields):
    name: Name
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ChatTool(RequestFields):
    type: Literal["function"]
    function: ChatFunction


class ChatNamedFunction(RequestFields):
    name: Name


class ChatNamedTool(RequestFields):
    type: Literal["function"]
    function: ChatNamedFunction


class AllowedTools(RequestFields):
    mode: Literal["auto", "required"] = "auto"
    tools: Annotated[list[ChatNamedTool], Field(min_length=1)]


class ChatAllowedTools(RequestFields):
    type: Literal["allowed_tools"]
    allowed_tools: AllowedTools


ChatToolChoice = Annotated[ChatNamedTool | ChatAllowedTools, Field(discriminator="type")]


class TextFormat(RequestFields):
    type: Literal["text"]


class JsonObjectFormat(RequestFields):
    type: Literal["json_object"]
    schema_: dict[str, Any] | None = Field(default=None, alias="schema")  # as llama.cpp has it


class JsonSchema(RequestFields):
    name: str | None = None
    description: str | None = None
    schema_: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None


class JsonSchemaFormat(RequestFields):
    type: Literal["json_schema"]
    json_schema: JsonSchema


ResponseFormat = Annotated[TextFormat | JsonObjectFormat | JsonSchemaFormat, Field(discriminator="type")]


class ChatStreamOptions(RequestFields):
    include_usage: bool | None = None
    continuous_usage_stats: bool | None = None
    include_obfuscation: Literal[False] | None = None


class ChatPrediction(RequestFields):
    type: Literal["content"]
    content: str | list[ChatText]


class ChatCompletionRequest(SamplingFields, ReasoningFields):
    model: str | None = None
    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    stream: bool | None = None
    stream_options: ChatStreamOptions | None = None
    max_tokens: Count | Literal[-1] | None = None  # -1: no limit, as LM Studio's clients send it
    max_completion_tokens: Count | Literal[-1] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    tools: list[ChatTool] | None = None
    tool_choice: Literal["auto", "none", "required"] | ChatToolChoice | None = None
    parallel_tool_calls: bool | None = None
    max_tool_calls: Annotated[int, Field(ge=0)] | None = None
    functions: list[ChatFunction] | None = None  # what came before `tools`
    function_call: Literal["auto", "none"] | ChatNamedFunction | None = None
    response_format: ResponseFormat | None = None
    grammar: str | None = None  # llama.cpp's word for `ebnf`
    chat_template_kwargs: dict[str, Any] | None = None
    prediction: ChatPrediction | None = None
    continue_final_message: bool | None = None
    add_generation_prompt: bool | None = None
    separate_reasoning: bool | None = None
    stream_reasoning: Hint[bool] = None
    no_stop_trim: Preference[Literal[False]] = None
    skip_special_tokens: Preference[Literal[True]] = None
    modalities: list[Literal["text"]] | None = None
    audio: None = None
    web_search_options: None = None
    user: Hint[str] = None
    metadata: Hint[dict[str, str]] = None
    safety_identifier: Hint[str] = None
    prompt_cache_key: Hint[str] = None
    prompt_cache_retention: Hint[Literal["in_memory", "in-memory", "24h"]] = None
    service_tier: Hint[Literal["auto", "default"]] = None
    store: Preference[Literal[False]] = None


# -- the reply, for the OpenAPI document


class TopLogprob(BaseModel):
    token: str
    logprob: float
    bytes: list[int] | None


class ContentLogprob(TopLogprob):
    top_logprobs: list[TopLogprob]


class Logprobs(BaseModel):
    content: list[ContentLogprob] | None
    refusal: None = None


class ChatCompletionFunctionCall(BaseModel):
    name: str
    arguments: str


class ChatCompletionToolCall(BaseModel):
    id: str
    type: Literal["function"] = "function"
    function: ChatCompletionFunctionCall


class ChatCompletionMessage(BaseModel):
    role: Literal["assistant"] = "assistant"
    content: str | None
    reasoning_content: str | None = None
    tool_calls: list[ChatCompletionToolCall] | None = None
    function_call: ChatCompletionFunctionCall | None = None


class ChatCompletionChoice(BaseModel):
    index: int
    message: ChatCompletionMessage
    logprobs: Logprobs | None
    finish_reason: Literal["stop", "length", "tool_calls", "function_call"]
    matched_stop: str | int | None = None


class CompletionUsage(BaseModel):
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
    choices: list[ChatCompletionChoice]
    usage: CompletionUsage
    system_fingerprint: str | None = None
    timings: dict[str, float] | None = None


# -- the route


@router.post("/v1/chat/completions", response_model=ChatCompletion, responses=streams() | errors(400, 404, 429))
async def chat_completions(body: ChatCompletionRequest, request: Request, server: Here) -> Any | Response:
    """A reply to a conversation, whole or as a stream of server-sent events."""
    name, model, prepared = await server.prepare(conversation(body), body.model, request)
    running = server.submit(prepared)
    reply = _ReplyWriter(running, name, model, len(prepared.prompt.ids), body)
    if body.stream:
        return await server.stream(running, reply.chunks())
    return answer(reply.whole(await server.parts(request, running)))


# -- from the request to a conversation


def conversation(body: ChatCompletionRequest) -> ChatRequest:
    """The conversation that is asked for. Raises an ApiError for what is not supported."""
    check_stream_options(body.stream_options, body.stream)
    if body.continue_final_message and body.add_generation_prompt:
        raise bad_request(
            "continue_final_message and add_generation_prompt exclude each other.", "add_generation_prompt"
        )
    thinking = (body.chat_template_kwargs or {}).get("enable_thinking")
    if thinking is not None and not isinstance(thinking, bool):
        raise bad_request("enable_thinking must be true or false.", "chat_template_kwargs.enable_thinking")
    variables = {k: v for k, v in (body.chat_template_kwargs or {}).items() if k != "enable_thinking"}
    choice, tools = _tools(body)
    return ChatRequest(
        messages=[template_message(message, at) for at, message in enumerate(body.messages)],
        sampling=_sampling(body),
        tools=tools,
        tool_choice=choice,
        parallel_calls=body.parallel_tool_calls is not False,
        max_calls=1 if _is_legacy(body) else body.max_tool_calls,
        variables=variables,
        prediction=_text(body.prediction.content) if body.prediction is not None else "",
        continue_last=bool(body.continue_final_message),
        add_generation_prompt=body.add_generation_prompt is not False,
        split_reasoning=body.separate_reasoning is not False,
        **_format(body),
        **body.reasoning_asked() | ({} if thinking is None else {"thinking": thinking}),
    )


def check_stream_options(options: ChatStreamOptions | None, stream: bool | None) -> None:
    if options is not None and not stream and not ignore("stream_options"):
        raise bad_request("stream_options needs stream: true.", "stream_options")


def _sampling(body: ChatCompletionRequest) -> SamplingParams:
    limits = [most for most in (body.max_tokens, body.max_completion_tokens) if most is not None and most > 0]
    scored = bool(body.logprobs or body.top_logprobs)
    grammar = body.reply_grammar() if body.stop_regex else None  # of the reasoning too
    return body.params(min(limits, default=None), logprobs=scored, top_logprobs=body.top_logprobs or 0, grammar=grammar)


_NOT_FOR_TEMPLATES = {"content", "annotations", "audio", "function_call", "refusal", "reasoning_details"}


def template_message(message: ChatMessage, at: int) -> dict[str, Any]:
    """A message in the form that chat templates read, without absent fields."""
    plain = message.model_dump(exclude_none=True, exclude=_NOT_FOR_TEMPLATES)
    plain["role"] = {"developer": "system", "function": "tool"}.get(message.role, message.role)
    content: Any = message.content or ""
    if isinstance(message, AssistantMessage):
        _add_reasoning(message, plain)
        content = content or message.refusal or ""
        if message.function_call is not None:
            plain["tool_calls"] = [{"type": "function", "function": message.function_call.model_dump()}]
    if isinstance(content, list):
        written = [_written(part, f"messages.{at}.content") for part in content]
        content = written_content([part for part in written if part is not None])
    for call in plain.get("tool_calls", ()):
        call.pop("index", None)
        given = call["function"].get("arguments")
        call["function"]["arguments"] = json.dumps(given) if isinstance(given, dict) else given or "{}"
    return plain | {"content": content}


def _add_reasoning(message: AssistantMessage, plain: dict[str, Any]) -> None:
    """What clients echo of the reasoning, by any of its names."""
    if message.reasoning_content is not None or message.reasoning is not None:
        return
    parts = message.content if isinstance(message.content, list) else []
    thoughts = [part.thinking for part in parts if isinstance(part, ChatThinking)]
    thoughts += [text for part in message.reasoning_details or () if isinstance(text := part.get("text"), str)]
    if thoughts:
        plain["reasoning_content"] = "\n".join(thoughts)


def _written(part: ChatContent | AssistantContent, param: str) -> str | ImagePart | None:
    if isinstance(part, ChatAudio):
        return SoundPart(f"{param}.input_audio", part.input_audio.data, "base64")
    if isinstance(part, ChatFile):
        raise unsupported(f"{param}.file", "Files are not read here. Send their text, or pages as images.")
    if isinstance(part, ChatImage):
        return ImagePart(param, part.image_url.url, low=little_detail(part.image_url.detail, param))
    if isinstance(part, ChatThinking):
        return None
    return part.refusal if isinstance(part, ChatRefusal) else part.text


def _text(content: str | list[ChatText]) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)


def _is_legacy(body: ChatCompletionRequest) -> bool:
    """Whether functions were offered, and calls are reported, as it was before there were tools."""
    return bool(body.functions) and not body.tools


def _tools(body: ChatCompletionRequest) -> tuple[ToolChoice, list[dict[str, Any]]]:
    """The choice, and the tools that may be called."""
    tools = [tool.model_dump(exclude_none=True) for tool in body.tools or ()]
    tools += [{"type": "function", "function": f.model_dump(exclude_none=True)} for f in body.functions or ()]
    given = body.tool_choice if body.tool_choice is not None else body.function_call
    if isinstance(given, ChatAllowedTools):
        names = [tool.function.name for tool in given.allowed_tools.tools]
        known = {tool["function"]["name"] for tool in tools}
        if unknown := [name for name in names if name not in known]:
            raise bad_request(f"tool_choice allows {unknown[0]!r}, which is none of the tools.", "tool_choice")
        return ToolChoice(given.allowed_tools.mode), [tool for tool in tools if tool["function"]["name"] in names]
    if isinstance(given, ChatNamedTool | ChatNamedFunction):
        choice = ToolChoice("named", given.name if isinstance(given, ChatNamedFunction) else given.function.name)
    else:
        choice = ToolChoice(given or ("auto" if tools else "none"))
    if not tools and choice.kind in ("required", "named"):
        raise bad_request("tool_choice asks for a call, but there are no tools.", "tool_choice")
    return choice, tools


def _format(body: ChatCompletionRequest) -> dict[str, Any]:
    """The grammar of the answer, and what the client calls its schema."""
    form = None if isinstance(body.response_format, TextFormat) else body.response_format
    asked = ("grammar", "regex", "json_schema", "ebnf", "stop_regex")
    given = [name for name in asked if getattr(body, name) not in (None, "")]
    given += ["response_format"] if form is not None else []
    if len(given) > 1:
        raise bad_request(f"{' and '.join(given)} exclude each other.", given[-1])
    if isinstance(form, JsonSchemaFormat):
        strict = bool(form.json_schema.strict)
        return {"grammar": json_grammar(form.json_schema.schema_, strict), "strict_grammar": strict}
    if isinstance(form, JsonObjectFormat):
        return {"grammar": json_grammar(form.schema_), "schema_field": "response_format.schema"}
    if body.grammar:
        return {"grammar": Grammar("ebnf", body.grammar)}
    return {} if body.stop_regex else {"grammar": body.reply_grammar(), "schema_field": "json_schema"}


# -- from the reply to JSON


_NO_OPTIONS = ChatStreamOptions()


class _ReplyWriter:
    """One request's reply, whole or as chunks."""

    def __init__(
        self, running: RunningRequest, name: str, model: LoadedModel, prompt_tokens: int, body: ChatCompletionRequest
    ) -> None:
        self._running = running
        self._tokenizer = model.tokenizer
        self._prompt_tokens = prompt_tokens
        self._scored = bool(body.logprobs or body.top_logprobs)
        self._legacy = _is_legacy(body)
        self._choices = body.n or 1
        self._options = body.stream_options or _NO_OPTIONS
        self._head = {"id": new_id("chatcmpl"), "object": "chat.completion", "created": int(time.time()), "model": name}
        self._tail = {"system_fingerprint": fingerprint(model)}

    def whole(self, parts: list[ReplyEvent]) -> dict[str, Any]:
        collector = ReplyCollector()
        for part in parts:
            collector.add(part)
        choices = [self._choice(at, message) for at, message in enumerate(collector.messages())]
        return {**self._head, "choices": choices, "usage": self._usage(), **self._tail, **requested_timings()}

    def _usage(self) -> dict[str, Any]:
        return usage(self._running.timings, self._running.reader.reasoning_tokens)

    def _reason(self, reason: FinishReason) -> str:
        return "function_call" if self._legacy and reason == "tool_calls" else finish_reason(reason)

    def _logprobs(self, scores: Sequence[TokenLogprob]) -> dict[str, Any] | None:
        return {"content": content_logprobs(self._tokenizer, scores), "refusal": None} if self._scored else None

    def _choice(self, index: int, reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.answer or (None if reply.calls else "")}
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        if reply.calls and self._legacy:
            message["function_call"] = {"name": reply.calls[0].name, "arguments": reply.calls[0].arguments}
        elif reply.calls:
            message["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in reply.calls
            ]
        scores = self._logprobs(reply.logprobs)
        end = {"finish_reason": self._reason(reply.reason), "matched_stop": reply.stop}
        return {"index": index, "message": message, "logprobs": scores, **end}

    async def chunks(self) -> AsyncIterator[bytes]:
        for index in range(self._choices):
            yield self._chunk(index, {"role": "assistant", "content": None})
        async for part in with_logprobs(self._running.streamed()):
            scores = self._logprobs(part.logprobs) if part.logprobs else None
            if part.kind == "end":
                yield self._chunk(part.index, {}, scores, self._reason(part.reason), matched_stop=part.stop)
            else:
                yield self._chunk(part.index, self._delta(part), scores)
        head = {**self._head, "object": "chat.completion.chunk", **self._tail, "choices": []}
        if self._options.include_usage:
            yield event({**head, "usage": self._usage()})
        if timings := requested_timings():
            yield event({**head, **timings, **self._usage_so_far()})
        yield DONE

    def _chunk(
        self, index: int, delta: dict[str, Any], scores: Any = None, reason: str | None = None, **more: Any
    ) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": scores, "finish_reason": reason, **more}
        head = {**self._head, "object": "chat.completion.chunk", **self._tail}
        return event({**head, "choices": [choice], **self._usage_so_far()})

    def _usage_so_far(self) -> dict[str, Any]:
        if self._options.continuous_usage_stats:
            reader = self._running.reader
            so_far = Timings(prompt_tokens=self._prompt_tokens, output_tokens=reader.output_tokens)
            return {"usage": usage(so_far, reader.reasoning_tokens)}
        return {"usage": None} if self._options.include_usage else {}

    def _delta(self, part: ReplyEvent) -> dict[str, Any]:
        if part.kind == "answer":
            return {"content": part.text}
        if part.kind == "reasoning":
            return {"reasoning_content": part.text}
        begins = part.kind == "call"
        function = {"name": part.name, "arguments": ""} if begins else {"arguments": part.text}
        if self._legacy:
            return {"function_call": function}
        head = {"id": part.call_id, "type": "function"} if begins else {}
        return {"tool_calls": [{"index": part.call, **head, "function": function}]}
