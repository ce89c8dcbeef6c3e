"""`POST /v1/chat/completions`: OpenAI's chat completions, from the request's fields to a reply's JSON.

Every field of `ChatCompletionRequest` works but for the `Hint`s, which OpenAI documents to have no effect on the reply. Fields
of type None would change the reply in a way that Grus cannot, and are refused.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from app.runtime.chat import ChatRequest, Effort, ToolChoice, json_grammar
from app.runtime.replies import ReplyCollector, ReplyEvent
from app.runtime.replies import ReplyMessage as Reply
from app.server.body import Hint, JsonRoute, Preference, RequestFields
from app.server.context import Here, answer
from app.server.documented import errors, streams
from app.server.errors import bad_request, unsupported
from app.server.images import ImagePart, little_detail, written_content
from app.server.openai.shapes import content_logprobs, fingerprint, finish_reason, usage
from app.server.requests import RunningRequest, told_timings
from app.server.sampling import Count, SamplingFields
from app.server.streaming import DONE, event
from engine.loading import LoadedModel
from engine.types import Grammar, new_id

router = APIRouter(route_class=JsonRoute, tags=["OpenAI"])


# -- the request

Name = Annotated[str, Field(min_length=1, max_length=256, pattern=r"^[\w.:/-]+$")]


class ChatText(RequestFields):
    type: Literal["text"]
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


ChatContent = ChatText | ChatImage | ChatAudio


class ChatFunctionCall(RequestFields):
    name: Name
    arguments: str


class ChatToolCallParam(RequestFields):
    id: str
    type: Literal["function"] = "function"
    function: ChatFunctionCall
    index: int | None = None  # clients that stream send it back


class SystemMessage(RequestFields):
    role: Literal["system", "developer"]
    content: str | list[ChatText]
    name: str | None = None


class UserMessage(RequestFields):
    role: Literal["user"]
    content: str | list[Annotated[ChatContent, Field(discriminator="type")]]
    name: str | None = None


class AssistantMessage(RequestFields):
    role: Literal["assistant"]
    content: str | list[ChatText] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    refusal: None = None
    audio: None = None
    function_call: None = None
    annotations: list[Any] | None = Field(default=None, max_length=0)
    tool_calls: list[ChatToolCallParam] | None = None
    name: str | None = None


class ToolMessage(RequestFields):
    role: Literal["tool"]
    content: str | list[ChatText]
    tool_call_id: str
    name: str | None = None


ChatMessage = Annotated[SystemMessage | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


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


class TextFormat(RequestFields):
    type: Literal["text"]


class JsonObjectFormat(RequestFields):
    type: Literal["json_object"]


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
    include_obfuscation: Literal[False] | None = None


class ChatPrediction(RequestFields):
    type: Literal["content"]
    content: str | list[ChatText]


class ChatCompletionRequest(SamplingFields):
    model: str | None = None
    messages: Annotated[list[ChatMessage], Field(min_length=1)]
    stream: bool | None = None
    stream_options: ChatStreamOptions | None = None
    max_tokens: Count | None = None
    max_completion_tokens: Count | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    tools: Annotated[list[ChatTool], Field(max_length=128)] | None = None
    tool_choice: Literal["auto", "none", "required"] | ChatNamedTool | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None
    reasoning_effort: Preference[Effort] = None
    chat_template_kwargs: dict[str, Any] | None = None
    prediction: ChatPrediction | None = None
    continue_final_message: bool | None = None
    separate_reasoning: bool | None = None
    stream_reasoning: Hint[bool] = None
    no_stop_trim: Preference[Literal[False]] = None
    skip_special_tokens: Preference[Literal[True]] = None
    modalities: list[Literal["text"]] | None = None
    audio: None = None
    web_search_options: None = None
    functions: None = None
    function_call: None = None
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


class ChatCompletionChoice(BaseModel):
    index: int
    message: ChatCompletionMessage
    logprobs: Logprobs | None
    finish_reason: Literal["stop", "length", "tool_calls"]
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
    name, model, prepared = await server.prepare(_conversation(body), body.model, request)
    running = server.submit(prepared)
    if body.stream:
        options = body.stream_options
        with_usage = bool(options and options.include_usage)
        stream = _chunks(running, name, model, body.n or 1, with_usage)
        return await server.stream(running, stream)
    parts = await server.parts(request, running)
    return answer(_complete(parts, running, name, model, bool(body.logprobs)))


# -- from the request to a conversation


def _conversation(body: ChatCompletionRequest) -> ChatRequest:
    """The conversation that is asked for. Raises an ApiError for what is not supported."""
    if body.max_tokens is not None and body.max_completion_tokens is not None:
        raise bad_request("Give max_completion_tokens or max_tokens, not both.", "max_tokens")
    if body.top_logprobs is not None and not body.logprobs:
        raise bad_request("top_logprobs needs logprobs: true.", "top_logprobs")
    if body.stream_options is not None and not body.stream:
        raise bad_request("stream_options needs stream: true.", "stream_options")
    choice = _tool_choice(body)
    thinking = (body.chat_template_kwargs or {}).get("enable_thinking")
    if thinking is not None and not isinstance(thinking, bool):
        raise bad_request("enable_thinking must be true or false.", "chat_template_kwargs.enable_thinking")
    variables = {k: v for k, v in (body.chat_template_kwargs or {}).items() if k != "enable_thinking"}
    return ChatRequest(
        messages=[template_message(message, at) for at, message in enumerate(body.messages)],
        sampling=body.params(
            body.max_completion_tokens or body.max_tokens,
            logprobs=bool(body.logprobs),
            top_logprobs=body.top_logprobs or 0,
            grammar=body.grammar() if body.stop_regex else None,  # of the reasoning too
        ),
        tools=[tool.model_dump(exclude_none=True) for tool in body.tools or ()],
        tool_choice=choice,
        parallel_calls=body.parallel_tool_calls is not False,
        grammar=_grammar(body),
        thinking=thinking,
        effort=body.reasoning_effort,
        variables=variables,
        prediction=_text(body.prediction.content) if body.prediction is not None else "",
        continue_last=bool(body.continue_final_message),
        split_reasoning=body.separate_reasoning is not False,
    )


def template_message(message: ChatMessage, at: int) -> dict[str, Any]:
    """A message in the form that chat templates read, without absent fields."""
    plain = message.model_dump(exclude_none=True, exclude={"annotations"})
    if plain["role"] == "developer":
        plain["role"] = "system"
    for call in plain.get("tool_calls", ()):
        call.pop("index", None)
    if isinstance(message.content, list):
        plain["content"] = written_content([_written(part, f"messages.{at}.content") for part in message.content])
    plain.setdefault("content", "")
    return plain


def _written(part: ChatContent, param: str) -> str | ImagePart:
    if isinstance(part, ChatAudio):
        raise unsupported(param, "The loaded models do not hear audio.")
    if isinstance(part, ChatImage):
        return ImagePart(param, part.image_url.url, low=little_detail(part.image_url.detail, param))
    return part.text


def _text(content: str | list[ChatText]) -> str:
    return content if isinstance(content, str) else "".join(part.text for part in content)


def _tool_choice(body: ChatCompletionRequest) -> ToolChoice:
    if body.tool_choice is None:
        return ToolChoice("auto" if body.tools else "none")
    if isinstance(body.tool_choice, ChatNamedTool):
        choice = ToolChoice("named", body.tool_choice.function.name)
    else:
        choice = ToolChoice(body.tool_choice)
    if not body.tools and choice.kind in ("required", "named"):
        raise bad_request("tool_choice asks for a call, but there are no tools.", "tool_choice")
    return choice


def _grammar(body: ChatCompletionRequest) -> Grammar | None:
    own = body.grammar()
    if own is not None and body.response_format is not None and not isinstance(body.response_format, TextFormat):
        raise bad_request("response_format excludes regex, json_schema, ebnf and stop_regex.", "response_format")
    if own is not None and not body.stop_regex:
        return own
    if isinstance(body.response_format, JsonObjectFormat):
        return json_grammar()
    if isinstance(body.response_format, JsonSchemaFormat):
        return json_grammar(body.response_format.json_schema.schema_)
    return None


# -- from the reply to JSON


def _complete(
    parts: list[ReplyEvent], running: RunningRequest, name: str, model: LoadedModel, scored: bool
) -> dict[str, Any]:
    collector = ReplyCollector()
    for part in parts:
        collector.add(part)
    return {
        "id": new_id("chatcmpl"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": name,
        "choices": [_choice(i, message, model, scored) for i, message in enumerate(collector.messages())],
        "usage": usage(running.timings, running.reader.reasoning_tokens),
        "system_fingerprint": fingerprint(model),
        **told_timings(),
    }


def _choice(index: int, reply: Reply, model: LoadedModel, scored: bool) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.answer or (None if reply.calls else "")}
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.calls
        ]
    return {
        "index": index,
        "message": message,
        "logprobs": {"content": content_logprobs(model.tokenizer, reply.logprobs), "refusal": None} if scored else None,
        "finish_reason": finish_reason(reply.reason),
        "matched_stop": reply.stop,
    }


async def _chunks(
    running: RunningRequest, name: str, model: LoadedModel, choices: int, with_usage: bool
) -> AsyncIterator[bytes]:
    head = {
        "id": new_id("chatcmpl"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": name,
        "system_fingerprint": fingerprint(model),
    }
    tail: dict[str, Any] = {"usage": None} if with_usage else {}

    def chunk(index: int, delta: dict[str, Any], **more: Any) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": None, **more}
        return event({**head, "choices": [choice], **tail})

    for index in range(choices):
        yield chunk(index, {"role": "assistant", "content": ""})
    async for part in running.streamed():
        if part.kind == "end":
            yield chunk(part.index, {}, finish_reason=finish_reason(part.reason), matched_stop=part.stop)
        elif part.kind == "tokens":
            scores = {"content": content_logprobs(model.tokenizer, part.logprobs), "refusal": None}
            yield chunk(part.index, {}, logprobs=scores)
        else:
            yield chunk(part.index, _delta(part))
    if with_usage:
        yield event({**head, "choices": [], "usage": usage(running.timings, running.reader.reasoning_tokens)})
    if timings := told_timings():
        yield event({**head, "choices": [], **timings, **tail})
    yield DONE


def _delta(part: ReplyEvent) -> dict[str, Any]:
    if part.kind == "answer":
        return {"content": part.text}
    if part.kind == "reasoning":
        return {"reasoning_content": part.text}
    if part.kind == "call":
        function = {"name": part.name, "arguments": ""}
        return {"tool_calls": [{"index": part.call, "id": part.call_id, "type": "function", "function": function}]}
    return {"tool_calls": [{"index": part.call, "function": {"arguments": part.text}}]}
