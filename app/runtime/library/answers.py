"""What a model is asked so that it answers from passages and cites them, and what it cited."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from app.runtime.chat import ChatRequest, PreparedChat
    from engine.loading import LoadedModel


class CitablePassage(Protocol):
    @property
    def where(self) -> str: ...
    @property
    def text(self) -> str: ...


P = TypeVar("P", bound=CitablePassage)  # a dataclass

CITE = (
    "Answer the question from the passages alone. After each statement give the number of its passage in brackets, such as [1]. "
    "If the passages do not answer the question, say so."
)
CITED = re.compile(r"\[(\d{1,2})\]")
REPLY = 512  # tokens that are kept free for the answer, where nothing else is said
_LEAST_TEXT = 40  # characters of a passage


def question_with(passages: Sequence[CitablePassage], question: str) -> str:
    """Numbered passages, then the question. Citations use the numbers of the passages."""
    shown = "\n\n".join(f"[{at}] {passage.where}\n{passage.text}" for at, passage in enumerate(passages, 1))
    return f"Passages:\n\n{shown}\n\nQuestion: {question}"


def fewer(passages: Sequence[P]) -> list[P]:
    """For a context that is too short: the last passage is left out, and the only one loses its end. Empty: nothing is left to drop."""
    if len(passages) > 1:
        return list(passages[:-1])
    if passages and len(passages[0].text) > _LEAST_TEXT:
        first: Any = passages[0]
        return [replace(first, text=first.text[: len(first.text) // 2])]
    return []


def asked_with(messages: Sequence[Mapping[str, Any]], passages: Sequence[CitablePassage]) -> list[Mapping[str, Any]]:
    """A conversation whose last message of the user has the passages before its text."""
    asked = list(messages)
    last = next((at for at in reversed(range(len(asked))) if asked[at]["role"] == "user"), None)
    if last is None or not passages:
        return asked
    content = asked[last]["content"]
    if isinstance(content, str):
        content = f"{CITE}\n\n{question_with(passages, content)}"
    else:  # pictures and a text
        content = [{"type": "text", "text": f"{CITE}\n\n{question_with(passages, '')}"}, *content]
    asked[last] = {**asked[last], "content": content}
    return asked


def has_room(prompt: int, context: int, reply: int | None = None) -> bool:
    """Whether an answer fits behind a prompt of so many tokens. A quarter of a short context is kept for it."""
    return prompt + min(reply or REPLY, context // 4) <= context


def prepared_with(
    conversation: ChatRequest, passages: Sequence[P], loaded: LoadedModel, model: str
) -> tuple[PreparedChat, Sequence[P]]:
    """The prompt with as many of the passages as leave room for an answer."""
    from app.runtime.chat import prepare
    from engine.errors import ContextOverflow

    while True:
        asked = replace(conversation, messages=asked_with(conversation.messages, passages))
        try:
            prepared = prepare(asked, loaded, model)
        except ContextOverflow:
            if not passages:
                raise
        else:
            if not passages or has_room(len(prepared.request.prompt_ids), loaded.context):
                return prepared, passages
        passages = fewer(passages)


def cited(answer: str, passages: int) -> list[int]:
    """The numbers of the passages that an answer cites, each once."""
    return sorted({int(number) for number in CITED.findall(answer) if 1 <= int(number) <= passages})
