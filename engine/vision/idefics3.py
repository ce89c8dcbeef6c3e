"""The vision processor of Idefics 3 and SmolVLM: a picture is scaled to whole tiles, cut into them, and comes once more as one tile.

In the prompt each tile has a tag with its row and column before its tokens; a line of text ends each row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import BadRequest
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.idefics3 import block_order, idefics3_vision, scale_factor, tile_side
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

LARGEST_SIDE = 4096  # pixels, whatever the settings say
AROUND, WHOLE = "<fake_token_around_image>", "<global-img>"


@dataclass(frozen=True, eq=False)
class TiledPicture(Picture):
    """A picture of several tiles; none: it is one tile by itself."""

    rows: int
    columns: int


class Idefics3VisionProcessor:
    line_strips = None

    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        self.longest = _edge(image, "size", 4 * 364)
        self.tile = _edge(image, "max_image_size", 364)
        self.splits = image.flag("do_image_splitting", True)
        self.resample = resampling(image, 1)
        self.patch, self.side, self.scale = (
            idefics3_vision(config).patch,
            tile_side(config, self.tile),
            scale_factor(config),
        )
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.image_id = config.int("image_token_id", default=128257)
        self.placeholder_ids = (self.image_id,)
        self.max_pixels = (min(self.longest, LARGEST_SIDE) if self.splits else self.tile) ** 2
        self._encode = encode

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        seen = self._scaled(height, width) if self.splits else (self.tile, self.tile)
        return resolution_note(height, width, *seen, self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> TiledPicture:
        shown = rgb(image)
        check_shape(shown.height, shown.width)
        height, width = self._scaled(shown.height, shown.width)
        shown = shown.resize((width, height), self.resample)
        rows = columns = 0
        tiles: list[np.ndarray] = []
        if self.splits:
            height, width = self._whole_tiles(height, width)
            shown = shown.resize((width, height), self.resample)
            if max(height, width) > self.tile:
                rows, columns = height // self.tile, width // self.tile
                pixels = np.asarray(shown).reshape(rows, self.tile, columns, self.tile, 3)
                tiles = list(pixels.transpose(0, 2, 1, 3, 4).reshape(-1, self.tile, self.tile, 3))
        tiles.append(np.asarray(shown.resize((self.tile, self.tile), self.resample)))
        pixels, inner = np.stack(tiles), self.side * self.patch
        order = block_order(self.side, self.scale)
        cut = [
            raster_patches(tile[:inner, :inner], self.patch)[order] for tile in normalized(pixels, self.mean, self.std)
        ]
        grid = (len(tiles), self.side, self.side)
        tokens = len(tiles) * (self.side // self.scale) ** 2
        return TiledPicture(np.concatenate(cut), grid, tokens, content_key(pixels, rows), rows, columns)

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        raise BadRequest("This model reads images, not videos. Send single frames.", "images")

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        return text

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        return expand_placeholders(ids, pictures, self.placeholder_ids, self._spelled)

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> None:
        return None

    def _scaled(self, height: int, width: int) -> tuple[int, int]:
        """The longer side is `longest`, the other one even, unless that is too large."""
        shape, edge = width / height, self.longest
        if width >= height:
            width, height = edge, int(edge / shape)
            height += height % 2
        else:
            height, width = edge, int(edge * shape)
            width += width % 2
        height, width = max(height, 1), max(width, 1)
        shape, longer = width / height, max(height, width)
        if longer > LARGEST_SIDE:
            across = width >= height
            height = int(LARGEST_SIDE / shape) if across else LARGEST_SIDE
            width = LARGEST_SIDE if across else int(LARGEST_SIDE * shape)
        return max(height, 1), max(width, 1)

    def _whole_tiles(self, height: int, width: int) -> tuple[int, int]:
        shape, tile = width / height, self.tile
        if width >= height:
            width = math.ceil(width / tile) * tile
            height = math.ceil(int(width / shape) / tile) * tile
        else:
            height = math.ceil(height / tile) * tile
            width = math.ceil(int(height * shape) / tile) * tile
        return height, width

    def _spelled(self, picture: Picture) -> list[int]:
        assert isinstance(picture, TiledPicture)
        tile = [self.image_id] * (picture.tokens // picture.grid[0])
        out: list[int] = []
        line = ""  # text that is cut into tokens together
        for row in range(picture.rows):
            for column in range(picture.columns):
                out += [*self._encode(f"{line}{AROUND}<row_{row + 1}_col_{column + 1}>"), *tile]
                line = ""
            line = "\n"
        line += "\n" if picture.rows else ""
        return [*out, *self._encode(f"{line}{AROUND}{WHOLE}"), *tile, *self._encode(AROUND)]


def _edge(image: Fields, name: str, default: int) -> int:
    size = image.sub(name) if image.find(name, default=None) is not None else Fields({}, image.where)
    return size.int("longest_edge", default=default, most=1 << 14)
