"""A step of one model between its start and the reading of what it gave."""

from __future__ import annotations

from dataclasses import dataclass

from backends.base import PendingStep
from engine.scheduler import Row
from engine.sequence import Choice


@dataclass
class Flight:
    """A step that has been issued and not yet read."""

    pending: PendingStep
    rows: list[Row]
    issued: float
    replies: int
    prompt: int

    def carries(self, choice: Choice) -> bool:
        return any(row.choice is choice for row in self.rows)
