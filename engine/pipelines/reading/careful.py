"""Reading one crop until it can be trusted: read, watch for runaway output, read again otherwise, then in halves.

What remains doubtful is cut where it began to repeat itself and says so. The number of attempts is bounded, and each is
bounded by what its place can hold, so that reading always ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from engine.pipelines.reading.crops import halves
from engine.pipelines.reading.recognizer import Crop, LinePart, Manner, Reading, Recognizer
from engine.pipelines.reading.result import Task
from engine.pipelines.reading.runaway import REPEATS, TOO_LONG, Watch, room, room_in_line

if TYPE_CHECKING:
    from PIL.Image import Image

OTHER_MANNERS = (Manner(temperature=0.3, repetition_penalty=1.15, seed=1),)
_DEEPEST = 2  # halves of halves
_CAN_BE_HALVED: tuple[Task, ...] = ("text", "table")


@dataclass(frozen=True)
class Outcome:
    text: str
    logprobs: tuple[float, ...] = ()
    doubt: str | None = None

    @property
    def confidence(self) -> float | None:
        """The geometric mean of the tokens' probabilities; None where nothing is known of them."""
        return math.exp(sum(self.logprobs) / len(self.logprobs)) if self.logprobs else None


class Careful:
    """`hear` gets text as it comes, and None when an attempt is given up and what was heard is void.

    `track` may refuse a reading (False) because everything is being stopped."""

    def __init__(
        self,
        recognizer: Recognizer,
        hear: Callable[[str | None], None] = lambda text: None,
        track: Callable[[Reading], bool] = lambda reading: True,
    ) -> None:
        self._recognizer = recognizer
        self._hear = hear
        self._track = track

    def read(self, image: Image, task: Task) -> Outcome:
        return self._read(image, task, 0)

    def read_lines(self, lines: Sequence[Image]) -> list[Outcome]:
        """Lines of one region, started together. A part that runs away is read again by itself."""
        parts = [self._recognizer.parts(line) for line in lines]
        crops = [
            Crop(part.image, "text", room_in_line(*line.size)) for line, found in zip(lines, parts) for part in found
        ]
        readings = zip(crops, self._recognizer.read(crops))
        return [self._read_line(found, readings, first=index == 0) for index, found in enumerate(parts)]

    def _read_line(self, parts: Sequence[LinePart], readings: Iterator[tuple[Crop, Reading]], first: bool) -> Outcome:
        text, doubt = "", None
        logprobs: list[float] = []
        for index, (part, (crop, reading)) in enumerate(zip(parts, readings)):
            between = " " if part.spaced else ""
            self._hear(between if index else "" if first else "\n")
            outcome = self._listen(reading, crop)
            if outcome.doubt is not None:
                # what follows it has been heard already, or will be: the mended part shows at the end
                outcome = Careful(self._recognizer, track=self._track)._again(crop, outcome)
            text += (between if index else "") + outcome.text
            logprobs += outcome.logprobs
            doubt = doubt or outcome.doubt
        return Outcome(text, tuple(logprobs), doubt)

    def _read(self, image: Image, task: Task, depth: int) -> Outcome:
        crop = Crop(image, task, room(*image.size, task))
        first = self._attempt(crop)
        if first.doubt is None:
            return first
        self._hear(None)
        best = self._again(crop, first)
        parts = halves(image) if best.doubt is not None and task in _CAN_BE_HALVED and depth < _DEEPEST else None
        if parts is None:
            return best
        self._hear(None)
        read = [self._read(part, task, depth + 1) for part in parts]
        return Outcome(
            "\n".join(part.text for part in read if part.text),
            tuple(value for part in read for value in part.logprobs),
            next((part.doubt for part in read if part.doubt is not None), None),
        )

    def _again(self, crop: Crop, first: Outcome) -> Outcome:
        """Other settings. The first outcome is as good as any when they all run away."""
        for manner in OTHER_MANNERS:
            outcome = self._attempt(replace(crop, manner=manner))
            if outcome.doubt is None:
                return outcome
        return first

    def _attempt(self, crop: Crop) -> Outcome:
        return self._listen(self._recognizer.read([crop])[0], crop)

    def _listen(self, reading: Reading, crop: Crop) -> Outcome:
        watch = Watch(crop.task)
        said: list[str] = []
        logprobs: list[float] = []
        fault: str | None = None
        if not self._track(reading):
            reading.cancel()
        for piece in reading:
            said.append(piece.text)
            logprobs.extend(piece.logprobs)
            self._hear(piece.text)
            fault = REPEATS if watch.push(piece.text) else TOO_LONG if len(said) > crop.limit else None
            if fault is not None:
                reading.cancel()
                break
        text = "".join(said)
        from_here = watch.repeats(text)
        if fault == REPEATS or from_here is not None:
            return Outcome(text[:from_here].strip(), tuple(logprobs), REPEATS)
        return Outcome(text.strip(), tuple(logprobs), TOO_LONG if fault or reading.cut else None)
