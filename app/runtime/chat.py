"""The chat pipeline: messages and tools become a request for the engine and a parser of its reply.

The model's template decides whether it can reason or call tools, how that is switched, and which grammar a reply must
follow where tool calls are demanded or strict. Used by every protocol of the server, the window, the command line and
`grus.Model`. No HTTP: errors are the engine's.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from app.runtime.custom_tools import InputGrammar, arguments_rules
from engine.errors import BadRequest, TemplateError, Unsupported
from engine.loading import LoadedModel
from engine.pipelines.prompt import Prompt, chat_prompt, with_text
from engine.text.call_grammars import CallGrammars
from engine.text.call_grammars import json_grammar as json_grammar
from engine.text.json_schema import grammar_schema
from engine.text.reasoning import ReasoningSplitter, ReasoningTags, tags_for
from engine.text.tools import (
    CALL_LIST,
    CallArguments,
    CallBroken,
    CallStarted,
    Family,
    TextPiece,
    ToolCall,
    ToolParser,
    family_of,
    parser_for,
    shows_convention,
)
from engine.types import Done, Event, Finished, FinishReason, Grammar, Request, SamplingParams, Text, TokenLogprob

if TYPE_CHECKING:
    from PIL.Image import Image


Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
_TOOL_SCHEMA = "tools.function.parameters"
_RESERVED = frozenset(
    {"messages", "tools", "documents", "name", "add_generation_prompt", "continue_final_message", "self"}
)


@dataclass(frozen=True)
class ToolChoice:
    kind: Literal["auto", "none", "required", "named"] = "auto"
    name: str = ""


@dataclass
class ChatRequest:
    """What was asked. Messages and tools have OpenAI's shape, which chat templates read; images are `ImagePart`s."""

    messages: Sequence[Mapping[str, Any]]
    sampling: SamplingParams = field(default_factory=SamplingParams)
    tools: Sequence[Mapping[str, Any]] = ()
    tool_choice: ToolChoice = field(default_factory=ToolChoice)
    parallel_calls: bool = True
    max_calls: int | None = None  # in one reply
    input_grammars: Mapping[str, InputGrammar] = field(default_factory=dict)  # of custom tools, by name
    grammar: Grammar | None = None  # of the answer
    strict_grammar: bool = False  # refuse what of a schema cannot be enforced, instead of ignoring it
    thinking: bool | None = None  # None: as the model's template has it
    effort: Effort | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    prediction: str = ""  # what the answer may turn out to be
    split_reasoning: bool = True  # False: the reasoning stays in the answer, in its tags
    continue_last: bool = False  # continue the last message instead of beginning a new one
    add_generation_prompt: bool = True  # tell the model that it is its turn
    lenient: bool = False  # ignore hints that the model cannot follow, instead of refusing them
    thinking_field: str = "thinking"  # what the client's protocol calls it
    effort_field: str = "reasoning_effort"
    schema_field: str = "response_format.json_schema.schema"


@dataclass(frozen=True)
class PreparedChat:
    request: Request
    reader: ReplyParser
    prompt: Prompt
    model: LoadedModel  # as it was when the request was made: it may be unloaded at any time
    close: str = ""  # what ends this model's reasoning
    pages: Sequence[Image] = ()  # instead of the request: pictures of pages to be read
    ignored: Sequence[str] = ()  # hints that the model cannot follow


def prepare(conversation: ChatRequest, model: LoadedModel, name: str) -> PreparedChat:
    """The engine's request for a chat, and the parser of its reply. Raises BadRequest or Unsupported where the model, its
    template or its tools do not allow what was asked; `param` names it."""
    return _Preparation(conversation, model).run(name)


def reasoning_off(model: LoadedModel, tools: bool = False) -> Literal[False] | None:
    """`ChatRequest.thinking` for an answer without reasoning: False where it can be switched off, else None."""
    switchable = bool(model.template.names) and "enable_thinking" in model.template.source(tools=tools)
    return False if switchable else None


class _Preparation:
    def __init__(self, conversation: ChatRequest, model: LoadedModel) -> None:
        self.chat = conversation
        self.model = model
        self.kind = str(model.config.get("model_type", ""))
        self.offers_tools = (
            bool(conversation.tools) and conversation.tool_choice.kind != "none" and conversation.max_calls != 0
        )
        self.template = model.template.source(tools=self.offers_tools) if model.template.names else ""
        self.tags = tags_for(self.kind, self.template)
        self.ignored: list[str] = []

    def run(self, name: str) -> PreparedChat:
        forced = self.offers_tools and self.chat.tool_choice.kind in ("required", "named")
        grammar = self._grammar(forced)
        prompt, opened = self._prompt(constrained=forced or self.chat.grammar is not None)
        sampling = self.chat.sampling
        if grammar is not None:
            after = self.tags.close if self.tags and opened else None
            sampling = replace(sampling, grammar=grammar, grammar_after=after)
        sampling.check()
        reader = ReplyParser(self._splitter(opened), self._parser(forced), self._most_calls)
        close = self.tags.close if self.tags is not None else ""
        guess = self.model.tokenizer.encode(self.chat.prediction, add_special=False) if self.chat.prediction else ()
        request = prompt.request(name, sampling, prediction=guess)
        return PreparedChat(request, reader, prompt, self.model, close, ignored=self.ignored)

    def _grammar(self, forced: bool) -> Grammar | None:
        """Of the whole reply. Calls that are demanded are all of it, so that `response_format` is that of a later reply."""
        answer = self.chat.grammar
        if answer is not None and answer.kind == "json_schema":
            self._check_schema(grammar_schema(answer.text).ignored)
        family = family_of(self.kind, self.template)
        inputs = self._inputs(family) if self.offers_tools else {}
        strict = bool(inputs) or (self.offers_tools and any(tool["function"].get("strict") for tool in self.chat.tools))
        if not forced and not strict and (answer is None or not self.offers_tools):
            return answer
        calls = CallGrammars(family, self._functions(), self._most_calls, self._special_token, inputs)
        known = shows_convention(self.template)
        if forced:
            grammar = calls.demanded() if known else calls.demanded_list()
        else:
            if strict and not known:
                self._ignore_hint(
                    "This model's calls cannot be held to a schema: its chat template shows no convention that is known. "
                    "Leave strict out, or demand a call.",
                    "tools.format" if inputs else "tools.function.strict",
                )
                if answer is None:
                    return None
            grammar = calls.among_words() if answer is None else calls.or_answer(answer)
        for keyword in calls.ignored:
            self._ignore_hint(
                "This part of a tool's schema cannot be enforced.", ".".join(filter(None, (_TOOL_SCHEMA, keyword)))
            )
        return grammar

    def _inputs(self, family: Family) -> dict[str, Callable[[str], str]]:
        """What makes the rules of the custom tools' arguments, by name."""
        if self.chat.input_grammars and family == "qwen_xml":
            self._ignore_hint(
                "This model's calls are not JSON, so that no grammar can hold a tool's input.", "tools.format"
            )
            return {}
        return {
            name: lambda rule, grammar=grammar: arguments_rules(rule, grammar)  # type: ignore[misc]
            for name, grammar in self.chat.input_grammars.items()
        }

    def _check_schema(self, ignored: Sequence[str]) -> None:
        for keyword in ignored:
            field = f"{self.chat.schema_field}.{keyword}"
            if self.chat.strict_grammar:
                raise Unsupported(f"A strict schema cannot have {keyword!r} here: it cannot be enforced.", field)
            self._ignore_hint(f"{keyword!r} of a schema cannot be enforced.", field)

    @property
    def _most_calls(self) -> int | None:
        most = [self.chat.max_calls] if self.chat.max_calls is not None else []
        if not self.chat.parallel_calls or self.chat.tool_choice.kind == "named":
            most.append(1)
        return min(most, default=None)

    def _special_token(self, marker: str) -> int | None:
        """The id of a marker that no text can spell."""
        token = self.model.tokenizer.id(marker)
        return token if token is not None and self.model.tokenizer.is_special(token) else None

    def _functions(self) -> list[Mapping[str, Any]]:
        functions = [tool["function"] for tool in self.chat.tools]
        if self.chat.tool_choice.kind != "named":
            return functions
        name = self.chat.tool_choice.name
        named = [function for function in functions if function["name"] == name]
        if not named:
            raise BadRequest(f"tool_choice names {name!r}, which is none of the tools.", "tool_choice")
        return named

    def _prompt(self, constrained: bool) -> tuple[Prompt, bool]:
        """The prompt, and whether it ends inside the reasoning."""
        variables = self._variables()
        prompt = self._render(variables)
        opened = self.tags is not None and self.tags.opened_in(prompt.text)
        if constrained and self.tags is not None and not opened and not self.chat.continue_last:
            # A model that may or may not begin to reason would leave it open where the promised form begins.
            if self._wants_reasoning:
                return with_text(self.model, prompt, self.tags.open + "\n"), True
            if "enable_thinking" in self.template and "enable_thinking" not in variables:
                prompt = self._render(variables | {"enable_thinking": False})
                opened = self.tags.opened_in(prompt.text)
        return prompt, opened

    def _render(self, variables: Mapping[str, Any]) -> Prompt:
        more: dict[str, Any] = {"continue_final_message": True} if self.chat.continue_last else {}
        if not self.chat.add_generation_prompt and not self.chat.continue_last:
            more["add_generation_prompt"] = False
        tools = self.chat.tools if self.offers_tools else None
        messages = self.chat.messages
        if later := later_texts(messages):
            with suppress(TemplateError):
                prompt = chat_prompt(self.model, messages, tools, **variables, **more)
                if all(text.strip() in prompt.text for text in later):
                    return prompt
            messages = moved_into_user_turns(messages)
        return chat_prompt(self.model, messages, tools, **variables, **more)

    @property
    def _wants_reasoning(self) -> bool:
        return self.chat.thinking is True or self.chat.effort not in (None, "none")

    def _variables(self) -> dict[str, Any]:
        chat = self.chat
        for key in chat.variables:
            if key in _RESERVED or not key.isidentifier():
                raise BadRequest(f"chat_template_kwargs cannot set {key!r}.", f"chat_template_kwargs.{key}")
            if key not in self.template:
                self._ignore_hint(f"This model's chat template does not use {key!r}.", f"chat_template_kwargs.{key}")
        thinking = chat.thinking if chat.effort is None else chat.effort != "none"
        variables = {key: value for key, value in chat.variables.items() if key in self.template}
        if thinking is not None:
            self._check_switch(thinking)
            if "enable_thinking" in self.template:
                variables.setdefault("enable_thinking", thinking)
        if chat.effort not in (None, "none") and "reasoning_effort" in self.template:
            variables.setdefault("reasoning_effort", chat.effort)
        return variables

    def _check_switch(self, thinking: bool) -> None:
        named = self.chat.effort_field if self.chat.effort is not None else self.chat.thinking_field
        if thinking and self.tags is None:
            self._ignore_hint("This model does not reason before it answers.", named)
        switchable = "enable_thinking" in self.template
        if not thinking and self.tags is not None and not switchable:
            self._ignore_hint("This model's reasoning cannot be switched off.", named)

    def _ignore_hint(self, reason: str, field: str) -> None:
        """Raises Unsupported unless the client may send hints that have no effect."""
        if not self.chat.lenient:
            raise Unsupported(reason, field)
        self.ignored.append(field)

    def _splitter(self, opened: bool) -> Any:
        tags: ReasoningTags | None = self.tags if self.chat.split_reasoning else None
        return lambda: None if tags is None else ReasoningSplitter(tags, started=opened)

    def _parser(self, forced: bool) -> Any:
        if forced and not shows_convention(self.template):
            return lambda: ToolParser(CALL_LIST)
        if not self.offers_tools:
            return lambda: None
        return lambda: parser_for(self.kind, self.template, self.chat.tools)


# -- system messages behind the first turn, for models whose chat template takes one at the beginning only
#
# Agents put reminders into a conversation that way. A template that refuses or drops them is given the same text within the user's
# turn beside it, so that the model reads it at the same place.

Message = Mapping[str, Any]


def later_texts(messages: Sequence[Message]) -> list[str]:
    """The texts of system messages that are not the first message."""
    return [_text(message) for message in messages[1:] if message.get("role") == "system"]


def moved_into_user_turns(messages: Sequence[Message]) -> list[Message]:
    """System messages at the beginning are one; each later one is part of the user message before it, else of the one behind
    it, else a user message of its own."""
    out: list[Message] = []
    waiting = ""  # for the user message behind it
    for at, message in enumerate(messages):
        last = out[-1] if out else None
        if message.get("role") != "system":
            content = _joined(waiting, message.get("content")) if waiting else message.get("content")
            out.append({**message, "content": content} if waiting else message)
            waiting = ""
        elif last is None:
            out.append(message)
        elif last.get("role") == "system":
            out[-1] = {**last, "content": f"{_text(last)}\n\n{_text(message)}"}
        elif last.get("role") == "user":
            out[-1] = {**last, "content": _joined(last.get("content"), _marked(message))}
        elif at + 1 < len(messages) and messages[at + 1].get("role") == "user":
            waiting = _marked(message)
        else:
            out.append({"role": "user", "content": _marked(message)})
    return out


def _text(message: Message) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    return "\n".join(str(part.get("text", "")) for part in parts)


def _marked(message: Message) -> str:
    return f"<system-reminder>\n{_text(message)}\n</system-reminder>"


def _joined(first: Any, second: Any) -> Any:
    """Contents of messages: texts, or lists of parts where there are images."""
    if isinstance(first, list) or isinstance(second, list):
        return [
            part
            for content in (first, second)
            for part in (content if isinstance(content, list) else [{"type": "text", "text": content or ""}])
        ]
    return "\n\n".join(filter(None, (first, second)))


# -- parsing a reply: the engine's events become typed `ReplyEvent`s of reasoning, answer, tool calls, and the end
#
# One `ReplyParser` per request; each of its `n` choices has parsers of its own. Protocols translate the events to their wire
# formats; `ReplyCollector` puts them together for clients that do not stream.

PartKind = Literal["reasoning", "answer", "call", "arguments", "broken", "tokens", "end"]


@dataclass(frozen=True)
class ReplyEvent:
    """A piece of one choice. `tokens` carries log probabilities alone; `end` comes once a choice, last.

    `broken` takes a call back that nothing had marked as one and that turned out to be none: its text is what it said.
    """

    index: int
    kind: PartKind
    text: str = ""
    call: int = 0  # which call of this choice
    call_id: str = ""
    name: str = ""
    reason: FinishReason = "stop"
    stop: str | int | None = None
    logprobs: Sequence[TokenLogprob] = ()


@dataclass
class _Choice:
    splitter: ReasoningSplitter | None
    tools: ToolParser | None
    calls: int = 0  # that were reported
    ended: bool = False
    tokens: list[TokenLogprob] = field(default_factory=list)


class ReplyParser:
    """Turns engine events into reply events. `splitter` and `tools` make fresh parsers for every choice."""

    def __init__(
        self,
        splitter: Callable[[], ReasoningSplitter | None] = lambda: None,
        tools: Callable[[], ToolParser | None] = lambda: None,
        most_calls: int | None = None,
    ) -> None:
        """`most_calls`: of more tool calls in a reply only the first are reported."""
        self._make_splitter = splitter
        self._make_tools = tools
        self._most_calls = most_calls
        self._choices: dict[int, _Choice] = {}
        self.output_tokens = 0
        self.reasoning_tokens = 0
        self.thinking = False  # the last text of any choice was reasoning

    def read(self, event: Event) -> list[ReplyEvent]:
        if isinstance(event, Text):
            return self._text(event)
        if isinstance(event, Finished):
            return self._end(event.index, event.reason, event.stop)
        if isinstance(event, Done):
            open_choices = [i for i, choice in self._choices.items() if not choice.ended] or (
                [] if self._choices else [0]
            )
            return [part for i in sorted(open_choices) for part in self._end(i, event.reason, event.stop)]
        return []

    def _choice(self, index: int) -> _Choice:
        if index not in self._choices:
            self._choices[index] = _Choice(self._make_splitter(), self._make_tools())
        return self._choices[index]

    def _text(self, event: Text) -> list[ReplyEvent]:
        choice = self._choice(event.index)
        self.output_tokens += len(event.ids)
        parts = [ReplyEvent(event.index, "tokens", logprobs=event.logprobs)] if event.logprobs else []
        if choice.splitter is None:
            return parts + self._answer(event.index, choice, event.text)
        pieces = choice.splitter.push(event.text)
        for piece in pieces:
            if piece.kind == "reasoning":
                parts.append(ReplyEvent(event.index, "reasoning", piece.text))
            else:
                parts += self._answer(event.index, choice, piece.text)
        if pieces:
            self.thinking = pieces[-1].kind == "reasoning"
            self.reasoning_tokens += len(event.ids) if self.thinking else 0
        return parts

    def _answer(self, index: int, choice: _Choice, text: str) -> list[ReplyEvent]:
        if choice.tools is None:
            return [ReplyEvent(index, "answer", text)] if text else []
        return self._calls(index, choice, choice.tools.push(text))

    def _calls(self, index: int, choice: _Choice, events: Sequence[object], cut: bool = False) -> list[ReplyEvent]:
        """`cut`: the length limit ended the reply. A call that it cut off, or that was marked as one and is malformed, is
        reported as far as it came."""
        parts = []
        for event in events:
            if self._most_calls is not None and getattr(event, "index", 0) >= self._most_calls:
                continue
            if isinstance(event, TextPiece):
                parts.append(ReplyEvent(index, "answer", event.text))
            elif isinstance(event, CallBroken) and (cut or event.marked):
                choice.calls += 1
            elif isinstance(event, CallBroken):
                parts.append(ReplyEvent(index, "broken", event.text, call=event.index))
            elif isinstance(event, CallStarted):
                parts.append(ReplyEvent(index, "call", call=event.index, call_id=event.id, name=event.name))
            elif isinstance(event, CallArguments):
                parts.append(ReplyEvent(index, "arguments", event.text, call=event.index))
            elif isinstance(event, ToolCall):
                choice.calls += 1
        return parts

    def _end(self, index: int, reason: FinishReason, stop: str | int | None) -> list[ReplyEvent]:
        choice = self._choice(index)
        if choice.ended:
            return []
        choice.ended = True
        parts: list[ReplyEvent] = []
        for piece in choice.splitter.flush() if choice.splitter is not None else ():
            if piece.kind == "reasoning":
                parts.append(ReplyEvent(index, "reasoning", piece.text))
            else:
                parts += self._answer(index, choice, piece.text)
        if choice.tools is not None:
            parts += self._calls(index, choice, choice.tools.flush(cut=reason != "stop"), cut=reason != "stop")
        if choice.calls and reason == "stop":
            reason = "tool_calls"
        return [*parts, ReplyEvent(index, "end", reason=reason, stop=stop)]


async def with_logprobs(parts: AsyncIterator[ReplyEvent]) -> AsyncIterator[ReplyEvent]:
    """Events that carry the log probabilities of their tokens. A token whose text is held back, because it may begin a tag
    or completes no character, counts to the text that follows."""
    held: dict[int, list[TokenLogprob]] = {}
    async for part in parts:
        if part.kind == "tokens":
            held.setdefault(part.index, []).extend(part.logprobs)
        else:
            yield replace(part, logprobs=held.pop(part.index, ()))


@dataclass
class ReplyCall:
    id: str
    name: str
    arguments: str = ""


@dataclass
class ReplyMessage:
    """One choice, complete."""

    answer: str = ""
    reasoning: str = ""
    calls: list[ReplyCall] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    reason: FinishReason = "stop"
    stop: str | int | None = None


class ReplyCollector:
    """Reply events put together to whole messages, for clients that do not stream."""

    def __init__(self) -> None:
        self._messages: dict[int, ReplyMessage] = {}
        self._open: dict[tuple[int, int], ReplyCall] = {}

    def add(self, part: ReplyEvent) -> None:
        message = self._messages.setdefault(part.index, ReplyMessage())
        if part.kind == "answer":
            message.answer += part.text
        elif part.kind == "reasoning":
            message.reasoning += part.text
        elif part.kind == "call":
            call = self._open[part.index, part.call] = ReplyCall(part.call_id, part.name)
            message.calls.append(call)
        elif part.kind == "arguments":
            self._open[part.index, part.call].arguments += part.text
        elif part.kind == "broken":
            message.calls.remove(self._open.pop((part.index, part.call)))
            message.answer += part.text
        elif part.kind == "tokens":
            message.logprobs.extend(part.logprobs)
        else:
            message.reason, message.stop = part.reason, part.stop

    def messages(self) -> list[ReplyMessage]:
        return [self._messages[i] for i in sorted(self._messages)]
