"""The vision processor of InternVL: a picture is scaled to a grid of tiles near its shape, and comes once more as one tile.

A video is one tile a frame; in the prompt each has its number before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.idefics3 import block_order
from engine.models.internvl import internvit_config
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

START, END, VIDEO = "<img>", "</img>", "<video>"
# of ImageNet, where the settings say nothing
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
_Kind = TypeVar("_Kind", bound=Picture)


@dataclass(frozen=True, eq=False)
class FramesPicture(Picture):
    """A video: each of its tiles is a frame."""


class InternVlVisionProcessor(PictureProcessor):
    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        given = Fields({"image_mean": MEAN, "image_std": STD} | dict(image.values), image.where)
        c = internvit_config(config)
        self.tile, self.patch, self.side = c.image, c.patch, c.side
        size = part_of(image, "size")
        if size.int("height", default=self.tile) != self.tile or size.int("width", default=self.tile) != self.tile:
            raise ConfigError(f"{image.where}: size must be {self.tile} x {self.tile}, as the image encoder has it.")
        self.fewest, self.most = tile_limits(image, "min_patches", 1, "max_patches", 12)
        self.resample = resampling(image, 3)
        self.mean, self.std = channel_values(given, "image_mean"), channel_values(given, "image_std")
        self.order, self.tokens = block_order(self.side, c.merge), (self.side // c.merge) ** 2
        self.image_id = config.int("image_token_id", default=151667)
        video = encode(VIDEO)
        self.video_id = video[0] if len(video) == 1 else None  # None: the tokenizer has no such token
        self.placeholder_ids = (self.image_id,) if self.video_id is None else (self.image_id, self.video_id)
        self.max_pixels = self.most * self.tile**2
        self._encode = encode

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        rows, columns = self._grid(height, width)
        return resolution_note(height, width, rows * self.tile, columns * self.tile, self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        shown = rgb(image)
        check_shape(shown.height, shown.width)
        rows, columns = self._grid(shown.height, shown.width)
        scaled = np.asarray(shown.resize((columns * self.tile, rows * self.tile), self.resample))
        tiles = cut_tiles(scaled, self.tile)
        if len(tiles) > 1:
            tiles.append(np.asarray(shown.resize((self.tile, self.tile), self.resample)))
        return self._picture(Picture, tiles)

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> FramesPicture:
        if self.video_id is None:
            raise BadRequest(f"This model's tokenizer has no token {VIDEO}. Send single frames as images.", "images")
        if not frames:
            raise BadRequest("The video has no frames.", "images")
        shown = [rgb(frame).resize((self.tile, self.tile), self.resample) for frame in frames]
        return self._picture(FramesPicture, [np.asarray(frame) for frame in shown])

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        kinds = [id for id in ids if id in self.placeholder_ids]
        if any((id == self.video_id) != isinstance(picture, FramesPicture) for id, picture in zip(kinds, pictures)):
            raise BadRequest("The prompt has an image where a video is given, or a video where an image is.", "images")
        return super().expand(ids, pictures)

    def _picture(self, kind: type[_Kind], tiles: Sequence[np.ndarray]) -> _Kind:
        pixels = np.stack(tiles)
        cut = [raster_patches(tile, self.patch)[self.order] for tile in normalized(pixels, self.mean, self.std)]
        grid = (len(tiles), self.side, self.side)
        return kind(np.concatenate(cut), grid, len(tiles) * self.tokens, content_key(pixels, kind.__name__))

    def _grid(self, height: int, width: int) -> tuple[int, int]:
        return nearest_grid(height, width, self.fewest, self.most, self.tile)

    def _spelled(self, picture: Picture) -> list[int]:
        start, end = self._encode(START), self._encode(END)
        if not isinstance(picture, FramesPicture):
            return [*start, *[self.image_id] * picture.tokens, *end]
        out: list[int] = []
        for i in range(picture.grid[0]):
            line = "\n" if i else ""
            tile = [self.image_id] * self.tokens
            out += [*self._encode(f"{line}Frame{i + 1}: {START}"), *tile, *end]
        return out
