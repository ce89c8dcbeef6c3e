"""The vision processor of LFM 2-VL: a picture keeps its shape. A large one is cut into a grid of tiles near its shape, and comes once more
as a whole, scaled down; in the prompt each tile has a tag with its row and column before its tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.errors import ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.lfm2_vl import naflex_config
from engine.models.qwen_vision import block_places
from engine.vision.base import PictureProcessor
from engine.vision.processor import (
    ImageLike,
    channel_values,
    check_shape,
    content_key,
    normalized,
    resampling,
    resolution_note,
    rgb,
    size_of,
)
from engine.vision.tiles import cut_tiles, nearest_grid, tile_limits

START, END, WHOLE = "<|image_start|>", "<|image_end|>", "<|img_thumbnail|>"
LARGEST_TILE, MOST_TOKENS = 4096, 1 << 14  # whatever the settings say
# of the settings, which older repositories keep in the processor's file or in config.json
NAMES = (
    "do_image_splitting",
    "min_tiles",
    "max_tiles",
    "use_thumbnail",
    "min_image_tokens",
    "max_image_tokens",
    "encoder_patch_size",
    "tile_size",
    "max_pixels_tolerance",
    "use_image_special_tokens",
)


@dataclass(frozen=True, eq=False)
class NaflexPicture(Picture):
    tiles: tuple[tuple[int, int], ...]  # patches down and across of each
    rows: int
    columns: int


def lfm2_settings(image: Fields, *others: Mapping[str, Any]) -> Fields:
    """The settings of the image processor, and what it leaves to `others`, the nearest first."""
    found: dict[str, Any] = {}
    for other in reversed(others):
        found |= {name: other[name] for name in NAMES if other.get(name) is not None}
    return Fields(found | dict(image.values), image.where)


class Lfm2VlVisionProcessor(PictureProcessor):
    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        c = naflex_config(config)
        self.patch, self.merge = c.patch, c.merge
        if (cut := image.int("encoder_patch_size", default=c.patch)) != c.patch:
            raise ConfigError(f"{image.where}: patches are cut by {cut}, but the vision tower reads {c.patch}.")
        self.factor = c.patch * c.merge
        self.fewest, self.most = tile_limits(image, "min_tiles", 2, "max_tiles", 10)
        self.splits = image.flag("do_image_splitting", True) and (self.fewest, self.most) != (1, 1)
        self.tile = image.int("tile_size", default=512, most=LARGEST_TILE)
        if self.tile % self.factor:
            raise ConfigError(
                f"{image.where}: tile_size ({self.tile}) must be a multiple of {self.factor}, the side of a token."
            )
        self.whole = image.flag("use_thumbnail", True)
        self.least_tokens = image.int("min_image_tokens", default=64, most=MOST_TOKENS)
        self.most_tokens = image.int("max_image_tokens", default=256, most=MOST_TOKENS)
        if self.least_tokens > self.most_tokens:
            raise ConfigError(
                f"{image.where}: min_image_tokens ({self.least_tokens}) is more than max_image_tokens ({self.most_tokens})."
            )
        self.tolerance = image.float("max_pixels_tolerance", default=2.0, above=0)
        self.resample = resampling(image, 2)
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.tagged = image.flag("use_image_special_tokens", True)
        self.image_id = config.int("image_token_id", "image_token_index", default=396)
        self.placeholder_ids = (self.image_id,)
        self.max_pixels = self.most * self.tile**2 if self.splits else self.most_tokens * self.factor**2
        self._encode = encode

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        rows, columns = self._grid(height, width)
        seen = (rows * self.tile, columns * self.tile) if rows * columns > 1 else self._scaled(height, width)
        return resolution_note(height, width, *seen, self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> NaflexPicture:
        shown = rgb(image)
        check_shape(shown.height, shown.width)
        rows, columns = self._grid(shown.height, shown.width)
        tiles: list[np.ndarray] = []
        if rows * columns > 1:
            scaled = np.asarray(shown.resize((columns * self.tile, rows * self.tile), self.resample))
            tiles = cut_tiles(scaled, self.tile)
        if not tiles or self.whole:
            height, width = self._scaled(shown.height, shown.width)
            tiles.append(np.asarray(shown.resize((width, height), self.resample)))
        grids = tuple((tile.shape[0] // self.patch, tile.shape[1] // self.patch) for tile in tiles)
        patches = np.concatenate([self._patches(tile) for tile in tiles])
        key = content_key(np.concatenate([tile.reshape(-1) for tile in tiles]), grids, rows, columns)
        grid = (len(tiles), *grids[-1])
        return NaflexPicture(patches, grid, len(patches) // self.merge**2, key, grids, rows, columns)

    def _patches(self, tile: np.ndarray) -> np.ndarray:
        """The model was trained with values of a patch in the order of rows, columns and colours."""
        rows, columns = tile.shape[0] // self.patch, tile.shape[1] // self.patch
        cut = normalized(tile, self.mean, self.std).reshape(rows, self.patch, columns, self.patch, 3)
        down, across = block_places(rows, columns, self.merge)
        patches: np.ndarray = cut.transpose(0, 2, 1, 3, 4).reshape(rows, columns, -1)[down, across]
        return patches

    def _grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of tiles; one of each: the picture is not cut."""
        rounded = [max(self.patch, round(side / self.factor) * self.factor) for side in (height, width)]
        if not self.splits or rounded[0] * rounded[1] <= self.most_tokens * self.factor**2 * self.tolerance:
            return 1, 1
        return nearest_grid(height, width, self.fewest, self.most, self.tile)

    def _scaled(self, height: int, width: int) -> tuple[int, int]:
        """Of a picture as a whole: whole tokens on both sides, and as many of them as are allowed."""
        factor, least, most = self.factor, self.least_tokens * self.factor**2, self.most_tokens * self.factor**2
        h, w = (max(factor, round(side / factor) * factor) for side in (height, width))
        if h * w > most:
            shrink = math.sqrt(height * width / most)
            h, w = (max(factor, math.floor(side / shrink / factor) * factor) for side in (height, width))
        elif h * w < least:
            grow = math.sqrt(least / (height * width))
            h, w = (math.ceil(side * grow / factor) * factor for side in (height, width))
        return h, w

    def _spelled(self, picture: Picture) -> list[int]:
        assert isinstance(picture, NaflexPicture)
        counts = [rows * columns // self.merge**2 for rows, columns in picture.tiles]
        tags = [""] * len(counts)
        if picture.rows * picture.columns > 1:
            tags = [f"<|img_row_{i + 1}_col_{j + 1}|>" for i in range(picture.rows) for j in range(picture.columns)]
            tags += [WHOLE] * (len(counts) - len(tags))
        out: list[int] = []
        for tag, count in zip(tags, counts):
            out += [*(self._encode(tag) if tag and self.tagged else ()), *[self.image_id] * count]
        return [*self._encode(START), *out, *self._encode(END)] if self.tagged else out
