"""Live captions: sound comes in small pieces, partial text while somebody speaks, final text when they pause.

`Captions` belongs to one stream and one thread: `feed` takes samples of any length and gives what is new. What is being
said now is transcribed again every little while; a segment's text is final once voice activity has ended it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.models.moonshine import SAMPLE_RATE
from engine.pipelines.listening.activity import Activity, Ended
from engine.pipelines.listening.cutting import USUAL, Rules, Span
from engine.pipelines.listening.listener import EngineLike, Listener
from engine.pipelines.listening.transcript import Segment

_EVERY = 0.6  # seconds of speech between two partial texts
_LEAD = int(0.3 * SAMPLE_RATE)  # before speech was noticed, which belongs to it


@dataclass(frozen=True)
class Caption:
    """`final`: it will not change any more, and the next one is about later sound."""

    segment: Segment
    final: bool


class Captions:
    def __init__(self, engine: EngineLike, listener: Listener, rules: Rules = USUAL) -> None:
        self._listener = listener
        self._activity = Activity(engine, rules)
        self._kept = np.zeros(0, np.float32)  # samples that may still be needed
        self._first = 0  # the position of the first of them in the stream
        self._told = 0  # where the last partial text ended

    @property
    def speaking(self) -> bool:
        """Is somebody speaking now?"""
        return self._activity.speaking

    def feed(self, samples: np.ndarray) -> list[Caption]:
        """`samples` at 16 kHz, f32. Returns what is new; waits for the model."""
        self._kept = np.concatenate((self._kept, samples.astype(np.float32, copy=False)))
        ended = [change.span for change in self._activity.feed(samples) if isinstance(change, Ended)]
        made = [self._caption(span, True) for span in ended] + self._partial()
        self._forget()
        return [caption for caption in made if caption.segment.text]

    def finish(self) -> list[Caption]:
        """The stream is over: what was being said becomes final."""
        made = [self._caption(change.span, True) for change in self._activity.finish()]
        return [caption for caption in made if caption.segment.text]

    def _partial(self) -> list[Caption]:
        begun, seen = self._activity.begun, self._activity.seen
        if begun is None or seen - max(begun, self._told) < _EVERY * SAMPLE_RATE:
            return []
        self._told = seen
        return [self._caption(Span(begun, seen), False)]

    def _caption(self, span: Span, final: bool) -> Caption:
        wide = Span(max(self._first, span.start - _LEAD), span.stop)
        part = self._kept[wide.start - self._first : wide.stop - self._first]
        begins = wide.start / SAMPLE_RATE
        return Caption(self._listener.segment(part, begins, self._listener.submit(part)), final)

    def _forget(self) -> None:
        """Of silence only the last moment is kept."""
        begun = self._activity.begun
        keep_from = (self._activity.seen if begun is None else begun) - 2 * _LEAD
        if keep_from > self._first:
            self._kept = self._kept[keep_from - self._first :]
            self._first = keep_from
