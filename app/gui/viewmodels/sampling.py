"""Sampling options: names, bounds and descriptions for the settings panel, and built-in presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.gui.store.kept import Preset
from app.gui.texts import mark


@dataclass(frozen=True)
class Option:
    """One number. `usual` is shown where nothing was chosen; the model's own default then counts."""

    name: str
    title: str
    about: str
    low: float
    high: float
    step: float
    usual: float
    whole: bool = False


# English; shown through `tr`
OPTIONS = (
    Option("temperature", mark("Temperature"), mark("0 always takes the likeliest word; more is freer."), 0, 2, 0.05, 0.7),
    Option("top_p", mark("Top P"), mark("Choose among the likeliest words that hold this share."), 0.01, 1, 0.01, 1.0),
    Option("top_k", mark("Top K"), mark("Choose among this many of the likeliest words. 0: all."), 0, 1000, 1, 0, whole=True),
    Option("min_p", mark("Min P"), mark("Leave out words less likely than this share of the likeliest."), 0, 1, 0.01, 0),
    Option("repetition_penalty", mark("Repetition penalty"), mark("Above 1, words said before are avoided."), 0.5, 2, 0.01, 1.0),
    Option("max_tokens", mark("Longest reply"), mark("In tokens. Empty: as long as the context allows."), 1, 1_000_000, 64, 2048, whole=True),
    Option("seed", mark("Seed"), mark("The same seed gives the same answer."), 0, 2**31 - 1, 1, 0, whole=True),
)  # fmt: skip

BUILT_IN = (
    Preset(mark("Exact"), {"temperature": 0.0}),
    Preset(mark("Balanced"), {}),
    Preset(mark("Free"), {"temperature": 1.1, "min_p": 0.05}),
)

NAMES = frozenset(option.name for option in OPTIONS)


def sampling(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Only what the engine's SamplingParams know."""
    return {name: value for name, value in chosen.items() if name in NAMES and value is not None}


def thinking(chosen: Mapping[str, Any]) -> bool | None:
    value = chosen.get("thinking")
    return value if isinstance(value, bool) else None
