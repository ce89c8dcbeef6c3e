"""A recognizer that needs no model: it answers by the colours of the ink, or as a test tells it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np
from PIL.Image import Image

from engine.pipelines.reading.recognizer import Crop, LinePart, RecognitionStream, RecognizedPiece
from engine.pipelines.reading.results import TASKS, Task

Answer = Callable[[Crop], str | Iterable[str]]


class FakeReading:
    def __init__(self, pieces: Iterable[str], limit: int) -> None:
        self._pieces, self._limit = pieces, limit
        self.truncated = False
        self.cancelled = threading.Event()
        self.given = 0

    def __iter__(self) -> Iterator[RecognizedPiece]:
        for piece in self._pieces:
            if self.cancelled.is_set():
                return
            if self.given >= self._limit:
                self.truncated = True
                return
            self.given += 1
            yield RecognizedPiece(piece, (-0.1,))

    def cancel(self) -> None:
        self.cancelled.set()


class Fake:
    """Counts what it is asked. `by_line` cuts nothing: a line is one part."""

    name = "fake reader"
    whole_pages = False

    def __init__(self, answer: Answer, *, by_line: bool = False, tasks: Iterable[Task] = TASKS, honest: bool = True):
        self._answer, self.by_line, self.tasks, self._honest = answer, by_line, frozenset(tasks), honest
        self.crops: list[Crop] = []
        self.readings: list[FakeReading] = []
        self._lock = threading.Lock()

    def parts(self, line: Image) -> list[LinePart]:
        return [LinePart(line)]

    def note(self, image: Image) -> str | None:
        return "Too large for the fake." if image.width > 5000 else None

    def read(self, crops: Sequence[Crop]) -> list[RecognitionStream]:
        started: list[RecognitionStream] = []
        for crop in crops:
            said = self._answer(crop)
            pieces = said if not isinstance(said, str) else [said[i : i + 3] for i in range(0, len(said), 3)]
            # a dishonest one does not stop at the limit
            reading = FakeReading(pieces, crop.limit if self._honest else 1 << 40)
            started.append(reading)
            with self._lock:
                self.crops.append(crop)
                self.readings.append(reading)
        return started


def by_colour(texts: dict[tuple[int, int, int], str]) -> Answer:
    """Each text was drawn in a colour of its own; answers with those that are there, from top to bottom."""

    packed = {red << 16 | green << 8 | blue: text for (red, green, blue), text in texts.items()}

    def answer(crop: Crop) -> str:
        pixels = np.asarray(crop.image.convert("RGB")).astype(np.int32)
        values, first = np.unique(pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2], return_index=True)
        found = sorted((int(at), packed[int(value)]) for value, at in zip(values, first) if int(value) in packed)
        return "\n".join(text for _, text in found)

    return answer
