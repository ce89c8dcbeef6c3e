"""The vision processor of DeepSeek-OCR 2: a picture is padded to a square; a large one comes in tiles of a grid near its shape before that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.deepseek_ocr2 import QUERIES, SHRINK, query_name, vision_fields
from engine.vision.internvl import MOST_TILES, nearest_grid
from engine.vision.processor import (
    ImageLike,
    channel_values,
    check_shape,
    content_key,
    expand_placeholders,
    normalized,
    raster_patches,
    resampling,
    resolution_note,
    rgb,
    size_of,
)

GREY = [127, 127, 127]


@dataclass(frozen=True, eq=False)
class ViewedPicture(Picture):
    sides: tuple[int, ...]  # patches on a side of each view, tiles first


class DeepseekOcr2VisionProcessor:
    line_strips = None

    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        sam = vision_fields(config).sub("sam_config")
        self.patch = sam.int("patch_size", default=16, most=1 << 10)
        size = image.sub("size") if image.find("size", default=None) is not None else Fields({}, image.where)
        self.whole = size.int("height", default=1024, most=1 << 12)
        self.tile = image.int("tile_size", default=768, most=1 << 12)
        for name, side in (("size", self.whole), ("tile_size", self.tile)):
            tokens = (side // (self.patch * SHRINK)) ** 2
            if side % (self.patch * SHRINK) or QUERIES[query_name(tokens)] != tokens:
                raise ConfigError(f"{image.where}: {name} ({side}) is not one that the image encoder has queries for.")
        self.splits = image.flag("crop_to_patches", True)
        self.fewest = image.int("min_patches", default=2, most=MOST_TILES)
        self.most = image.int("max_patches", default=6, most=MOST_TILES)
        if self.fewest > self.most:
            raise ConfigError(f"{image.where}: min_patches ({self.fewest}) is more than max_patches ({self.most}).")
        self.around = image.find("background_color", default=GREY)
        if not isinstance(self.around, list) or len(self.around) != 3:
            raise ConfigError(f"{image.where}: background_color must be three numbers.")
        self.resample = resampling(image, 3)
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.image_id = config.int("image_token_id", default=128815)
        self.placeholder_ids = (self.image_id,)
        self.max_pixels = self.most * self.tile**2 if self.splits else self.tile**2

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
            cut = scaled.reshape(rows, self.tile, columns, self.tile, 3).transpose(0, 2, 1, 3, 4)
            views = list(cut.reshape(-1, self.tile, self.tile, 3))
        height, width = self._scaled(shown.height, shown.width)
        scaled = np.asarray(shown.resize((width, height), self.resample))
        square = np.empty((max(height, width), max(height, width), 3), np.uint8)
        square[:] = np.asarray(self.around, np.uint8)
        top, left = (len(square) - height) // 2, (len(square) - width) // 2
        square[top : top + height, left : left + width] = scaled
        views.append(square)
        patches = np.concatenate([raster_patches(normalized(view, self.mean, self.std), self.patch) for view in views])
        sides = tuple(len(view) // self.patch for view in views)
        tokens = sum((side // SHRINK) ** 2 for side in sides) + 1
        key = content_key(np.concatenate([view.reshape(-1) for view in views]), sides)
        return ViewedPicture(patches, (len(views), sides[-1], sides[-1]), tokens, key, sides)

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        raise BadRequest("This model reads images, not videos. Send single frames.", "images")

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        return text

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        return expand_placeholders(
            ids, pictures, self.placeholder_ids, lambda picture: [self.image_id] * picture.tokens
        )

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> None:
        return None

    def _grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of tiles; (0, 0): the picture is small, and comes as a whole only."""
        if not self.splits or max(height, width) <= self.tile:
            return 0, 0
        return nearest_grid(height, width, self.fewest, self.most, self.tile)

    def _scaled(self, height: int, width: int) -> tuple[int, int]:
        side = self.whole if self.splits else self.tile
        scale = side / max(height, width)
        return max(round(height * scale), 1), max(round(width * scale), 1)
