"""Regions cut out of a page, as models like them: a little paper around, lines dark on light."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.pipelines.reading.geometry import Box
from engine.pipelines.reading.ink import ink_of, is_dark

if TYPE_CHECKING:
    from PIL.Image import Image

_LINE_MARGIN = 0.2  # of a line's height


def cut(page: Image, box: Box, margin: float = 0.0) -> Image:
    """At least one pixel."""
    left, top, right, bottom = box.grown(margin).within(*page.size).pixels()
    return page.crop((left, top, max(right, left + 1), max(bottom, top + 1)))


def cut_lines(page: Image, lines: Sequence[Box]) -> list[Image]:
    """Each line, dark on light. Margins end halfway to the neighbours, whose tails must not show."""
    return [_light(cut(page, _room_around(lines, line))) for line in lines]


def _room_around(lines: Sequence[Box], line: Box) -> Box:
    margin = _LINE_MARGIN * line.height
    beside = [other for other in lines if other is not line and other.left < line.right and line.left < other.right]
    above = [(line.top + other.bottom) / 2 for other in beside if other.bottom <= line.top]
    below = [(line.bottom + other.top) / 2 for other in beside if other.top >= line.bottom]
    top, bottom = max([line.top - margin, *above]), min([line.bottom + margin, *below])
    return Box(line.left - margin, top, line.right + margin, bottom)


def _light(line: Image) -> Image:
    from PIL import ImageOps

    return ImageOps.invert(line) if is_dark(np.asarray(line.convert("L"))) else line


def halves(image: Image) -> tuple[Image, Image] | None:
    """Above and below the whitest row near the middle; None where a cut would go through a line."""
    if image.height < 48:
        return None
    ink = ink_of(np.asarray(image.convert("L"))).sum(axis=1)
    third = image.height // 3
    middle = ink[third : image.height - third]
    white = np.flatnonzero(middle == middle.min())
    at = third + int(white[np.abs(white - len(middle) // 2).argmin()])
    if middle.min() > 0.02 * image.width:
        return None
    return image.crop((0, 0, image.width, at)), image.crop((0, at, image.width, image.height))


def has_ink(image: Image) -> bool:
    grey = np.asarray(image.convert("L"))
    return bool(grey.shape[0] > 2 and grey.shape[1] > 2 and ink_of(grey).any())
