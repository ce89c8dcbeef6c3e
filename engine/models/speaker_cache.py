"""The speaker cache of a streaming Sortformer: which frames of the past it keeps, so that a voice keeps its number.

The latest frames wait in a queue (`fifo`). What overflows it joins the cache; when that is full, the frames that tell most about each
speaker stay, in the order of time (arrival-order speaker cache). All of it is small, and computed on the host.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

_LOG_HALF = math.log(0.5)


@dataclass(frozen=True)
class CacheRules:
    """Sizes are in frames."""

    speakers: int
    cache: int
    fifo: int
    period: int  # the most that leaves the queue at once
    silence_per_speaker: int  # places of the cache that hold silence
    least_probability: float
    silence: float  # below this sum of probabilities nobody speaks
    latest_boost: float
    strong_rate: float
    weak_rate: float
    positive_rate: float
    by_speaker: bool  # else frames in which most is said by anybody stay, as in the first version


class SpeakerCache:
    """The frames of one stream, before the encoder has heard them, and who was found to speak in each."""

    def __init__(self, rules: CacheRules, dim: int, silence: np.ndarray | None = None) -> None:
        """`silence`: the frame that stands for it, where the model has learned one; else it is the mean of silent frames. A model that has
        one is also known to find nothing anew of frames that were chosen, and to empty its queue by a period at least."""
        self.rules = rules
        self._learned, self._chosen = silence is not None, False
        self.cache, self.fifo = np.zeros((0, dim), np.float32), np.zeros((0, dim), np.float32)
        self.cache_speech = np.zeros((0, rules.speakers), np.float32)
        self.fifo_speech = np.zeros((0, rules.speakers), np.float32)
        self._silence = np.zeros(dim, np.float32) if silence is None else silence
        self._silent = 0  # frames of which the mean is

    def __len__(self) -> int:
        return len(self.cache) + len(self.fifo)

    def update(self, frames: np.ndarray, speech: np.ndarray, past: np.ndarray) -> None:
        """Take new frames and who speaks in them. `past`: who speaks in those that are here, as was found anew."""
        kept = len(self.cache)
        if not (self._learned and self._chosen):
            self.cache_speech = past[:kept]
        self.fifo = np.concatenate((self.fifo, frames))
        self.fifo_speech = np.concatenate((past[kept:], speech))
        while len(self.fifo) > self.rules.fifo:  # more than once where a chunk is longer than the period
            self._overflow()

    def _overflow(self) -> None:
        rules = self.rules
        count = len(self.fifo) - rules.fifo
        if self._learned:
            count = min(len(self.fifo), max(count, rules.period))
        elif rules.by_speaker:
            count = min(count, rules.period)
        frames, speech = self.fifo[:count], self.fifo_speech[:count]
        self.fifo, self.fifo_speech = self.fifo[count:], self.fifo_speech[count:]
        if rules.by_speaker and not self._learned:
            self._hear_silence(frames, speech)
        self.cache = np.concatenate((self.cache, frames))
        self.cache_speech = np.concatenate((self.cache_speech, speech))
        if len(self.cache) > rules.cache:
            self._compress()

    def _hear_silence(self, frames: np.ndarray, speech: np.ndarray) -> None:
        silent = speech.sum(1) < self.rules.silence
        total = self._silence * self._silent + frames[silent].sum(0)
        self._silent += int(silent.sum())
        self._silence = total / max(1, self._silent)

    def _compress(self) -> None:
        self._chosen = True
        if not self.rules.by_speaker:
            scores = np.log(self.cache_speech.clip(1e-7, 1.0)).sum(1)
            chosen = np.sort(np.argsort(-scores, kind="stable")[: self.rules.cache])
            self.cache, self.cache_speech = self.cache[chosen], self.cache_speech[chosen]
            return
        places = chosen_frames(self.cache_speech, self.rules)
        silent = places < 0
        self.cache = np.where(silent[:, None], self._silence, self.cache[places])
        self.cache_speech = np.where(silent[:, None], np.float32(0.0), self.cache_speech[places])


def chosen_frames(speech: np.ndarray, rules: CacheRules) -> np.ndarray:
    """The places of the frames that stay; -1 for one of silence. A frame in which two are chosen stays twice."""
    count, speakers = speech.shape
    share = rules.cache // speakers - rules.silence_per_speaker
    scores = frame_scores(speech, rules.least_probability, math.floor(share * rules.positive_rate))
    scores[rules.cache :] += rules.latest_boost
    for rate, boost in ((rules.strong_rate, -2 * _LOG_HALF), (rules.weak_rate, -_LOG_HALF)):
        many = min(math.floor(share * rate), count)
        for speaker in range(speakers if many > 0 else 0):
            best = np.argpartition(-scores[:, speaker], many - 1)[:many]
            scores[best, speaker] += boost  # what is excluded is so far below all that it stays there
    scores = np.concatenate((scores, np.full((rules.silence_per_speaker, speakers), np.inf, np.float32)))
    flat = scores.T.reshape(-1)
    most = min(rules.cache, len(flat))
    best = np.argpartition(-flat, most - 1)[:most]
    nothing = len(flat)  # behind all others
    best = np.sort(np.where(np.isneginf(flat[best]), nothing, best))
    places = best % len(scores)
    places[(best == nothing) | (places >= count)] = -1
    return places


def frame_scores(speech: np.ndarray, least: float, enough: int) -> np.ndarray:
    """How surely each speaker is heard in a frame, and alone: a log likelihood ratio. Minus infinity where the speaker is silent, and
    where others speak as well while the speaker has `enough` frames that are better."""
    active, silent = np.log(speech.clip(least, None)), np.log((1 - speech).clip(least, None))
    scores = (active - silent + silent.sum(1, keepdims=True) - _LOG_HALF).astype(np.float32)
    speaks = speech > 0.5
    scores[~speaks] = -np.inf
    alone = scores > 0
    scores[~alone & speaks & (alone.sum(0, keepdims=True) >= enough)] = -np.inf
    return scores
