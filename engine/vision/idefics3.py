"""The vision processor of Idefics 3 and SmolVLM: a picture is scaled to whole tiles, cut into them, and comes once more as one tile.

In the prompt each tile has a tag with its row and column before its tokens; a line of text ends each row. A video is one tile a frame,
each behind its time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.models.idefics3 import block_order, idefics3_vision, scale_factor, tile_side
from engine.vision.base import PictureProcessor
from engine.vision.processor import (
    ImageLike,
    channel_values,
    check_shape,
    content_key,
    normalized,
    part_of,
    raster_patches,
    resampling,
    resolution_note,
    rgb,
    size_of,
)
from engine.vision.tiles import cut_tiles
from engine.vision.timed_frames import TimedFrames, clock, frames_of, one_by_one, with_videos

LARGEST_SIDE = 4096  # pixels, whatever the settings say
AROUND, WHOLE = "<fake_token_around_image>", "<global-img>"
IMAGE, VIDEO = "<image>", "<video>"
FRAMES_A_SECOND = 1  # of a video without frame times, as in training


@dataclass(frozen=True, eq=False)
class TiledPicture(Picture):
    """A picture of several tiles; none: it is one tile by itself."""

    rows: int
    columns: int


class Idefics3VisionProcessor(PictureProcessor):
    video_part: Mapping[str, str] = {"type": "text", "text": VIDEO}  # published templates know no videos

    def __init__(
        self, config: Fields, image: Fields, encode: Callable[[str], Sequence[int]], video: Fields | None = None
    ) -> None:
        self.longest = _edge(image, "size", 4 * 364)
        self.tile = _edge(image, "max_image_size", 364)
        self.splits = image.flag("do_image_splitting", True)
        self.longest_of_frames = (
            self._frame_edge(image, video or Fields({})) if config.values.get("model_type") == "smolvlm" else 0
        )
        self.resample = resampling(image, 1)
        self.patch, self.side, self.scale = (
            idefics3_vision(config).patch,
            tile_side(config, self.tile),
            scale_factor(config),
        )
        self.mean, self.std = channel_values(image, "image_mean"), channel_values(image, "image_std")
        self.image_id = config.int("image_token_id", default=128257)
        self.placeholder_ids = (self.image_id,)
        self.max_pixels = (min(self.longest, LARGEST_SIDE) if self.splits else self.tile) ** 2
        self._encode = encode

    def note(self, image: ImageLike) -> str | None:
        height, width = size_of(image)
        seen = self._scaled(height, width, self.longest) if self.splits else (self.tile, self.tile)
        return resolution_note(height, width, *seen, self.max_pixels)

    def prepare(self, image: ImageLike, *, task: str | None = None) -> TiledPicture:
        shown = rgb(image)
        check_shape(shown.height, shown.width)
        height, width = self._scaled(shown.height, shown.width, self.longest)
        shown = shown.resize((width, height), self.resample)
        rows = columns = 0
        tiles: list[np.ndarray] = []
        if self.splits:
            height, width = self._whole_tiles(height, width)
            shown = shown.resize((width, height), self.resample)
            if max(height, width) > self.tile:
                rows, columns = height // self.tile, width // self.tile
                tiles = cut_tiles(np.asarray(shown), self.tile)
        tiles.append(np.asarray(shown.resize((self.tile, self.tile), self.resample)))
        pixels = np.stack(tiles)
        grid = (len(tiles), self.side, self.side)
        return TiledPicture(
            self._patches(pixels), grid, len(tiles) * self._tile_tokens, content_key(pixels, rows), rows, columns
        )

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        if not self.longest_of_frames:
            return super().video(frames, seconds=seconds)
        shown, times = frames_of(frames, seconds, FRAMES_A_SECOND)
        check_shape(shown[0].height, shown[0].width)
        height, width = self._scaled(shown[0].height, shown[0].width, self.longest_of_frames)
        scaled = [frame.resize((width, height), self.resample) for frame in shown]
        pixels = np.stack([np.asarray(frame.resize((self.tile, self.tile), self.resample)) for frame in scaled])
        tokens, key = len(pixels) * self._tile_tokens, content_key(pixels, "frames", *times)
        return TimedFrames(self._patches(pixels), (len(pixels), self.side, self.side), tokens, key, tuple(times))

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        return with_videos(text, VIDEO, pictures, _spelled_video)

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        return super().expand(ids, one_by_one(pictures))

    @property
    def _tile_tokens(self) -> int:
        return (self.side // self.scale) ** 2

    def _patches(self, tiles: np.ndarray) -> np.ndarray:
        inner, order = self.side * self.patch, block_order(self.side, self.scale)
        return np.concatenate(
            [raster_patches(tile[:inner, :inner], self.patch)[order] for tile in normalized(tiles, self.mean, self.std)]
        )

    def _frame_edge(self, image: Fields, video: Fields) -> int:
        """To how many pixels the longer side of a frame is scaled, before it becomes a tile."""
        given = next((one for one in (video, image) if one.find("video_sampling", default=None) is not None), None)
        if given is not None:
            return _edge(given.sub("video_sampling"), "video_size", self.tile)
        return _edge(video, "size", self.tile)

    def _scaled(self, height: int, width: int, longest: int) -> tuple[int, int]:
        """The longer side is `longest`, the other one even, unless that is too large."""
        shape, edge = width / height, longest
        if width >= height:
            width, height = edge, int(edge / shape)
            height += height % 2
        else:
            height, width = edge, int(edge * shape)
            width += width % 2
        height, width = max(height, 1), max(width, 1)
        shape, longer = width / height, max(height, width)
        if longer > LARGEST_SIDE:
            across = width >= height
            height = int(LARGEST_SIDE / shape) if across else LARGEST_SIDE
            width = LARGEST_SIDE if across else int(LARGEST_SIDE * shape)
        return max(height, 1), max(width, 1)

    def _whole_tiles(self, height: int, width: int) -> tuple[int, int]:
        shape, tile = width / height, self.tile
        if width >= height:
            width = math.ceil(width / tile) * tile
            height = math.ceil(int(width / shape) / tile) * tile
        else:
            height = math.ceil(height / tile) * tile
            width = math.ceil(int(height * shape) / tile) * tile
        return height, width

    def _spelled(self, picture: Picture) -> list[int]:
        rows, columns = (picture.rows, picture.columns) if isinstance(picture, TiledPicture) else (0, 0)
        tile = [self.image_id] * (picture.tokens // picture.grid[0])
        out: list[int] = []
        line = ""  # text that is cut into tokens together
        for row in range(rows):
            for column in range(columns):
                out += [*self._encode(f"{line}{AROUND}<row_{row + 1}_col_{column + 1}>"), *tile]
                line = ""
            line = "\n"
        line += "\n" if rows else ""
        return [*out, *self._encode(f"{line}{AROUND}{WHOLE}"), *tile, *self._encode(AROUND)]


def _spelled_video(video: TimedFrames) -> str:
    from num2words import num2words  # large: imported when a video is shown

    count, length = num2words(len(video.seconds)), timedelta(seconds=int(video.seconds[-1]))
    frames = "".join(f"\nFrame from {clock(time)}:{IMAGE}" for time in video.seconds)
    return f"You are provided the following series of {count} frames from a {length} [H:MM:SS] video.\n{frames}\n\n"


def _edge(image: Fields, name: str, default: int) -> int:
    return part_of(image, name).int("longest_edge", default=default, most=1 << 14)
