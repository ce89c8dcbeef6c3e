"""Stop strings: ends a reply where one appears, and never lets a part of one out before that is certain.

Knows text only. Stop *tokens* are the engine's business.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.text.scanner import Scanner


class Stopped(NamedTuple):
    text: str  # to be shown
    stop: str | None  # the stop string that ended the reply


class StopMatcher:
    """One per reply. After a stop everything else is swallowed."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._scanner = Scanner(stops) if stops else None
        self.stop: str | None = None

    def push(self, text: str) -> Stopped:
        if self.stop is not None:
            return Stopped("", self.stop)
        if self._scanner is None:
            return Stopped(text, None)
        scan = self._scanner.feed(text)
        self.stop = scan.match
        return Stopped(scan.text, scan.match)

    def flush(self) -> str:
        """The reply has ended for another reason: what was held back is ordinary text."""
        return self._scanner.flush() if self._scanner is not None else ""
