"""How loud a voice speaks, and passages of one telling brought to one loudness.

A model speaks some passages louder than others for no reason that a listener could see. The first ones to be heard say how
loud the telling is; those that follow are made so before they are heard.
"""

from __future__ import annotations

import numpy as np

_BLOCK = 0.05  # seconds of one measurement
_SPOKEN = 0.1  # of the loudest block: what is quieter is a pause and no speech
_ENOUGH = 3.0  # seconds of speech that say how loud a telling is: a title alone would not
MOST = 2.0  # times louder or quieter, at most: 6 dB. More is meant so
_CEILING = 0.98  # of full scale, for what is made louder


def power(samples: np.ndarray, rate: int) -> tuple[float, float]:
    """The mean square of what is speech in it, and how many seconds of it are speech."""
    size = int(_BLOCK * rate)
    whole = samples[: len(samples) // size * size].astype(np.float64).reshape(-1, size)
    blocks = (whole * whole).mean(1) if len(whole) else np.zeros(1)
    speech = blocks[blocks > _SPOKEN**2 * blocks.max()]
    return (float(speech.mean()), len(speech) * _BLOCK) if len(speech) else (0.0, 0.0)


class Level:
    """Belongs to one telling."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._power, self._seconds = 0.0, 0.0  # of the speech that says how loud the telling is

    def heard(self, samples: np.ndarray) -> None:
        """A passage as it was heard, whole: the first one, which was not known before."""
        self._learn(*power(samples, self._rate))

    def matched(self, samples: np.ndarray) -> np.ndarray:
        """A passage as loud as the others."""
        own, seconds = power(samples, self._rate)
        if self._seconds < _ENOUGH:
            self._learn(own, seconds)
        if own <= 0.0 or self._power <= 0.0:
            return samples
        gain = float(np.clip(np.sqrt(self._power / own), 1 / MOST, MOST))
        if gain > 1.0:
            gain = max(1.0, min(gain, _CEILING / float(np.abs(samples).max())))
        return samples * np.float32(gain)

    def _learn(self, own: float, seconds: float) -> None:
        total = self._seconds + seconds
        if total > 0.0:
            self._power = (self._power * self._seconds + own * seconds) / total
            self._seconds = total
