"""Models as layout detectors: those that find the regions of a page, and those that find its lines of text."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import BadRequest, ErrorText
from engine.pipelines.reading.layout import DetectedLayout, LayoutRegion
from engine.pipelines.reading.results import Box
from engine.pipelines.reading.text_lines import finding_lines
from engine.tasks import EngineLike

if TYPE_CHECKING:
    from PIL.Image import Image


class LayoutModel:
    """A layout model of an engine as a layout detector. It runs as a task, interleaved with requests."""

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.name = model
        self._engine = engine

    def detect(self, page: Image) -> DetectedLayout:
        pixels = np.asarray(page.convert("RGB"))

        def work(loaded: Any) -> Generator[None, None, DetectedLayout]:
            if getattr(loaded.model, "finds_text_lines", False):
                return (yield from finding_lines(page, loaded))
            detecting = getattr(loaded.model, "detecting", None)
            if detecting is None:
                raise BadRequest(
                    ErrorText("{model} is no layout model. PaddlePaddle/PP-DocLayoutV2 is one.", model=self.name),
                    "layout",
                )
            found = yield from detecting(pixels)
            regions = [LayoutRegion(Box(*each.box), each.label, order, each.score) for order, each in enumerate(found)]
            return DetectedLayout(tuple(regions), page)

        return self._engine.task(self.name, work).result()
