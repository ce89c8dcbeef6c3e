"""From a conversation to a prompt: template, images, tokens, and a check that there is room for an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.errors import BadRequest
from engine.loading import LoadedModel
from engine.pipelines.prompt import Prompt, encoded
from engine.pipelines.vision_request import Message, vision_request

__all__ = ["Message", "Prompt", "chat_prompt", "text_prompt"]


def chat_prompt(
    model: LoadedModel,
    messages: Sequence[Message],
    tools: Sequence[Mapping[str, Any]] | None = None,
    **variables: Any,
) -> Prompt:
    """Render a conversation with the model's own template. `variables` reach the template (`enable_thinking`, ...)."""
    if not messages:
        raise BadRequest("A conversation needs at least one message.", "messages")
    looked = vision_request(model, messages)
    text = model.template.render(looked.messages, tools, **variables)
    return encoded(model, text, looked.pictures, looked.notes)


def text_prompt(model: LoadedModel, text: str, images: Sequence[Any] = ()) -> Prompt:
    """A text for the model to continue, with no template around it.

    `images` take the places that the text has for them. Where it has none at all, text and images become a message.
    """
    if not images:
        return encoded(model, text, add_special=True)
    parts: list[Any] = [{"type": "image", "image": image} for image in images]
    if model.sight is None or any(id in model.sight.places for id in model.tokenizer.encode(text, add_special=False)):
        looked = vision_request(model, [{"role": "user", "content": parts}])
        return encoded(model, text, looked.pictures, looked.notes, add_special=True)
    return chat_prompt(model, [{"role": "user", "content": [*parts, {"type": "text", "text": text}]}])
