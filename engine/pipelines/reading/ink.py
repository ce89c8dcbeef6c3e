"""Page pixels: binarization (the ink mask), projection profiles and crops. Numpy and Pillow only.

Ink is what differs from the paper around it: dark on light, light on dark, or both on one page. Paper is the median of a
tile, which tolerates shadows and coloured boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.pipelines.reading.results import Box

if TYPE_CHECKING:
    from PIL.Image import Image

Span = tuple[int, int]  # start and end (exclusive)

WORKING_SIDE = 2000  # pixels of the longer side of a page during layout analysis
TILE = 32  # pixels; paper is estimated per square tile of this side
_LEAST_CONTRAST = 24  # of 255; above the grain of paper
_LINE_MARGIN = 0.2  # of a line's height


def working_copy(image: Image) -> tuple[np.ndarray, float]:
    """Grey values at the working size, and the scale from them to pixels of the page."""
    factor = max(image.size) / WORKING_SIDE
    if factor <= 1:
        return np.asarray(image.convert("L")), 1.0
    size = max(1, round(image.size[0] / factor)), max(1, round(image.size[1] / factor))
    return np.asarray(image.convert("L").resize(size, reducing_gap=2.0)), factor


def ink_of(grey: np.ndarray) -> np.ndarray:
    """The ink mask: true where there is ink."""
    contrast = np.abs(grey.astype(np.int16) - _paper(grey))
    seen = contrast[contrast > _LEAST_CONTRAST]
    if not seen.size:
        return np.zeros(grey.shape, bool)
    return _without_specks(contrast > max(_LEAST_CONTRAST, 0.4 * float(np.percentile(seen, 90))))


def _paper(grey: np.ndarray) -> np.ndarray:
    height, width = grey.shape
    medians = tile_medians(grey)
    down, across = medians.shape
    padded = np.pad(medians, 1, mode="edge")
    # a tile inside one bold letter has no paper; its neighbours have
    near = np.stack([padded[y : y + down, x : x + across] for y in range(3) for x in range(3)])
    smooth = np.median(near, axis=0).astype(np.int16)
    return smooth.repeat(TILE, 0).repeat(TILE, 1)[:height, :width]


def tile_medians(grey: np.ndarray) -> np.ndarray:
    """The median grey of each tile."""
    height, width = grey.shape
    down, across = -(-height // TILE), -(-width // TILE)
    padded = np.pad(grey, ((0, down * TILE - height), (0, across * TILE - width)), mode="edge")
    tiles = padded.reshape(down, TILE, across, TILE).transpose(0, 2, 1, 3).reshape(down, across, -1)
    return np.asarray(np.median(tiles, axis=2))


def _without_specks(ink: np.ndarray) -> np.ndarray:
    """The ink with at least two neighbours of ink."""
    padded = np.pad(ink, 1).astype(np.uint8)
    height, width = ink.shape
    around = sum(padded[y : y + height, x : x + width] for y in range(3) for x in range(3))
    return np.asarray(ink & (around >= 3))


def without_rules(ink: np.ndarray) -> np.ndarray:
    """The ink without long straight lines: table borders, column rules, edges of boxes."""
    across, down = rules_of(ink)
    return ink & ~across & ~down


def rules_of(ink: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ink of long straight lines, across and down."""
    height, width = ink.shape
    return _long_runs(ink, max(60, width // 8)), _long_runs(ink.T, max(60, height // 12)).T


def _long_runs(ink: np.ndarray, least: int) -> np.ndarray:
    """Ink in horizontal runs of at least `least` pixels."""
    height, width = ink.shape
    if width < least:
        return np.zeros_like(ink)
    edges = np.diff(np.pad(ink, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
    long = ends[:, 1] - starts[:, 1] >= least
    marks = np.zeros((height, width + 1), np.int8)
    marks[starts[long, 0], starts[long, 1]] = 1
    marks[ends[long, 0], ends[long, 1]] = -1
    return np.cumsum(marks, axis=1, dtype=np.int8)[:, :width].astype(bool)


def has_ink(image: Image) -> bool:
    grey = np.asarray(image.convert("L"))
    return bool(grey.shape[0] > 2 and grey.shape[1] > 2 and ink_of(grey).any())


def is_dark(grey: np.ndarray) -> bool:
    """Whether the paper is darker than the print."""
    return float(np.median(grey)) < 110


# -- projection profiles


def runs(filled: np.ndarray) -> list[Span]:
    """The spans in which a boolean vector is true."""
    edges = np.flatnonzero(np.diff(np.pad(filled, 1).astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2])]


def rows_of(ink: np.ndarray) -> np.ndarray:
    """Which rows contain ink."""
    return np.asarray(ink.any(axis=1))


def columns_of(ink: np.ndarray) -> np.ndarray:
    """Which pixel columns contain ink."""
    return np.asarray(ink.any(axis=0))


# -- crops


def cut(page: Image, box: Box, margin: float = 0.0) -> Image:
    """The crop of a box, at least one pixel large."""
    left, top, right, bottom = box.grown(margin).within(*page.size).pixels()
    return page.crop((left, top, max(right, left + 1), max(bottom, top + 1)))


def cut_lines(page: Image, lines: Sequence[Box]) -> list[Image]:
    """Crops of lines, dark on light. Margins end halfway to neighbouring lines, so that their descenders stay out."""
    return [_dark_on_light(cut(page, _with_margin(lines, line))) for line in lines]


def _with_margin(lines: Sequence[Box], line: Box) -> Box:
    margin = _LINE_MARGIN * line.height
    beside = [other for other in lines if other is not line and other.left < line.right and line.left < other.right]
    above = [(line.top + other.bottom) / 2 for other in beside if other.bottom <= line.top]
    below = [(line.bottom + other.top) / 2 for other in beside if other.top >= line.bottom]
    top, bottom = max([line.top - margin, *above]), min([line.bottom + margin, *below])
    return Box(line.left - margin, top, line.right + margin, bottom)


def _dark_on_light(line: Image) -> Image:
    from PIL import ImageOps

    return ImageOps.invert(line) if is_dark(np.asarray(line.convert("L"))) else line


def halves(image: Image) -> tuple[Image, Image] | None:
    """The image split at the whitest row near its middle; None where every split would cut a line of text."""
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
