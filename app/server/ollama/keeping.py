"""How long a model stays after a request, as Ollama's clients say it: seconds, or a duration in Go's spelling."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}  # both micros
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*|\.[0-9]+")
_LONGEST = 1e9  # seconds; beyond it (and for what is negative) a model stays for ever


def _checked(given: float | str | None) -> float | str | None:
    if isinstance(given, str):
        _seconds(given)
    return given


KeepAlive = Annotated[float | str | None, AfterValidator(_checked)]


def seconds(given: float | str) -> float | None:
    """None: for ever, that is until the room is needed."""
    span = _seconds(given) if isinstance(given, str) else given
    return span if 0 <= span <= _LONGEST else None


def _seconds(text: str) -> float:
    body = text.removeprefix("-").removeprefix("+")
    sign = -1.0 if text.startswith("-") else 1.0
    if _NUMBER.fullmatch(body):
        return sign * float(body)
    parts = _PART.findall(body)
    if not parts or "".join(number + unit for number, unit in parts) != body:
        raise ValueError(f"{text[:40]!r} is no duration like 5m, 1h30m or 300s")
    return sign * sum(float(number) * _UNITS[unit] for number, unit in parts)
