"""What vision processors of most families share: no line strips, no videos, a run of tokens for each place, and the positions of a text."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from engine.errors import BadRequest
from engine.media.inputs import Picture
from engine.vision.line_strips import LineStripRules
from engine.vision.processor import ImageLike, expand_placeholders


class PictureProcessor:
    """Part of `VisionProcessor`. A family adds its settings, `max_pixels`, `note` and `prepare`."""

    line_strips: LineStripRules | None = None
    image_id: int
    placeholder_ids: Collection[int]

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        raise BadRequest("This model reads images, not videos. Send single frames.", "images")

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        return text

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        return expand_placeholders(ids, pictures, self.placeholder_ids, self._spelled)

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> np.ndarray | None:
        return None

    def _spelled(self, picture: Picture) -> list[int]:
        """The tokens that a picture's place becomes."""
        return [self.image_id] * picture.tokens
