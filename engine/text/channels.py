"""Splits replies that are several messages, each with a header that says for whom it is: gpt-oss's harmony format and
Muse's. Some are reasoning, some are for the person, some call a function.

    <|channel|>analysis<|message|>...<|end|><|start|>assistant<|channel|>final<|message|>...
    ` to=self<|message|>...<|eom|><|start|>assistant to=user<|message|>...<|eot|>`

Calls are passed on with a header of one spelling, for the tool parser, which comes after. Knows text only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.text.reasoning import Kind, Piece, ReasoningSplitter, ReasoningTags
from engine.text.scanner import Scanner

_START, _MESSAGE, _CHANNEL, _CONSTRAIN = "<|start|>", "<|message|>", "<|channel|>", "<|constrain|>"
CALL_OPEN = f"{_CHANNEL}commentary to="
_RECIPIENT = re.compile(r"(?:^|[\s>])to=([^\s<]+)")
_HEADER_BEGINS = (_CHANNEL, _START, _MESSAGE, "assistant", "to=")
_LONGEST_HEADER = 300  # characters


@dataclass(frozen=True)
class ChannelTags(ReasoningTags):
    """The marks of a format of messages. `open` and `close` surround one of reasoning."""

    ends: tuple[str, ...] = ()
    answers: str = ""  # the header of the message for the person
    others: tuple[str, ...] = ()

    @property
    def markers(self) -> tuple[str, ...]:
        return (_START, _MESSAGE, *self.ends, *self.others)

    def splitter(self, prompt: str, started: bool, keep: bool = False) -> ChannelSplitter:
        return ChannelSplitter(self, prompt, keep)

    def opened_in(self, prompt: str) -> bool:
        return prompt.rstrip().endswith(self.open)


HARMONY = ChannelTags(
    f"{_CHANNEL}analysis{_MESSAGE}",
    f"<|end|>{_START}assistant",
    ends=("<|end|>", "<|return|>", "<|call|>"),
    answers=f"{_CHANNEL}final{_MESSAGE}",
    others=(_CHANNEL, _CONSTRAIN),
)
MUSE = ChannelTags(
    f" to=self{_MESSAGE}", f"<|eom|>{_START}assistant", ends=("<|eom|>", "<|eot|>"), answers=f" to=user{_MESSAGE}"
)


class ChannelSplitter(ReasoningSplitter):
    """One per reply. The end of the prompt says in which message the reply begins. With `keep` reasoning stays in the
    answer, with its header."""

    def __init__(self, tags: ChannelTags, prompt: str = "", keep: bool = False) -> None:
        super().__init__(tags)
        self._format = tags
        self._keep = keep
        self._ends = Scanner([*tags.ends, _START])
        self._kind: Kind | None = None  # of the message that is being read
        self._tail = ""
        self._complete: dict[Kind, bool] = {}  # whether a message of this kind is complete, and another would follow it
        self._state = self._header
        _, started, last = prompt.rpartition(_START)
        header, message, _ = last.partition(_MESSAGE) if started else ("", "", "")
        if message:
            self._begin(header.removeprefix("assistant"))
        else:
            self._held = header.removeprefix("assistant")

    def flush(self) -> list[Piece]:
        if self._state == self._header:
            self._emit("answer", "" if self._looks_like_header(self._held) else self._held)
        else:
            self._body_text(self._ends.flush())
        self._held = ""
        return self._taken()

    def _looks_like_header(self, text: str) -> bool:
        text = text.lstrip()
        return any(mark.startswith(text) or text.startswith(mark) for mark in _HEADER_BEGINS)

    def _header(self, text: str) -> str:
        self._held += text
        header, message, rest = self._held.partition(_MESSAGE)
        if not self._looks_like_header(header) or (not message and len(header) > _LONGEST_HEADER):
            shown, self._held = self._held, ""  # a text without any header is the answer
            self._kind, self._state = "answer", self._body
            return shown
        if message:
            self._held = ""
            self._begin(header)
        return rest if message else ""

    def _begin(self, header: str) -> None:
        found = _RECIPIENT.search(header)
        recipient = found[1] if found else ""
        self._state = self._body
        calls = recipient.startswith("functions.") or (bool(recipient) and "commentary" in header)
        if self._format.answers.startswith(_CHANNEL):
            reasons = "analysis" in header and not calls
        else:
            reasons = recipient == "self"
        self._kind = "reasoning" if reasons else "answer"
        self._tail = ""
        if calls and self._format.answers.startswith(_CHANNEL):
            self._emit("answer", f"{CALL_OPEN}{recipient}{_MESSAGE}")
        elif reasons and self._keep:
            self._emit("answer", f"{header.strip()}{_MESSAGE}")
            self._kind = "answer"
            self._tail = self._format.ends[0]
        elif self._complete.get(self._kind) and not self._keep:
            self._emit(self._kind, "\n\n")

    def _body(self, text: str) -> str:
        scan = self._ends.feed(text)
        self._body_text(scan.text)
        if scan.match is not None:
            self._emit("answer", self._tail)
            self._state = self._between if scan.match != _START else self._header
            self._held = ""
        return scan.rest

    def _between(self, text: str) -> str:
        """What lies between two messages is only their marks."""
        self._held += text
        at = self._held.find(_START)
        if at < 0:
            self._held = self._held[-len(_START) :]
            return ""
        rest, self._held = self._held[at + len(_START) :], ""
        self._state = self._header
        return rest

    def _body_text(self, text: str) -> None:
        if text and self._kind is not None:
            self._emit(self._kind, text)
            self._complete[self._kind] = bool(text.strip()) or self._complete.get(self._kind, False)
