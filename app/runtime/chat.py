"""The chat pipeline: messages and tools become a request for the engine and a parser of its reply.

The model's template decides whether it can reason or call tools, how that is switched, and which grammar a reply must
follow where tool calls are demanded or strict. Used by every protocol of the server, the window, the command line and
`grus.Model`. No HTTP: errors are the engine's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from app.runtime.custom_tools import InputGrammar, arguments_rules
from app.runtime.reasoning import Effort as Effort
from app.runtime.reasoning import can_switch_off, limit_for, switch_of, variables_for
from app.runtime.replies import ReplyParser
from app.runtime.system_messages import later_texts, moved_into_user_turns
from engine.errors import BadRequest, TemplateError, Unsupported
from engine.loading import LoadedModel
from engine.pipelines.prompt import Prompt, chat_prompt, chat_text, with_text
from engine.text.call_grammars import CallGrammars
from engine.text.call_grammars import json_grammar as json_grammar
from engine.text.families import MessageSpelling, family_of, parser_for, shows_convention, tags_for
from engine.text.history import adapted, completed
from engine.text.json_schema import grammar_schema
from engine.text.tools import CALL_LIST, ToolParser
from engine.types import Grammar, ReasoningLimit, Request, SamplingParams

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
    add_generation_prompt: bool = True  # tell the model that it is its turn
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
    template or its tools do not allow what was asked; `param` names it."""
    return _Preparation(conversation, model).run(name)


def applied_template(conversation: ChatRequest, model: LoadedModel) -> str:
    """The text of the prompt alone."""
    return _Preparation(conversation, model, chat_text).text()


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
        messages: Sequence[Mapping[str, Any]] = adapted(self.chat.messages, self.template, self.kind)
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
