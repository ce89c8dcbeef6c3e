"""Passages laid one behind another: no click where they meet, and pauses alike whatever silence a model leaves at its ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

_FADE = 0.005  # seconds at both ends of a passage
_QUIET = 0.004  # of full scale: what counts as silence before a passage's first word and behind its last
_LEAD = 0.06  # seconds of silence that stay before the first word
_STEP = 0.02  # of full scale: more at once, out of silence, is heard as a click


class Joints:
    """Belongs to one telling: `passage` for each of its passages, `pause` between them."""

    def __init__(self, rate: int) -> None:
        self._rate = rate
        self._fade = int(_FADE * rate)
        self._rise = np.linspace(0.0, 1.0, self._fade, dtype=np.float32)
        self._quiet = 0  # samples of silence that what was given ends with
        self._owed = 0  # of them, what the next passage's first word is to have before it

    def pause(self, seconds: float) -> None:
        """Before the next passage's first word there are to be so many seconds of silence behind the last word."""
        self._owed = int(seconds * self._rate)

    def passage(self, chunks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
        """Faded in and out: the last moment of its sound, and the silence behind it, are held back, because that may be the
        end."""
        begun, held = False, np.zeros(0, np.float32)
        for chunk in chunks:
            held = np.concatenate((held, chunk))
            loud = _loud(held)
            if not begun:
                if not len(loud) or len(held) < int(loud[0]) + 2 * self._fade:
                    continue
                held, begun = self._begun(held, int(loud[0])), True
                loud = _loud(held)
            sure = (int(loud[-1]) + 1 if len(loud) else 0) - self._fade
            if sure > 0:
                yield self._given(held[:sure])
                held = held[sure:]
        if not begun and len(loud := _loud(held)):
            held = self._begun(held, int(loud[0]))
        if len(held):
            yield self._given(self._ended(held))

    def _begun(self, held: np.ndarray, first: int) -> np.ndarray:
        """With the pause before it that is owed, and no more silence than that before its first word."""
        start = max(0, first - int(_LEAD * self._rate))
        onset, sound = first - start, held[start:].copy()
        # a sound that sets in at once, out of silence, is faded where it does; else what is cut here
        at = onset if abs(sound[onset]) > _STEP else 0
        count = min(self._fade, len(sound) - at)
        sound[at : at + count] *= self._rise[:count]
        missing, self._owed = max(0, self._owed - self._quiet - onset), 0
        return np.concatenate((np.zeros(missing, np.float32), sound))

    def _ended(self, held: np.ndarray) -> np.ndarray:
        loud, sound = _loud(held), held.copy()
        last = int(loud[-1]) + 1 if len(loud) else len(sound)
        # a sound that ends at once is faded where it does; else where its last silence ends
        end = last if abs(sound[last - 1]) > _STEP else len(sound)
        count = min(self._fade, end)
        sound[end - count : end] *= self._rise[::-1][-count:]
        return sound

    def _given(self, samples: np.ndarray) -> np.ndarray:
        loud = _loud(samples)
        self._quiet = len(samples) - 1 - int(loud[-1]) if len(loud) else self._quiet + len(samples)
        return samples


def _loud(samples: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.abs(samples) > _QUIET)
