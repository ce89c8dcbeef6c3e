"""What the lanes of one engine have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.settings import Settings
from engine.stats import Rate, Tally
from engine.trace import Silent


@dataclass
class Shared:
    settings: Settings
    clock: Callable[[], float]
    trace: Silent
    tally: Tally
    tokens: Rate
    prompt_tokens: Rate
    finished: Rate
