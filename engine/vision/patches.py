"""From pixels to patches: three channels of bytes, normalized values, and the orders that encoders read patches in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.errors import BadRequest
from engine.media.image import as_rgb

if TYPE_CHECKING:
    from PIL.Image import Image

    from engine.vision.sight import ImageLike


def rgb(image: ImageLike) -> Image:
    """Any image as Pillow's RGB."""
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
        table = (unit - np.float32(m)) / np.float32(s)  # a byte has 256 values, an image has millions of bytes
        out[..., channel] = table[pixels[..., channel]]
    return out


def block_patches(frames: np.ndarray, patch: int, merge: int, temporal: int) -> np.ndarray:
    """`[F, H, W, C]` -> `[n, C * temporal * patch * patch]`, patches that will be merged side by side.

    Blocks of `merge` x `merge` patches follow each other in reading order, and the patches within a block too. Frames
    beyond a multiple of `temporal` are completed by the last one.
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
    """`[H, W, C]` -> `[n, C, patch, patch]` in reading order."""
    height, width, channels = image.shape
    x = image.reshape(height // patch, patch, width // patch, patch, channels)
    return np.ascontiguousarray(x.transpose(0, 2, 4, 1, 3)).reshape(-1, channels, patch, patch)


def content_key(pixels: np.ndarray, *more: object) -> str:
    """The same for the same bytes of the same shape (and the same of `more`)."""
    digest = hashlib.sha256(repr((pixels.shape, *more)).encode())
    digest.update(np.ascontiguousarray(pixels).data)
    return digest.hexdigest()
