"""What a request says about reasoning, in the model's own terms: variables of its chat template, and the limit after which
the thought is closed.

Templates have switches (`enable_thinking`, `thinking`), efforts (`reasoning_effort`, Muse's `reasoning_strength`) or a number
of tokens (Seed's `thinking_budget`). A limit needs nothing from the template: the engine closes the thought.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

from engine.loading import LoadedModel
from engine.text.channels import ChannelTags
from engine.text.families import tags_for
from engine.text.reasoning import ReasoningTags
from engine.types import ReasoningLimit

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: tuple[str, ...] = get_args(Effort)
_LEVELS = {**{effort: at for at, effort in enumerate(EFFORTS)}, "no_think": 0}
_PLAIN_LEVELS = ("low", "medium", "high")  # where the template writes down whatever it is given
_BUDGETS = {"none": 0, "minimal": 512, "low": 2048, "medium": 8192, "high": 16384}
_SWITCH = re.compile(r"\{%-?\s*(?:el)?if\s+(?:not\s+)?thinking\b(?![\w.])")
_LAST_TOKENS = 32  # of a prompt, which say whether it ends inside the reasoning
# the sentence with which Qwen's models end their reasoning
_LAST_WORDS = (
    "\n\nConsidering the limited time by the user, I have to give the solution based on the thinking directly now.\n"
)


def switch_of(template: str) -> str | None:
    """The template's variable that switches reasoning on and off."""
    if "enable_thinking" in template:
        return "enable_thinking"
    return "thinking" if _SWITCH.search(template) else None


def can_switch_off(template: str) -> bool:
    """Whether the template can begin a reply without reasoning."""
    return switch_of(template) is not None or "thinking_budget" in template or _lowest(template) == 0


def variables_for(template: str, thinking: bool | None, effort: str | None, budget: int | None) -> dict[str, Any]:
    """The variables that the template gets."""
    variables: dict[str, Any] = {}
    switch = switch_of(template)
    if switch is not None and thinking is not None:
        variables[switch] = thinking
    for name in ("reasoning_effort", "reasoning_strength"):
        if name in template and effort is not None and (level := _level(template, name, effort)) is not None:
            variables[name] = level
    if "reasoning_effort" in template and thinking is False and _lowest(template) == 0:
        variables["reasoning_effort"] = _level(template, "reasoning_effort", "none")
    if "thinking_budget" in template:
        wanted = 0 if thinking is False else budget
        wanted = _BUDGETS.get(effort or "") if wanted is None else wanted
        if wanted is not None:
            variables["thinking_budget"] = wanted
    return variables


def _known_levels(template: str, name: str) -> list[str]:
    """The efforts that a template distinguishes, from the least to the most."""
    named: set[str] = set()
    for block in re.findall(r"\{[%{].*?[%}]\}", template, re.DOTALL):
        if name in block:
            named |= {word for word in re.findall(r"['\"](\w+)['\"]", block) if word in _LEVELS}
    compared = named if len(named) > 1 or named & {"none", "no_think", "max"} else {*_PLAIN_LEVELS, *named}
    return sorted(compared, key=lambda word: _LEVELS[word])


def _lowest(template: str) -> int | None:
    if "reasoning_effort" not in template:
        return None
    return _LEVELS[_known_levels(template, "reasoning_effort")[0]]


def _level(template: str, name: str, effort: str) -> str | None:
    """The template's word that comes nearest to an effort; None: its default comes nearer."""
    known = _known_levels(template, name)
    asked = _LEVELS[effort]
    if known in (["none"], ["no_think"]):
        return known[0] if asked == 0 else effort
    if asked < _LEVELS[known[0]] - 1:
        return None
    return min(reversed(known), key=lambda word: abs(_LEVELS[word] - asked))


def limit_for(
    model: LoadedModel,
    tags: ReasoningTags,
    tokens: int,
    opened: bool,
    tools: Literal["none", "may", "must"],
) -> ReasoningLimit:
    """Closes the reasoning after `tokens`, with a sentence that leads to the answer where there was any."""

    def ids(text: str) -> tuple[int, ...]:
        return tuple(model.tokenizer.encode(text, add_special=False))

    words = _LAST_WORDS if tokens else "\n"
    if isinstance(tags, ChannelTags):
        words = words.rstrip("\n")
        further, final = ids(words + tags.close), ids(words + tags.close + tags.answers)
        first = final if tools == "none" else further
        return ReasoningLimit(tokens, tags.open, tags.close, first, further if tools == "must" else final, opened)
    return ReasoningLimit(tokens, tags.open, tags.close, ids(f"{words}{tags.close}\n\n"), (), opened)


def limit_of_prompt(model: LoadedModel, ids: Sequence[int], tokens: int) -> ReasoningLimit | None:
    """The same for a prompt that no chat made; None for a model that does not reason."""
    if not model.template.names:
        return None
    tags = tags_for(str(model.config.get("model_type", "")), model.template.source())
    if tags is None:
        return None
    end = model.tokenizer.decode(ids[-_LAST_TOKENS:], skip_special=False)
    return limit_for(model, tags, tokens, tags.opened_in(end), "none")
