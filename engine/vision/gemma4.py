"""What Gemma 4 sees and hears: a picture keeps its shape, and has as many tokens as fit under a limit; so has each frame of a video,
behind its time. A sound has a token for each 40 ms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.inputs import HeardSound, Picture
from engine.media.mel import gemma_mel
from engine.media.sound import SAMPLE_RATE
from engine.models.config import Fields
from engine.models.gemma4_audio import MELS
from engine.models.gemma4_vision import pooling
from engine.models.qwen_vision import block_places
from engine.vision.base import PictureProcessor
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
from engine.vision.timed_frames import TimedFrames, clock, frames_of, joined, one_by_one, with_videos

TOKENS = (70, 140, 280, 560, 1120)  # that a picture may have at most
VIDEO = "<|video|>"
FRAMES_A_SECOND = 1  # of a video without frame times
MOST_SECONDS = 30  # of a sound, as in training


class Gemma4VisionProcessor(PictureProcessor):
    def __init__(
        self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]], video: Fields | None = None
    ) -> None:
        vision = config.sub("vision_config")
        self.patch, self.pool = vision.int("patch_size", default=16), pooling(vision)
        ours = image.int("patch_size", default=self.patch), image.int("pooling_kernel_size", default=self.pool)
        if ours != (self.patch, self.pool):
            raise ConfigError(
                f"{image.where}: patches are cut by {ours}, but the vision tower reads {self.patch, self.pool}."
            )
        self.tokens, self.frame_tokens = _most_tokens(image, 280), _most_tokens(video or Fields({}), 70)
        self.resample = resampling(image, 3)
        self.factor = self.patch * self.pool
        self.max_pixels = self.tokens * self.factor**2
        self.image_id = config.int("image_token_id", default=258880)
        self.start_id = config.int("boi_token_id", default=255999)
        self.end_id = config.int("eoi_token_id", "eoi_token_index", default=258882)
        self.video_id = config.int("video_token_id", default=258884)
        self.sound_id = config.int("audio_token_id", default=258881)
        self.start_of_sound_id = config.int("boa_token_id", default=256000)
        self.end_of_sound_id = config.int("eoa_token_id", "eoa_token_index", default=258883)
        self.takes_sound = isinstance(config.values.get("audio_config"), Mapping)
        self.placeholder_ids = (self.image_id, self.video_id, *([self.sound_id] if self.takes_sound else []))

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        return resolution_note(height, width, *self._size(height, width, self.tokens), self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        return self._prepared(image, self.tokens)

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> TimedFrames:
        shown, times = frames_of(frames, seconds, FRAMES_A_SECOND)
        made = [self._prepared(frame, self.frame_tokens) for frame in shown]
        return joined(made, times, " ".join([*(frame.key for frame in made), *map(str, times)]))

    def sound(self, samples: np.ndarray) -> HeardSound:
        """Of mono samples at 16 kHz. Raises BadRequest for one that is too long or has no frame, and for models without ears."""
        if not self.takes_sound:
            raise BadRequest("This model hears no sound.", "audio")
        if len(samples) > MOST_SECONDS * SAMPLE_RATE:
            raise BadRequest(
                f"The sound is {len(samples) / SAMPLE_RATE:.0f} seconds long; this model hears {MOST_SECONDS} at once. Cut it.",
                "audio",
            )
        mel = gemma_mel(samples, MELS)
        if not len(mel):
            raise BadRequest("The sound is shorter than 20 milliseconds.", "audio")
        return HeardSound(mel, (1, len(mel), 1), -(-len(mel) // 4), content_key(mel))

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        return with_videos(text, VIDEO, pictures, _spelled_video)

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        places = [id for id in ids if id in self.placeholder_ids]
        kinds = [self._kind(picture) for picture in pictures for _ in range(_places(picture))]
        if len(places) == len(kinds) and places != kinds:
            raise BadRequest("The prompt has its places for images, videos and sounds in another order.", "images")
        spelled = iter([self._surrounded(part, id) for part, id in zip(one_by_one(pictures), kinds)])
        return expand_placeholders(ids, one_by_one(pictures), self.placeholder_ids, lambda _: next(spelled))

    def _prepared(self, image: ImageLike, tokens: int) -> Picture:
        shown = rgb(image)
        height, width = self._size(shown.height, shown.width, tokens)
        if (height, width) != (shown.height, shown.width):
            shown = shown.resize((width, height), self.resample)
        pixels = np.asarray(shown)
        rows, columns, patch = height // self.patch, width // self.patch, self.patch
        # the model was trained with values of a patch in the order of rows, columns and colours
        cut = normalized(pixels, [0.5] * 3, [0.5] * 3).reshape(rows, patch, columns, patch, 3)
        down, across = block_places(rows, columns, self.pool)
        patches = cut.transpose(0, 2, 1, 3, 4).reshape(rows, columns, -1)[down, across]
        return Picture(patches, (1, rows, columns), rows * columns // self.pool**2, content_key(pixels))

    def _size(self, height: int, width: int, tokens: int) -> tuple[int, int]:
        check_shape(height, width)
        grow = math.sqrt(tokens * self.factor**2 / (height * width))
        rows, columns = math.floor(grow * height / self.factor), math.floor(grow * width / self.factor)
        if not rows:
            rows, columns = 1, min(width // height, tokens)
        elif not columns:
            rows, columns = min(height // width, tokens), 1
        return rows * self.factor, columns * self.factor

    def _kind(self, picture: Picture) -> int:
        if isinstance(picture, HeardSound):
            return self.sound_id
        return self.video_id if isinstance(picture, TimedFrames) else self.image_id

    def _surrounded(self, picture: Picture, id: int) -> list[int]:
        """The tokens that a place of this kind becomes."""
        heard = id == self.sound_id
        start, end = (self.start_of_sound_id, self.end_of_sound_id) if heard else (self.start_id, self.end_id)
        return [start, *[id] * picture.tokens, end]


def _most_tokens(settings: Fields, default: int) -> int:
    tokens = settings.int("max_soft_tokens", default=default)
    if tokens not in TOKENS:
        raise ConfigError(f"{settings.where}: max_soft_tokens must be one of {', '.join(map(str, TOKENS))}.")
    return tokens


def _places(picture: Picture) -> int:
    return picture.grid[0] if isinstance(picture, TimedFrames) else 1


def _spelled_video(video: TimedFrames) -> str:
    return " ".join(f"{clock(time)} {VIDEO}" for time in video.seconds)
