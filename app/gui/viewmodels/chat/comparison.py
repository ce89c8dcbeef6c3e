"""Comparing models: one message is answered by two or three of them, one after the other, and the replies stand side by side.

The replies are versions of one message, as if it had been regenerated, so that nothing is lost when one is chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from app.gui.store.messages import Attachment, StoredMessage
from app.gui.texts import tr
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.signal import Signal

MOST = 3  # models


class Comparison:
    """`chosen`: other models answer the next message. `changed`: other replies are side by side, or none."""

    def __init__(self, talk: OpenConversation, say: Callable[..., Any]) -> None:
        self._talk, self._say = talk, say
        self.chosen, self.changed = Signal(), Signal()
        self.others: tuple[str, ...] = ()  # that answer beside the conversation's own model
        self.shown: tuple[int, ...] = ()  # the replies side by side
        self._waiting: list[str] = []  # models that answer after the one that does now
        self._begins = False  # a reply of this comparison was asked for, and is not there yet
        talk.busy.connect(self._follow)
        talk.changed.connect(self._check)

    @property
    def active(self) -> bool:
        return bool(self.shown)

    @property
    def replies(self) -> list[StoredMessage]:
        return [self._talk.tree[id] for id in self.shown]

    @property
    def asked(self) -> str:
        """The message that the replies answer."""
        above = self._talk.tree[self.shown[0]].parent if self.shown else None
        return "" if above is None else self._talk.tree[above].text

    @property
    def waiting(self) -> Sequence[str]:
        return tuple(self._waiting)

    def use(self, model: str, used: bool) -> None:
        """Let a model answer the next message, too, or not."""
        left = tuple(other for other in self.others if other != model)
        if used and len(left) >= MOST - 1:
            self._say(tr("At most {n} models are compared.", n=MOST), level="warning")
        else:
            self.others = (*left, model) if used else left
        self.chosen()

    def send(self, text: str, files: Sequence[Attachment]) -> bool:
        """False when the message was not sent."""
        talk = self._talk
        if talk.writing:
            self._say(tr("A reply is being written. Wait for it, or stop it."), level="warning")
            return False
        self._waiting = [model for model in self.others if model != talk.head.model]
        self._begins = True
        if not talk.send(text, files):
            self._waiting, self._begins = [], False
            return False
        self.others = ()
        self.chosen()
        return True

    def go_on_with(self, id: int) -> None:
        """The conversation continues with this reply and its model."""
        model = self._talk.tree[id].model
        if self._talk.writing:
            self._waiting = []
            self._talk.stop()
        self.close()
        self._talk.show_message(id)
        self._talk.configure(model=model)

    def close(self) -> bool:
        """Back to the conversation, where the replies are versions of one message. False where none are side by side."""
        there, self.shown, self._waiting, self._begins = bool(self.shown), (), [], False
        if there:
            self.changed()
        return there

    def _follow(self) -> None:
        """A reply began or ended."""
        reply = self._talk.reply
        if reply is not None:
            if self._begins:
                self._begins = False
                self.shown = (*self.shown, reply.message.id)
                self.changed()
        elif self.active and not self._begins:
            last = self.replies[-1]
            if last.state == "stopped":
                self._waiting = []
            if self._waiting:
                self._begins = True
                self._talk.answer_by(last.parent, self._waiting.pop(0))
            self.changed()

    def _check(self) -> None:
        """Another conversation or another branch is shown, or a reply was deleted."""
        if self.active and (
            self._talk.head.leaf not in self.shown or any(id not in self._talk.tree for id in self.shown)
        ):
            self.close()
