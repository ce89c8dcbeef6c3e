"""Images for PP-OCRv6 and what its answers mean: the boxes of lines in a map of text, and characters from the columns of a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import ConfigError
from engine.models.config import Fields
from engine.vision.processor import channel_values, image_settings, normalized, part_of

if TYPE_CHECKING:
    from PIL.Image import Image

SHRINK = 32  # sides of the detector's image are multiples of this
LIKELY, BOX_LIKELY = 0.3, 0.6  # of a pixel, of a whole box
LEAST_SIDE = 3  # pixels of a box in the map
GROWTH = 1.5  # a box is grown by this part of its area over its outline: maps are trained on shrunk lines
MOST_BOXES = 3000
ROUND = 64  # widths of lines are rounded up to multiples of this, so that many are alike


class DetectorImages:
    """A page as the detector sees it."""

    def __init__(self, config: Fields, folder: Path) -> None:
        given = image_settings(config, folder)
        usual = {"image_mean": [0.406, 0.456, 0.485], "image_std": [0.225, 0.224, 0.229]}
        image = Fields(usual | dict(given.values), given.where)
        self.limit, self.most = image.int("limit_side_len", default=960), image.int("max_side_limit", default=4000)
        self.kind = image.find("limit_type", default="max")
        if self.kind not in ("max", "min", "resize_long"):
            raise ConfigError(f"{image.where}: limit_type must be max, min or resize_long, not {self.kind!r:.80}.")
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")

    def size(self, height: int, width: int) -> tuple[int, int]:
        """Height and width of what the detector sees."""
        side = min(height, width) if self.kind == "min" else max(height, width)
        fits = (self.kind == "max" and side <= self.limit) or (self.kind == "min" and side >= self.limit)
        share = 1.0 if fits else self.limit / side
        rows, columns = int(height * share), int(width * share)
        if max(rows, columns) > self.most:
            share = self.most / max(rows, columns)
            rows, columns = int(rows * share), int(columns * share)
        return tuple(max(round(n / SHRINK) * SHRINK, SHRINK) for n in (rows, columns))  # type: ignore[return-value]

    def prepare(self, page: Image) -> np.ndarray:
        """`[H, W, 3]`, blue first."""
        from PIL.Image import Resampling

        height, width = self.size(page.height, page.width)
        shown = page.convert("RGB").resize((width, height), Resampling.BILINEAR)
        return np.ascontiguousarray(normalized(np.asarray(shown), self.mean, self.std)[..., ::-1])


@dataclass(frozen=True)
class FoundBox:
    left: float
    top: float
    right: float
    bottom: float
    score: float


def boxes_in(likely: np.ndarray, width: int, height: int) -> list[FoundBox]:
    """The boxes of lines in a map of text, in pixels of a page of this size. A line is taken to be level."""
    across, down = width / likely.shape[1], height / likely.shape[0]
    found = []
    for top, bottom, left, right in connected(likely > LIKELY)[:MOST_BOXES]:
        rows, columns = bottom - top, right - left
        if min(rows, columns) < LEAST_SIDE:
            continue
        score = float(likely[top:bottom, left:right].mean())
        if score < BOX_LIKELY:
            continue
        grow = rows * columns * GROWTH / (2 * (rows + columns))
        if min(rows, columns) + 2 * grow < LEAST_SIDE + 2:
            continue
        sides = (left - grow) * across, (top - grow) * down, (right + grow) * across, (bottom + grow) * down
        a, b, c, d = (min(max(side, 0.0), most) for side, most in zip(sides, (width, height, width, height)))
        found.append(FoundBox(a, b, c, d, score))
    return found


def connected(mask: np.ndarray) -> list[tuple[int, int, int, int]]:
    """Top, bottom, left and right of each group of pixels that touch one another, corners included."""
    parents: list[int] = []
    bounds: list[list[int]] = []

    def root(i: int) -> int:
        while parents[i] != i:
            parents[i] = parents[parents[i]]
            i = parents[i]
        return i

    above: list[tuple[int, int, int]] = []
    for y, row in enumerate(mask):
        edges = np.flatnonzero(np.diff(np.concatenate([[False], row, [False]]).astype(np.int8)))
        current: list[tuple[int, int, int]] = []
        at = 0
        for left, right in zip(edges[::2].tolist(), edges[1::2].tolist()):
            own = len(parents)
            parents.append(own)
            bounds.append([y, y + 1, left, right])
            while at < len(above) and above[at][1] < left:
                at += 1
            for start, _, other in above[at:]:
                if start > right:
                    break
                first, second = sorted((root(own), root(other)))
                parents[second] = first
            current.append((left, right, own))
        above = current
    joined: dict[int, list[int]] = {}
    for i, (top, bottom, left, right) in enumerate(bounds):
        whole = joined.setdefault(root(i), [top, bottom, left, right])
        whole[0], whole[1] = min(whole[0], top), max(whole[1], bottom)
        whole[2], whole[3] = min(whole[2], left), max(whole[3], right)
    return [(top, bottom, left, right) for top, bottom, left, right in joined.values()]


class LineImages:
    """Lines as the recognizer sees them, and the characters that it knows."""

    def __init__(self, config: Fields, folder: Path) -> None:
        image = image_settings(config, folder)
        size = part_of(image, "size")
        self.height, self.usual = size.int("height", default=48), size.int("width", default=320)
        self.most = image.int("max_image_width", default=3200, most=1 << 16)
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.characters = _characters(image, config.int("head_out_channels", default=18714))

    def prepare(self, line: Image) -> np.ndarray:
        """`[H, W, 3]`, blue first; zeros behind the line's end."""
        ratio = line.width / max(line.height, 1)
        width = min(max(math.ceil(self.height * ratio), 1), self.most)
        pixels = bilinear(np.asarray(line.convert("RGB")), self.height, width)
        out = np.zeros((self.height, max(self.usual, -(-width // ROUND) * ROUND), 3), np.float32)
        out[:, :width] = normalized(pixels, self.mean, self.std)[..., ::-1]
        return out

    def text(self, ids: np.ndarray, chances: np.ndarray) -> tuple[str, tuple[float, ...]]:
        """The characters of a line's columns, and how likely each is. Equal neighbours are one, and 0 is none."""
        kept = ids != 0
        kept[1:] &= ids[1:] != ids[:-1]
        text = "".join(self.characters[i] for i in ids[kept].tolist())
        return text, tuple(float(chance) for chance in chances[kept])


def _characters(image: Fields, count: int) -> Sequence[str]:
    given: Any = image.find("character_list", default=None)
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise ConfigError(f"{image.where} lacks `character_list`, the characters that this model writes.")
    if len(given) == count - 1:
        given = ["", *given]  # the first is no character
    if len(given) != count:
        raise ConfigError(f"{image.where}: character_list has {len(given):,} characters, but the model {count:,}.")
    return given


def bilinear(image: np.ndarray, height: int, width: int) -> np.ndarray:
    """Bytes `[H, W, C]` -> bytes `[height, width, C]` of the two nearest rows and columns, however much smaller it becomes."""
    (top, low, y), (left, right, x) = _two_nearest(image.shape[0], height), _two_nearest(image.shape[1], width)
    lines = image.astype(np.float32)
    rows = lines[top] * (1 - y)[:, None, None] + lines[low] * y[:, None, None]
    made = rows[:, left] * (1 - x)[None, :, None] + rows[:, right] * x[None, :, None]
    return made.round().clip(0, 255).astype(np.uint8)


def _two_nearest(source: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    place = (np.arange(size, dtype=np.float32) + np.float32(0.5)) * np.float32(source / size) - np.float32(0.5)
    place = place.clip(0, source - 1)
    low = np.floor(place).astype(np.int64)
    return low, np.minimum(low + 1, source - 1), (place - low).astype(np.float32)
