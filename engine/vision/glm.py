"""The vision processor of GLM-OCR: Qwen's patches and positions. The pixels of both frames that a picture counts as share the budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.errors import BadRequest
from engine.models.config import Fields
from engine.vision.pixtral import MEAN, STD
from engine.vision.processor import ImageLike, fitting_size
from engine.vision.qwen import QwenVisionProcessor, VideoPicture

# of published configs, which leave them out
IDS = {"image": 59280, "video": 59281, "image_start": 59256, "image_end": 59257}
TOWER = {"patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}
LEAST, MOST = 112 * 112, 28 * 28 * 15000  # pixels, where the settings say nothing


class GlmVisionProcessor(QwenVisionProcessor):
    def __init__(self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        ids = {name: config.int(f"{name}_token_id", default=default, least=0) for name, default in IDS.items()}
        tower = TOWER | dict(config.sub("vision_config").values)
        named = {
            "vision_config": tower,
            "image_token_id": ids["image"],
            "video_token_id": ids["video"],
            "vision_start_token_id": ids["image_start"],
            "vision_end_token_id": ids["image_end"],
        }
        usual = {"size": {"shortest_edge": LEAST, "longest_edge": MOST}, "image_mean": MEAN, "image_std": STD}
        given = Fields(usual | dict(image.values), image.where)
        super().__init__(Fields(named, config.where), given, Fields({}, image.where), encode)
        self.placeholder_ids = (self.image_id,)

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> VideoPicture:
        raise BadRequest("This model reads images, not videos. Send single frames.", "images")

    def _size(self, height: int, width: int) -> tuple[int, int]:
        if height < self.factor or width < self.factor:
            grow = max(self.factor / height, self.factor / width)
            height, width = int(height * grow), int(width * grow)
        limits = self.min_pixels, self.max_pixels
        return fitting_size(height, width, self.factor, *limits, frames=self.temporal, step=self.temporal)
