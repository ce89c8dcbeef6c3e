"""Sampling options: names, bounds and descriptions for the settings panel, and built-in presets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from app.gui.store.records import Preset
from app.gui.texts import mark


@dataclass(frozen=True)
class SamplingOption:
    """One number. `default` is shown where nothing was chosen; the model's own default then counts."""

    name: str
    title: str
    about: str
    low: float
    high: float
    step: float
    default: float
    whole: bool = False


# English; shown through `tr`
OPTIONS = (
    SamplingOption("temperature", mark("Temperature"), mark("0 always picks the most likely token. Higher values give more varied replies."), 0, 2, 0.05, 0.7),
    SamplingOption("top_p", mark("Top P"), mark("Sample only from the most likely tokens that together have this probability."), 0.01, 1, 0.01, 1.0),
    SamplingOption("top_k", mark("Top K"), mark("Sample only from this many of the most likely tokens. 0: all."), 0, 1000, 1, 0, whole=True),
    SamplingOption("min_p", mark("Min P"), mark("Leave out tokens less likely than this share of the most likely one."), 0, 1, 0.01, 0),
    SamplingOption("repetition_penalty", mark("Repetition penalty"), mark("Above 1, tokens that already occurred become less likely."), 0.5, 2, 0.01, 1.0),
    SamplingOption("max_tokens", mark("Maximum length"), mark("In tokens. Empty: up to the context length."), 1, 1_000_000, 64, 2048, whole=True),
    SamplingOption("reasoning_tokens", mark("Reasoning limit"), mark("In tokens. At this limit the model stops reasoning and answers."), 0, 1_000_000, 64, 1024, whole=True),
    SamplingOption("seed", mark("Seed"), mark("The same seed gives the same answer."), 0, 2**31 - 1, 1, 0, whole=True),
)  # fmt: skip

BUILT_IN = (
    Preset(mark("Precise"), {"temperature": 0.0}),
    Preset(mark("Balanced"), {}),
    Preset(mark("Creative"), {"temperature": 1.1, "min_p": 0.05}),
)

EFFORTS = ("low", "medium", "high")
NAMES = frozenset(option.name for option in OPTIONS)


def sampling(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Only what the engine's SamplingParams know."""
    return {name: value for name, value in chosen.items() if name in NAMES - {"reasoning_tokens"} and value is not None}


def reasoning(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Whether the model reasons, how hard, and for how many tokens: fields of a ChatRequest that were set."""
    thinking, most = chosen.get("thinking"), chosen.get("reasoning_tokens")
    fields: dict[str, Any] = {"thinking": thinking} if isinstance(thinking, bool) else {}
    if isinstance(thinking, str) and thinking in EFFORTS:
        fields["effort"] = thinking
    return fields | ({} if most is None else {"reasoning_tokens": most})
