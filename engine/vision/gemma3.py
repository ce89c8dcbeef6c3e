"""The vision processor of Gemma 3: every picture is scaled to one size, whatever its shape, and has the same number of tokens.

The chat template writes a start token for a picture. In the prompt, empty lines and an end token surround it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.gemma3_vision import image_token_side
from engine.models.siglip import siglip_config
from engine.vision.processor import (
    ImageLike,
    channel_values,
    content_key,
    normalized,
    raster_patches,
    resolution_note,
    rgb,
    size_of,
)

START, END = "<start_of_image>", "<end_of_image>"


class Gemma3VisionProcessor:
    line_strips = None

    def __init__(self, config: Fields, image: Fields) -> None:
        c = siglip_config(config.sub("vision_config"))
        self.patch, self.side = c.patch, c.side * c.patch
        self.tokens = image_token_side(config, c) ** 2
        size = image.sub("size") if image.find("size", default=None) is not None else Fields({}, image.where)
        if {size.int("height", default=self.side), size.int("width", default=self.side)} != {self.side}:
            raise ConfigError(f"{image.where}: pictures have another size than the vision tower reads, {self.side}.")
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.start_id = config.int("boi_token_index", "boi_token_id", default=255999)
        self.image_id = config.int("image_token_index", "image_token_id", default=262144)
        self.placeholder_ids = (self.start_id, self.image_id)
        self.max_pixels = self.side**2

    def note(self, image: ImageLike) -> str | None:
        return resolution_note(*size_of(image), self.side, self.side, self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        from PIL.Image import Resampling

        pixels = np.asarray(rgb(image).resize((self.side, self.side), Resampling.BILINEAR))
        patches = raster_patches(normalized(pixels, self.mean, self.std), self.patch)
        grid = (1, self.side // self.patch, self.side // self.patch)
        return Picture(patches, grid, self.tokens, content_key(pixels))

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        raise BadRequest("This model reads images, not videos. Send single frames.", "images")

    def written(self, text: str) -> str:
        return text.replace(START, f"\n\n{START}{END}\n\n")

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        starts = [at for at, id in enumerate(ids) if id == self.start_id]
        if len(starts) != len(pictures):
            raise BadRequest(
                f"The prompt has {len(starts)} places for images, but there are {len(pictures)} images. "
                "Let the chat template write the places: the text itself must not hold image tokens."
            )
        out: list[int] = []
        positions: list[int] = []
        before = 0
        for at, picture in zip(starts, pictures):
            out += ids[before : at + 1]
            positions += range(len(out), len(out) + picture.tokens)
            out += [self.image_id] * picture.tokens
            before = at + 1
        return [*out, *ids[before:]], np.asarray(positions, np.int64)

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> None:
        return None
