"""Vision processors of pages in views: a picture is padded to a square; a large one comes in tiles of a grid near its shape before that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.deepseek_ocr2 import QUERIES, query_name
from engine.models.page_views import SHRINK
from engine.vision.base import PictureProcessor
from engine.vision.processor import (
    ImageLike,
    channel_values,
    check_shape,
    content_key,
    normalized,
    part_of,
    raster_patches,
    resampling,
    resolution_note,
    rgb,
    size_of,
)
from engine.vision.tiles import cut_tiles, nearest_grid, tile_limits

GREY = [127, 127, 127]
PATCH = 16


@dataclass(frozen=True, eq=False)
class ViewedPicture(Picture):
    sides: tuple[int, ...]  # patches on a side of each view, tiles first
    tiles: tuple[int, int]  # rows and columns of them; (0, 0): there are none


class PageViewsProcessor(PictureProcessor):
    """A family says how many tiles there may be, and what a picture's tokens are."""

    usual_tile: int
    usual_most: int

    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        vision = config.sub("vision_config")
        named = vision.find("sam_config", default=None) is not None
        self.patch = vision.sub("sam_config").int("patch_size", default=PATCH, most=1 << 10) if named else PATCH
        size = part_of(image, "size")
        self.whole = size.int("height", default=1024, most=1 << 12)
        self.tile = image.int("tile_size", default=self.usual_tile, most=1 << 12)
        for name, side in (("size", self.whole), ("tile_size", self.tile)):
            if side % (self.patch * SHRINK) or not self._fits(side // (self.patch * SHRINK)):
                raise ConfigError(f"{image.where}: {name} ({side}) is not one that the image encoder takes.")
        self.splits = image.flag("crop_to_patches", True)
        self.fewest, self.most = tile_limits(image, "min_patches", 2, "max_patches", self.usual_most)
        self.around = image.find("background_color", default=GREY)
        if not isinstance(self.around, list) or len(self.around) != 3:
            raise ConfigError(f"{image.where}: background_color must be three numbers.")
        self.resample = resampling(image, 3)
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.image_id = config.int("image_token_id", default=128815)
        self.placeholder_ids = (self.image_id,)
        self.max_pixels = self.most * self.tile**2 if self.splits else self._side() ** 2

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        rows, columns = self._grid(height, width)
        seen = (rows * self.tile, columns * self.tile) if rows * columns else self._scaled(height, width)
        return resolution_note(height, width, *seen, self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> ViewedPicture:
        shown = rgb(image)
        check_shape(shown.height, shown.width)
        views: list[np.ndarray] = []
        rows, columns = self._grid(shown.height, shown.width)
        if rows * columns:
            scaled = np.asarray(shown.resize((columns * self.tile, rows * self.tile), self.resample))
            views = cut_tiles(scaled, self.tile)
        height, width = self._scaled(shown.height, shown.width)
        scaled = np.asarray(shown.resize((width, height), self.resample))
        square = np.empty((max(height, width), max(height, width), 3), np.uint8)
        square[:] = np.asarray(self.around, np.uint8)
        top, left = (len(square) - height) // 2, (len(square) - width) // 2
        square[top : top + height, left : left + width] = scaled
        views.append(square)
        patches = np.concatenate([raster_patches(normalized(view, self.mean, self.std), self.patch) for view in views])
        sides = tuple(len(view) // self.patch for view in views)
        tokens = self._tokens([side // SHRINK for side in sides], rows, columns)
        key = content_key(np.concatenate([view.reshape(-1) for view in views]), sides, rows)
        grid = (len(views), sides[-1], sides[-1])
        return ViewedPicture(patches, grid, tokens, key, sides, (rows, columns))

    def _fits(self, side: int) -> bool:
        """Whether the encoder takes views with so many tokens on a side."""
        return True

    def _tokens(self, sides: Sequence[int], rows: int, columns: int) -> int:
        """Of a picture whose views have so many tokens on a side."""
        raise NotImplementedError

    def _side(self) -> int:
        """Of the whole picture."""
        return self.whole

    def _grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of tiles; (0, 0): the picture is small, and comes as a whole only."""
        if not self.splits or max(height, width) <= self.tile:
            return 0, 0
        return nearest_grid(height, width, self.fewest, self.most, self.tile)

    def _scaled(self, height: int, width: int) -> tuple[int, int]:
        scale = self._side() / max(height, width)
        return max(round(height * scale), 1), max(round(width * scale), 1)


class DeepseekOcr2VisionProcessor(PageViewsProcessor):
    usual_tile, usual_most = 768, 6

    def _fits(self, side: int) -> bool:
        return QUERIES[query_name(side**2)] == side**2

    def _tokens(self, sides: Sequence[int], rows: int, columns: int) -> int:
        return sum(side**2 for side in sides) + 1

    def _side(self) -> int:
        return self.whole if self.splits else self.tile


class UnlimitedOcrVisionProcessor(PageViewsProcessor):
    usual_tile, usual_most = 640, 32

    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        super().__init__(config, image, encode)
        self.stretched = not self.splits and self.whole <= image.int("maximum_pad_value", default=640)

    def _tokens(self, sides: Sequence[int], rows: int, columns: int) -> int:
        """Each line of the grid of tiles, and of the whole, is followed by one."""
        *tiles, whole = sides
        return whole * (whole + 1) + 1 + (rows * tiles[0] * (columns * tiles[0] + 1) if tiles else 0)

    def _scaled(self, height: int, width: int) -> tuple[int, int]:
        return (self.whole, self.whole) if self.stretched else super()._scaled(height, width)
