"""Layout detection: regions of a page with class and reading order, found by a layout model or by the page splitter.

Also the role of each region class: which kind of element it becomes, and which task reads it. The class names are those of
published layout models; unknown classes are read as text.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from engine.cancel import EngineLike
from engine.errors import BadRequest
from engine.pipelines.reading.results import Box, Kind, Task

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class LayoutRegion:
    box: Box
    label: str
    order: int
    score: float = 1.0
    level: int = 0  # of a heading, where the detector reports it
    lines: tuple[Box, ...] = ()  # the boxes of its lines, where the detector reports them


@dataclass(frozen=True)
class DetectedLayout:
    """The layout of one page."""

    regions: tuple[LayoutRegion, ...]
    image: Image  # the page in the coordinates of the boxes
    turned: float = 0.0  # degrees of counterclockwise rotation from the input image


class LayoutDetector(Protocol):
    name: str  # reported in every result

    def detect(self, page: Image) -> DetectedLayout: ...


class LayoutModel:
    """A layout model of an engine as a layout detector. It runs as a task, interleaved with requests."""

    def __init__(self, engine: EngineLike, model: str) -> None:
        self.name = model
        self._engine = engine

    def detect(self, page: Image) -> DetectedLayout:
        pixels = np.asarray(page.convert("RGB"))

        def work(loaded: Any) -> Generator[None, None, list[LayoutRegion]]:
            detecting = getattr(loaded.model, "detecting", None)
            if detecting is None:
                raise BadRequest(f"{self.name} is no layout model. PaddlePaddle/PP-DocLayoutV2 is one.", "layout")
            found = yield from detecting(pixels)
            return [LayoutRegion(Box(*each.box), each.label, order, each.score) for order, each in enumerate(found)]

        return DetectedLayout(tuple(self._engine.task(self.name, work).result()), page)


# -- region classes


@dataclass(frozen=True)
class RegionRole:
    """What a region class becomes."""

    kind: Kind
    task: Task | None = "text"  # None: only its image is kept
    level: int = 0


_TEXT = RegionRole("text")
_ROLES: dict[str, RegionRole] = {
    "doc_title": RegionRole("heading", level=1),
    "title": RegionRole("heading", level=1),
    "paragraph_title": RegionRole("heading", level=2),
    "heading": RegionRole("heading", level=2),
    "figure_title": RegionRole("caption"),
    "table_title": RegionRole("caption"),
    "chart_title": RegionRole("caption"),
    "figure_table_chart_title": RegionRole("caption"),
    "caption": RegionRole("caption"),
    "footnote": RegionRole("footnote"),
    "vision_footnote": RegionRole("footnote"),
    "algorithm": RegionRole("code"),
    "code": RegionRole("code"),
    "aside_text": RegionRole("aside"),
    "formula_number": RegionRole("aside"),
    "table": RegionRole("table", "table"),
    "formula": RegionRole("formula", "formula"),
    "display_formula": RegionRole("formula", "formula"),
    "inline_formula": RegionRole("formula", "formula"),
    "chart": RegionRole("chart", "chart"),
    "seal": RegionRole("seal", "seal"),
    "image": RegionRole("figure", None),
    "figure": RegionRole("figure", None),
    "header_image": RegionRole("header", None),
    "footer_image": RegionRole("footer", None),
    "header": RegionRole("header"),
    "footer": RegionRole("footer"),
    "number": RegionRole("page_number"),
}


def role_of(label: str) -> RegionRole:
    return _ROLES.get(label, _TEXT)


def without_duplicates(regions: tuple[LayoutRegion, ...]) -> tuple[LayoutRegion, ...]:
    """Drop regions that lie almost entirely inside a region of the same task: they would be read twice.

    A formula, a seal or a figure inside a text region stays."""
    kept: list[LayoutRegion] = []
    for region in sorted(regions, key=lambda r: -r.box.area):
        task = role_of(region.label).task
        duplicate = any(
            region.box.intersection(other.box) > 0.9 * region.box.area
            and role_of(other.label).task in (task, "table", "chart")
            for other in kept
        )
        if region.box.area > 0 and not duplicate:
            kept.append(region)
    return tuple(sorted(kept, key=lambda r: r.order))
