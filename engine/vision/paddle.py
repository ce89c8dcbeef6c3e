"""The vision processor of PaddleOCR-VL: one page region at its own resolution, prepared for one recognition task.

Patches are in raster order. The task selects the prompt, and for two tasks the image changes: a formula loses its empty
margins, and small images are doubled for spotting. A checkpoint may state that it reads single lines (`line_strips.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.vision.line_strips import LineStripRules
from engine.vision.processor import (
    ImageLike,
    channel_values,
    content_key,
    expand_placeholders,
    fitting_size,
    normalized,
    pixel_limits,
    raster_patches,
    resized,
    rgb,
    rope_positions,
    size_of,
)

if TYPE_CHECKING:
    from PIL.Image import Image

# The prompts by task. The first four work with every version, the last two from 1.5 on.
TASKS = {
    "text": "OCR:",
    "table": "Table Recognition:",
    "formula": "Formula Recognition:",
    "chart": "Chart Recognition:",
    "seal": "Seal Recognition:",
    "spotting": "Spotting:",
}
SPOTTING_MAX_PIXELS = 1605632  # pixels; spotting needs a higher resolution than text
SPOTTING_SMALL = 1500  # both sides under this: doubled
INK = 200  # of 255, once the darkest is 0 and the lightest 255


def task_prompt(task: str, newline: bool = False) -> str:
    """The whole prompt for one image, for checkpoints without a template. From 1.5 on it ends in a line break."""
    ending = "Assistant:\n" if newline else "Assistant: "
    picture = "<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>"
    return f"<|begin_of_sentence|>User: {picture}{question(task)}\n{ending}"


def question(task: str) -> str:
    if task not in TASKS:
        raise BadRequest(f"There is no task `{task}`. Choose one of: {', '.join(TASKS)}.", "task")
    return TASKS[task]


class PaddleVisionProcessor:
    def __init__(self, config: Fields, image: Fields) -> None:
        vision = config.sub("vision_config")
        self.patch = image.int("patch_size", default=vision.int("patch_size", default=14))
        self.merge = image.int("merge_size", default=vision.int("spatial_merge_size", default=2))
        ours, towers = (self.patch, self.merge), (vision.int("patch_size"), vision.int("spatial_merge_size", default=2))
        if ours != towers:
            raise ConfigError(f"{image.where}: patches are cut by {ours}, but the vision tower reads {towers}.")
        self.factor = self.patch * self.merge
        self.min_pixels, self.max_pixels = pixel_limits(image, 384 * 384, 1536 * 1536)
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.line_strips = LineStripRules.of(image.values)
        self.image_id = config.int("image_token_id")
        self.placeholder_ids = {self.image_id}

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        h, w = self._size(height, width, self.max_pixels)
        if height * width <= self.max_pixels:
            return None
        return (
            f"The image has {width} x {height} pixels; the model looks at {w} x {h} of them. "
            "Cut it into pieces to have all of it read."
        )

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        if task is not None:
            question(task)
        upright, cap = rgb(image), self.max_pixels
        if task == "formula":
            upright = without_margins(upright)
        elif task == "spotting":
            upright, cap = _doubled_if_small(upright), max(cap, SPOTTING_MAX_PIXELS)
        height, width = self._size(upright.height, upright.width, cap)
        pixels = np.asarray(resized(upright, height, width))
        grid = (1, height // self.patch, width // self.patch)
        patches = raster_patches(normalized(pixels, self.mean, self.std), self.patch)
        return Picture(patches, grid, grid[1] * grid[2] // self.merge**2, content_key(pixels))

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        raise BadRequest("This model reads images, not videos. Send single frames.", "images")

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        return text

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        return expand_placeholders(
            ids, pictures, self.placeholder_ids, lambda picture: [self.image_id] * picture.tokens
        )

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> np.ndarray:
        places = np.flatnonzero(np.asarray(ids) == self.image_id)
        runs, at = [], 0
        for picture in pictures:
            runs.append((int(places[at]), (picture.grid[1] // self.merge, picture.grid[2] // self.merge)))
            at += picture.tokens
        return rope_positions(len(ids), runs)

    def _size(self, height: int, width: int, cap: int) -> tuple[int, int]:
        """The size with both sides at least one merge block, within the pixel budget."""
        if height < self.factor:
            height, width = self.factor, round(width * self.factor / height)
        if width < self.factor:
            height, width = round(height * self.factor / width), self.factor
        return fitting_size(height, width, self.factor, self.min_pixels, cap)


def without_margins(image: Image) -> Image:
    """The image cropped to its ink; unchanged without contrast."""
    gray = np.asarray(image.convert("L"), np.float32)
    low, high = gray.min(), gray.max()
    if low == high:
        return image
    ink = (gray - low) / (high - low) * 255 < INK
    rows, columns = np.flatnonzero(ink.any(1)), np.flatnonzero(ink.any(0))
    return image.crop((int(columns[0]), int(rows[0]), int(columns[-1]) + 1, int(rows[-1]) + 1))


def _doubled_if_small(image: Image) -> Image:
    from PIL.Image import Resampling

    if max(image.size) >= SPOTTING_SMALL:
        return image
    return image.resize((2 * image.width, 2 * image.height), Resampling.LANCZOS)
