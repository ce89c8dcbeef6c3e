"""The sentence above the content: what happened, how long it stays, and what resolves it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from app.gui.viewmodels.signal import Signal

Level = Literal["info", "ok", "warning", "error"]
_STAYS: dict[Level, float] = {"info": 10, "ok": 10, "warning": 60, "error": 60}  # seconds in which a person can read it


class CurrentNotice:
    """`changed`: another sentence is shown, or none. A later success resolves an error; every sentence expires."""

    def __init__(self) -> None:
        self.changed = Signal()
        self.sentence = ""
        self.level: Level = "info"
        self.undo: tuple[str, Callable[[], Any]] | None = None
        self._left = 0.0

    def say(self, sentence: str, level: Level = "info", undo: tuple[str, Callable[[], Any]] | None = None) -> None:
        """No sentence, with level "ok": something worked that needs no words."""
        if not sentence:
            if level == "ok" and self.level == "error":
                self.close()
            return
        self.sentence, self.level, self.undo, self._left = sentence, level, undo, _STAYS[level]
        self.changed()

    def tick(self, seconds: float) -> None:
        """So much time passed in which the sentence could be read."""
        self._left -= seconds
        if self.sentence and self._left <= 0:
            self.close()

    def close(self) -> None:
        if self.sentence:
            self.sentence, self.level, self.undo = "", "info", None
            self.changed()

    def take_back(self) -> None:
        undo = self.undo
        self.close()
        if undo is not None:
            undo[1]()
