"""What a vision model knows of images: how they become patches, and where these lie in its prompt.

One implementation a family of models. Here is what all of them promise, and the one thing that they do alike: a prompt
holds one placeholder an image, and the encoder makes many rows of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from engine.errors import BadRequest
from engine.types import Picture
from engine.vision.strip_rules import StripRules

if TYPE_CHECKING:
    from PIL.Image import Image

ImageLike: TypeAlias = "Image | np.ndarray"  # an array is [H, W] or [H, W, 3] of uint8


class Sight(Protocol):
    """Array-free, so any thread may call it."""

    @property
    def strips(self) -> StripRules | None:
        """How a model that reads single lines of print wants them; None for one that is shown whole images."""

    @property
    def cap(self) -> int:
        """The most pixels of an image that the model looks at; larger ones are scaled down."""

    @property
    def places(self) -> Collection[int]:
        """The ids that hold a picture's place in a prompt, before it is expanded and after."""

    def note(self, image: ImageLike) -> str | None:
        """For people: what is lost where an image is larger than the cap."""

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        """`task` names what the image is looked at for, where a model looks differently."""

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        """Frames in order, `seconds` their times. Raises BadRequest where a model sees images only."""

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        """The prompt with room for every picture, and the positions of all these places in order."""

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> np.ndarray:
        """Rope positions `[3, n]` of an expanded prompt."""


def expand_placeholders(
    ids: Sequence[int],
    pictures: Sequence[Picture],
    placeholders: Collection[int],
    spelled: Callable[[Picture], Sequence[int]],
) -> tuple[list[int], np.ndarray]:
    """Replace the i-th placeholder by `spelled(pictures[i])`; the positions are those of placeholders in the result."""
    found = [at for at, id in enumerate(ids) if id in placeholders]
    if len(found) != len(pictures):
        raise BadRequest(
            f"The prompt has {len(found)} places for images, but there are {len(pictures)} images. "
            "Let the chat template write the places: the text itself must not hold image tokens."
        )
    out: list[int] = []
    start = 0
    for at, picture in zip(found, pictures):
        out += ids[start:at]
        out += spelled(picture)
        start = at + 1
    out += ids[start:]
    return out, np.asarray([i for i, id in enumerate(out) if id in placeholders], np.int64)


def rope_positions(n: int, runs: Sequence[tuple[int, tuple[int, int]]]) -> np.ndarray:
    """Positions `[3, n]` on the axes of time, height and width.

    `runs` are `(start, (rows, columns))` of each image's places: all of these share one time, lie on a grid, and what
    follows goes on behind the grid's longer side. Text counts on, alike on all axes.
    """
    out = np.empty((3, n), np.int64)
    at, position = 0, 0
    for start, (rows, columns) in runs:
        out[:, at:start] = position + np.arange(start - at)
        position += start - at
        at = start + rows * columns
        out[0, start:at] = position
        out[1, start:at] = position + np.repeat(np.arange(rows), columns)
        out[2, start:at] = position + np.tile(np.arange(columns), rows)
        position += max(rows, columns)
    out[:, at:] = position + np.arange(n - at)
    return out
