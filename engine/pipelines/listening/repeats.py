"""Has a reply begun to say the same again and again? Speech models do on noise and on music."""

from __future__ import annotations

from collections.abc import Sequence

_TIMES = 4  # the same run of words so often in a row is no speech


def loop_start(words: Sequence[str]) -> int | None:
    """Where the first repetition of a run begins that comes at least four times in a row; None: there is none."""
    n = len(words)
    for length in range(1, n // _TIMES + 1):
        run = 0
        for i in range(length, n):
            run = run + 1 if words[i] == words[i - length] else 0
            if run >= length * (_TIMES - 1) and (length > 1 or run >= _TIMES):
                return i - run + 1
    return None
