"""Pages in conversations: a model that reads line by line (its own settings say so) is given them by the page splitter.

Such a model has one thing to do and one way to do it. It reads what the last message shows; whatever would have changed how
another model answers is refused by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from app.runtime.chat import ChatRequest, PreparedChat, ReplyParser
from app.server.body import ignore
from app.server.images import ImagePart, parts_of
from engine.errors import BadRequest, Unsupported
from engine.pipelines.prompt import Prompt
from engine.types import Request, SamplingParams

if TYPE_CHECKING:
    from PIL.Image import Image

    from engine.loading import LoadedModel

# of what a request may wish, what changes nothing where the likeliest character is taken every time, and the length
_HARMLESS = {"max_tokens", "seed", "top_p", "top_k", "min_p", "typical_p", "repetition_window"}
_NEUTRAL = {"temperature": 0.0, "repetition_penalty": 1.0}


def wanted(chat: ChatRequest, name: str) -> list[ImagePart]:
    """The pages that are to be read. Raises BadRequest or Unsupported for what cannot be done."""
    for field in fields(SamplingParams):
        value, usual = getattr(chat.sampling, field.name), getattr(SamplingParams(), field.name)
        if field.name not in _HARMLESS and value not in (usual, _NEUTRAL.get(field.name, usual)):
            raise Unsupported(f"The model {name} reads pages, and does so in one way.", field.name)
    refused = {
        "tools": chat.tools and chat.tool_choice.kind != "none",
        "response_format": chat.grammar,
        "prediction": chat.prediction,
        "continue_final_message": chat.continue_last,
        "reasoning_effort": chat.effort not in (None, "none"),
        "thinking": chat.thinking,
        "chat_template_kwargs": chat.variables,
    }
    hints = {"reasoning_effort", "thinking"} if chat.lenient else set()
    for param, given in refused.items():
        if given and not (param in hints and ignore(param)):
            raise Unsupported(f"The model {name} reads pages; {param} means nothing to it.", param)
    found = parts_of([chat.messages[-1]])
    if not found:
        raise BadRequest(f"The model {name} reads pages. Show it one, as an image in the last message.", "messages")
    return found


def prepared(chat: ChatRequest, name: str, model: LoadedModel, pages: Sequence[Image]) -> PreparedChat:
    """How many tokens the pages take is known only when they have been cut into lines."""
    return PreparedChat(Request(name, (), chat.sampling), ReplyParser(), Prompt("", []), model, pages=pages)


def check_counted(prepared: PreparedChat) -> None:
    """For routes that say how many tokens a conversation has."""
    if prepared.pages:
        raise BadRequest("How many tokens a page has is known only when it has been read.", "messages")
