"""Time stretching without pitch change, by WSOLA (waveform similarity overlap-add).

Each next window is taken from nearby where its waveform best continues the previous one. Works on a stream: `push` returns
finished samples, `finish` the rest.
"""

from __future__ import annotations

import numpy as np

from engine.errors import BadRequest

SLOWEST, FASTEST = 0.25, 4.0


class Stretch:
    """A time stretch of one stream."""

    def __init__(self, speed: float, rate: int) -> None:
        if not SLOWEST <= speed <= FASTEST:
            raise BadRequest(f"speed must be between {SLOWEST:g} and {FASTEST:g}, not {speed!r}.", "speed")
        self._speed = speed
        self._window = 2 * int(0.02 * rate)
        self._hop = self._window // 2  # of the output
        self._search = int(0.008 * rate)
        self._fade = np.hanning(self._window + 1)[:-1].astype(np.float32)
        self._given = np.zeros(0, np.float32)  # input still needed
        self._first = 0  # the position of its first sample
        self._at = 0.0  # the next window's nominal position in the input
        self._tail = np.zeros(0, np.float32)  # the fading half of the last window
        self._next: int | None = None  # the continuation of the last window

    def push(self, samples: np.ndarray) -> np.ndarray:
        if self._speed == 1.0:
            return samples
        self._given = np.concatenate((self._given, samples.astype(np.float32, copy=False)))
        made = []
        while self._reach <= self._first + len(self._given):
            made.append(self._next_hop())
        self._drop_used()
        return np.concatenate(made) if made else np.zeros(0, np.float32)

    def finish(self) -> np.ndarray:
        """The remaining samples."""
        if self._speed == 1.0:
            return np.zeros(0, np.float32)
        end = self._first + len(self._given)
        missing = self._window + 2 * self._search
        made = [self.push(np.zeros(missing, np.float32))]
        made.append(self._tail)
        surplus = max(0.0, (self._at + self._hop * self._speed - end) / self._speed)
        whole = np.concatenate(made)
        return whole[: max(0, len(whole) - int(surplus))]

    @property
    def _reach(self) -> int:
        return int(self._at) + self._search + self._window + self._hop

    def _next_hop(self) -> np.ndarray:
        """The next hop of output."""
        start = int(self._at)
        if self._next is not None:
            start = self._best(start)
        piece = self._take(start, self._window) * self._fade
        out = piece[: self._hop].copy()
        if len(self._tail):
            out += self._tail
        else:  # the first window starts without a fade
            out = self._take(start, self._hop).copy()
        self._tail, self._next = piece[self._hop :], start + self._hop
        self._at += self._hop * self._speed
        return out

    def _best(self, start: int) -> int:
        """The position near `start` whose waveform is most similar to the continuation of the last window."""
        assert self._next is not None
        low = max(self._first, start - self._search)
        wanted = self._take(self._next, self._hop)
        around = self._take(low, start + self._search + self._hop - low)
        likeness = np.correlate(around, wanted, mode="valid")
        power = np.convolve(around * around, np.ones(self._hop, np.float32), mode="valid")
        return low + int(np.argmax(likeness / np.sqrt(power + 1e-6)))

    def _take(self, start: int, count: int) -> np.ndarray:
        part = self._given[max(0, start - self._first) : start - self._first + count]
        return np.pad(part, (0, count - len(part)))

    def _drop_used(self) -> None:
        keep_from = min(int(self._at) - self._search, self._next if self._next is not None else 0)
        drop = max(0, keep_from - self._first)
        self._given, self._first = self._given[drop:], self._first + drop


def stretched(samples: np.ndarray, speed: float, rate: int) -> np.ndarray:
    """A complete sound, stretched."""
    stretch = Stretch(speed, rate)
    return np.concatenate((stretch.push(samples), stretch.finish()))
