"""The vision processor of Mistral 3 and Ministral 3: a picture keeps its shape; in the prompt a token ends each row of squares.

LightOnOCR has the same pictures, and no such tokens.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from engine.errors import ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.pixtral import merge_size, patch_size
from engine.vision.base import PictureProcessor
from engine.vision.processor import (
    ImageLike,
    block_patches,
    channel_values,
    check_shape,
    content_key,
    normalized,
    part_of,
    resampling,
    resolution_note,
    rgb,
    size_of,
)

ROW_END, END = "[IMG_BREAK]", "[IMG_END]"
# of the model that it began with, where the settings say nothing
MEAN, STD = [0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711]


class PixtralVisionProcessor(PictureProcessor):
    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        given = Fields({"image_mean": MEAN, "image_std": STD} | dict(image.values), image.where)
        self.patch, self.merge = patch_size(config), merge_size(config)
        self.factor = self.patch * self.merge
        size = part_of(image, "size")
        self.longest = size.int("longest_edge", "height", default=1024, most=1 << 13)
        self.resample = resampling(image, 3)
        self.mean, self.std = channel_values(given, "image_mean"), channel_values(given, "image_std")
        self.image_id = config.int("image_token_index", "image_token_id", default=10)
        self.placeholder_ids = (self.image_id,)
        self.max_pixels = self.longest**2
        self._encode = encode

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        return resolution_note(height, width, *self._size(height, width), self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        shown = rgb(image)
        height, width = self._size(shown.height, shown.width)
        pixels = np.asarray(shown.resize((width, height), self.resample))[None]
        grid = (1, height // self.patch, width // self.patch)
        patches = block_patches(normalized(pixels, self.mean, self.std), self.patch, self.merge, 1)
        return Picture(patches, grid, grid[1] * grid[2] // self.merge**2, content_key(pixels))

    def _size(self, height: int, width: int) -> tuple[int, int]:
        check_shape(height, width)
        shrink = max(height, width) / self.longest
        if shrink > 1:
            height, width = math.floor(height / shrink), math.floor(width / shrink)
        return math.ceil(height / self.factor) * self.factor, math.ceil(width / self.factor) * self.factor

    def _spelled(self, picture: Picture) -> list[int]:
        row = [self.image_id] * (picture.grid[2] // self.merge)
        out = [*row, self._one(ROW_END)] * (picture.grid[1] // self.merge)
        return [*out[:-1], self._one(END)]

    def _one(self, token: str) -> int:
        ids = self._encode(token)
        if len(ids) != 1:
            raise ConfigError(f"The tokenizer has no token {token}, which this model's pictures need.")
        return ids[0]


class LightOnVisionProcessor(PixtralVisionProcessor):
    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        given = Fields({"image_token_id": 151655} | dict(config.values), config.where)
        super().__init__(given, image, encode)

    def _spelled(self, picture: Picture) -> list[int]:
        return [self.image_id] * picture.tokens
