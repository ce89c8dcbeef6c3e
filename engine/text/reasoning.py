"""Splits a reply into its reasoning and its answer while it streams.

A reply reasons only at its beginning: "<think>" in the middle of an answer is a word like any other. Line breaks next to
the tags belong to the tags. Knows text only; which tags a model uses is read from its chat template.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from engine.text.scanner import Scanner

Kind = Literal["reasoning", "answer"]


class Piece(NamedTuple):
    kind: Kind
    text: str


@dataclass(frozen=True)
class ReasoningTags:
    open: str
    close: str
    answer: tuple[str, str] | None = None  # Hunyuan wraps the answer as well

    @property
    def markers(self) -> tuple[str, ...]:
        """Where the vocabulary holds these as special tokens, the detokenizer must keep them."""
        return (self.open, self.close, *(self.answer or ()))

    def opened_in(self, prompt: str) -> bool:
        """Whether the template has already begun the reasoning, so that the reply starts inside it."""
        return prompt.rstrip().endswith(self.open)

    def splitter(self, prompt: str, started: bool, keep: bool = False) -> ReasoningSplitter | None:
        """For the reply to this prompt. None where `keep` leaves the reasoning in the answer, in its tags."""
        return None if keep else ReasoningSplitter(self, started)


class ReasoningSplitter:
    """One per reply. `started`: the prompt ends inside the reasoning (see `ReasoningTags.opened_in`)."""

    def __init__(self, tags: ReasoningTags, started: bool = False) -> None:
        self._tags = tags
        self._state = self._reasoning if started else self._beginning
        self._held = ""  # not yet decided
        self._gap = ""  # line breaks that belong to the closing tag, should it follow
        self._at_start = True  # of the reasoning or of a wrapped answer, whose first line breaks are dropped
        self._close = Scanner([tags.close])
        self._close_answer = Scanner([tags.answer[1]] if tags.answer else [])
        self._pieces: list[Piece] = []

    def push(self, text: str) -> list[Piece]:
        while text:
            text = self._state(text)
        return self._taken()

    def flush(self) -> list[Piece]:
        """The reply has ended: what was held back is what it looks like."""
        if self._state == self._reasoning:
            self._say("reasoning", self._close.flush())
            self._emit("reasoning", self._gap)
        elif self._state == self._wrapped_answer:
            self._say("answer", self._close_answer.flush())
            self._emit("answer", self._gap)
        else:
            self._emit("answer", self._held.lstrip("\n") if self._state == self._after_reasoning else self._held)
        self._held = self._gap = ""
        return self._taken()

    # Each state looks at new text and returns what the next state shall look at.

    def _beginning(self, text: str) -> str:
        """Does the reply start with a tag?"""
        return self._expect(text, (self._tags.open, *(self._tags.answer or ())[:1]), strip=None)

    def _after_reasoning(self, text: str) -> str:
        return self._expect(text, (self._tags.answer or ())[:1], strip="\n")

    def _expect(self, text: str, tags: tuple[str, ...], strip: str | None) -> str:
        self._held += text
        body = self._held.lstrip(strip)
        for tag in tags:
            if body.startswith(tag):
                self._held = ""
                self._state = self._reasoning if tag == self._tags.open else self._wrapped_answer
                self._at_start = True
                return body[len(tag) :]
        if not body or any(tag.startswith(body) for tag in tags):
            return ""
        shown, self._held = body if strip else self._held, ""
        self._state = self._answer
        return shown

    def _reasoning(self, text: str) -> str:
        scan = self._close.feed(text)
        self._say("reasoning", scan.text)
        if scan.match:
            self._gap = ""
            self._state = self._after_reasoning
        return scan.rest

    def _answer(self, text: str) -> str:
        self._emit("answer", text)
        return ""

    def _wrapped_answer(self, text: str) -> str:
        scan = self._close_answer.feed(text)
        self._say("answer", scan.text)
        if scan.match:
            self._gap = ""
            self._state = self._answer
        return scan.rest

    def _say(self, kind: Kind, text: str) -> None:
        """Emit without the line breaks at either end."""
        if self._at_start:
            text = text.lstrip("\n")
        if not text:
            return
        self._at_start = False
        text = self._gap + text
        shown = text.rstrip("\n")
        self._gap = text[len(shown) :]
        self._emit(kind, shown)

    def _emit(self, kind: Kind, text: str) -> None:
        if text:
            self._pieces.append(Piece(kind, text))

    def _taken(self) -> list[Piece]:
        pieces, self._pieces = self._pieces, []
        return pieces
