"""The vision processor of Gemma 3: every picture is scaled to one size, whatever its shape, and has the same number of tokens.

The chat template writes a start token for a picture. In the prompt, empty lines and an end token surround it. Where the settings say
so, a long picture comes with crops of it, side by side (pan and scan).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.gemma3_vision import image_token_side
from engine.models.siglip import siglip_config
from engine.vision.base import PictureProcessor
from engine.vision.processor import (
    ImageLike,
    channel_values,
    content_key,
    normalized,
    part_of,
    raster_patches,
    resolution_note,
    rgb,
    size_of,
)

START, END = "<start_of_image>", "<end_of_image>"


class Gemma3VisionProcessor(PictureProcessor):
    def __init__(self, config: Fields, image: Fields) -> None:
        c = siglip_config(config.sub("vision_config"))
        self.patch, self.side = c.patch, c.side * c.patch
        self.tokens = image_token_side(config, c) ** 2
        size = part_of(image, "size")
        if {size.int("height", default=self.side), size.int("width", default=self.side)} != {self.side}:
            raise ConfigError(f"{image.where}: pictures have another size than the vision tower reads, {self.side}.")
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.start_id = config.int("boi_token_index", "boi_token_id", default=255999)
        self.image_id = config.int("image_token_index", "image_token_id", default=262144)
        self.placeholder_ids = (self.start_id, self.image_id)
        self.max_pixels = self.side**2
        self.crops = image.int("pan_and_scan_max_num_crops", default=4) if image.flag("do_pan_and_scan") else 0
        self.least_crop = image.int("pan_and_scan_min_crop_size", default=256)
        self.longish = image.float("pan_and_scan_min_ratio_to_activate", default=1.2, above=0)

    def note(self, image: ImageLike) -> str | None:
        return resolution_note(*size_of(image), self.side, self.side, self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        from PIL.Image import Resampling

        shown = rgb(image)
        views = [shown, *(shown.crop(box) for box in self._boxes(shown.height, shown.width))]
        pixels = np.stack([np.asarray(view.resize((self.side, self.side), Resampling.BILINEAR)) for view in views])
        cut = [raster_patches(view, self.patch) for view in normalized(pixels, self.mean, self.std)]
        grid = (len(views), self.side // self.patch, self.side // self.patch)
        return Picture(np.concatenate(cut), grid, len(views) * self.tokens, content_key(pixels))

    def _boxes(self, height: int, width: int) -> list[tuple[int, int, int, int]]:
        """Left, top, right and bottom of each crop."""
        long, short = max(height, width), min(height, width)
        if not self.crops or long / short < self.longish:
            return []
        count = min(self.crops, max(2, min(long // self.least_crop, math.floor(long / short + 0.5))))
        across, down = (count, 1) if width >= height else (1, count)
        wide, high = math.ceil(width / across), math.ceil(height / down)
        if min(wide, high) < self.least_crop:
            return []
        corners = itertools.product(range(0, high * down, high), range(0, wide * across, wide))
        return [(left, top, min(left + wide, width), min(top + high, height)) for top, left in corners]

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        one = f"\n\n{START}{END}\n\n"
        before, *behind = text.split(START)
        views = [picture.grid[0] for picture in pictures] if len(behind) == len(pictures) else [1] * len(behind)
        shown = [
            one if count == 1
            else f"Here is the original image {one} and here are some crops to help you see better "
            + " ".join([one] * (count - 1))
            for count in views
        ]  # fmt: skip
        return before + "".join(map("".join, zip(shown, behind)))

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        starts = [at for at, id in enumerate(ids) if id == self.start_id]
        if len(starts) != sum(picture.grid[0] for picture in pictures):
            raise BadRequest(
                f"The prompt has {len(starts)} places for images, but there are {len(pictures)} images. "
                "Let the chat template write the places: the text itself must not hold image tokens."
            )
        out: list[int] = []
        positions: list[int] = []
        before = 0
        for at in starts:
            out += ids[before : at + 1]
            positions += range(len(out), len(out) + self.tokens)
            out += [self.image_id] * self.tokens
            before = at + 1
        return [*out, *ids[before:]], np.asarray(positions, np.int64)
