"""Parses a reply: the engine's events become typed `ReplyEvent`s of reasoning, answer, tool calls, and the end.

One `ReplyParser` per request; each of its `n` choices has parsers of its own. Protocols translate the events to their wire
formats; `ReplyCollector` puts them together for clients that do not stream.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from engine.text.reasoning import ReasoningSplitter
from engine.text.tools import CallArguments, CallBroken, CallStarted, TextPiece, ToolCall, ToolParser
from engine.types import Done, Event, Finished, FinishReason, Text, TokenLogprob

PartKind = Literal["reasoning", "answer", "call", "arguments", "broken", "tokens", "end"]


@dataclass(frozen=True)
class ReplyEvent:
    """A piece of one choice. `tokens` carries log probabilities alone; `end` comes once a choice, last.

    `broken` takes a call back that nothing had marked as one and that turned out to be none: its text is what it said.
    """

    index: int
    kind: PartKind
    text: str = ""
    call: int = 0  # which call of this choice
    call_id: str = ""
    name: str = ""
    reason: FinishReason = "stop"
    stop: str | int | None = None
    logprobs: Sequence[TokenLogprob] = ()


@dataclass
class _Choice:
    splitter: ReasoningSplitter | None
    tools: ToolParser | None
    calls: int = 0  # that were reported
    ended: bool = False
    tokens: list[TokenLogprob] = field(default_factory=list)


class ReplyParser:
    """Turns engine events into reply events. `splitter` and `tools` make fresh parsers for every choice."""

    def __init__(
        self,
        splitter: Callable[[], ReasoningSplitter | None] = lambda: None,
        tools: Callable[[], ToolParser | None] = lambda: None,
        most_calls: int | None = None,
    ) -> None:
        """`most_calls`: of more tool calls in a reply only the first are reported."""
        self._make_splitter = splitter
        self._make_tools = tools
        self._most_calls = most_calls
        self._choices: dict[int, _Choice] = {}
        self.output_tokens = 0
        self.reasoning_tokens = 0
        self.thinking = False  # the last text of any choice was reasoning

    def read(self, event: Event) -> list[ReplyEvent]:
        if isinstance(event, Text):
            return self._text(event)
        if isinstance(event, Finished):
            return self._end(event.index, event.reason, event.stop)
        if isinstance(event, Done):
            open_choices = [i for i, choice in self._choices.items() if not choice.ended] or (
                [] if self._choices else [0]
            )
            return [part for i in sorted(open_choices) for part in self._end(i, event.reason, event.stop)]
        return []

    def _choice(self, index: int) -> _Choice:
        if index not in self._choices:
            self._choices[index] = _Choice(self._make_splitter(), self._make_tools())
        return self._choices[index]

    def _text(self, event: Text) -> list[ReplyEvent]:
        choice = self._choice(event.index)
        self.output_tokens += len(event.ids)
        parts = [ReplyEvent(event.index, "tokens", logprobs=event.logprobs)] if event.logprobs else []
        if choice.splitter is None:
            return parts + self._answer(event.index, choice, event.text)
        pieces = choice.splitter.push(event.text)
        for piece in pieces:
            if piece.kind == "reasoning":
                parts.append(ReplyEvent(event.index, "reasoning", piece.text))
            else:
                parts += self._answer(event.index, choice, piece.text)
        if pieces:
            self.thinking = pieces[-1].kind == "reasoning"
            self.reasoning_tokens += len(event.ids) if self.thinking else 0
        return parts

    def _answer(self, index: int, choice: _Choice, text: str) -> list[ReplyEvent]:
        if choice.tools is None:
            return [ReplyEvent(index, "answer", text)] if text else []
        return self._calls(index, choice, choice.tools.push(text))

    def _calls(self, index: int, choice: _Choice, events: Sequence[object], cut: bool = False) -> list[ReplyEvent]:
        """`cut`: the length limit ended the reply. A call that it cut off, or that was marked as one and is malformed, is
        reported as far as it came."""
        parts = []
        for event in events:
            if self._most_calls is not None and getattr(event, "index", 0) >= self._most_calls:
                continue
            if isinstance(event, TextPiece):
                parts.append(ReplyEvent(index, "answer", event.text))
            elif isinstance(event, CallBroken) and (cut or event.marked):
                choice.calls += 1
            elif isinstance(event, CallBroken):
                parts.append(ReplyEvent(index, "broken", event.text, call=event.index))
            elif isinstance(event, CallStarted):
                parts.append(ReplyEvent(index, "call", call=event.index, call_id=event.id, name=event.name))
            elif isinstance(event, CallArguments):
                parts.append(ReplyEvent(index, "arguments", event.text, call=event.index))
            elif isinstance(event, ToolCall):
                choice.calls += 1
        return parts

    def _end(self, index: int, reason: FinishReason, stop: str | int | None) -> list[ReplyEvent]:
        choice = self._choice(index)
        if choice.ended:
            return []
        choice.ended = True
        parts: list[ReplyEvent] = []
        for piece in choice.splitter.flush() if choice.splitter is not None else ():
            if piece.kind == "reasoning":
                parts.append(ReplyEvent(index, "reasoning", piece.text))
            else:
                parts += self._answer(index, choice, piece.text)
        if choice.tools is not None:
            parts += self._calls(index, choice, choice.tools.flush(cut=reason != "stop"), cut=reason != "stop")
        if choice.calls and reason == "stop":
            reason = "tool_calls"
        return [*parts, ReplyEvent(index, "end", reason=reason, stop=stop)]


async def with_logprobs(parts: AsyncIterator[ReplyEvent]) -> AsyncIterator[ReplyEvent]:
    """Events that carry the log probabilities of their tokens. A token whose text is held back, because it may begin a tag
    or completes no character, counts to the text that follows."""
    held: dict[int, list[TokenLogprob]] = {}
    async for part in parts:
        if part.kind == "tokens":
            held.setdefault(part.index, []).extend(part.logprobs)
        else:
            yield replace(part, logprobs=held.pop(part.index, ()))


@dataclass
class ReplyCall:
    id: str
    name: str
    arguments: str = ""


@dataclass
class ReplyMessage:
    """One choice, complete."""

    answer: str = ""
    reasoning: str = ""
    calls: list[ReplyCall] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    reason: FinishReason = "stop"
    stop: str | int | None = None


class ReplyCollector:
    """Reply events put together to whole messages, for clients that do not stream."""

    def __init__(self) -> None:
        self._messages: dict[int, ReplyMessage] = {}
        self._open: dict[tuple[int, int], ReplyCall] = {}

    def add(self, part: ReplyEvent) -> None:
        message = self._messages.setdefault(part.index, ReplyMessage())
        if part.kind == "answer":
            message.answer += part.text
        elif part.kind == "reasoning":
            message.reasoning += part.text
        elif part.kind == "call":
            call = self._open[part.index, part.call] = ReplyCall(part.call_id, part.name)
            message.calls.append(call)
        elif part.kind == "arguments":
            self._open[part.index, part.call].arguments += part.text
        elif part.kind == "broken":
            message.calls.remove(self._open.pop((part.index, part.call)))
            message.answer += part.text
        elif part.kind == "tokens":
            message.logprobs.extend(part.logprobs)
        else:
            message.reason, message.stop = part.reason, part.stop

    def messages(self) -> list[ReplyMessage]:
        return [self._messages[i] for i in sorted(self._messages)]
