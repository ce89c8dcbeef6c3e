"""LayoutDetector detection: regions of a page with class and reading order, and what each region class means."""

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
    level: int = 0  # of a heading, where the layout knows
    lines: tuple[Box, ...] = ()  # where the layout found them


@dataclass(frozen=True)
class DetectedLayout:
    """What a layout made of one page."""

    regions: tuple[LayoutRegion, ...]
    image: Image  # the page as the boxes mean it
    turned: float = 0.0  # degrees, counterclockwise, from the page that was given


class LayoutDetector(Protocol):
    name: str  # said in every result

    def detect(self, page: Image) -> DetectedLayout: ...


@dataclass(frozen=True)
class RegionRole:
    kind: Kind
    task: Task | None = "text"  # None: nothing is read, the picture is kept
    level: int = 0


_TEXT = RegionRole("text")
_MEANINGS: dict[str, RegionRole] = {
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


def meaning(label: str) -> RegionRole:
    return _MEANINGS.get(label, _TEXT)


def without_doubles(regions: tuple[LayoutRegion, ...]) -> tuple[LayoutRegion, ...]:
    """Drop what lies almost wholly inside a region of the same task: it would be read twice.

    A formula, a seal or a figure inside a text stays: it is something else."""
    kept: list[LayoutRegion] = []
    for region in sorted(regions, key=lambda r: -r.box.area):
        task = meaning(region.label).task
        doubled = any(
            region.box.intersection(other.box) > 0.9 * region.box.area
            and meaning(other.label).task in (task, "table", "chart")
            for other in kept
        )
        if region.box.area > 0 and not doubled:
            kept.append(region)
    return tuple(sorted(kept, key=lambda r: r.order))


class LayoutModel:
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
