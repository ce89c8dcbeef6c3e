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
from app.runtime.reasoning import Effort as Effort
from app.runtime.reasoning import can_switch_off, limit_for, switch_of, variables_for
from engine.errors import BadRequest, TemplateError, Unsupported
from engine.loading import LoadedModel
from engine.pipelines.prompt import Prompt, chat_prompt, chat_text, with_text
from engine.text.call_grammars import CallGrammars
from engine.text.call_grammars import json_grammar as json_grammar
from engine.text.families import MessageSpelling, family_of, parser_for, shows_convention, tags_for
from engine.text.history import adapted, completed
from engine.text.json_schema import grammar_schema
from engine.text.reasoning import ReasoningSplitter
from engine.text.tools import CALL_LIST, CallArguments, CallBroken, CallStarted, TextPiece, ToolCall, ToolParser
from engine.types import (
    Done,
    Event,
    Finished,
    FinishReason,
    Grammar,
    ReasoningLimit,
    Request,
    SamplingParams,
    Text,
    TokenLogprob,
)

if TYPE_CHECKING:
    from PIL.Image import Image

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
    reasoning_tokens: int | None = None  # the thought is closed after so many
    variables: Mapping[str, Any] = field(default_factory=dict)
    prediction: str = ""  # what the answer may turn out to be
    split_reasoning: bool = True  # False: the reasoning stays in the answer, in its tags
    continue_last: bool = False  # continue the last message instead of beginning a new one
    add_generation_prompt: bool = True  # the prompt ends with the start of an assistant message
    lenient: bool = False  # ignore hints that the model cannot follow, instead of refusing them
    thinking_field: str = "thinking"  # what the client's protocol calls it
    effort_field: str = "reasoning_effort"
    budget_field: str = "thinking_token_budget"
    schema_field: str = "response_format.json_schema.schema"


@dataclass(frozen=True)
class PreparedChat:
    request: Request
    reader: ReplyParser
    prompt: Prompt
    model: LoadedModel  # as it was when the request was made: it may be unloaded at any time
    pages: Sequence[Image] = ()  # instead of the request: pictures of pages to be read
    ignored: Sequence[str] = ()  # hints that the model cannot follow


def prepare(conversation: ChatRequest, model: LoadedModel, name: str) -> PreparedChat:
    """The engine's request for a chat, and the parser of its reply. Raises BadRequest or Unsupported where the model, its
    template or its tools do not allow what was asked; `param` names it. A model elsewhere gets the messages as they are."""
    if (elsewhere := getattr(model, "prepare_elsewhere", None)) is not None:
        made: PreparedChat = elsewhere(conversation, name)
        return made
    return _Preparation(conversation, model).run(name)


def applied_template(conversation: ChatRequest, model: LoadedModel) -> str:
    """The text of the prompt alone."""
    if hasattr(model, "prepare_elsewhere"):
        raise Unsupported(f"{model.name} runs on another server, whose chat template is not known here.", "model")
    return _Preparation(conversation, model, chat_text).text()


def calls_tools(model: LoadedModel) -> bool:
    """Whether its chat template shows it tools, or writes calls. Of a model elsewhere it is not known."""
    if hasattr(model, "prepare_elsewhere"):
        return True
    source = model.template.source(tools=True) if model.template.names else ""
    return "tools" in source or shows_convention(str(model.config.get("model_type", "")), source)


def reasoning_off(model: LoadedModel, tools: bool = False) -> Literal[False] | None:
    """`ChatRequest.thinking` for an answer without reasoning: False where its template can switch it off, else None."""
    switchable = bool(model.template.names) and can_switch_off(model.template.source(tools=tools))
    return False if switchable else None


class _Preparation:
    def __init__(
        self, conversation: ChatRequest, model: LoadedModel, render: Callable[..., Prompt] = chat_prompt
    ) -> None:
        self.chat = conversation
        self._make_prompt = render
        self.model = model
        self.kind = str(model.config.get("model_type", ""))
        self.offers_tools = (
            bool(conversation.tools) and conversation.tool_choice.kind != "none" and conversation.max_calls != 0
        )
        self.template = model.template.source(tools=self.offers_tools) if model.template.names else ""
        self.tags = tags_for(self.kind, self.template)
        self.family = family_of(self.kind, self.template)
        self.known = shows_convention(self.kind, self.template)
        self.of_messages = self.tags is not None and isinstance(self.family.spelling, MessageSpelling)
        self.ignored: list[str] = []

    def run(self, name: str) -> PreparedChat:
        forced = self.offers_tools and self.chat.tool_choice.kind in ("required", "named")
        if self.offers_tools and not calls_tools(self.model):
            self._ignore_hint("This model's chat template shows it no functions, and writes no calls.", "tools")
        grammar = self._grammar(forced)
        prompt, opened = self._prompt(constrained=forced or self.chat.grammar is not None)
        sampling = self.chat.sampling
        if grammar is not None:
            after = self.tags.close if self.tags and opened and not self.of_messages else None
            sampling = replace(sampling, grammar=grammar, grammar_after=after)
        if self.template and (stops := self._stops()):
            sampling = replace(sampling, stop_token_ids=(*sampling.stop_token_ids, *stops))
        sampling = replace(sampling, reasoning=self._limit(opened, forced))
        sampling.check()
        reader = ReplyParser(self._splitter(prompt.text, opened), self._parser(forced), self._most_calls)
        guess = self.model.tokenizer.encode(self.chat.prediction, add_special=False) if self.chat.prediction else ()
        request = prompt.request(name, sampling, prediction=guess)
        return PreparedChat(request, reader, prompt, self.model, ignored=self.ignored)

    def _stops(self) -> list[int]:
        """Tokens that end this family's replies, where the model's files do not name them."""
        tokens = [self._special_token(stop) for stop in self.family.stops]
        return [token for token in tokens if token is not None and token not in self.model.eos_ids]

    def _limit(self, opened: bool, forced: bool) -> ReasoningLimit | None:
        """When the reasoning is closed. One that cannot be switched off is closed before it begins."""
        tokens = self.chat.reasoning_tokens
        if self._thinking is False:
            tokens = None if can_switch_off(self.template) else 0
        if tokens is None or self.tags is None:
            return None
        return limit_for(
            self.model, self.tags, tokens, opened, "must" if forced else "may" if self.offers_tools else "none"
        )

    def text(self) -> str:
        return self._prompt(constrained=False)[0].text

    def _grammar(self, forced: bool) -> Grammar | None:
        """Of the whole reply. Calls that are demanded are all of it, so that `response_format` is that of a later reply."""
        answer = self.chat.grammar
        if answer is not None and answer.kind == "json_schema":
            self._check_schema(grammar_schema(answer.text).ignored)
        inputs = self._inputs() if self.offers_tools else {}
        strict = bool(inputs) or (self.offers_tools and any(tool["function"].get("strict") for tool in self.chat.tools))
        if not forced and not strict and (answer is None or not self.offers_tools):
            calls = CallGrammars(self.family, (), None, self._special_token)
            return calls.only_answer(answer) if answer is not None and self.of_messages else answer
        calls = CallGrammars(self.family, self._functions(), self._most_calls, self._special_token, inputs)
        if forced:
            grammar = calls.demanded() if self.known else calls.demanded_list()
        else:
            if strict and not self.known:
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

    def _inputs(self) -> dict[str, Callable[[str], str]]:
        """What makes the rules of the custom tools' arguments, by name."""
        if self.chat.input_grammars and not self.family.writes_json:
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
        begins = self.tags is not None and not self.of_messages and not opened
        if constrained and begins and self.tags is not None and not self.chat.continue_last:
            # A model that may or may not begin to reason would leave it open where the promised form begins.
            if self._wants_reasoning:
                return with_text(self.model, prompt, self.tags.open + "\n"), True
            switch = switch_of(self.template)
            if switch is not None and switch not in variables:
                prompt = self._render(variables | {switch: False})
                opened = self.tags.opened_in(prompt.text)
        return prompt, opened

    def _render(self, variables: Mapping[str, Any]) -> Prompt:
        more: dict[str, Any] = {"continue_final_message": True} if self.chat.continue_last else {}
        if not self.chat.add_generation_prompt and not self.chat.continue_last:
            more["add_generation_prompt"] = False
        tools = self.chat.tools if self.offers_tools else None
        messages: Sequence[Mapping[str, Any]] = adapted(self.chat.messages, self.template, self.kind, tools)
        try:
            return self._rendered(messages, tools, {**variables, **more})
        except TemplateError:
            if tools is None:
                raise
            with suppress(TemplateError):
                return self._rendered(messages, completed(tools), {**variables, **more})
            raise

    def _rendered(
        self,
        messages: Sequence[Mapping[str, Any]],
        tools: Sequence[Mapping[str, Any]] | None,
        variables: Mapping[str, Any],
    ) -> Prompt:
        if later := later_texts(messages):
            with suppress(TemplateError):
                prompt = self._make_prompt(self.model, messages, tools, **variables)
                if all(text.strip() in prompt.text for text in later):
                    return prompt
            messages = moved_into_user_turns(messages)
        return self._make_prompt(self.model, messages, tools, **variables)

    @property
    def _thinking(self) -> bool | None:
        return self.chat.thinking if self.chat.effort is None else self.chat.effort != "none"

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
        given = {key: value for key, value in chat.variables.items() if key in self.template}
        named = chat.effort_field if chat.effort is not None else chat.thinking_field
        if self.tags is None and self._thinking:
            self._ignore_hint("This model does not reason before it answers.", named)
        if self.tags is None and chat.reasoning_tokens is not None:
            self._ignore_hint("This model does not reason before it answers.", chat.budget_field)
        return variables_for(self.template, self._thinking, chat.effort, chat.reasoning_tokens) | given

    def _ignore_hint(self, reason: str, field: str) -> None:
        """Raises Unsupported unless the client may send hints that have no effect."""
        if not self.chat.lenient:
            raise Unsupported(reason, field)
        self.ignored.append(field)

    def _splitter(self, prompt: str, opened: bool) -> Any:
        tags, keep = self.tags, not self.chat.split_reasoning
        return lambda: None if tags is None else tags.splitter(prompt, opened, keep)

    def _parser(self, forced: bool) -> Any:
        if forced and not self.known:
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
            scores = held.pop(part.index, None)
            yield part if scores is None else replace(part, logprobs=scores)


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
