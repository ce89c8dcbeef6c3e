"""Videos: frames with their times, and those whose prompt holds each frame by itself behind its time (SmolVLM, Gemma 4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import BadRequest
from engine.media.inputs import Picture
from engine.vision.processor import ImageLike, rgb

if TYPE_CHECKING:
    from PIL.Image import Image


@dataclass(frozen=True, eq=False)
class TimedFrames(Picture):
    """A video of which each frame has a place of its own in the prompt."""

    seconds: tuple[float, ...]

    def frame(self) -> Picture:
        """One of its frames, as far as its place in a prompt is concerned."""
        return Picture(self.patches[:0], (1, *self.grid[1:]), self.tokens // self.grid[0], "")


def frames_of(
    frames: Sequence[ImageLike], seconds: Sequence[float] | None, a_second: float
) -> tuple[list[Image], list[float]]:
    """The frames of a video and their times; `a_second`: how many there are where nothing says it."""
    shown = [rgb(frame) for frame in frames]
    if not shown:
        raise BadRequest("The video has no frames.", "images")
    if len({frame.size for frame in shown}) > 1:
        raise BadRequest("The frames of a video must all have one size.", "images")
    times = [i / a_second for i in range(len(shown))] if seconds is None else list(seconds)
    if len(times) != len(shown):
        raise BadRequest(f"The video has {len(shown)} frames, but {len(times)} times.", "images")
    return shown, times


def clock(seconds: float) -> str:
    return f"{int(seconds // 60):02d}:{int(seconds % 60):02d}"


def with_videos(text: str, place: str, pictures: Sequence[Picture], spelled: Callable[[TimedFrames], str]) -> str:
    """A prompt in which each video's one place is what `spelled` makes of it, with one place a frame."""
    videos = [picture for picture in pictures if isinstance(picture, TimedFrames)]
    if not videos:
        return text
    first, *others = text.split(place)
    if len(others) != len(videos):
        raise BadRequest(
            f"The prompt has {len(others)} places for videos, but there are {len(videos)} videos. "
            "Let the chat template write the places: the text itself must not hold video tokens."
        )
    return first + "".join(spelled(video) + behind for video, behind in zip(videos, others))


def one_by_one(pictures: Sequence[Picture]) -> list[Picture]:
    """What stands for each of a prompt's places: a video's frames have one each."""
    return [
        part
        for picture in pictures
        for part in ([picture.frame()] * picture.grid[0] if isinstance(picture, TimedFrames) else [picture])
    ]


def joined(frames: Sequence[Picture], seconds: Sequence[float], key: str) -> TimedFrames:
    """The video of frames that were prepared one by one."""
    first = frames[0]
    grid = (len(frames), *first.grid[1:])
    return TimedFrames(
        np.concatenate([frame.patches for frame in frames]), grid, len(frames) * first.tokens, key, tuple(seconds)
    )
