"""Vision processors: how the images of a prompt become patches, placeholder tokens and rope positions.

`VisionProcessor` is the protocol, with one implementation per model family. The sections below it are shared by all: the
expansion of placeholders, the settings of preprocessor_config.json, image sizes under a pixel budget, scaling, patches.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast

import numpy as np

from engine.errors import BadRequest, ConfigError
from engine.media.image import as_rgb
from engine.media.inputs import Picture
from engine.models.config import Fields
from engine.vision.line_strips import LineStripRules

if TYPE_CHECKING:
    from PIL.Image import Image, Resampling

ImageLike: TypeAlias = "Image | np.ndarray"  # an array is [H, W] or [H, W, 3] of uint8


class VisionProcessor(Protocol):
    """Prepares images for one vision model. It uses numpy only, and any thread may call it."""

    @property
    def line_strips(self) -> LineStripRules | None:
        """The line strips of a model that reads single lines; None for models of whole images."""

    @property
    def max_pixels(self) -> int:
        """The pixel budget of an image; larger images are scaled down."""

    @property
    def placeholder_ids(self) -> Collection[int]:
        """The ids of placeholder tokens, before and after expansion."""

    def note(self, image: ImageLike) -> str | None:
        """A message about lost detail, for an image above the pixel budget."""

    def prepare(self, image: ImageLike, *, task: str | None = None) -> Picture:
        """The model input for an image. Some models prepare an image differently for each recognition task."""

    def video(self, frames: Sequence[ImageLike], *, seconds: Sequence[float] | None = None) -> Picture:
        """The model input for video frames with their times. Raises BadRequest for models without video."""

    def written(self, text: str, pictures: Sequence[Picture]) -> str:
        """A prompt with pictures as the model was trained with it, given what the chat template has written."""

    def expand(self, ids: Sequence[int], pictures: Sequence[Picture]) -> tuple[list[int], np.ndarray]:
        """The prompt with one placeholder token per image token, and the positions of all placeholder tokens."""

    def rope(self, ids: Sequence[int], pictures: Sequence[Picture]) -> np.ndarray | None:
        """Rope positions `[3, n]` of an expanded prompt; None where they are those of a text."""


class HearingProcessor(Protocol):
    """A vision processor whose model hears as well."""

    def sound(self, samples: np.ndarray) -> Picture:
        """The model input for mono samples at 16 kHz. Raises BadRequest for a sound that is too long."""


def hearing(vision: VisionProcessor | None) -> HearingProcessor | None:
    """None for a model without ears."""
    return cast(HearingProcessor, vision) if getattr(vision, "takes_sound", False) else None


def seeing(vision: VisionProcessor | None) -> bool:
    """Whether a model with this processor sees images: some only hear."""
    return vision is not None and getattr(vision, "takes_images", True)


def expand_placeholders(
    ids: Sequence[int],
    pictures: Sequence[Picture],
    placeholders: Collection[int],
    spelled: Callable[[Picture], Sequence[int]],
) -> tuple[list[int], np.ndarray]:
    """Replace the i-th placeholder by `spelled(pictures[i])`; returns the ids and the positions of placeholder tokens."""
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

    `runs` are `(start, (rows, columns))` of each image's tokens, which share one time and lie on a grid; the text after
    them continues behind the longer side of the grid. Text positions are equal on all axes.
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


MOST_PIXELS = 1 << 26  # of one image: an upper limit for what a config file may request


def image_settings(config: Fields, folder: Path) -> Fields:
    """Those in the config are of a GGUF file, which has no other files."""
    if isinstance(config.values.get("image_processor"), Mapping):
        return config.sub("image_processor")
    return _settings(folder, "preprocessor_config.json", "image_processor")


def video_settings(folder: Path) -> Fields:
    return _settings(folder, "video_preprocessor_config.json", "video_processor")


def processor_settings(folder: Path) -> Mapping[str, Any]:
    """What the processor of pictures and texts together gets, in its own file."""
    return _object(folder / "processor_config.json")


def part_of(settings: Fields, name: str) -> Fields:
    """Settings within settings; none, where they are not there."""
    return settings.sub(name) if settings.find(name, default=None) is not None else Fields({}, settings.where)


def pixel_limits(settings: Fields, least: int, most: int) -> tuple[int, int]:
    """The least and most pixels, by the older or the newer names of the settings."""
    size = part_of(settings, "size")
    low = settings.int("min_pixels", default=size.int("shortest_edge", "min_pixels", default=least), most=MOST_PIXELS)
    high = settings.int("max_pixels", default=size.int("longest_edge", "max_pixels", default=most), most=MOST_PIXELS)
    if low > high:
        raise ConfigError(f"{settings.where}: the fewest pixels ({low}) are more than the most ({high}).")
    return low, high


def channel_values(settings: Fields, name: str) -> tuple[float, float, float]:
    """One number for each of red, green and blue."""
    values = settings.find(name, default=[0.5] * 3)
    if not (isinstance(values, list) and len(values) == 3 and all(isinstance(v, int | float) for v in values)):
        raise ConfigError(f"{settings.where}: `{name}` must be three numbers, not {values!r}.")
    red, green, blue = map(float, values)
    return red, green, blue


def resampling(settings: Fields, default: int) -> Resampling:
    """The filter by its number in Pillow."""
    from PIL.Image import Resampling

    return Resampling(settings.int("resample", default=default, least=0, most=5))


def _settings(folder: Path, file: str, part: str) -> Fields:
    """The settings in their own file, or in processor_config.json of newer checkpoints."""
    own, shared = _object(folder / file), _object(folder / "processor_config.json").get(part)
    if own or not isinstance(shared, dict):
        return Fields(own, file)
    return Fields(shared, f"processor_config.json ({part})")


def _object(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise ConfigError(f"{path} is not valid JSON ({error}). Download it again.") from error
    return value if isinstance(value, dict) else {}


MAX_ASPECT_RATIO = 200  # the largest aspect ratio


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
    if max(height, width) > MAX_ASPECT_RATIO * min(height, width):
        raise BadRequest(
            f"The image has {width} x {height} pixels: one side is more than {MAX_ASPECT_RATIO} times the other. "
            "Cut it into pieces.",
            "images",
        )


def resolution_note(height: int, width: int, seen_height: int, seen_width: int, cap: int) -> str | None:
    """A message for an image above the pixel budget. Rounding to whole patches is no loss."""
    if height * width <= cap or seen_height * seen_width >= height * width:
        return None
    return (
        f"The image has {width} x {height} pixels; the model looks at {seen_width} x {seen_height}, its most. "
        "Cut the image into pieces to have every detail seen."
    )


def resized(image: Image, height: int, width: int) -> Image:
    from PIL.Image import Resampling

    return image.resize((width, height), Resampling.BICUBIC)


SHARPNESS = np.float32(-0.75)


def bicubic(image: np.ndarray, height: int, width: int, rounded: bool = True) -> np.ndarray:
    """Bytes `[H, W, C]` -> bytes `[height, width, C]`, or the same in f32, not `rounded`."""
    rows, row_shares = taps(image.shape[0], height)
    columns, column_shares = taps(image.shape[1], width)
    used, at = np.unique(rows, return_inverse=True)  # most rows of a large image are unused
    lines = image[used]
    across = sum(lines[:, i].astype(np.float32) * share[None, :, None] for i, share in zip(columns, column_shares))
    down = sum(across[i] * share[:, None, None] for i, share in zip(at.reshape(rows.shape), row_shares))
    scaled = np.asarray(down).clip(0, 255)
    return scaled.round().astype(np.uint8) if rounded else scaled


def taps(source: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The four source pixels of each target pixel `[4, size]`, clamped at the border, and their weights."""
    place = (np.arange(size, dtype=np.float32) + np.float32(0.5)) * np.float32(source / size) - np.float32(0.5)
    low = np.floor(place)
    t = place - low
    around = np.clip(low.astype(np.int64) + np.arange(-1, 3)[:, None], 0, source - 1)
    return around, np.stack([_far(t + 1), _near(t), _near(1 - t), _far(2 - t)]).astype(np.float32)


def _near(x: np.ndarray) -> np.ndarray:
    return ((SHARPNESS + 2) * x - (SHARPNESS + 3)) * x * x + 1


def _far(x: np.ndarray) -> np.ndarray:
    return ((SHARPNESS * x - 5 * SHARPNESS) * x + 8 * SHARPNESS) * x - 4 * SHARPNESS


def rgb(image: ImageLike) -> Image:
    """The image as a Pillow RGB image."""
    from PIL import Image

    if not isinstance(image, np.ndarray):
        return image if image.mode == "RGB" else as_rgb(image)
    if image.dtype != np.uint8 or image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (3, 4)):
        raise BadRequest(
            f"An image as an array must be [H, W], [H, W, 3] or [H, W, 4] of uint8, not {list(image.shape)} of "
            f"{image.dtype}.",
            "images",
        )
    if not image.size:
        raise BadRequest("The image has no pixels.", "images")
    return as_rgb(Image.fromarray(image))


def size_of(image: ImageLike) -> tuple[int, int]:
    """Height and width."""
    if isinstance(image, np.ndarray):
        return int(image.shape[0]), int(image.shape[1])
    return image.height, image.width


def normalized(pixels: np.ndarray, mean: Sequence[float], std: Sequence[float]) -> np.ndarray:
    """Bytes `[..., C]` as f32 around zero: `(x / 255 - mean) / std`."""
    unit = (np.arange(256, dtype=np.float64) * (1 / 255)).astype(np.float32)
    out = np.empty(pixels.shape, np.float32)
    for channel, (m, s) in enumerate(zip(mean, std)):
        table = (unit - np.float32(m)) / np.float32(s)  # a lookup table for 256 values
        out[..., channel] = table[pixels[..., channel]]
    return out


def block_patches(frames: np.ndarray, patch: int, merge: int, temporal: int) -> np.ndarray:
    """`[F, H, W, C]` -> `[n, C * temporal * patch * patch]`, with the patches of a merge block adjacent.

    Blocks of `merge` x `merge` patches are in raster order, and so are the patches of a block. The last frame is repeated up
    to a multiple of `temporal`.
    """
    count, height, width, channels = frames.shape
    missing = -count % temporal
    if missing:
        frames = np.concatenate([frames, np.repeat(frames[-1:], missing, 0)])
    times, rows, columns = frames.shape[0] // temporal, height // patch, width // patch
    x = frames.reshape(times, temporal, rows // merge, merge, patch, columns // merge, merge, patch, channels)
    x = x.transpose(0, 2, 5, 3, 6, 8, 1, 4, 7)
    return x.reshape(times * rows * columns, channels * temporal * patch * patch)


def raster_patches(image: np.ndarray, patch: int) -> np.ndarray:
    """`[H, W, C]` -> `[n, C, patch, patch]` in raster order."""
    height, width, channels = image.shape
    x = image.reshape(height // patch, patch, width // patch, patch, channels)
    return np.ascontiguousarray(x.transpose(0, 2, 4, 1, 3)).reshape(-1, channels, patch, patch)


def content_key(pixels: np.ndarray, *more: object) -> str:
    """A hash of pixels, their shape and `more`: the cache key of an encoded image."""
    digest = hashlib.sha256(repr((pixels.shape, *more)).encode())
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()
