"""Playback state of one sound: samples that may still arrive, a position and a speed. A device pulls samples from here."""

from __future__ import annotations

import itertools

import numpy as np

from app.gui.viewmodels.signal import Signal
from engine.media.stretch import Stretch

SPEEDS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
_BLOCK = 0.1  # seconds that are stretched at once
_PEAK = 0.01  # seconds a bar of the waveform stands for


class Playback:
    """`changed`: playing began or ended, or another sound is here. `grew`: more of it is here."""

    def __init__(self) -> None:
        self.changed, self.grew = Signal(), Signal()
        self.rate = 24_000
        self.speed = 1.0
        self.playing = False
        self.complete = True  # nothing more will come
        self.ended = False  # playback reached the end: the samples taken last are still buffered
        self._chunks: list[np.ndarray] = []
        self._samples = np.zeros(0, np.float32)
        self._peaks: list[np.ndarray] = []
        self._rest = np.zeros(0, np.float32)  # that no peak stands for yet
        self._at = 0  # the next sample to be stretched
        self._until: int | None = None  # where playing stops by itself
        self._ready = np.zeros(0, np.float32)  # stretched, not yet taken
        self._stretch: Stretch | None = None

    # -- the sound

    def begin(self, rate: int) -> None:
        """A new sound, of which nothing is here yet."""
        self.rate, self.complete = rate, False
        self._chunks, self._samples = [], np.zeros(0, np.float32)
        self._peaks, self._rest = [], np.zeros(0, np.float32)
        self.playing = self.ended = False
        self.seek(0.0)
        self.changed()

    def put(self, samples: np.ndarray) -> None:
        """More of it."""
        if not len(samples):
            return
        self._chunks.append(samples.astype(np.float32, copy=False))
        step = max(1, int(_PEAK * self.rate))
        self._rest = np.concatenate((self._rest, self._chunks[-1]))
        whole = len(self._rest) // step * step
        if whole:
            self._peaks.append(np.abs(self._rest[:whole]).reshape(-1, step).max(axis=1))
            self._rest = self._rest[whole:]
        self.grew()

    def finish(self) -> None:
        self.complete = True
        self.changed()

    def show(self, samples: np.ndarray, rate: int) -> None:
        """A whole sound."""
        self.begin(rate)
        self.put(samples)
        self.finish()

    @property
    def samples(self) -> np.ndarray:
        if self._chunks:
            self._samples = np.concatenate((self._samples, *self._chunks))
            self._chunks = []
        return self._samples

    @property
    def seconds(self) -> float:
        return (len(self._samples) + sum(len(chunk) for chunk in self._chunks)) / self.rate

    def bars(self, count: int, seconds: float = 0.0) -> np.ndarray:
        """So many peaks over the whole sound, or over `seconds` of which it is the beginning."""
        peaks = np.concatenate(self._peaks) if self._peaks else np.zeros(0, np.float32)
        self._peaks = [peaks] if len(peaks) else []
        total = max(len(peaks), round(seconds / _PEAK))
        if not total or count <= 0:
            return np.zeros(max(0, count), np.float32)
        edges = (np.arange(count + 1) * total / count).astype(int)
        return np.array([peaks[a : max(b, a + 1)].max(initial=0.0) for a, b in itertools.pairwise(edges)], np.float32)

    # -- playing

    @property
    def position(self) -> float:
        """Seconds of the sound, where the listener is."""
        return max(0.0, (self._at - len(self._ready) * self.speed) / self.rate)

    def play(self, start: float | None = None, stop: float | None = None) -> None:
        """From where it is; from the beginning when it had ended; or just a part."""
        if start is not None:
            self.seek(start)
        elif self.complete and self.position >= self.seconds - 1 / self.rate:
            self.seek(0.0)
        self._until = None if stop is None else round(stop * self.rate)
        self.playing, self.ended = True, False
        self.changed()

    def pause(self) -> None:
        if self.playing:
            self.playing = self.ended = False
            self.changed()

    def seek(self, seconds: float) -> None:
        self._at = round(min(max(0.0, seconds), self.seconds) * self.rate)
        self._ready, self._stretch, self._until = np.zeros(0, np.float32), None, None

    def set_speed(self, speed: float) -> None:
        at = self.position
        self.speed = speed
        self._return(at)

    def give_back(self, count: int) -> None:
        """Return the last `count` samples, which were not played."""
        if count:
            self._return(self.position - count * self.speed / self.rate)

    def _return(self, seconds: float) -> None:
        until = self._until
        self.seek(seconds)
        self._until = until

    def take(self, count: int) -> np.ndarray:
        """The next samples to play; fewer while more is being generated, none when paused."""
        if not self.playing:
            return np.zeros(0, np.float32)
        samples = self.samples
        end = len(samples) if self._until is None else min(self._until, len(samples))
        while len(self._ready) < count and self._at < end:
            self._stretch = self._stretch or Stretch(self.speed, self.rate)
            stop = min(end, self._at + max(1, int(_BLOCK * self.rate)))
            made = self._stretch.push(samples[self._at : stop])
            self._at = stop
            if stop == end and (self.complete or self._until == end):
                made = np.concatenate((made, self._stretch.finish()))
            self._ready = np.concatenate((self._ready, made))
        given, self._ready = self._ready[:count], self._ready[count:]
        if not len(given) and self._at >= end and (self.complete or self._until is not None):
            self.playing, self.ended, self._until, self._stretch = False, True, None, None
            self.changed()
        return given
