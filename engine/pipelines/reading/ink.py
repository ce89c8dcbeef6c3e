"""Page pixels: binarization (the ink mask), skew, rotation, projection profiles and crops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.pipelines.reading.results import Box

if TYPE_CHECKING:
    from PIL.Image import Image

WORKING_SIDE = 2000  # pixels of the longer side that pages are looked at with; more shows nothing more of a layout
MOST_ASKEW = 3.0  # degrees that are looked for
TILE = 32  # pixels; paper is looked for in squares of this size
_LEAST_CONTRAST = 24  # of 255; paper's own grain stays below


def working_copy(image: Image) -> tuple[np.ndarray, float]:
    """Grey values, and how many pixels of the page one pixel of them is."""
    factor = max(image.size) / WORKING_SIDE
    if factor <= 1:
        return np.asarray(image.convert("L")), 1.0
    size = max(1, round(image.size[0] / factor)), max(1, round(image.size[1] / factor))
    return np.asarray(image.convert("L").resize(size, reducing_gap=2.0)), factor


def ink_of(grey: np.ndarray) -> np.ndarray:
    """True where there is ink; a blank page has none."""
    contrast = np.abs(grey.astype(np.int16) - _paper(grey))
    seen = contrast[contrast > _LEAST_CONTRAST]
    if not seen.size:
        return np.zeros(grey.shape, bool)
    return _without_specks(contrast > max(_LEAST_CONTRAST, 0.4 * float(np.percentile(seen, 90))))


def is_dark(grey: np.ndarray) -> bool:
    """Whether the paper is darker than what is written on it."""
    return float(np.median(grey)) < 110


def without_rules(ink: np.ndarray) -> np.ndarray:
    """The ink without long straight lines: borders of tables, rules between columns, edges of boxes."""
    height, width = ink.shape
    across = _long_runs(ink, max(60, width // 8))
    down = _long_runs(ink.T, max(60, height // 12)).T
    return ink & ~across & ~down


def degrees_askew(ink: np.ndarray) -> float:
    """How far lines rise to the right; 0 where nothing speaks for an angle."""
    y, x = np.nonzero(ink)
    if len(y) < 200 or len(y) > ink.size // 2:
        return 0.0
    if len(y) > 60_000:
        some = np.linspace(0, len(y) - 1, 60_000).astype(np.int64)
        y, x = y[some], x[some]
    level = _sharpness(x, y, 0.0)
    best = max(np.arange(-MOST_ASKEW, MOST_ASKEW + 0.01, 0.25), key=lambda angle: _sharpness(x, y, angle))
    best = max(np.arange(best - 0.2, best + 0.21, 0.05), key=lambda angle: _sharpness(x, y, angle))
    # a page of few, short lines has a best angle too, but it hardly differs from none
    return round(float(best), 2) if abs(best) >= 0.2 and _sharpness(x, y, best) > 1.05 * level else 0.0


def _sharpness(x: np.ndarray, y: np.ndarray, angle: float) -> float:
    """Largest when lines of text and the white between them fall into rows."""
    rows = np.round(y + x * np.tan(np.radians(angle))).astype(np.int64)
    filled = np.bincount(rows - rows.min()).astype(np.float64)
    return float((filled * filled).sum())


def tile_medians(grey: np.ndarray) -> np.ndarray:
    """The middle grey of each tile."""
    height, width = grey.shape
    down, across = -(-height // TILE), -(-width // TILE)
    padded = np.pad(grey, ((0, down * TILE - height), (0, across * TILE - width)), mode="edge")
    tiles = padded.reshape(down, TILE, across, TILE).transpose(0, 2, 1, 3).reshape(down, across, -1)
    return np.asarray(np.median(tiles, axis=2))


def _paper(grey: np.ndarray) -> np.ndarray:
    height, width = grey.shape
    medians = tile_medians(grey)
    down, across = medians.shape
    padded = np.pad(medians, 1, mode="edge")
    # a tile inside one fat letter knows no paper: its neighbours do
    near = np.stack([padded[y : y + down, x : x + across] for y in range(3) for x in range(3)])
    smooth = np.median(near, axis=0).astype(np.int16)
    return smooth.repeat(TILE, 0).repeat(TILE, 1)[:height, :width]


def _without_specks(ink: np.ndarray) -> np.ndarray:
    """Drop ink with fewer than two neighbours of ink."""
    padded = np.pad(ink, 1).astype(np.uint8)
    height, width = ink.shape
    around = sum(padded[y : y + height, x : x + width] for y in range(3) for x in range(3))
    return np.asarray(ink & (around >= 3))


def _long_runs(ink: np.ndarray, least: int) -> np.ndarray:
    """Ink that lies in a row of at least `least` pixels of ink."""
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


def paper_colour(page: Image) -> tuple[int, int, int]:
    """What fills the corners of a page that is turned."""
    import numpy as np

    small = np.asarray(page.convert("RGB").resize((64, 64))).reshape(-1, 3)
    red, green, blue = (int(value) for value in np.median(small, axis=0))
    return red, green, blue


def rotated_page(page: Image, degrees: float) -> Image:
    """Counterclockwise, grown so that no corner is lost."""
    if not degrees:
        return page
    from PIL.Image import Resampling

    return page.rotate(degrees, expand=True, fillcolor=paper_colour(page), resample=Resampling.BICUBIC)
