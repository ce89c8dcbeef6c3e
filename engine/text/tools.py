"""Finds tool calls in a reply while it streams, in the convention of its model's family (`families.py`).

Everything comes out as events, in order. Text that is no call comes out unchanged, but for the white space around
calls. A marked call that is malformed after its arguments have begun stays a call, with what it said until then: its client
tells the model what is wrong. One that breaks before is the text that it is, unless the length limit cut it off.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from engine.text.scanner import Scanner
from engine.text.tool_readers import JsonReader, Lead, Reader


@dataclass(frozen=True)
class TextPiece:
    text: str


@dataclass(frozen=True)
class CallStarted:
    """The function's name is known. For those who stream; `ToolCall` repeats everything."""

    index: int
    id: str
    name: str


@dataclass(frozen=True)
class CallArguments:
    """More of the arguments of call `index`. All of them together are `ToolCall.arguments`."""

    index: int
    text: str


@dataclass(frozen=True)
class ToolCall:
    """A call has been read to its end and is sound."""

    index: int
    id: str
    name: str
    arguments: str  # a JSON object


@dataclass(frozen=True)
class CallBroken:
    """A call that had been started turned out malformed, or the reply ended inside it. `text` is all that it said."""

    index: int
    text: str
    marked: bool = True  # else it may have been an answer that looks like a call


_MARKER_BEGUN = 5  # characters; with fewer, it may as well be a text that ends so

ToolEvent: TypeAlias = TextPiece | CallStarted | CallArguments | ToolCall | CallBroken
MakeReader: TypeAlias = Callable[[], Reader]


@dataclass(frozen=True)
class Convention:
    """How a family marks its calls."""

    opens: Mapping[str, MakeReader]  # a call may begin after this, anywhere
    closes: tuple[str, ...] = ()  # dropped where they follow a call, in this order
    # right after a call, these begin another; an empty one: whatever comes before the group is closed
    joins: Mapping[str, MakeReader] = field(default_factory=dict)
    bare: MakeReader | None = None  # a reply may begin with a call that nothing marks
    only_calls: bool = False  # a reply cannot be anything else


class ToolParser:
    """One per reply."""

    def __init__(self, convention: Convention) -> None:
        self._convention = convention
        self._scanner = Scanner(convention.opens)
        self._events: list[ToolEvent] = []
        self._gap = ""  # white space that is dropped should a call follow
        self._held = ""  # after a call: not yet decided
        self._raw: list[str] = []  # all that the current call has said
        self._reader: Reader = JsonReader()
        self._started: CallStarted | None = None
        self._marked = convention.only_calls  # the current call cannot be an answer
        tags = [close for close in convention.closes if close.startswith("<")]
        self._remains = Scanner(["</function>", *tags, *convention.opens])  # what ends the rest of a malformed call
        self._closes = convention.closes  # those that may still follow the last call
        self._count = 0
        self._state = self._in_text
        if convention.bare is not None:
            self._begin(convention.bare, "")

    @property
    def markers(self) -> tuple[str, ...]:
        """Where the vocabulary holds these as special tokens, the detokenizer must keep them."""
        return (*self._convention.opens, *self._convention.closes)

    def push(self, text: str) -> list[ToolEvent]:
        while text:
            text = self._state(text)
        return self._done()

    def flush(self, cut: bool = False) -> list[ToolEvent]:
        """The reply has ended; `cut`: by the length limit. An unfinished call whose arguments had not begun is text, or,
        where it was cut off, nothing."""
        if self._state == self._in_call:
            looks_like_one = self._marked or self._reader.name is not None
            if not cut or self._started is not None or not looks_like_one:
                self._give_up("".join(self._raw))
        elif self._state == self._after_call:
            self._say(self._held if self._held.strip() and not cut else "")  # cut off, it is half a closing mark
        elif self._state == self._in_text:
            held = self._scanner.flush()
            self._say("" if cut and len(held) >= _MARKER_BEGUN else held)
        if self._gap and not cut:
            self._events.append(TextPiece(self._gap))
        self._gap = self._held = ""
        self._state = self._in_text
        return self._done()

    # Each state looks at new text and returns what the next state shall look at.

    def _in_text(self, text: str) -> str:
        scan = self._scanner.feed(text)
        self._say(scan.text)
        if scan.match is not None:
            self._begin(self._convention.opens[scan.match], scan.match)
        return scan.rest

    def _in_call(self, text: str) -> str:
        self._raw.append(text)
        rest = self._reader.feed(text)
        self._stream(self._reader)
        if self._reader.state == "broken":
            raw = "".join(self._raw)
            self._state = self._in_text if self._started is None or not self._marked else self._in_remains
            self._give_up(raw[: len(raw) - len(rest)])
        elif self._reader.state == "done":
            self._closes = self._convention.closes
            self._state = self._after_call
        return rest

    def _in_remains(self, text: str) -> str:
        """The rest of a malformed call, up to its closing mark, is nothing that anybody should read."""
        scan = self._remains.feed(text)
        if scan.match is not None and scan.match in self._convention.opens:
            self._begin(self._convention.opens[scan.match], scan.match)
        elif scan.match is not None:
            closes = self._convention.closes
            self._closes = closes[closes.index(scan.match) + 1 :] if scan.match in closes else closes
            self._state = self._after_call
        return scan.rest

    def _after_call(self, text: str) -> str:
        self._held += text
        body = self._held.lstrip()
        for at, close in enumerate(self._closes):
            if body.startswith(close):
                self._held = ""
                self._closes = self._closes[at + 1 :]
                return body[len(close) :]
        space = self._held[: len(self._held) - len(body)]
        joins = self._convention.joins
        for join, make in joins.items():
            if join and body.startswith(join):
                self._gap, self._held = space, ""
                self._begin(make, join)
                return body[len(join) :]
        if not body or any(literal.startswith(body) for literal in (*self._closes, *joins)):
            return ""
        self._gap, self._held = space, ""
        if "" in joins and self._closes:
            self._begin(joins[""], "")
        else:
            self._state = self._in_text
        return body

    def _begin(self, make: MakeReader, opening: str) -> None:
        self._reader = make()
        self._started = None
        self._raw = [self._gap, opening]
        self._gap = ""
        self._marked = self._marked or opening in self._convention.opens
        self._state = self._in_call

    def _stream(self, reader: Reader) -> None:
        new = reader.take()
        if new and reader.name is not None:
            if self._started is None:
                self._started = CallStarted(self._count, f"call_{uuid.uuid4().hex[:24]}", reader.name)
                self._count += 1
                self._events.append(self._started)
            self._events.append(CallArguments(self._started.index, new))
        if self._started is not None and reader.state == "done":
            self._events.append(ToolCall(self._started.index, self._started.id, self._started.name, reader.arguments))

    def _give_up(self, raw: str) -> None:
        if self._started is None:
            self._say(raw)
        else:
            self._events.append(CallBroken(self._started.index, raw, self._marked))

    def _say(self, text: str) -> None:
        self._marked = self._convention.only_calls if text.strip() else self._marked
        text = self._gap + text
        shown = text.rstrip()
        self._gap = text[len(shown) :]
        if shown:
            self._events.append(TextPiece(shown))

    def _done(self) -> list[ToolEvent]:
        events, self._events = self._events, []
        return events


def listed() -> Reader:
    """A call as JSON, in a list of them."""
    return Lead(skip={}, keep={"{": JsonReader})


def _opening() -> Reader:
    return Lead(skip={"[": listed}, keep={})


CALL_LIST = Convention(
    opens={}, closes=("]",), joins={",": listed}, bare=_opening, only_calls=True
)  # of calls that were demanded
