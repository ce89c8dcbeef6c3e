"""Which size a model looks at an image in, and bringing it there.

Models with a native resolution take any size whose sides are multiples of a patch block and whose area lies between
two limits. Scaling is Pillow's bicubic with its antialiasing, on bytes, as the models were published with.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from engine.errors import BadRequest

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_STRETCHED = 200  # the longest side against the shortest


def fitting_size(
    height: int, width: int, factor: int, least: int, most: int, *, frames: int = 1, step: int = 1
) -> tuple[int, int]:
    """Height and width: multiples of `factor`, the shape kept, the area (of all frames) from `least` to `most`.

    `frames` is counted rounded to a multiple of `step`.
    """
    check_shape(height, width)
    counted = round(frames / step) * step
    h, w = round(height / factor) * factor, round(width / factor) * factor
    if counted * h * w > most:
        shrink = math.sqrt((frames * height * width) / most)
        h = max(factor, math.floor(height / shrink / factor) * factor)
        w = max(factor, math.floor(width / shrink / factor) * factor)
    elif counted * h * w < least:
        grow = math.sqrt(least / (frames * height * width))
        h = math.ceil(height * grow / factor) * factor
        w = math.ceil(width * grow / factor) * factor
    return h, w


def check_shape(height: int, width: int) -> None:
    if max(height, width) > MOST_STRETCHED * min(height, width):
        raise BadRequest(
            f"The image has {width} x {height} pixels: one side is more than {MOST_STRETCHED} times the other. "
            "Cut it into pieces.",
            "images",
        )


def what_is_lost(height: int, width: int, seen_height: int, seen_width: int, cap: int) -> str | None:
    """For people, where an image is larger than a model's cap. Rounding to whole patches is no loss."""
    if height * width <= cap or seen_height * seen_width >= height * width:
        return None
    return (
        f"The image has {width} x {height} pixels; the model looks at {seen_width} x {seen_height}, its most. "
        "Cut the image into pieces to have every detail seen."
    )


def resized(image: Image, height: int, width: int) -> Image:
    from PIL.Image import Resampling

    return image.resize((width, height), Resampling.BICUBIC)
