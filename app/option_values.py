"""What options that the command line and the server share mean to the engine. Raises BadRequest for what cannot be."""

from __future__ import annotations

from typing import Literal

from engine.errors import BadRequest

Speculating = Literal["auto", "off", "ngram", "draft", "mtp"]
SPECULATIONS: dict[str, Speculating] = {"auto": "auto", "mtp": "mtp", "ngram": "ngram", "off": "off"}


def speculation(kind: str | None, draft: str | None) -> Speculating:
    """From --speculation and --draft to what the engine calls it."""
    if draft is None:
        return SPECULATIONS[kind or "auto"]
    if kind is not None:
        raise BadRequest(f"Choose --draft or --speculation {kind}, not both.", "draft")
    return "draft"


def kept_speculation(kind: str | None, draft: str | None) -> tuple[Speculating, str | None]:
    """From what the window keeps. A draft model that is not named, or a word of another version, drafts nothing."""
    if kind == "draft":
        return ("draft", draft) if draft else ("off", None)
    return SPECULATIONS.get(kind or "auto", "off"), None


def repetition(penalty: float | None, last: int | None) -> tuple[float | None, int | None]:
    """Penalty and window of SamplingParams. No window at all means no penalty, whatever the model's own settings say."""
    if last is None or last > 0:
        return penalty, last
    if last < -1:
        raise BadRequest(f"--repeat-last-n must be -1, 0 or a number of tokens, not {last}.", "repeat_last_n")
    if last == 0 and penalty not in (None, 1.0):
        raise BadRequest("--repeat-last-n 0 switches off what --repetition-penalty switches on.", "repeat_last_n")
    return (1.0, None) if last == 0 else (penalty, 0)
