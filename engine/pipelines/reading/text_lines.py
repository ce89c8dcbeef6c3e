"""Small models for lines of text: a detector as the layout of a page, and a recognizer of lines. They have no tokens and run as tasks.

The detector's boxes stand for the ink of the page splitter, which finds columns, blocks and headings in them.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.loaded import LoadedPart
from engine.models.config import Fields
from engine.pipelines.reading.layout import DetectedLayout, line_height, regions_in
from engine.pipelines.reading.recognizer import Crop, RecognitionStream, RecognizedPiece, Recognizer, VisionRecognizer
from engine.pipelines.reading.results import Box, Task
from engine.tasks import EngineLike, Joint
from engine.tasks import Task as EngineTask
from engine.vision.line_strips import LinePart
from engine.vision.pp_ocr import DetectorImages, LineImages, boxes_in

if TYPE_CHECKING:
    from PIL.Image import Image

    from engine.loading import LoadedModel

_AT_ONCE = 16  # lines of one width
_LEAST = 0.05  # of a character's probability, where its logarithm is taken
_SHRUNK = 0.15  # of a box's height: lines whose boxes touch stay apart


def lines_in_map(page: Image, likely: np.ndarray) -> DetectedLayout:
    """The regions of a page from the detector's map."""
    scale = max(1.0, max(page.size) / 2000)
    width, height = math.ceil(page.width / scale), math.ceil(page.height / scale)
    ink = np.zeros((height, width), bool)
    found = boxes_in(likely, page.width, page.height)
    boxes = [Box(box.left, box.top, box.right, box.bottom) for box in found]
    for box in boxes:
        inner = Box(box.left, box.top + _SHRUNK * box.height, box.right, box.bottom - _SHRUNK * box.height)
        left, top, right, bottom = inner.scaled(1 / scale).pixels()
        ink[top : max(bottom, top + 1), left : max(right, left + 1)] = True
    regions = regions_in(ink, line_height(ink), scale, page.size, boxes) if boxes else ()
    return DetectedLayout(regions, page)


def finding_lines(page: Image, loaded: Any) -> Generator[None, None, DetectedLayout]:
    """The work of a loaded detector on a page."""
    images = DetectorImages(Fields(loaded.config), loaded.folder)
    likely = yield from loaded.model.likely(images.prepare(page))
    return lines_in_map(page, likely)


def _together(loaded: Any, parts: Sequence[np.ndarray]) -> Generator[None, None, list[tuple[np.ndarray, np.ndarray]]]:
    """Lines of one width are one batch, so that no line's numbers depend on the others."""
    made: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    for width in sorted({part.shape[1] for part in parts}):
        mine = [i for i, part in enumerate(parts) if part.shape[1] == width]
        for start in range(0, len(mine), _AT_ONCE):
            batch = mine[start : start + _AT_ONCE]
            ids, chances = yield from loaded.model.likely(np.stack([parts[i] for i in batch]))
            made |= {i: (ids[row], chances[row]) for row, i in enumerate(batch)}
    return [made[i] for i in range(len(parts))]


class _LineStream:
    """One line as a recognition stream."""

    truncated = False

    def __init__(self, task: EngineTask[tuple[np.ndarray, np.ndarray]], images: LineImages) -> None:
        self._task, self._images = task, images

    def __iter__(self) -> Iterator[RecognizedPiece]:
        try:
            ids, chances = self._task.result()
        except CancelledError:
            return
        text, sure = self._images.text(ids, chances)
        if text:
            yield RecognizedPiece(text, tuple(math.log(max(chance, _LEAST)) for chance in sure))

    def cancel(self) -> None:
        self._task.cancel()


class LineRecognizer:
    """A model that reads single lines, without writing tokens."""

    by_line, whole_pages = True, False
    tasks: frozenset[Task] = frozenset({"text"})

    def __init__(self, engine: EngineLike, loaded: LoadedPart) -> None:
        self.name = loaded.name
        self._engine = engine
        self._images = LineImages(Fields(loaded.config), loaded.folder)

    def parts(self, line: Image) -> Sequence[LinePart]:
        return [LinePart(line)]

    def note(self, image: Image) -> str | None:
        return None

    def read(self, crops: Sequence[Crop]) -> list[RecognitionStream]:
        return [
            _LineStream(
                self._engine.task(self.name, Joint(_together, self._images.prepare(crop.image), 4 * _AT_ONCE)),
                self._images,
            )
            for crop in crops
        ]


def recognizer_of(engine: Any, loaded: LoadedModel | LoadedPart) -> Recognizer:
    """Of a model that sees, or one that reads lines. Raises BadRequest for others."""
    if not isinstance(loaded, LoadedPart):
        return VisionRecognizer(engine, loaded)
    if not getattr(loaded.model, "reads_text_lines", False):
        raise BadRequest(
            ErrorText(
                "{name} writes no text. Give it as the layout, and a vision model as the model.", name=loaded.name
            ),
            "model",
        )
    return LineRecognizer(engine, loaded)
