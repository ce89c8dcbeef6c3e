"""Every text that a person reads passes `tr` or `trn`; numbers, sizes and times become words here.

Does not import Qt, so that view-models may use it: the window installs Qt's translation when it starts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CONTEXT = "grus"


def _as_written(text: str) -> str:
    return text


_translate: Callable[[str], str] = _as_written


def install(translate: Callable[[str], str] | None) -> None:
    """What turns English into the chosen language; None: English stays."""
    global _translate
    _translate = translate or _as_written


def tr(text: str, **values: Any) -> str:
    """The text in the person's language, with `{name}` filled in."""
    translated = _translate(text)
    return translated.format(**values) if values else translated


def mark(text: str) -> str:
    """A text in a table, which is translated where it is shown."""
    return text


def trn(one: str, many: str, n: int, **values: Any) -> str:
    """`one` for exactly one, else `many`; both may hold `{n}`."""
    return tr(one if n == 1 else many, n=n, **values)


def number(value: float, digits: int = 1) -> str:
    """With as many digits behind the point, or the comma, as the language writes it."""
    return f"{value:.{digits}f}".replace(".", tr("1.5")[1])


def size(nbytes: float) -> str:
    """Bytes as systems show them: in GB of 10^9."""
    if nbytes >= 1e9:
        return f"{number(nbytes / 1e9)} GB"
    if nbytes >= 1e6:
        return f"{nbytes / 1e6:.0f} MB"
    return f"{nbytes / 1e3:.0f} KB"


def seconds(value: float) -> str:
    """A duration, short."""
    if value < 10:
        return f"{number(value)} s"
    if value < 60:
        return f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    if minutes < 60:
        return f"{minutes}:{rest:02} min"
    return f"{minutes // 60}:{minutes % 60:02} h"
