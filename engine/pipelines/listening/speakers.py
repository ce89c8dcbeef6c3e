"""Who speaks when in a sound, and whose words a transcript's are.

A diarization model finds voices and numbers them; it knows no names, and nothing of other recordings. Words belong to the voice that is
most active while they are said, and a segment in which several people speak is cut between their words.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.pipelines.listening.transcript import TranscriptSegment, TranscriptWord, placed_words
from engine.tasks import EngineLike

_ACTIVE = 0.5  # probability from which somebody speaks
_ASIDE = 0.3  # seconds: a single word inside another's speech that is shorter is theirs
NEAR = 1.0  # seconds: words in which nobody is heard belong to the nearest voice within this


def speaker_name(number: int) -> str:
    return f"Speaker {number}"


class SpeakerActivity:
    """The voices of one sound at 16 kHz, heard as its samples come. For one thread."""

    def __init__(self, engine: EngineLike, model: str, name: Callable[[int], str] = speaker_name) -> None:
        """`model`: a diarization model of the engine. `name`: of the first, second, ... who is heard."""
        self._engine, self._model, self._name = engine, model, name
        self._stream: Any = None  # the model's state
        self._frame = 0.08  # seconds, as the model says
        self._rows: list[np.ndarray] = []  # probabilities of the frames that may still be asked for
        self._first = 0  # the first of these frames
        self._count, self._ended = 0, False
        self._names: dict[int, str] = {}

    @property
    def decided(self) -> float:
        """Seconds up to which it is known who speaks."""
        return float("inf") if self._ended else self._count * self._frame

    def feed(self, samples: np.ndarray) -> None:
        """Blocks until the model has heard them."""
        self._push(samples, last=False)

    def finish(self) -> None:
        self._push(np.zeros(0, np.float32), last=True)
        self._ended = True

    def _push(self, samples: np.ndarray, last: bool) -> None:
        def work(loaded: Any) -> Generator[None, None, np.ndarray]:
            if not hasattr(loaded.model, "speakers"):
                raise BadRequest(
                    ErrorText("{name} does not tell speakers apart. Sortformer models do.", name=self._model),
                    "speakers",
                )
            if self._stream is None:
                self._stream, self._frame = loaded.model.start(), loaded.model.frame / loaded.model.rate
            made: np.ndarray = yield from loaded.model.push(samples, self._stream, last)
            return made

        rows = self._engine.task(self._model, work, admitted=True).result()
        self._count += len(rows)
        if len(rows):
            self._rows.append(rows.astype(np.float16))

    def attributed(self, segment: TranscriptSegment, shift: float = 0.0) -> Iterator[TranscriptSegment]:
        """The segment, or its parts, with their speakers. Segments come in order: what lies before one is forgotten. `shift`: what its
        times are ahead of this sound's."""
        self._forget(segment.start - shift - 2 * NEAR)
        placed = placed_words(segment)
        speakers = self._speakers(
            [replace(one.word, start=one.word.start - shift, end=one.word.end - shift) for one in placed]
        )
        named = [("" if speaker is None else self._named(speaker)) for speaker in speakers]
        timed = len(segment.words) == len(placed)
        runs = [(name, [i for i, _ in run]) for name, run in groupby(enumerate(named), key=lambda one: one[1])]
        for number, (name, run) in enumerate(runs):
            first, last = placed[run[0]], placed[run[-1]]
            words = tuple(replace(placed[i].word, speaker=name) for i in run) if timed else ()
            if len(runs) == 1:
                yield replace(segment, speaker=name, words=words)
                return
            yield replace(
                segment,
                start=segment.start if number == 0 else first.word.start,
                end=segment.end if number == len(runs) - 1 else last.word.end,
                text=segment.text[first.begin : last.end],
                words=words,
                tokens=(),
                scores=None,
                speaker=name,
            )

    def _named(self, speaker: int) -> str:
        return self._names.setdefault(speaker, self._name(len(self._names) + 1))

    def _speakers(self, words: Sequence[TranscriptWord]) -> list[int | None]:
        found = [self._heard(word.start, word.end) for word in words]
        for i, word in enumerate(words):
            if found[i] is None:
                found[i] = self._nearest(word.start, word.end)
        known = next((one for one in found if one is not None), None)
        for i, one in enumerate(found):
            known = found[i] = known if one is None else one
        for i in range(1, len(found) - 1):
            short = words[i].end - words[i].start < _ASIDE
            if short and found[i] != found[i - 1] == found[i + 1]:
                found[i] = found[i - 1]
        return found

    def _heard(self, start: float, end: float) -> int | None:
        """Who is most active; None where nobody is."""
        rows = self._between(int(start / self._frame), max(int(start / self._frame) + 1, round(end / self._frame)))
        active = np.where(rows > _ACTIVE, rows, 0).astype(np.float32).sum(0)
        return int(active.argmax()) if active.size and active.max() > 0 else None

    def _nearest(self, start: float, end: float) -> int | None:
        reach = self._frame
        while reach <= NEAR:
            if (found := self._heard(max(0.0, start - reach), end + reach)) is not None:
                return found
            reach *= 2
        return None

    def _forget(self, until: float) -> None:
        """Whole pieces that end before this time."""
        while self._rows and (self._first + len(self._rows[0])) * self._frame <= until:
            self._first += len(self._rows.pop(0))

    def _between(self, first: int, last: int) -> np.ndarray:
        """The probabilities of some frames."""
        made, at = [np.zeros((0, self._rows[0].shape[1] if self._rows else 0), np.float16)], self._first
        for rows in self._rows:
            if at >= last:
                break
            if at + len(rows) > first:
                made.append(rows[max(0, first - at) : max(0, last - at)])
            at += len(rows)
        return np.concatenate(made)
