"""Output that has run away: a model that repeats itself, or writes more than a region can hold.

Tables are allowed much more repetition than prose, since a column of zeros is no fault.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.pipelines.reading.result import Task

REPEATS = "The text repeats itself."
TOO_LONG = "The text is longer than its place on the page can hold."

_LOOK_EVERY = 24  # signs between two looks
_LONGEST_PERIOD = 400
_LINE = 12.0  # pixels: print that is smaller cannot be read at all ...
_SIGN = 5.0  # ... and neither can letters that stand closer
_SIGNS_A_HEIGHT = 5.0  # the narrowest letters, side by side
_LEAST, _MOST = 48, 8192  # tokens


@dataclass(frozen=True)
class _Allowed:
    signs: int  # that a repetition may cover
    times: int  # that its unit may occur


_ALLOWED: dict[Task, _Allowed] = {"table": _Allowed(1600, 100), "chart": _Allowed(800, 40)}
_PROSE = _Allowed(96, 8)
_DOTS = _Allowed(300, 300)  # leaders between a title and its page: one sign that is repeated


def room(width: float, height: float, task: Task) -> int:
    """The most tokens that can stand in so many pixels. A token is at least a sign, and tables have tags besides."""
    signs = max(1.0, height / _LINE) * max(1.0, width / _SIGN)
    per_sign = {"text": 1.0, "seal": 1.0, "table": 2.0, "formula": 3.0, "chart": 1.0, "spotting": 4.0}[task]
    return int(min(_MOST, _LEAST + signs * per_sign))


def room_in_line(width: float, height: float) -> int:
    """In one line, whose height says how wide its letters are at least."""
    return int(min(_MOST, _LEAST + _SIGNS_A_HEIGHT * width / max(height, 1.0)))


class Watch:
    """Reads along and says when to stop."""

    def __init__(self, task: Task) -> None:
        self._allowed = _ALLOWED.get(task, _PROSE)
        self._tail = ""
        self._unseen = 0

    def push(self, text: str) -> bool:
        """True: it repeats itself."""
        self._tail = (self._tail + text)[-4 * _LONGEST_PERIOD - self._allowed.signs :]
        self._unseen += len(text)
        if self._unseen < _LOOK_EVERY:
            return False
        self._unseen = 0
        return repetition(self._tail, self._allowed) is not None

    def repeats(self, text: str) -> int | None:
        """Where a finished text begins to repeat itself."""
        return repetition(text, self._allowed)


def repetition(text: str, allowed: _Allowed = _PROSE) -> int | None:
    """Where the end of `text` began to be one unit again and again, after its first time; None: it does not."""
    for period in range(1, min(_LONGEST_PERIOD, len(text) // 3) + 1):
        if text[-period:] != text[-2 * period : -period]:
            continue
        unit = text[-period:]
        limit = _DOTS if len(set(unit) - {" "}) <= 1 else allowed
        start = len(text) - period
        while start >= period and text[start - period : start] == unit:
            start -= period
        covered = len(text) - start
        if covered >= max(limit.signs, period * min(limit.times, max(3, limit.signs // period))):
            return start + period
    return None
