"""Telling when a voice has run away: far more frames than the text can take, the same frames again and again, or a
silence that does not end. Knows codes, samples and the text; what to do about it is `synth`'s business.
"""

from __future__ import annotations

import unicodedata

import numpy as np

FRAME_RATE = 12.5
GRACE = 5 * FRAME_RATE  # frames beside those that the text takes
FRAMES_A_SIGN = {"letter": 3.0, "sign": 8.0, "digit": 10.0, "other": 3.0}  # at a very slow pace

LOOP = 4  # frames of the longest loop that is looked for
LOOP_LASTS = 38  # frames, three seconds: held vowels and pauses repeat themselves too

AUDIBLE = 0.003  # root mean square of a block of samples, about -50 dB
BLOCK = 1920
LONGEST_PAUSE = 4.0  # seconds
TAIL = 0.25  # seconds of silence that a text's end may keep


def longest(text: str) -> int:
    """How many frames a text may take at most."""
    return int(GRACE + sum(FRAMES_A_SIGN[_kind(sign)] for sign in text))


def _kind(sign: str) -> str:
    if sign.isdigit():
        return "digit"
    if not sign.isalpha():
        return "other"
    syllables = unicodedata.name(sign, "").startswith(("CJK", "HANGUL", "HIRAGANA", "KATAKANA"))
    return "sign" if syllables else "letter"


class Loops:
    """Watches frames for a loop of `period` frames at most that goes on for `lasts` frames."""

    def __init__(self, period: int = LOOP, lasts: int = LOOP_LASTS) -> None:
        self._period, self._lasts = period, lasts
        self._seen: list[bytes] = []
        self._run = [0] * (period + 1)  # by period: how many frames in a row equal the one so far back

    def add(self, frame: np.ndarray) -> bool:
        """Is the voice stuck?"""
        code = frame.tobytes()
        for period in range(1, self._period + 1):
            same = len(self._seen) >= period and self._seen[-period] == code
            self._run[period] = self._run[period] + 1 if same else 0
        self._seen = [*self._seen[-self._period :], code]
        return max(self._run) >= self._lasts


class Hush:
    """Holds silence back until sound follows it: a silence that never ends is then never heard."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._held = np.zeros(0, np.float32)

    @property
    def seconds(self) -> float:
        """Of the silence that is held."""
        return len(self._held) / self._rate

    def push(self, samples: np.ndarray) -> np.ndarray:
        """What may be heard now."""
        end = 0
        for start in range(0, len(samples), BLOCK):
            block = samples[start : start + BLOCK]
            if float(np.sqrt(np.mean(block * block))) > AUDIBLE:
                end = start + len(block)
        if not end:
            self._held = np.concatenate((self._held, samples))
            return samples[:0]
        heard = np.concatenate((self._held, samples[:end]))
        self._held = samples[end:]
        return heard

    def finish(self) -> np.ndarray:
        """The end's share of what is held."""
        return self._held[: int(TAIL * self._rate)]
