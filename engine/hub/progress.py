"""A download's progress: the callback's type, what stands in the way of one, and a bar for the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TextIO, TypeAlias

Progress: TypeAlias = Callable[[int, int], None]  # (bytes done, bytes in all); raising from it ends the download

_WIDTH = 30
_INTERVAL = 0.1  # seconds between two drawings


def tell_waiting(progress: Progress | None, sentence: str) -> None:
    """Say why a download does not move: to a progress that has a method `waiting(sentence)`. Empty: it moves again."""
    waiting = getattr(progress, "waiting", None)
    if waiting is not None:
        waiting(sentence)


class TerminalBar:
    """Draws one line again and again on a terminal; elsewhere (a log file) prints one line a tenth."""

    def __init__(self, label: str, stream: TextIO | None = None) -> None:
        self._label = label
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._drawn = 0.0
        self._tenth = -1
        self._first: int | None = None  # bytes that were there before this download

    def __call__(self, done: int, total: int) -> None:
        if self._first is None:
            self._first = done
        now = time.monotonic()
        ended = done >= total
        if self._stream.isatty():
            if ended or now - self._drawn >= _INTERVAL:
                self._drawn = now
                self._stream.write("\r\x1b[K" + self._line(done, total, now) + ("\n" if ended else ""))
                self._stream.flush()
        elif (tenth := 10 * done // max(total, 1)) > self._tenth:
            self._tenth = tenth
            self._stream.write(self._line(done, total, now) + "\n")
            self._stream.flush()

    def waiting(self, sentence: str) -> None:
        """Between two drawings of the bar."""
        if sentence:
            self._stream.write(("\r\x1b[K" if self._stream.isatty() else "") + sentence + "\n")
            self._stream.flush()

    def _line(self, done: int, total: int, now: float) -> str:
        share = done / total if total else 1.0
        bar = "#" * int(share * _WIDTH)
        rate = (done - (self._first or 0)) / max(now - self._started, 1e-3)
        left = f", {clock((total - done) / rate)} left" if rate > 0 and done < total else ""
        return f"{self._label} [{bar:.<{_WIDTH}}] {share:4.0%} of {size(total)}, {size(rate)}/s{left}"


def size(n: float) -> str:
    """`1234567` -> `1.2 MB`"""
    for unit in ("B", "kB", "MB", "GB"):
        if n < 999.5:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} TB"


def clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
