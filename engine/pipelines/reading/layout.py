"""What a layout is to the reader: regions of a page with class and order, found by a model or by the built-in splitter.

Also what each class means: which element it becomes, and which task reads it. Class names are those of published layout
models; one that is not known here is read as text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from engine.pipelines.reading.geometry import Box
from engine.pipelines.reading.result import Kind, Task

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class Region:
    box: Box
    label: str
    order: int
    score: float = 1.0
    level: int = 0  # of a heading, where the layout knows
    lines: tuple[Box, ...] = ()  # where the layout found them


@dataclass(frozen=True)
class Found:
    """What a layout made of one page."""

    regions: tuple[Region, ...]
    image: Image  # the page as the boxes mean it
    turned: float = 0.0  # degrees, counterclockwise, from the page that was given


class Layout(Protocol):
    name: str  # said in every result

    def detect(self, page: Image) -> Found: ...


@dataclass(frozen=True)
class Meaning:
    kind: Kind
    task: Task | None = "text"  # None: nothing is read, the picture is kept
    level: int = 0


_TEXT = Meaning("text")
_MEANINGS: dict[str, Meaning] = {
    "doc_title": Meaning("heading", level=1),
    "title": Meaning("heading", level=1),
    "paragraph_title": Meaning("heading", level=2),
    "heading": Meaning("heading", level=2),
    "figure_title": Meaning("caption"),
    "table_title": Meaning("caption"),
    "chart_title": Meaning("caption"),
    "figure_table_chart_title": Meaning("caption"),
    "caption": Meaning("caption"),
    "footnote": Meaning("footnote"),
    "vision_footnote": Meaning("footnote"),
    "algorithm": Meaning("code"),
    "code": Meaning("code"),
    "aside_text": Meaning("aside"),
    "formula_number": Meaning("aside"),
    "table": Meaning("table", "table"),
    "formula": Meaning("formula", "formula"),
    "display_formula": Meaning("formula", "formula"),
    "inline_formula": Meaning("formula", "formula"),
    "chart": Meaning("chart", "chart"),
    "seal": Meaning("seal", "seal"),
    "image": Meaning("figure", None),
    "figure": Meaning("figure", None),
    "header_image": Meaning("header", None),
    "footer_image": Meaning("footer", None),
    "header": Meaning("header"),
    "footer": Meaning("footer"),
    "number": Meaning("page_number"),
}


def meaning(label: str) -> Meaning:
    return _MEANINGS.get(label, _TEXT)


def without_doubles(regions: tuple[Region, ...]) -> tuple[Region, ...]:
    """Drop what lies almost wholly inside a region of the same task: it would be read twice.

    A formula, a seal or a figure inside a text stays: it is something else."""
    kept: list[Region] = []
    for region in sorted(regions, key=lambda r: -r.box.area):
        task = meaning(region.label).task
        doubled = any(
            region.box.shared(other.box) > 0.9 * region.box.area
            and meaning(other.label).task in (task, "table", "chart")
            for other in kept
        )
        if region.box.area > 0 and not doubled:
            kept.append(region)
    return tuple(sorted(kept, key=lambda r: r.order))
