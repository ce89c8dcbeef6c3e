"""Line strips: one line of print brought to the size, contrast and slope that a line model reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.models.config import Fields

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True)
class LineStripRules:
    """What a line model asks for: `height` pixels, of which `rise` rows stay white above and below the ink; pixels
    repeated `stretch` times across, so that a square patch covers a narrow slice; cut beyond `longest` pixels."""

    height: int
    rise: int
    stretch: int
    longest: int

    @classmethod
    def of(cls, preprocessor: Mapping[str, object]) -> LineStripRules | None:
        """The rules a model's preprocessor settings state, if it is a line model."""
        stated = preprocessor.get("line_strip")
        if not isinstance(stated, Mapping):
            return None
        fields = Fields(stated, "preprocessor_config.json (line_strip)")
        return cls(
            fields.int("height"), fields.int("rise", least=0), fields.int("stretch"), fields.int("longest", least=16)
        )


MARGIN = 2  # white columns (in strip pixels) left at both ends
END = 8  # white columns more behind the last letter
STEEPEST = 3.0  # degrees of slant that are taken out
PAPER = 255.0


@dataclass(frozen=True)
class LineStrip:
    """A line at the model's height, black on white: `pixels` [height, width] uint8, before stretching.

    Column x of the picture lies at `(x - left) * scale` of the strip."""

    pixels: np.ndarray
    left: float
    scale: float


@dataclass(frozen=True)
class LinePart:
    """A part of a line for the model, and whether a space stands between it and the part before."""

    image: Image
    spaced: bool = False


def line_parts(picture: Image, rules: LineStripRules) -> list[LinePart]:
    """The line in `picture` as the images the model reads, left to right; none if there is no ink."""
    from PIL import Image as pillow

    strip = straighten(picture, rules)
    if strip is None:
        return []
    found = []
    for start, end, spaced in cuts(strip.pixels, rules.longest):
        part = _padded(_trimmed(strip.pixels[:, start:end]), rules)
        stretched = np.repeat(part, rules.stretch, axis=1)
        found.append(LinePart(pillow.fromarray(stretched).convert("RGB"), spaced))
    return found


def straighten(picture: Image, rules: LineStripRules) -> LineStrip | None:
    """The strip of a picture of one line; None where it holds no ink."""
    from PIL import Image as pillow

    ink = _ink(np.asarray(picture.convert("L"), np.float32))
    if ink is None:
        return None
    slope = _slope(ink)
    if slope:
        ink = _sheared(ink, slope)
    box = _ink_box(ink)
    if box is None:
        return None
    top, bottom, left, right = box
    body = rules.height - 2 * rules.rise
    scale = body / (bottom - top)
    rise = rules.rise / scale
    start = left - MARGIN / scale
    width = max(1, round((right - left) * scale) + 2 * MARGIN)
    # The frame may reach past the picture: paste onto paper first, then cut with a fractional box.
    border = int(np.ceil(max(rise, MARGIN / scale))) + 2
    paper = pillow.fromarray((PAPER * (1 - np.pad(ink, border))).astype(np.uint8))
    frame = (start + border, top - rise + border, start + border + width / scale, bottom + rise + border)
    shrink = pillow.Resampling.BOX if scale < 0.5 else pillow.Resampling.BICUBIC
    frame = (frame[0], max(frame[1], 0.0), min(frame[2], paper.width), min(frame[3], paper.height))
    pixels = np.asarray(paper.resize((width, rules.height), shrink, box=frame))
    return LineStrip(pixels, start, scale)


def cuts(pixels: np.ndarray, longest: int) -> list[tuple[int, int, bool]]:
    """Where to part a strip so that no part is wider than `longest`: at its widest gaps, the words' spaces."""
    width = pixels.shape[1]
    if width <= longest:
        return [(0, width, False)]
    dark = (PAPER - pixels.astype(np.float32)).max(axis=0)
    white = dark < 0.25 * dark.max()
    parts = -(-width // longest)
    found: list[tuple[int, int, bool]] = []
    start, spaced = 0, False
    while width - start > longest:
        # Parts of about equal width keep a short rest from being left over at the end.
        aim = start + min(longest, (width - start) // max(1, parts - len(found)) + longest // 8)
        low = start + max(1, (aim - start) // 2)
        gap = _widest_gap(white[low:aim])
        if gap is None:
            middle, wide = aim, 0
        else:
            middle, wide = low + (gap[0] + gap[1]) // 2, gap[1] - gap[0]
        found.append((start, middle, spaced))
        start, spaced = middle, wide >= max(3, pixels.shape[0] // 7)
    found.append((start, width, spaced))
    return found


def _ink(grey: np.ndarray) -> np.ndarray | None:
    """Darkness of the ink from 0 (paper) to 1, whatever the colours are; None for an even picture."""
    if min(grey.shape) < 2:
        return None
    levels = np.bincount(grey.astype(np.uint8).ravel(), minlength=256).astype(np.float32)
    smooth = np.convolve(levels, np.ones(9), mode="same")
    paper = float(smooth.argmax())
    low, high = np.percentile(grey, (0.5, 99.5))
    span = (paper - low) if paper - low >= high - paper else (paper - high)
    if abs(span) < 12:
        return None
    ink = np.clip((paper - grey) / span, 0, 1)
    return np.clip((ink - 0.08) / 0.92, 0, 1)


def _slope(ink: np.ndarray) -> float:
    """The line's slope (rows per column) at which its rows are sharpest; 0 for short lines and level ones."""
    rows, columns = ink.shape
    if columns < 4 * rows * 0.6:
        return 0.0
    ys, xs = np.nonzero(ink > 0.5)
    if len(ys) < 40:
        return 0.0
    if len(ys) > 6000:
        step = len(ys) // 6000 + 1
        ys, xs = ys[::step], xs[::step]
    xs = xs - columns / 2

    def sharpness(slope: float) -> float:
        at = np.rint(ys - xs * slope).astype(np.int64)
        counts = np.bincount(at - at.min()).astype(np.float64)
        return float((counts**2).sum())

    coarse = max(np.tan(np.radians(np.arange(-STEEPEST, STEEPEST + 0.01, 0.25))), key=sharpness)
    best = max(coarse + np.tan(np.radians(np.arange(-0.2, 0.21, 0.05))), key=sharpness)
    return float(best) if sharpness(best) > 1.04 * sharpness(0.0) else 0.0


def _sheared(ink: np.ndarray, slope: float) -> np.ndarray:
    """Columns moved up or down until the line is level; the picture grows so that nothing is cut."""
    from PIL import Image as pillow

    columns = ink.shape[1]
    extra = int(np.ceil(abs(slope) * columns / 2))
    image = pillow.fromarray(np.pad(ink, ((extra, extra), (0, 0))))
    transform = (1, 0, 0, slope, 1, -slope * columns / 2)
    level = image.transform(image.size, pillow.Transform.AFFINE, transform, pillow.Resampling.BILINEAR)
    return np.asarray(level)


def _ink_box(ink: np.ndarray) -> tuple[int, int, int, int] | None:
    """Rows and columns that hold the ink: top, bottom, left, right. Specks of noise do not count."""
    soft = (ink[:, :-1] + ink[:, 1:]) / 2
    soft = np.maximum(soft[:-1], soft[1:]) if ink.shape[0] > 2 else soft
    strong = soft > 0.38
    # A row belongs to the line if it is dark in two places side by side, or next to a row that is.
    rows: np.ndarray = np.flatnonzero((strong[:, :-1] & strong[:, 1:]).any(axis=1))
    if not len(rows):
        rows = np.flatnonzero(strong.any(axis=1))
    columns = np.flatnonzero(strong.any(axis=0))
    if not len(rows) or not len(columns):
        return None
    return int(rows[0]), int(rows[-1]) + 2, int(columns[0]), int(columns[-1]) + 2


def _widest_gap(white: np.ndarray) -> tuple[int, int] | None:
    edges = np.flatnonzero(np.diff(np.concatenate([[0], white.astype(np.int8), [0]])))
    if not len(edges):
        return None
    starts, ends = edges[::2], edges[1::2]
    widest = int((ends - starts).argmax())
    return int(starts[widest]), int(ends[widest])


def _trimmed(part: np.ndarray) -> np.ndarray:
    """Without the white that a cut through a wide gap left at the ends."""
    inked = np.flatnonzero(part.min(axis=0) < 0.8 * PAPER)
    if not len(inked):
        return part
    return part[:, max(0, inked[0] - MARGIN) : inked[-1] + 1 + MARGIN]


def _padded(part: np.ndarray, rules: LineStripRules) -> np.ndarray:
    """White added on the right: what the model knows a line's end by, then until the stretched width is whole patches,
    whose side is the strip's height."""
    step = rules.height // np.gcd(rules.height, rules.stretch)
    white = END + -(part.shape[1] + END) % step
    return np.pad(part, ((0, 0), (0, white)), constant_values=int(PAPER))
