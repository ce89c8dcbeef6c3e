"""A layout model behind the engine, as a layout: it works beside the replies that run, piece by piece."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.cancel import TaskEngine
from engine.errors import BadRequest
from engine.pipelines.reading.geometry import Box
from engine.pipelines.reading.layout import Found, Region

if TYPE_CHECKING:
    from PIL.Image import Image


class ModelLayout:
    def __init__(self, engine: TaskEngine, model: str) -> None:
        self.name = model
        self._engine = engine

    def detect(self, page: Image) -> Found:
        pixels = np.asarray(page.convert("RGB"))

        def work(loaded: Any) -> Generator[None, None, list[Region]]:
            detecting = getattr(loaded.model, "detecting", None)
            if detecting is None:
                raise BadRequest(f"{self.name} is no layout model. PaddlePaddle/PP-DocLayoutV2 is one.", "layout")
            found = yield from detecting(pixels)
            return [Region(Box(*each.box), each.label, order, each.score) for order, each in enumerate(found)]

        return Found(tuple(self._engine.task(self.name, work).result()), page)
