"""A conversation as OpenAI's chat API has it, and the streamed reply as neutral reply events.

What servers add to that API differs: reasoning, grammars and template variables are written as the server's program has them,
where it is known. Many ignore a demanded call or a schema without a word, so that the finished reply is checked.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from app.runtime.chat import ChatRequest, PreparedChat, ReplyEvent, ReplyParser
from app.runtime.remote.servers import RemoteServer
from engine.errors import BadRequest, ErrorText, RemoteFailed, Unsupported
from engine.loading import LoadedModel
from engine.media.image import decode_image
from engine.pipelines.prompt import Prompt
from engine.text.reasoning import ReasoningSplitter, ReasoningTags
from engine.types import Event, Finished, FinishReason, Grammar, Picture, Request, SamplingParams, Text, TokenLogprob

_THINK = ReasoningTags("<think>", "</think>")
_SIDE = 4096  # pixels; a larger image is made smaller, as every vision model would
_REASONS: dict[str, FinishReason] = {"length": "length", "tool_calls": "tool_calls", "function_call": "tool_calls"}
# fields of SamplingParams beyond OpenAI's own, as vLLM, SGLang, llama.cpp and another Grus call them
_MORE = ("top_k", "min_p", "typical_p", "repetition_penalty", "min_tokens", "ignore_eos")
_OF_TOKENS = ("logit_bias", "banned_tokens", "required_tokens", "stop_token_ids")


@dataclass(frozen=True)
class RemoteChat(Request):
    """A conversation for a model elsewhere. `body` is what its server gets."""

    body: Mapping[str, Any] = field(default_factory=dict)
    demands_call: bool = False
    answer: Grammar | None = None  # the JSON that was promised


@dataclass(frozen=True)
class RemoteText(Text):
    """A piece of a reply from elsewhere: what of it is reasoning, answer or a call its server has said. `text` is the answer."""

    parts: Sequence[ReplyEvent] = ()
    reasoning_tokens: int = 0  # of the whole reply, as far as it is known


@dataclass(frozen=True, eq=False)
class EncodedPicture(Picture):
    """An image as it is sent."""

    url: str = ""


class RemoteReader(ReplyParser):
    """Gives out the reply events of a reply from elsewhere. `split` False: the reasoning stays in the answer, in its tags."""

    def __init__(self, split: bool = True, most_calls: int | None = None) -> None:
        super().__init__(most_calls=most_calls)
        self._split = split
        self._thinks: set[int] = set()  # choices whose reasoning was opened in the answer

    def read(self, event: Event) -> list[ReplyEvent]:
        if isinstance(event, RemoteText):
            self.reasoning_tokens = max(self.reasoning_tokens, event.reasoning_tokens)
            self._choice(event.index)
            self.output_tokens += bool(event.parts)
            return [shown for part in event.parts for shown in self._shown(part)]
        return super().read(event)

    def _shown(self, part: ReplyEvent) -> Iterator[ReplyEvent]:
        if part.kind in ("call", "arguments") and self._most_calls is not None and part.call >= self._most_calls:
            return
        if part.kind == "call":
            self._choice(part.index).calls += 1
        if part.kind in ("reasoning", "answer"):
            self.thinking = part.kind == "reasoning"
        if self._split or part.kind not in ("reasoning", "answer", "call"):
            yield part
        elif part.kind == "reasoning":
            opens = "" if part.index in self._thinks else f"{_THINK.open}\n"
            self._thinks.add(part.index)
            yield replace(part, kind="answer", text=opens + part.text)
        else:
            if part.index in self._thinks:
                self._thinks.discard(part.index)
                yield ReplyEvent(part.index, "answer", f"\n{_THINK.close}\n\n")
            yield part


# -- from a conversation to the body


def prepare_elsewhere(chat: ChatRequest, model: LoadedModel, server: RemoteServer, id: str, name: str) -> PreparedChat:
    """The request for a chat, and the parser of its reply. `id`: what the server calls the model. Raises BadRequest or Unsupported
    for what cannot be asked of a server elsewhere."""
    return _RemotePreparation(chat, model, server).run(id, name)


class _RemotePreparation:
    def __init__(self, chat: ChatRequest, model: LoadedModel, server: RemoteServer) -> None:
        self.chat, self.model, self.server = chat, model, server
        self.ignored: list[str] = []

    def run(self, id: str, name: str) -> PreparedChat:
        chat = self.chat
        chat.sampling.check()
        if not chat.messages:
            raise BadRequest("A conversation needs at least one message.", "messages")
        offers = bool(chat.tools) and chat.tool_choice.kind != "none" and chat.max_calls != 0
        body: dict[str, Any] = {"model": id, "messages": [self._message(one) for one in chat.messages]}
        body |= sampled(chat.sampling, self.server.program, name)
        if offers:
            body |= self._tools()
        if chat.grammar is not None:
            body |= self._format(chat.grammar)
        body |= self._reasoning()
        if chat.continue_last:
            body |= self._continues()
        elif not chat.add_generation_prompt:
            raise Unsupported(f"{self.server.name} always lets its model answer.", "add_generation_prompt")
        demands = offers and chat.tool_choice.kind in ("required", "named")
        answer = chat.grammar if chat.grammar and chat.grammar.kind in ("json_schema", "json_object") else None
        request = RemoteChat(
            name, (), chat.sampling, body={**body, **STREAMED}, demands_call=demands, answer=None if demands else answer
        )
        most = 1 if not chat.parallel_calls or chat.tool_choice.kind == "named" else None
        most = chat.max_calls if most is None else min(most, chat.max_calls or most)
        reader = RemoteReader(chat.split_reasoning, most)
        return PreparedChat(request, reader, Prompt("", []), self.model, ignored=self.ignored)

    def _message(self, given: Mapping[str, Any]) -> dict[str, Any]:
        role, content = given["role"], given.get("content")
        made: dict[str, Any] = {"role": role, "content": self._content(content)}
        for key in ("name", "tool_call_id"):
            if given.get(key):
                made[key] = given[key]
        if role == "assistant" and given.get("reasoning_content") and self.server.program in ("grus", "sglang"):
            made["reasoning_content"] = given["reasoning_content"]
        elif role == "assistant" and given.get("reasoning_content") and self.server.program == "vllm":
            made["reasoning"] = given["reasoning_content"]
        if given.get("tool_calls"):
            made["tool_calls"] = [_call(at, call) for at, call in enumerate(given["tool_calls"])]
        return made

    def _content(self, content: Any) -> Any:
        if not isinstance(content, list):
            return content or ""
        parts = []
        for part in content:
            if part.get("type") == "image":
                parts.append({"type": "image_url", "image_url": {"url": image_url(part["image"])}})
            elif part.get("type") == "text":
                parts.append({"type": "text", "text": part["text"]})
            else:
                raise Unsupported(f"{self.server.name} gets text and images alone.", "messages")
        return parts

    def _tools(self) -> dict[str, Any]:
        choice = self.chat.tool_choice
        known = [tool["function"]["name"] for tool in self.chat.tools]
        if choice.kind == "named" and choice.name not in known:
            raise BadRequest(f"tool_choice names {choice.name!r}, which is none of the tools.", "tool_choice")
        if self.chat.input_grammars:
            self._hint("A tool's grammar is not sent to a server elsewhere.", "tools.format")
        wanted: Any = choice.kind
        if choice.kind == "named":
            wanted = {"type": "function", "function": {"name": choice.name}}
        fields: dict[str, Any] = {"tools": [dict(tool) for tool in self.chat.tools], "tool_choice": wanted}
        return fields if self.chat.parallel_calls else {**fields, "parallel_tool_calls": False}

    def _format(self, grammar: Grammar) -> dict[str, Any]:
        if grammar.kind == "json_object":
            return {"response_format": {"type": "json_object"}}
        if grammar.kind == "json_schema":
            schema = {"name": "reply", "schema": json.loads(grammar.text), "strict": True}
            return {"response_format": {"type": "json_schema", "json_schema": schema}}
        return grammar_fields(grammar, self.server)

    def _reasoning(self) -> dict[str, Any]:
        chat = self.chat
        found: dict[str, Any] = {}
        thinking = chat.thinking if chat.effort is None else chat.effort != "none"
        variables = dict(chat.variables)
        if thinking is not None and chat.effort is None:
            variables.setdefault("enable_thinking", thinking)
        if variables:
            found["chat_template_kwargs"] = variables
        if chat.effort is not None:
            found["reasoning_effort"] = chat.effort
        if chat.reasoning_tokens is not None:
            if self.server.program in ("vllm", "grus"):
                found["thinking_token_budget"] = chat.reasoning_tokens
            else:
                self._hint(f"{self.server.name} has no limit of the reasoning.", chat.budget_field)
        return found

    def _continues(self) -> dict[str, Any]:
        if self.server.program not in ("vllm", "sglang", "grus"):
            raise Unsupported(f"{self.server.name} cannot continue a message.", "continue_final_message")
        return {"continue_final_message": True, "add_generation_prompt": False}

    def _hint(self, reason: str, field: str) -> None:
        """Raises Unsupported unless the client may send hints that have no effect."""
        if not self.chat.lenient:
            raise Unsupported(reason, field)
        self.ignored.append(field)


STREAMED: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}


def sampled(params: SamplingParams, program: str, name: str) -> dict[str, Any]:
    """The sampling parameters that were set. Raises Unsupported for those that are about tokens, which only the server knows."""
    for one in _OF_TOKENS:
        if getattr(params, one):
            raise Unsupported(f"{name} runs on another server, whose tokens are not known here.", one)
    plain = SamplingParams()
    wanted = ("max_tokens", "temperature", "top_p", "presence_penalty", "frequency_penalty", "seed", "n", *_MORE)
    found = {one: getattr(params, one) for one in wanted if getattr(params, one) != getattr(plain, one)}
    if params.stop:
        found["stop"] = list(params.stop)
    if params.repetition_penalty is not None and program in ("llamacpp", ""):
        found["repeat_penalty"] = params.repetition_penalty
    if params.logprobs or params.top_logprobs:
        found |= {"logprobs": True, "top_logprobs": params.top_logprobs}
    return found


def grammar_fields(grammar: Grammar, server: RemoteServer) -> dict[str, Any]:
    """An expression or a grammar, for the programs that take one. Raises Unsupported."""
    kind = "regex" if grammar.kind == "regex" else "ebnf"
    if server.program in ("grus", "sglang"):
        return {kind: grammar.text}
    if server.program == "vllm":
        return {"structured_outputs": {"regex" if kind == "regex" else "grammar": grammar.text}}
    if server.program == "llamacpp" and kind == "ebnf":
        return {"grammar": grammar.text}
    raise Unsupported(f"{server.name} is not known to take a reply's {kind}.", kind)


def _call(at: int, given: Mapping[str, Any]) -> dict[str, Any]:
    function = given["function"]
    arguments = function.get("arguments") or "{}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {
        "id": given.get("id") or f"call_{at}",
        "type": "function",
        "function": {"name": function["name"], "arguments": text},
    }


def image_url(given: Any) -> str:
    """An image of a message as a data URL. Only what was looked at here is sent: never a path, never a URL for the server to fetch."""
    if isinstance(given, EncodedPicture):
        return given.url
    return encoded_picture(given).url


def encoded_picture(given: Any) -> EncodedPicture:
    """A path, the bytes of a file, a Pillow image or an array."""
    from PIL import Image

    if isinstance(given, str | Path):
        try:
            given = Path(given).expanduser().read_bytes()
        except OSError as error:
            raise BadRequest(
                ErrorText("{path} cannot be read: {reason}.", path=given, reason=error.strerror), "images"
            ) from None
    image = decode_image(given) if isinstance(given, bytes) else given
    if isinstance(image, np.ndarray):
        image = Image.fromarray(image)
    image = image.convert("RGB")
    if max(image.size) > _SIDE:
        image.thumbnail((_SIDE, _SIDE))
    out = io.BytesIO()
    image.save(out, "PNG")
    url = "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()
    return EncodedPicture(np.zeros(0), (1, *image.size[::-1]), 0, "", url)


# -- from the stream to reply events


class ReplyDeltas:
    """Reads a chat's stream: each event of it becomes pieces of choices. `complete` once every choice has ended."""

    def __init__(self, request: Request, token: Callable[[str, Sequence[int] | None], int]) -> None:
        """`token` gives the id that a token's text has here."""
        self._request, self._token = request, token
        self._choices: dict[int, _DeltaChoice] = {}
        self.usage: Mapping[str, Any] = {}
        self.answers: dict[int, str] = {}

    @property
    def complete(self) -> bool:
        return bool(self._choices) and all(choice.reason is not None for choice in self._choices.values())

    @property
    def calls(self) -> bool:
        """Whether every choice calls a tool."""
        return bool(self._choices) and all(choice.calls for choice in self._choices.values())

    @property
    def reason(self) -> FinishReason:
        first = self._choices.get(0)
        return "stop" if first is None or first.reason is None else first.reason

    def read(self, event: Mapping[str, Any]) -> Iterator[Event]:
        if isinstance(event.get("usage"), dict):
            self.usage = event["usage"]
        for choice in event.get("choices") or ():
            yield from self._one(choice)
        details = {**self.usage, **(self.usage.get("completion_tokens_details") or {})}
        if thought := details.get("reasoning_tokens"):
            yield RemoteText(self._request.id, "", (), reasoning_tokens=int(thought))

    def _one(self, given: Mapping[str, Any]) -> Iterator[Event]:
        index = int(given.get("index") or 0)
        choice = self._choices.setdefault(index, _DeltaChoice(index))
        delta = given.get("delta") or given.get("message") or {}
        parts = list(choice.parts(delta, given.get("text")))
        scores = [self._scored(one) for one in (given.get("logprobs") or {}).get("content") or ()]
        reason = given.get("finish_reason")
        if reason is not None:
            parts += choice.rest()
        if scores:
            parts.insert(0, ReplyEvent(index, "tokens", logprobs=scores))
        if parts:
            answer = "".join(part.text for part in parts if part.kind == "answer")
            self.answers[index] = self.answers.get(index, "") + answer
            yield RemoteText(self._request.id, answer, (), index, scores, parts=parts)
        if reason is not None and choice.reason is None:
            choice.reason = "tool_calls" if choice.calls else _REASONS.get(str(reason), "stop")
            stop = given.get("matched_stop", given.get("stop_reason"))
            yield Finished(self._request.id, index, choice.reason, stop if isinstance(stop, str) else None)

    def _scored(self, given: Mapping[str, Any]) -> TokenLogprob:
        tops = tuple(
            (self._token(top["token"], top.get("bytes")), float(top["logprob"]))
            for top in given.get("top_logprobs") or ()
        )
        return TokenLogprob(self._token(given["token"], given.get("bytes")), float(given["logprob"]), tops)


class _DeltaChoice:
    """One choice of a reply, as far as it came. Reasoning that the server leaves in the answer is split off."""

    def __init__(self, index: int) -> None:
        self.index = index
        self.reason: FinishReason | None = None
        self._numbers: dict[Any, int] = {}  # of the calls, by what the server calls them
        self._last: Any = None
        self._splitter: ReasoningSplitter | None = ReasoningSplitter(_THINK)

    @property
    def calls(self) -> int:
        return len(self._numbers)

    def parts(self, delta: Mapping[str, Any], text: Any) -> Iterator[ReplyEvent]:
        if thought := next((delta[key] for key in ("reasoning_content", "reasoning") if delta.get(key)), None):
            self._splitter = None  # the server splits
            yield ReplyEvent(self.index, "reasoning", str(thought))
        content = delta.get("content") or text
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        if content:
            yield from self._answer(str(content))
        for call in delta.get("tool_calls") or ():
            yield from self._call(call)

    def _answer(self, text: str) -> Iterator[ReplyEvent]:
        if self._splitter is None:
            yield ReplyEvent(self.index, "answer", text)
            return
        for piece in self._splitter.push(text):
            yield ReplyEvent(self.index, piece.kind, piece.text)

    def rest(self) -> list[ReplyEvent]:
        pieces = [] if self._splitter is None else self._splitter.flush()
        return [ReplyEvent(self.index, piece.kind, piece.text) for piece in pieces]

    def _call(self, given: Mapping[str, Any]) -> Iterator[ReplyEvent]:
        """Calls are told apart by their number, or by their ids where a server sends each whole and numbers none."""
        function = given.get("function") or {}
        number, id, name = given.get("index"), given.get("id"), function.get("name")
        key = number if number is not None else id if id else self._last
        if key not in self._numbers:
            if not name:
                return
            self._numbers[key] = len(self._numbers)
            yield from self.rest()
            self._splitter = None
            made = str(id or f"call_{self._numbers[key]}")
            yield ReplyEvent(self.index, "call", call=self._numbers[key], call_id=made, name=str(name))
        self._last = key
        arguments = function.get("arguments")
        if arguments not in (None, ""):
            text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
            yield ReplyEvent(self.index, "arguments", text, call=self._numbers[key])


def check_promises(request: RemoteChat, deltas: ReplyDeltas, name: str) -> None:
    """Raises RemoteFailed where a server has ignored what was demanded of the reply."""
    if request.demands_call and not deltas.calls:
        raise RemoteFailed(ErrorText("{name} ignored tool_choice: its reply calls no tool.", name=name))
    if request.answer is None or deltas.calls or deltas.reason != "stop":
        return
    for answer in deltas.answers.values():
        try:
            value = json.loads(answer)
        except ValueError:
            raise RemoteFailed(ErrorText("{name} ignored response_format: its reply is not JSON.", name=name)) from None
        schema = json.loads(request.answer.text) if request.answer.text else {"type": "object"}
        if (where := mismatch(schema, value)) is not None:
            raise RemoteFailed(
                ErrorText(
                    "{name} ignored response_format: {where} of its reply does not fit the schema.",
                    name=name,
                    where=where,
                )
            )


_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value == int(value),
}


def mismatch(schema: Any, value: Any, where: str = "$") -> str | None:
    """Where a value does not fit the types, names and constants of a schema; None: nowhere. What else a schema may say is not
    looked at: this tells a server that ignores schemas from one that follows them."""
    if not isinstance(schema, dict):
        return None
    kinds = schema.get("type", ())
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_TYPES.get(kind, lambda _: True)(value) for kind in kinds):
        return where
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        return where
    if isinstance(value, dict):
        if missing := [name for name in schema.get("required", ()) if name not in value]:
            return f"{where}.{missing[0]}"
        found = (
            mismatch(one, value[name], f"{where}.{name}")
            for name, one in schema.get("properties", {}).items()
            if name in value
        )
        return next((place for place in found if place is not None), None)
    if isinstance(value, list):
        inner = (mismatch(schema.get("items"), one, f"{where}[{at}]") for at, one in enumerate(value))
        return next((place for place in inner if place is not None), None)
    return None
