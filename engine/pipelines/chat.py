"""From a conversation to a request: template, tokens, and a check that there is room for an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from engine.errors import BadRequest, ContextOverflow
from engine.loading import LoadedModel

Message: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Prompt:
    """What the model will read."""

    text: str
    ids: list[int]


def chat_prompt(
    model: LoadedModel,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]] | None = None,
    **variables: Any,
) -> Prompt:
    """Render a conversation with the model's own template. `variables` reach the template (`enable_thinking`, ...)."""
    if not messages:
        raise BadRequest("A conversation needs at least one message.", "messages")
    text = model.template.render(messages, tools, **variables)
    return _checked(model, text, model.tokenizer.encode(text, add_special=False))


def text_prompt(model: LoadedModel, text: str) -> Prompt:
    """A text for the model to continue, with no template around it."""
    return _checked(model, text, model.tokenizer.encode(text, add_special=True))


def _checked(model: LoadedModel, text: str, ids: list[int]) -> Prompt:
    if not ids:
        raise BadRequest("The prompt is empty.", "prompt")
    if len(ids) >= model.context:
        raise ContextOverflow(
            f"The prompt has {len(ids)} tokens, but {model.name} can hold {model.context}, answer included. Shorten it.",
            "prompt",
        )
    return Prompt(text, ids)
