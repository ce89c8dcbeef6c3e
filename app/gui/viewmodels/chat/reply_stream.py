"""A reply that is being written: text, reasoning and tool calls as they come from the engine, as a message that is stored."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from app.gui.store.messages import GivenPassage, ReplyStatistics, StoredMessage, ToolUse
from app.gui.texts import tr
from app.window_reply import CallNews, CallProgress, PermissionQuestion, ReplyListener, RoundBegan

if TYPE_CHECKING:
    from app.runtime.chat import ReplyEvent
    from app.runtime.tools.permissions import PermissionAnswer
    from engine.types import FinishReason, Timings


SAVED_EVERY = 0.5  # seconds: what a killed process may lose


class _Cancels(Protocol):
    def cancel(self) -> None: ...


class ReplyStream:
    """Listens to the engine. `changed(reply)` after everything that came; `save(message)` twice a second."""

    def __init__(
        self,
        message: StoredMessage,
        changed: Callable[[ReplyStream], None],
        save: Callable[[StoredMessage], None],
        later: Callable[[float, Callable[[], None]], None],
        rewrite: Callable[[str], str] | None = None,
        note: Callable[[str], Any] = lambda sentence: None,
        tools: bool = False,
    ) -> None:
        """`rewrite`: what is shown instead of the whole reply, which is not shown before. `note` shows a sentence beside the reply. `tools`: calls
        are made."""
        self._rewrite, self._unshown = rewrite, ""
        self.message = replace(message, state="writing", error="")
        self.doing = tr("Waiting for the model.")  # until the first word
        self.over = False
        self.question: PermissionQuestion | None = None  # that waits for the person
        self._tools = tools
        self._round = 1 + max((call.round for call in message.calls), default=-1)
        self._changed, self._save, self._later, self._note = changed, save, later, note
        self._speaking: _Cancels | None = None
        self._stopped = False
        self._saving = False
        self.kept: list[str] = []  # files of pictures that tools returned, in use until the message is stored

    def begin(self, ask: Callable[[ReplyListener], _Cancels]) -> None:
        self._speaking = ask(self)
        if self._stopped:
            self._speaking.cancel()

    def stop(self) -> None:
        self._stopped = True
        if self._speaking is not None:
            self._speaking.cancel()

    # -- what the engine says

    def working(self, what: str) -> None:
        self.doing = what
        self._changed(self)

    def found(self, passages: Sequence[GivenPassage]) -> None:
        self.message = replace(self.message, passages=tuple(passages))

    def noted(self, sentence: str) -> None:
        self._note(sentence)

    def called(self, news: CallNews) -> None:
        from app.runtime.tools.loop import ToolCallBegun

        if isinstance(news, RoundBegan):
            self._round += 1
            if self.message.reasoning:
                self.message = replace(self.message, reasoning=f"{self.message.reasoning.rstrip()}\n\n")
        elif isinstance(news, PermissionQuestion):
            self.question = news
            self._call(outcome="asked", label=news.request.tool, arguments=_shown(news.request.arguments))
        elif isinstance(news, CallProgress):
            self.question = None
            event = news.event
            if isinstance(event, ToolCallBegun):
                self._call(outcome="running", label=news.label, arguments=_shown(event.arguments))
            else:
                pictures = tuple(news.pictures)
                self.kept += [file.path for file in pictures]
                self.message = replace(self.message, attachments=(*self.message.attachments, *pictures))
                self._call(
                    outcome=event.step.outcome, label=news.label, result=event.step.result, pictures=len(pictures)
                )
        self._changed(self)

    def _call(self, **changes: Any) -> None:
        """Calls of a round are made one after the other: the first without an end is meant."""
        calls = list(self.message.calls)
        at = next((i for i, call in enumerate(calls) if call.round == self._round and not _is_over(call)), None)
        if at is not None:
            calls[at] = replace(calls[at], **changes)
            self.message = replace(self.message, calls=tuple(calls))

    def answer(self, answer: PermissionAnswer) -> None:
        """The person's, to the question that waits."""
        question, self.question = self.question, None
        if question is not None and not question.answer.done():
            self._call(outcome="running" if answer.allowed else "asked")
            question.answer.set_result(answer)
            self._changed(self)

    def parts(self, parts: Sequence[ReplyEvent]) -> None:
        if self._rewrite is not None:
            self._unshown += "".join(part.text for part in parts if part.kind == "answer")
            return
        text, thought, calls = self.message.text, self.message.reasoning, list(self.message.calls)
        for part in parts:
            if part.kind == "answer":
                if text and calls and calls[-1].at == len(text) and calls[-1].round < self._round:
                    text += "\n\n"  # what was said before the calls is a paragraph of its own
                text += part.text
            elif part.kind == "reasoning":
                thought += part.text
            elif part.kind == "call":
                calls.append(ToolUse(part.name, id=part.call_id, round=self._round, at=len(text)))
            elif part.kind == "arguments" and calls:
                calls[-1] = replace(calls[-1], arguments=calls[-1].arguments + part.text)
            elif part.kind == "broken" and calls:
                calls.pop()
                text += part.text
        self.message = replace(self.message, text=text, reasoning=thought, calls=tuple(calls))
        self._changed(self)
        if not self._saving:
            self._saving = True
            self._later(SAVED_EVERY, self._save_now)

    def ended(self, reason: FinishReason, timings: Timings) -> None:
        state: Any = {"cancelled": "stopped", "length": "length"}.get(reason, "done")
        if self._stopped and state == "done":
            state = "stopped"
        figures = ReplyStatistics(
            timings.prompt_tokens,
            timings.cached_tokens,
            timings.output_tokens,
            timings.first_token,
            timings.total,
            timings.decode_rate,
        )
        if self._rewrite is not None:
            self.message = replace(self.message, text=self._rewrite(self._unshown))
        self._end(replace(self.message, state=state, figures=figures))

    def failed(self, sentence: str) -> None:
        self._end(replace(self.message, state="failed", error=sentence))

    def _end(self, message: StoredMessage) -> None:
        self.question = None
        self.message, self.over = settled(message, self._tools), True
        self._changed(self)

    def _save_now(self) -> None:
        self._saving = False
        if not self.over:
            self._save(self.message)


def settled(message: StoredMessage, tools: bool = False) -> StoredMessage:
    """Without calls that still wait or run: the reply has ended, or the process was killed while it was written. `tools`: all of its calls
    were to be made."""
    if not (tools or any(call.outcome for call in message.calls)) or all(map(_is_over, message.calls)):
        return message
    calls = [replace(call, outcome="stopped") if not _is_over(call) else call for call in message.calls]
    return replace(message, calls=tuple(calls))


def _is_over(call: ToolUse) -> bool:
    return call.outcome in ("made", "refused", "failed", "stopped")


def _shown(arguments: Any) -> str:
    return json.dumps(arguments, ensure_ascii=False)
