"""The vision processor of Qwen3-VL and Qwen3.5: images of any size, and videos as timed frames.

Patches are ordered in merge blocks and span two frames (an image counts as two equal frames). In the prompt, a video is a
sequence of times and frames: `<0.5 seconds>`, the placeholder tokens of a frame pair, the next time, and so on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.vision.processor import (
    ImageLike,
    block_patches,
    channel_values,
    content_key,
    expand_placeholders,
    fitting_size,
    normalized,
    pixel_limits,
    resized,
    resolution_note,
    rgb,
    rope_positions,
    size_of,
)
from engine.vision.timed_frames import frames_of

FRAMES_A_SECOND = 2  # of a video without frame times, as in training


@dataclass(frozen=True, eq=False)
class VideoPicture(Picture):
    """A prepared video."""

    seconds: tuple[float, ...]  # of each frame group
    interval: float  # seconds from one group to the next


class QwenVisionProcessor:
    line_strips = None

    def __init__(self, config: Fields, image: Fields, video: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        """`encode` tokenizes the text of a frame time."""
        vision = config.sub("vision_config")
        self.patch = image.int("patch_size", default=vision.int("patch_size", default=16))
        self.merge = image.int("merge_size", default=vision.int("spatial_merge_size", default=2))
        self.temporal = image.int("temporal_patch_size", default=vision.int("temporal_patch_size", default=2))
        ours = (self.patch, self.merge, self.temporal)
        towers = tuple(vision.int(name) for name in ("patch_size", "spatial_merge_size", "temporal_patch_size"))
        if ours != towers:
            raise ConfigError(f"{image.where}: patches are cut by {ours}, but the vision tower reads {towers}.")
        self.factor = self.patch * self.merge
        self.min_pixels, self.max_pixels = pixel_limits(image, 64 * self.factor**2, 16384 * self.factor**2)
        self.video_limits = pixel_limits(video, 4 * self.factor**2, 24576 * self.factor**2)
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.image_id, self.video_id = config.int("image_token_id"), config.int("video_token_id")
        self.start_id, self.end_id = config.int("vision_start_token_id"), config.int("vision_end_token_id")
        self.placeholder_ids: tuple[int, ...] = (self.image_id, self.video_id)
        self._encode = encode

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        return resolution_note(height, width, *self._size(height, width), self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        upright = rgb(image)
        height, width = self._size(upright.height, upright.width)
        pixels = np.asarray(resized(upright, height, width))[None]
        grid = (1, height // self.patch, width // self.patch)
        return Picture(self._patches(pixels), grid, self._token_count(grid), content_key(pixels))

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> VideoPicture:
        shown, times = frames_of(frames, seconds, FRAMES_A_SECOND)
        missing = -len(shown) % self.temporal
        shown, times = shown + shown[-1:] * missing, times + times[-1:] * missing
        height, width = self._frame_size(len(shown) - missing, shown[0].height, shown[0].width)
        pixels = np.stack([np.asarray(resized(frame, height, width)) for frame in shown])
        grid = (len(shown) // self.temporal, height // self.patch, width // self.patch)
        firsts, lasts = times[:: self.temporal], times[self.temporal - 1 :: self.temporal]
        middles = tuple(self._moment(first, last) for first, last in zip(firsts, lasts))
        key = content_key(pixels, middles)
        interval = firsts[1] - firsts[0] if len(firsts) > 1 else 0.0
        return VideoPicture(self._patches(pixels), grid, self._token_count(grid), key, middles, interval)

    def _moment(self, first: float, last: float) -> float:
        """The time of a frame group, given those of its first and last frame."""
        return (first + last) / 2

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        return text

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        kinds = [id for id in ids if id in self.placeholder_ids]
        if any((id == self.video_id) != isinstance(picture, VideoPicture) for id, picture in zip(kinds, pictures)):
            raise BadRequest("The prompt has an image where a video is given, or a video where an image is.", "images")
        return expand_placeholders(self._unwrapped(ids), pictures, self.placeholder_ids, self._spelled)

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> np.ndarray:
        places = iter(np.flatnonzero(np.isin(np.asarray(ids), self.placeholder_ids)).tolist())
        runs = []
        for picture in pictures:
            times, rows, columns = picture.grid
            size = rows // self.merge, columns // self.merge
            for _ in range(times):
                frame = [next(places) for _ in range(size[0] * size[1])]
                runs.append((frame[0], size))
        return rope_positions(len(ids), runs)

    def _size(self, height: int, width: int) -> tuple[int, int]:
        return fitting_size(height, width, self.factor, self.min_pixels, self.max_pixels)

    def _frame_size(self, count: int, height: int, width: int) -> tuple[int, int]:
        if height < self.factor or width < self.factor:
            grow = max(self.factor / height, self.factor / width)
            height, width = int(height * grow), int(width * grow)
        frames = max(count, self.temporal)
        return fitting_size(height, width, self.factor, *self.video_limits, frames=frames, step=self.temporal)

    def _patches(self, pixels: np.ndarray) -> np.ndarray:
        frames = normalized(pixels, self.mean, self.std)
        return block_patches(frames, self.patch, self.merge, self.temporal)

    def _token_count(self, grid: tuple[int, int, int]) -> int:
        return grid[0] * grid[1] * grid[2] // self.merge**2

    def _unwrapped(self, ids: Sequence[int]) -> list[int]:
        """The ids without start and end tokens around a video: each of its frames has its own pair."""
        wrapped, out, at = [self.start_id, self.video_id, self.end_id], list[int](), 0
        while at < len(ids):
            whole = ids[at] == self.start_id and list(ids[at : at + 3]) == wrapped
            out.append(self.video_id if whole else ids[at])
            at += 3 if whole else 1
        return out

    def _spelled(self, picture: Picture) -> list[int]:
        if not isinstance(picture, VideoPicture):
            return [self.image_id] * picture.tokens
        frame = [self.start_id, *[self.video_id] * (picture.tokens // picture.grid[0]), self.end_id]
        return [id for time in picture.seconds for id in (*self._encode(f"<{time:.1f} seconds>"), *frame)]


class Qwen25VisionProcessor(QwenVisionProcessor):
    """Of Qwen2.5-VL: a video is one run of tokens, whose positions in time tell its speed; its frames have a picture's limits."""

    def __init__(self, config: Fields, image: Fields, video: Fields, encode: Callable[[str], Sequence[int]]) -> None:
        super().__init__(config, image, video if video.values else image, encode)
        self.time_positions = config.sub("vision_config").float("tokens_per_second", default=4.0, above=0)

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> np.ndarray:
        out = np.empty((3, len(ids)), np.int64)
        shown = np.isin(np.asarray(ids), self.placeholder_ids)
        at = position = 0
        for picture in pictures:
            start = at + int(np.argmax(shown[at:]))
            out[:, at:start] = position + np.arange(start - at)
            position += start - at
            times, rows, columns = picture.grid[0], picture.grid[1] // self.merge, picture.grid[2] // self.merge
            step = self.time_positions * picture.interval if isinstance(picture, VideoPicture) else 1.0
            moments = (np.arange(times, dtype=np.float32) * np.float32(step)).astype(np.int64)
            at = start + picture.tokens
            places = np.stack(np.meshgrid(moments, np.arange(rows), np.arange(columns), indexing="ij"))
            out[:, start:at] = position + places.reshape(3, -1)
            position += max(rows, columns)
        out[:, at:] = position + np.arange(len(ids) - at)
        return out

    def _frame_size(self, count: int, height: int, width: int) -> tuple[int, int]:
        return fitting_size(height, width, self.factor, *self.video_limits)

    def _unwrapped(self, ids: Sequence[int]) -> list[int]:
        return list(ids)

    def _spelled(self, picture: Picture) -> list[int]:
        return [self.video_id if isinstance(picture, VideoPicture) else self.image_id] * picture.tokens
