"""How clients of OpenAI's routes ask for reasoning, and bound it: OpenAI's effort, and what other services and servers call
the number of tokens after which a thought is closed.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from app.runtime.reasoning import Effort
from app.server.body import Hint, Preference, RequestFields, ignore
from app.server.errors import bad_request

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
