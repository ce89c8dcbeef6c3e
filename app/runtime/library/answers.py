"""What a model is asked so that it answers from passages and cites them, and what it cited."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.runtime.library.store import FoundPassage

CITE = (
    "Answer the question from the passages alone. After each statement give the number of its passage in brackets, such as [1]. "
    "If the passages do not answer the question, say so."
)
CITED = re.compile(r"\[(\d{1,2})\]")
REPLY = 512  # tokens that are kept free for the answer, where nothing else is said
_LEAST_TEXT = 40  # characters of a passage


def question_with(passages: Sequence[FoundPassage], question: str) -> str:
    """Numbered passages, then the question. The passages are told apart by their numbers, which citations use."""
    shown = "\n\n".join(f"[{at}] {passage.where}\n{passage.text}" for at, passage in enumerate(passages, 1))
    return f"Passages:\n\n{shown}\n\nQuestion: {question}"


def fewer(passages: Sequence[FoundPassage]) -> list[FoundPassage]:
    """For a context that is too short: the last passage is left out, and the only one loses its end. Empty: nothing is left to drop."""
    if len(passages) > 1:
        return list(passages[:-1])
    if passages and len(passages[0].text) > _LEAST_TEXT:
        return [replace(passages[0], text=passages[0].text[: len(passages[0].text) // 2])]
    return []


def has_room(prompt: int, context: int, reply: int | None = None) -> bool:
    """Whether an answer fits behind a prompt of so many tokens. A quarter of a short context is kept for it."""
    return prompt + min(reply or REPLY, context // 4) <= context


def cited(answer: str, passages: int) -> list[int]:
    """The numbers of the passages that an answer cites, each once."""
    return sorted({int(number) for number in CITED.findall(answer) if 1 <= int(number) <= passages})
