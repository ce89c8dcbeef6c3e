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
from app.runtime.replies import ReplyParser
from app.runtime.system_messages import later_texts, moved_into_user_turns
from engine.errors import BadRequest, TemplateError, Unsupported
from engine.loading import LoadedModel
from engine.pipelines.prompt import Prompt, chat_prompt, chat_text, with_text
from engine.text.call_grammars import CallGrammars
from engine.text.call_grammars import json_grammar as json_grammar
from engine.text.json_schema import grammar_schema
from engine.text.reasoning import ReasoningSplitter, ReasoningTags, tags_for
from engine.text.tools import CALL_LIST, Family, ToolParser, family_of, parser_for, shows_convention
from engine.types import Grammar, Request, SamplingParams

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


def applied_template(conversation: ChatRequest, model: LoadedModel) -> str:
    """The text of the prompt alone."""
    return _Preparation(conversation, model, chat_text).text()


def reasoning_off(model: LoadedModel, tools: bool = False) -> Literal[False] | None:
    """`ChatRequest.thinking` for an answer without reasoning: False where it can be switched off, else None."""
    switchable = bool(model.template.names) and "enable_thinking" in model.template.source(tools=tools)
    return False if switchable else None


class _Preparation:
    def __init__(
        self, conversation: ChatRequest, model: LoadedModel, render: Callable[..., Prompt] = chat_prompt
    ) -> None:
        self.chat = conversation
        self._rendered = render
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

    def text(self) -> str:
        return self._prompt(constrained=False)[0].text

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
                prompt = self._rendered(self.model, messages, tools, **variables, **more)
                if all(text.strip() in prompt.text for text in later):
                    return prompt
            messages = moved_into_user_turns(messages)
        return self._rendered(self.model, messages, tools, **variables, **more)

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
