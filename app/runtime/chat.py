"""From a conversation, in whichever family's words it came, to a request for the engine and a reader of its reply.

Decides what follows from a model's template: whether it can reason or call tools, how that is switched, and which
grammar holds a reply to what was promised. Knows no HTTP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from app.runtime.chat import FORCED, demanded_calls, strict_calls
from app.runtime.replies import ReplyParser
from app.server.errors import bad_request, unsupported
from engine.loading import LoadedModel
from engine.pipelines.prompt import Prompt, chat_prompt, with_text
from engine.text.reasoning import ReasoningSplitter, ReasoningTags, tags_for
from engine.text.tools import ToolParser, parser_for
from engine.types import Grammar, Request, SamplingParams

if TYPE_CHECKING:
    from PIL.Image import Image

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
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
    grammar: Grammar | None = None
    thinking: bool | None = None  # None: as the model's template has it
    effort: Effort | None = None
    variables: Mapping[str, Any] = field(default_factory=dict)
    prediction: str = ""  # what the answer may turn out to be
    continue_last: bool = False  # go on with the last message instead of beginning a new one


@dataclass(frozen=True)
class PreparedChat:
    request: Request
    reader: ReplyParser
    prompt: Prompt
    model: LoadedModel  # as it was when the request was made: it may be unloaded at any time
    close: str = ""  # what ends this model's reasoning
    pages: Sequence[Image] = ()  # instead of the request: pictures of pages to be read


def prepare(conversation: ChatRequest, model: LoadedModel, name: str) -> PreparedChat:
    """Raises an ApiError or a GrusError that names what cannot be done."""
    return _Preparation(conversation, model).run(name)


class _Preparation:
    def __init__(self, conversation: ChatRequest, model: LoadedModel) -> None:
        self.chat = conversation
        self.model = model
        self.kind = str(model.config.get("model_type", ""))
        self.offers_tools = bool(conversation.tools) and conversation.tool_choice.kind != "none"
        self.template = model.template.source(tools=self.offers_tools) if model.template.names else ""
        self.tags = tags_for(self.kind, self.template)

    def run(self, name: str) -> PreparedChat:
        forced = self.offers_tools and self.chat.tool_choice.kind in ("required", "named")
        grammar = self._grammar(forced)
        prompt, opened = self._prompt(constrained=forced or self.chat.grammar is not None)
        sampling = self.chat.sampling
        if grammar is not None:
            after = self.tags.close if self.tags and opened else None
            sampling = replace(sampling, grammar=grammar, grammar_after=after)
        sampling.check()
        reader = ReplyParser(self._splitter(opened), self._parser(forced), single=not self.chat.parallel_calls)
        close = self.tags.close if self.tags is not None else ""
        guess = self.model.tokenizer.encode(self.chat.prediction, add_special=False) if self.chat.prediction else ()
        return PreparedChat(prompt.request(name, sampling, prediction=guess), reader, prompt, self.model, close)

    def _grammar(self, forced: bool) -> Grammar | None:
        chat = self.chat
        strict = self.offers_tools and any(tool["function"].get("strict") for tool in chat.tools)
        if not forced and not strict:
            return chat.grammar
        if chat.grammar is not None:
            raise bad_request("response_format does not go with calls that are demanded or strict.", "tool_choice")
        if forced:
            several = chat.parallel_calls and chat.tool_choice.kind == "required"
            return demanded_calls(self._functions(), several)
        marker = self.model.tokenizer.id("<tool_call>")
        as_json = "<tool_call>" in self.template and "<function=" not in self.template
        if not as_json or (marker is not None and self.model.tokenizer.is_special(marker)):
            raise unsupported(
                "tools.function.strict",
                "This model's calls cannot be held to a schema among words. Leave strict out, or demand a call.",
            )
        return strict_calls(self._functions())

    def _functions(self) -> list[Mapping[str, Any]]:
        functions = [tool["function"] for tool in self.chat.tools]
        if self.chat.tool_choice.kind != "named":
            return functions
        name = self.chat.tool_choice.name
        named = [function for function in functions if function["name"] == name]
        if not named:
            raise bad_request(f"tool_choice names {name!r}, which is none of the tools.", "tool_choice")
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
        tools = self.chat.tools if self.offers_tools else None
        return chat_prompt(self.model, self.chat.messages, tools, **variables, **more)

    @property
    def _wants_reasoning(self) -> bool:
        return self.chat.thinking is True or self.chat.effort not in (None, "none")

    def _variables(self) -> dict[str, Any]:
        chat = self.chat
        for key in chat.variables:
            if key in _RESERVED or not key.isidentifier():
                raise bad_request(f"chat_template_kwargs cannot set {key!r}.", f"chat_template_kwargs.{key}")
            if key not in self.template:
                raise unsupported(f"chat_template_kwargs.{key}", f"This model's chat template does not know {key!r}.")
        thinking = chat.thinking if chat.effort is None else chat.effort != "none"
        variables: dict[str, Any] = dict(chat.variables)
        if thinking is not None:
            self._check_switch(thinking)
            if "enable_thinking" in self.template:
                variables.setdefault("enable_thinking", thinking)
        if chat.effort not in (None, "none") and "reasoning_effort" in self.template:
            variables.setdefault("reasoning_effort", chat.effort)
        return variables

    def _check_switch(self, thinking: bool) -> None:
        named = "reasoning_effort" if self.chat.effort is not None else "thinking"
        if thinking and self.tags is None:
            raise unsupported(named, "This model does not reason before it answers.")
        switchable = "enable_thinking" in self.template
        if not thinking and self.tags is not None and not switchable:
            raise unsupported(named, "This model's reasoning cannot be switched off.")

    def _splitter(self, opened: bool) -> Any:
        tags: ReasoningTags | None = self.tags
        return lambda: None if tags is None else ReasoningSplitter(tags, started=opened)

    def _parser(self, forced: bool) -> Any:
        if forced:
            return lambda: ToolParser(FORCED)
        if not self.offers_tools:
            return lambda: None
        return lambda: parser_for(self.kind, self.template, self.chat.tools)
