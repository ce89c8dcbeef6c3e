"""Where somebody speaks in a sound that comes in small pieces: told as soon as it is known.

`Activity` belongs to one stream. Knows nothing of words.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.cutting import USUAL, Cutter, Rules, Span
from engine.pipelines.listening.speech import VOICE_ACTIVITY
from engine.tasks import Task, Work

CHUNK = 512  # samples of one judgement


class EngineLike(Protocol):
    def task(self, model: str, work: Work[Any], *, admitted: bool = False) -> Task[Any]: ...


@dataclass(frozen=True)
class Began:
    """Somebody speaks since this sample, for long enough to be somebody: a noise shorter than any word is nobody."""

    at: int


@dataclass(frozen=True)
class Ended:
    """A speech is over. Its beginning was told."""

    span: Span


Change = Began | Ended


class Activity:
    def __init__(self, engine: EngineLike, rules: Rules = USUAL) -> None:
        self._engine = engine
        self._cutter = Cutter(CHUNK, SAMPLE_RATE, rules)
        self._heard: Any = None  # voice activity's memory of the stream
        self._rest = np.zeros(0, np.float32)  # no whole chunk yet
        self._told: int | None = None  # the beginning of the speech that was told last
        self.seen = 0  # samples that were judged

    @property
    def rules(self) -> Rules:
        return self._cutter.rules

    @rules.setter
    def rules(self, rules: Rules) -> None:
        """From the next sample on."""
        self._cutter.rules = rules

    @property
    def begun(self) -> int | None:
        """Where the sound that may be speech began."""
        return self._cutter.begun

    @property
    def speaking(self) -> bool:
        """Is somebody speaking now?"""
        return self._cutter.begun is not None and self._cutter.spoken >= self.rules.least_speech * SAMPLE_RATE

    def feed(self, samples: np.ndarray) -> list[Change]:
        """`samples` at 16 kHz, f32. Returns what is new; waits for the model."""
        self._rest = np.concatenate((self._rest, samples.astype(np.float32, copy=False)))
        whole = len(self._rest) // CHUNK * CHUNK
        if not whole:
            return []
        part, self._rest = self._rest[:whole], self._rest[whole:].copy()
        changes: list[Change] = []
        for chance in self._chances(part):
            self.seen += CHUNK
            changes += [Ended(span) for span in self._cutter.push(float(chance))]
            if self.speaking and self._told != self._cutter.begun:
                self._told = self._cutter.begun
                changes.append(Began(int(self._told or 0)))
        return changes

    def finish(self) -> list[Ended]:
        """The stream is over."""
        return [Ended(span) for span in self._cutter.finish(self.seen + len(self._rest))]

    def _chances(self, samples: np.ndarray) -> np.ndarray:
        def work(loaded: Any) -> Generator[None, None, np.ndarray]:
            if self._heard is None:
                self._heard = loaded.model.start(SAMPLE_RATE)
            made: np.ndarray = yield from loaded.model.probabilities(samples, SAMPLE_RATE, self._heard)
            return made

        made: np.ndarray = self._engine.task(VOICE_ACTIVITY, work, admitted=True).result()
        return made
