"""The vision processor of Gemma 4: a picture keeps its shape, and has as many tokens as fit under a limit."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.gemma4_vision import pooling
from engine.models.qwen_vision import block_places
from engine.vision.processor import (
    ImageLike,
    check_shape,
    content_key,
    expand_placeholders,
    normalized,
    resampling,
    resolution_note,
    rgb,
    size_of,
)

TOKENS = (70, 140, 280, 560, 1120)  # that a picture may have at most


class Gemma4VisionProcessor:
    line_strips = None

    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        vision = config.sub("vision_config")
        self.patch, self.pool = vision.int("patch_size", default=16), pooling(vision)
        ours = image.int("patch_size", default=self.patch), image.int("pooling_kernel_size", default=self.pool)
        if ours != (self.patch, self.pool):
            raise ConfigError(
                f"{image.where}: patches are cut by {ours}, but the vision tower reads {self.patch, self.pool}."
            )
        self.tokens = image.int("max_soft_tokens", default=280)
        if self.tokens not in TOKENS:
            raise ConfigError(f"{image.where}: max_soft_tokens must be one of {', '.join(map(str, TOKENS))}.")
        self.resample = resampling(image, 3)
        self.factor = self.patch * self.pool
        self.max_pixels = self.tokens * self.factor**2
        self.image_id = config.int("image_token_id", default=258880)
        self.start_id = config.int("boi_token_id", default=255999)
        self.end_id = config.int("eoi_token_id", "eoi_token_index", default=258882)
        self.placeholder_ids = (self.image_id,)

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        return resolution_note(height, width, *self._size(height, width), self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        shown = rgb(image)
        height, width = self._size(shown.height, shown.width)
        if (height, width) != (shown.height, shown.width):
            shown = shown.resize((width, height), self.resample)
        pixels = np.asarray(shown)
        rows, columns, patch = height // self.patch, width // self.patch, self.patch
        # the model was trained with values of a patch in the order of rows, columns and colours
        cut = normalized(pixels, [0.5] * 3, [0.5] * 3).reshape(rows, patch, columns, patch, 3)
        down, across = block_places(rows, columns, self.pool)
        patches = cut.transpose(0, 2, 1, 3, 4).reshape(rows, columns, -1)[down, across]
        return Picture(patches, (1, rows, columns), rows * columns // self.pool**2, content_key(pixels))

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        raise BadRequest("This model's videos are not supported. Send single frames.", "images")

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        return text

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        return expand_placeholders(ids, pictures, self.placeholder_ids, self._spelled)

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> None:
        return None

    def _size(self, height: int, width: int) -> tuple[int, int]:
        check_shape(height, width)
        grow = math.sqrt(self.max_pixels / (height * width))
        rows, columns = math.floor(grow * height / self.factor), math.floor(grow * width / self.factor)
        if not rows:
            rows, columns = 1, min(width // height, self.tokens)
        elif not columns:
            rows, columns = min(height // width, self.tokens), 1
        return rows * self.factor, columns * self.factor

    def _spelled(self, picture: Picture) -> list[int]:
        return [self.start_id, *[self.image_id] * picture.tokens, self.end_id]
