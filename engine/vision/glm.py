"""The vision processors of GLM-OCR, GLM-4.1V and GLM-4.6V: Qwen's patches and positions. The pixels of both frames that a picture counts
as share the budget. A video is a picture a frame group, each with its time behind it, between a start and an end of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.errors import BadRequest
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.vision.pixtral import MEAN, STD
from engine.vision.processor import ImageLike, fitting_size
from engine.vision.qwen import QwenVisionProcessor, VideoPicture

# of published configs, which leave them out
IDS = {"image": 59280, "video": 59281, "image_start": 59256, "image_end": 59257}
IDS_4V = {"image": 151343, "video": 151344, "image_start": 151339, "image_end": 151340}
TOWER = {"patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}
LEAST, MOST = 112 * 112, 28 * 28 * 15000  # pixels, where the settings say nothing
MOST_OF_A_VIDEO = 28 * 28 * 2 * 30000


class GlmVisionProcessor(QwenVisionProcessor):
    usual_ids = IDS

    def __init__(
        self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]], video: Fields | None = None
    ) -> None:
        usual_ids = self.usual_ids.items()
        ids = {name: config.int(f"{name}_token_id", default=default, least=0) for name, default in usual_ids}
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
        moving = Fields({"size": {"shortest_edge": LEAST, "longest_edge": MOST_OF_A_VIDEO}}, image.where)
        if video is not None:
            moving = Fields(dict(moving.values) | dict(video.values), video.where)
        super().__init__(Fields(named, config.where), given, moving, encode)
        self.placeholder_ids = (self.image_id,)

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> VideoPicture:
        raise BadRequest("This model reads images, not videos. Send single frames.", "images")

    def _size(self, height: int, width: int) -> tuple[int, int]:
        if height < self.factor or width < self.factor:
            grow = max(self.factor / height, self.factor / width)
            height, width = int(height * grow), int(width * grow)
        limits = self.min_pixels, self.max_pixels
        return fitting_size(height, width, self.factor, *limits, frames=self.temporal, step=self.temporal)


class Glm4vVisionProcessor(GlmVisionProcessor):
    """Of GLM-4.1V: whole seconds."""

    usual_ids = IDS_4V

    def __init__(
        self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]], video: Fields | None = None
    ) -> None:
        super().__init__(config, image, encode, video)
        self.placeholder_ids = (self.image_id, self.video_id)

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> VideoPicture:
        return QwenVisionProcessor.video(self, frames, seconds=seconds)

    def _moment(self, first: float, last: float) -> float:
        return first

    def _time(self, seconds: float) -> str:
        return str(int(seconds))

    def _unwrapped(self, ids: Sequence[int]) -> list[int]:
        return list(ids)  # a video's frames are pictures within its own start and end

    def _spelled(self, picture: Picture) -> list[int]:
        if not isinstance(picture, VideoPicture):
            return [self.image_id] * picture.tokens
        frame = [self.start_id, *[self.image_id] * (picture.tokens // picture.grid[0]), self.end_id]
        return [id for time in picture.seconds for id in (*frame, *self._encode(self._time(time)))]


class Glm46VisionProcessor(Glm4vVisionProcessor):
    def _time(self, seconds: float) -> str:
        return f"{seconds:.1f} seconds"
