"""Sampling parameters as OpenAI spells them, shared by the families that follow it, SGLang's grammars, and how reasoning is asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from app.runtime.chat import json_grammar
from app.runtime.reasoning import Effort
from app.server.body import Hint, Preference, RequestFields, ignore, parse
from app.server.errors import ApiError, bad_request, unsupported
from engine.text.json_schema import grammar_schema
from engine.types import Grammar, SamplingParams

TokenId = Annotated[int, Field(ge=0, lt=1 << 31)]
Count = Annotated[int, Field(ge=1, lt=1 << 31)]
RepeatLastN = Annotated[int, Field(ge=-1, lt=1 << 31)]  # -1: the whole context
StopText = Annotated[str, Field(min_length=1, max_length=1000)]


class GrammarFields(RequestFields):
    """What a reply must match, as SGLang spells it: one of these."""

    regex: str | None = None
    json_schema: str | dict[str, Any] | None = None
    ebnf: str | None = None
    stop_regex: StopText | Annotated[list[StopText], Field(max_length=16)] | None = None  # ends the reply

    def reply_grammar(self, path: str = "") -> Grammar | None:
        """`path`: of the object that holds the fields, for errors."""
        given = [
            name for name in ("regex", "json_schema", "ebnf", "stop_regex") if getattr(self, name) not in (None, "", [])
        ]
        if len(given) > 1:
            raise bad_request(f"{given[0]} and {given[1]} exclude each other.", f"{path}{given[1]}")
        if self.json_schema not in (None, ""):
            return json_grammar(_schema(self.json_schema, f"{path}json_schema"))
        if self.stop_regex:
            return _until(stop_list(self.stop_regex), f"{path}stop_regex")
        if self.regex:
            return Grammar("regex", self.regex)
        return Grammar("ebnf", self.ebnf) if self.ebnf else None

    def reported_grammar(self, path: str = "") -> Grammar | None:
        """The same, for routes without a chat template: what of a schema is not enforced is reported."""
        grammar = self.reply_grammar(path)
        if grammar is not None and grammar.kind == "json_schema":
            report_schema(grammar, f"{path}json_schema")
        return grammar


def _schema(given: str | dict[str, Any], param: str) -> dict[str, Any]:
    """The schema, which SGLang's clients send as text."""
    try:
        schema = parse(given.encode()) if isinstance(given, str) else given
    except ApiError as error:
        raise bad_request(f"json_schema: {error.message}", param) from None
    if not isinstance(schema, dict):
        raise bad_request("json_schema must be an object.", param)
    return schema


def _until(expressions: Sequence[str], param: str) -> Grammar:
    """Any text that ends with the first match of one of these. The grammar engine matches in linear time, which
    Python's expressions do not."""
    for expression in expressions:
        try:
            re.compile(expression)
        except re.error as error:
            raise bad_request(f"stop_regex: {expression[:40]!r} is no regular expression: {error}.", param) from None
    any_of = "|".join(f"({_quoted(expression)})" for expression in expressions)
    begins = f"(.|\\n)*({any_of})"
    return Grammar(
        "ebnf",
        f"%llguidance {{}}\nstart: hit | MISS\nhit[lazy]: /{begins}/\nMISS: /(.|\\n)*/ & ~/{begins}(.|\\n)*/\n",
    )


def _quoted(expression: str) -> str:
    """Between slashes, on one line."""
    quoted = {"/": "\\/", "\n": "\\n"}
    return re.sub(r"\\.|/|\n", lambda found: quoted.get(found[0], found[0]), expression, flags=re.DOTALL)


class SamplingFields(GrammarFields):
    """Sampling parameters of one request. None: the model's default."""

    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    n: Annotated[int, Field(ge=1, le=16)] | None = None
    stop: StopText | Annotated[list[StopText], Field(max_length=16)] | None = None
    seed: int | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    logit_bias: dict[str, Annotated[float, Field(ge=-100, le=100)]] | None = None
    # beyond OpenAI's own, as other local servers have them
    top_k: Annotated[int, Field(ge=-1, lt=1 << 31)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    repetition_penalty: Annotated[float, Field(gt=0, le=100)] | None = None
    repeat_last_n: RepeatLastN | None = None
    no_repeat_ngram_size: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    no_repeat_ngram_window_size: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    min_tokens: Annotated[int, Field(ge=0, lt=1 << 31)] | None = None
    stop_token_ids: Annotated[list[TokenId], Field(max_length=64)] | None = None
    ignore_eos: bool | None = None
    spaces_between_special_tokens: Preference[Literal[True]] = None

    @field_validator("logit_bias")
    @classmethod
    def _token_ids(cls, bias: dict[str, float] | None) -> dict[str, float] | None:
        for key in bias or {}:
            if not (key.isascii() and key.isdigit() and len(key) < 10):
                raise ValueError(f"{key[:40]!r} is not a token id")
        return bias

    def params(self, max_tokens: int | None, **more: Any) -> SamplingParams:
        return SamplingParams(
            max_tokens=max_tokens,
            min_tokens=self.min_tokens or 0,
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=None if self.top_k is None else max(self.top_k, 0),
            min_p=self.min_p,
            repetition_penalty=self.repetition_penalty,
            repetition_window=repetition_window(self.repeat_last_n, self.repetition_penalty, "repeat_last_n"),
            no_repeat_ngram_size=self.no_repeat_ngram_size,
            no_repeat_ngram_window_size=self.no_repeat_ngram_window_size,
            presence_penalty=self.presence_penalty or 0.0,
            frequency_penalty=self.frequency_penalty or 0.0,
            logit_bias={int(k): v for k, v in (self.logit_bias or {}).items()},
            seed=None if self.seed is None else self.seed & ((1 << 63) - 1),
            n=self.n or 1,
            stop=stop_list(self.stop),
            stop_token_ids=tuple(self.stop_token_ids or ()),
            ignore_eos=bool(self.ignore_eos),
            **more,
        )


def repetition_window(last: int | None, penalty: float | None, param: str, default: int = 0) -> int:
    """Tokens that a repetition penalty looks back at, as the engine counts them: 0 is all. `default` where nothing was said."""
    if last == 0 and penalty not in (None, 1.0):
        raise bad_request("repeat_last_n 0 switches off what the penalty switches on.", param)
    return default if last is None else max(last, 0)


def stop_list(stop: str | list[str] | None) -> tuple[str, ...]:
    return () if stop is None else (stop,) if isinstance(stop, str) else tuple(stop)


def report_schema(grammar: Grammar, field: str) -> None:
    """Report the keywords of a schema that are not enforced, for routes without a chat template."""
    for keyword in grammar_schema(grammar.text).ignored:
        if not ignore(f"{field}.{keyword}"):
            raise unsupported(f"{field}.{keyword}", f"{keyword!r} of a schema cannot be enforced.")


# -- how clients of OpenAI's routes ask for reasoning, and bound it: OpenAI's effort, and what other services and servers call the number
# of tokens after which a thought is closed

ReasoningBudget = Annotated[int, Field(ge=-1, lt=1 << 31)]  # -1: none
_BUDGETS = ("thinking_token_budget", "thinking_budget_tokens", "reasoning_budget_tokens", "thinking_budget")


class ReasoningChoice(RequestFields):
    """OpenRouter's."""

    effort: Preference[Effort] = None
    max_tokens: ReasoningBudget | None = None
    enabled: bool | None = None
    exclude: Hint[bool] = None


class ThinkingChoice(RequestFields):
    """DeepSeek's and GLM's: any type but `disabled` asks for reasoning."""

    type: str
    budget_tokens: ReasoningBudget | None = None
    clear_thinking: Hint[bool] = None


class ReasoningFields(RequestFields):
    reasoning_effort: Preference[Effort] = None
    reasoning: ReasoningChoice | None = None
    thinking: ThinkingChoice | None = None
    enable_thinking: bool | None = None  # Qwen's services
    thinking_token_budget: ReasoningBudget | None = None  # vLLM's
    thinking_budget_tokens: ReasoningBudget | None = None  # llama.cpp's
    reasoning_budget_tokens: ReasoningBudget | None = None  # the same
    thinking_budget: ReasoningBudget | None = None  # Qwen's services
    custom_params: Any = None  # SGLang's: `thinking_budget`

    def reasoning_asked(self) -> dict[str, Any]:
        """Fields of the ChatRequest."""
        given = {name: value for name in _BUDGETS if (value := getattr(self, name)) is not None}
        if self.reasoning is not None and self.reasoning.max_tokens is not None:
            given["reasoning.max_tokens"] = self.reasoning.max_tokens
        if self.thinking is not None and self.thinking.budget_tokens is not None:
            given["thinking.budget_tokens"] = self.thinking.budget_tokens
        if (custom := custom_budget(self.custom_params, "custom_params")) is not None:
            given["custom_params.thinking_budget"] = custom
        if len(set(given.values())) > 1:
            raise bad_request(f"{' and '.join(given)} say different things.", next(iter(given)))
        switched = {"enable_thinking": self.enable_thinking}
        if self.thinking is not None:
            switched["thinking"] = self.thinking.type != "disabled"
        if self.reasoning is not None:
            bounded = True if (self.reasoning.max_tokens or 0) > 0 else None
            switched["reasoning"] = self.reasoning.enabled if self.reasoning.enabled is not None else bounded
        thinking, field = next(((on, name) for name, on in switched.items() if on is not None), (None, "thinking"))
        inner = self.reasoning.effort if self.reasoning is not None else None
        budget = next(iter(given.values()), -1)
        asked: dict[str, Any] = {"effort": self.reasoning_effort or inner, "thinking_field": field}
        asked["effort_field"] = "reasoning_effort" if self.reasoning_effort else "reasoning.effort"
        if budget >= 0:
            asked |= {"reasoning_tokens": budget, "budget_field": next(iter(given))}
        return asked | ({} if thinking is None else {"thinking": thinking})


def custom_budget(given: Any, field: str) -> int | None:
    """The budget in SGLang's parameters for a logit processor; whatever else they hold has no effect."""
    if given is None:
        return None
    budget = given.get("thinking_budget") if isinstance(given, dict) else None
    known = isinstance(budget, int) and not isinstance(budget, bool) and budget >= 0
    if not known or set(given) != {"thinking_budget"}:
        ignore(field)
    return budget if known else None
