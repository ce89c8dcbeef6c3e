"""Live captions: sound comes in small pieces, partial text while somebody speaks, final text when they pause.

`Captions` belongs to one stream and one thread: `feed` takes samples of any length and gives what is new. What is being
said now is transcribed again every little while; a segment's text is final once voice activity has ended it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.cutting import USUAL, Cutter, Rules, Span
from engine.pipelines.listening.listener import VOICE_ACTIVITY, EngineLike, Listener
from engine.pipelines.listening.transcript import Segment

_CHUNK = 512
_EVERY = 0.6  # seconds of speech between two partial texts
_LEAD = int(0.3 * SAMPLE_RATE)  # before speech was noticed, which belongs to it


@dataclass(frozen=True)
class Caption:
    """`final`: it will not change any more, and the next one is about later sound."""

    segment: Segment
    final: bool


class Captions:
    def __init__(self, engine: EngineLike, listener: Listener, rules: Rules = USUAL) -> None:
        self._engine = engine
        self._listener = listener
        self._rules = rules
        self._cutter = Cutter(_CHUNK, SAMPLE_RATE, rules)
        self._heard: Any = None  # voice activity's memory of the stream
        self._kept = np.zeros(0, np.float32)  # samples that may still be needed
        self._first = 0  # the position of the first of them in the stream
        self._seen = 0  # samples that voice activity has judged
        self._told = 0  # where the last partial text ended

    @property
    def speaking(self) -> bool:
        """Is somebody speaking now? A noise that is shorter than any word is nobody."""
        begun = self._cutter.begun
        return begun is not None and self._seen - begun >= self._rules.least_speech * SAMPLE_RATE

    def feed(self, samples: np.ndarray) -> list[Caption]:
        """`samples` at 16 kHz, f32. Returns what is new; waits for the model."""
        self._kept = np.concatenate((self._kept, samples.astype(np.float32, copy=False)))
        whole = (self._first + len(self._kept) - self._seen) // _CHUNK * _CHUNK
        made: list[Caption] = []
        if whole:
            part = self._between(Span(self._seen, self._seen + whole))
            for chance in self._chances(part):
                self._seen += _CHUNK
                made += [self._caption(span, True) for span in self._cutter.push(float(chance))]
        made += self._partial()
        self._forget()
        return [caption for caption in made if caption.segment.text]

    def finish(self) -> list[Caption]:
        """The stream is over: what was being said becomes final."""
        spans = self._cutter.finish(self._first + len(self._kept))
        made = [self._caption(span, True) for span in spans]
        return [caption for caption in made if caption.segment.text]

    def _chances(self, samples: np.ndarray) -> np.ndarray:
        def work(loaded: Any) -> Generator[None, None, np.ndarray]:
            if self._heard is None:
                self._heard = loaded.model.start(SAMPLE_RATE)
            made: np.ndarray = yield from loaded.model.probabilities(samples, SAMPLE_RATE, self._heard)
            return made

        made: np.ndarray = self._engine.task(VOICE_ACTIVITY, work).result()
        return made

    def _partial(self) -> list[Caption]:
        begun = self._cutter.begun
        if begun is None or self._seen - max(begun, self._told) < _EVERY * SAMPLE_RATE:
            return []
        self._told = self._seen
        return [self._caption(Span(begun, self._seen), False)]

    def _caption(self, span: Span, final: bool) -> Caption:
        wide = Span(max(self._first, span.start - _LEAD), span.stop)
        part = self._between(wide)
        begins = wide.start / SAMPLE_RATE
        return Caption(self._listener.segment(part, begins, self._listener.submit(part)), final)

    def _between(self, span: Span) -> np.ndarray:
        return self._kept[span.start - self._first : span.stop - self._first]

    def _forget(self) -> None:
        """Of silence only the last moment is kept."""
        begun = self._cutter.begun
        keep_from = (self._seen if begun is None else begun) - 2 * _LEAD
        if keep_from > self._first:
            self._kept = self._kept[keep_from - self._first :]
            self._first = keep_from
