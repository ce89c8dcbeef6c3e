"""Orientation and skew: which way up a page is, by how much its lines are tilted, and the page turned upright with level lines.

Lines of text make sharp edges between rows: the axis along which the row profile changes most is that of the lines, and the angle at
which it is sharpest is their skew. Letters rise above the x-height more often than they reach below the baseline, which tells
upright from upside down. Where these signs are weak, or speak for a turn, a few lines are recognized both ways: the
recognizer is surer of the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from engine.errors import ErrorText
from engine.media.documents import PageImage
from engine.media.text_layer import QUARTER_TURNS, QuarterTurn, TextLayerWord
from engine.pipelines.reading.ink import columns_of, cut_lines, ink_of, runs, without_rules, working_copy
from engine.pipelines.reading.layout import PageSplitter, find_lines, line_height
from engine.pipelines.reading.recognizer import SURE
from engine.pipelines.reading.results import Box

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_SKEW = 15.0  # degrees
_LEAST_SKEW = 0.1
_GAIN, _STEEP_GAIN = 1.05, 1.2  # of sharpness, that a skew must bring; from 3 degrees on the higher one
_COARSE_POINTS, _FINE_POINTS = 15_000, 60_000  # of ink
_CLEAR_AXIS = 1.3  # the ratio of the two axes' contrast
_LEAST_LINES = 3  # fewer leave the axis to the shape of the ink
_LETTERS = 5  # a row of fewer is no line
_RISING = 0.6  # the part of the ink outside the x-height that lies above it; of few lines more
_MARGIN = 0.05  # of confidence, that a turn must gain
_SAMPLES = 4  # lines that are recognized
_SAMPLE_WIDTH = 14  # times a line's height

UNCLEAR = ErrorText("It is not clear which way up this page is. Turn it if the text makes no sense.")
TURNED = {
    90: ErrorText("Turned by 90 degrees to the left."),
    180: ErrorText("Turned by 180 degrees."),
    270: ErrorText("Turned by 90 degrees to the right."),
}

Confidence = Callable[[Sequence["Image"]], "float | None"]  # lines -> how sure the recognizer is; None: it says nothing


@dataclass(frozen=True)
class UprightPage:
    """A page as it is read."""

    opened: PageImage  # turned, with level lines
    turned: float = 0.0  # degrees of counterclockwise rotation from the page in the file
    notes: tuple[str, ...] = ()


def upright(opened: PageImage, turn: QuarterTurn | None, confidence: Confidence) -> UprightPage:
    """The page upright. `turn`: how it is to be turned; None: to be found out."""
    if opened.words is not None:  # the file states where each letter is, and how it is turned
        return _turned_page(opened, opened.text_turn if turn is None else turn, 0.0, found=turn is None)
    if turn is not None:
        image = rotated_page(opened.image, turn)
        return _turned_page(opened, turn, skew_angle(_page_ink(image)), found=False)
    turn, skew, clear = _oriented(opened.image, confidence)
    page = _turned_page(opened, turn, skew, found=True)
    return page if clear else replace(page, notes=(*page.notes, UNCLEAR))


def _turned_page(opened: PageImage, turn: int, skew: float, found: bool) -> UprightPage:
    degrees = _signed(turn) - skew
    image = rotated_page(opened.image, degrees)
    words = None if opened.words is None else turned_words(opened.words, turn, opened.image.size)
    return UprightPage(
        replace(opened, image=image, words=words, text_turn=0),
        degrees or 0.0,
        (TURNED[turn],) if turn and found else (),
    )


def _signed(turn: int) -> int:
    return turn - 360 if turn > 180 else turn


def _oriented(page: Image, confidence: Confidence) -> tuple[QuarterTurn, float, bool]:
    """The turn, the skew after it, and whether both are clear."""
    ink = _page_ink(page)
    if not ink.any():
        return 0, 0.0, True
    across, down = _Skew.of(ink), _Skew.of(ink.T)
    tilt = across.angle if across.contrast >= down.contrast else -down.angle
    level = without_rules(_page_ink(rotated_page(page, -tilt)) if tilt else ink)
    lines, axis = _axis(level)
    if lines is None:
        return 0, tilt, True  # no text: there is nothing to turn it by
    rising = _rising(lines)
    first: QuarterTurn = 90 if axis == "down" else 0
    other: QuarterTurn = 270 if axis == "down" else 180
    if axis == "across" and rising is not None and rising[0] >= _RISING + (0.1 if rising[1] < _LEAST_LINES else 0):
        return 0, tilt, True
    return _asked(page, tilt, QUARTER_TURNS if axis is None else (first, other), rising, confidence)


def _asked(
    page: Image,
    tilt: float,
    candidates: Sequence[QuarterTurn],
    rising: tuple[float, int] | None,
    confidence: Confidence,
) -> tuple[QuarterTurn, float, bool]:
    """The turn of which the recognizer is surest; without its answer the one that the ink speaks for."""
    clear = rising is not None and len(candidates) == 2 and not 1 - _RISING < rising[0] < _RISING
    drawn = candidates[int(rising[0] < 0.5)] if clear and rising is not None else 0
    scores = {turn: confidence(_sample(rotated_page(page, _signed(turn) - tilt))) for turn in candidates}
    known = {turn: score for turn, score in scores.items() if score is not None}
    if not known:
        return drawn, tilt, clear
    best = max(known, key=lambda turn: known[turn])
    if known.get(drawn, -1.0) >= known[best] - _MARGIN:
        best = drawn
    return best, tilt, known[best] >= SURE


def _sample(page: Image) -> list[Image]:
    """The beginnings of a few long lines."""
    lines = [line for region in PageSplitter().detect(page).regions for line in region.lines]
    long = sorted(lines, key=lambda line: -min(line.width, _SAMPLE_WIDTH * line.height) * line.height**0.5)[:_SAMPLES]
    return cut_lines(
        page, [Box(b.left, b.top, min(b.right, b.left + _SAMPLE_WIDTH * b.height), b.bottom) for b in long]
    )


# -- what the ink says


def _page_ink(page: Image) -> np.ndarray:
    return ink_of(working_copy(page)[0])


def _axis(ink: np.ndarray) -> tuple[np.ndarray | None, Literal["across", "down"] | None]:
    """The ink with its lines across, and where they run; no ink where there is no text, no axis where it is unclear."""
    rows, columns = np.flatnonzero(ink.any(axis=1)), np.flatnonzero(ink.any(axis=0))
    if not len(rows):
        return None, None
    ink = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    across, down = _contrast(ink.sum(axis=1)), _contrast(ink.sum(axis=0))
    for name, lines, ratio in (
        ("across", ink, across / (down or 1e-9)),
        ("down", ink.T[::-1], down / (across or 1e-9)),
    ):
        if ratio >= _CLEAR_AXIS and len(_lines_of(lines)) >= _LEAST_LINES:
            return lines, name  # type: ignore[return-value]
    height, width = ink.shape
    if width >= 2 * height:
        return ink, "across"
    return (ink.T[::-1], "down") if height >= 2 * width else (ink, None)


def _contrast(profile: np.ndarray) -> float:
    """The energy of a profile's edges; larger across lines of text than along them."""
    edges = np.diff(profile.astype(np.float64), prepend=0, append=0)
    return float((edges * edges).sum()) * len(profile) / float(profile.sum()) ** 2


def _lines_of(ink: np.ndarray) -> list[np.ndarray]:
    """The lines that are rows of several letters; strokes of tall letters are not, though white parts them too."""
    typical = line_height(ink)
    found = [ink[a:b] for a, b in find_lines(ink, typical) if 0.5 * typical < b - a < 2 * typical]
    return [line for line in found if len(runs(columns_of(line))) >= _LETTERS]


def _rising(ink: np.ndarray) -> tuple[float, int] | None:
    """The part of the ink outside the x-height that lies above it, and the number of lines; None without such ink."""
    above = below = 0.0
    lines = _lines_of(ink)
    for line in lines:
        rows = line.sum(axis=1).astype(np.float64)
        full = np.flatnonzero(rows >= 0.5 * np.percentile(rows, 90))
        above += rows[: full[0]].sum()
        below += rows[full[-1] + 1 :].sum()
    return (above / (above + below), len(lines)) if above + below else None


@dataclass(frozen=True)
class _Skew:
    """The angle at which a page's rows are sharpest, positive where lines rise to the right, and the contrast there."""

    angle: float
    contrast: float

    @classmethod
    def of(cls, ink: np.ndarray) -> _Skew:
        y, x = np.nonzero(ink)
        if len(y) < 200 or len(y) > ink.size // 2:
            return cls(0.0, 0.0)
        few, many = _thinned(y, x, _COARSE_POINTS), _thinned(y, x, _FINE_POINTS)
        best = max(np.arange(-MAX_SKEW, MAX_SKEW + 0.01, 0.25), key=lambda angle: _sharpness(few, angle))
        best = max(np.arange(best - 0.25, best + 0.251, 0.05), key=lambda angle: _sharpness(many, angle))
        # on a page with few, short lines the best angle is hardly sharper than 0
        gain = _GAIN if abs(best) <= 3 else _STEEP_GAIN
        clear = abs(best) > _LEAST_SKEW - 0.01 and _sharpness(many, best) > gain * _sharpness(many, 0.0)
        angle = round(float(best), 2) if clear else 0.0
        return cls(angle, _contrast(_profile(many, angle)))


def _thinned(y: np.ndarray, x: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    if len(y) <= most:
        return y, x
    some = np.linspace(0, len(y) - 1, most).astype(np.int64)
    return y[some], x[some]


def _profile(points: tuple[np.ndarray, np.ndarray], angle: float) -> np.ndarray:
    rows = np.round(points[0] + points[1] * np.tan(np.radians(angle))).astype(np.int64)
    return np.bincount(rows - rows.min())


def _sharpness(points: tuple[np.ndarray, np.ndarray], angle: float) -> float:
    """The energy of the row profile at an angle; largest where lines of text are level."""
    filled = _profile(points, angle).astype(np.float64)
    return float((filled * filled).sum())


def skew_angle(ink: np.ndarray) -> float:
    """The skew angle in degrees, positive where lines rise to the right; 0 without a clear maximum."""
    return _Skew.of(ink).angle


# -- turning


def rotated_page(page: Image, degrees: float) -> Image:
    """The page rotated counterclockwise, enlarged to keep its corners. Quarter turns keep every pixel."""
    from PIL.Image import Resampling, Transpose

    quarters = round(degrees / 90)
    rest = degrees - 90 * quarters
    if quarters % 4:
        page = page.transpose((Transpose.ROTATE_90, Transpose.ROTATE_180, Transpose.ROTATE_270)[quarters % 4 - 1])
    if not rest:
        return page
    return page.rotate(rest, expand=True, fillcolor=_paper_colour(page), resample=Resampling.BICUBIC)


def _paper_colour(page: Image) -> tuple[int, int, int]:
    """The colour that fills the corners of a rotated page."""
    small = np.asarray(page.convert("RGB").resize((64, 64))).reshape(-1, 3)
    red, green, blue = (int(value) for value in np.median(small, axis=0))
    return red, green, blue


def turned_words(words: Sequence[TextLayerWord], turn: int, size: tuple[int, int]) -> tuple[TextLayerWord, ...]:
    """The words of a page of this size after a quarter turn."""
    width, height = size
    places = {
        0: lambda a, b, c, d: (a, b, c, d),
        90: lambda a, b, c, d: (b, width - c, d, width - a),
        180: lambda a, b, c, d: (width - c, height - d, width - a, height - b),
        270: lambda a, b, c, d: (height - d, a, height - b, c),
    }
    return tuple(TextLayerWord(word.text, places[turn](*word.bounds)) for word in words)
