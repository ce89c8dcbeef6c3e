"""A reply that is being written: its words, thoughts and calls as they come, and what is told while it works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from app.gui.store.messages import Figures, Message, ToolUse
from app.gui.texts import tr

if TYPE_CHECKING:
    from app.runtime.replies import ReplyEvent
    from app.window_engine import ReplyListener
    from engine.types import FinishReason, Timings

SAVED_EVERY = 0.5  # seconds: what a killed process may lose


class Cancels(Protocol):
    def cancel(self) -> None: ...


class Reply:
    """Listens to the engine. `changed(reply)` after everything that came; `save(message)` twice a second."""

    def __init__(
        self,
        message: Message,
        changed: Callable[[Reply], None],
        save: Callable[[Message], None],
        later: Callable[[float, Callable[[], None]], None],
    ) -> None:
        self.message = replace(message, state="writing", error="")
        self.doing = tr("Waiting for the model.")  # until the first word
        self.over = False
        self._changed, self._save, self._later = changed, save, later
        self._speaking: Cancels | None = None
        self._stopped = False
        self._saving = False

    def begin(self, ask: Callable[[ReplyListener], Cancels]) -> None:
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

    def parts(self, parts: Sequence[ReplyEvent]) -> None:
        text, thought, calls = self.message.text, self.message.reasoning, list(self.message.calls)
        for part in parts:
            if part.kind == "answer":
                text += part.text
            elif part.kind == "reasoning":
                thought += part.text
            elif part.kind == "call":
                calls.append(ToolUse(part.name, id=part.call_id))
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
        figures = Figures(
            timings.prompt_tokens,
            timings.cached_tokens,
            timings.output_tokens,
            timings.first_token,
            timings.total,
            timings.decode_rate,
        )
        self._end(replace(self.message, state=state, figures=figures))

    def failed(self, sentence: str) -> None:
        self._end(replace(self.message, state="failed", error=sentence))

    def _end(self, message: Message) -> None:
        self.message, self.over = message, True
        self._changed(self)

    def _save_now(self) -> None:
        self._saving = False
        if not self.over:
            self._save(self.message)
