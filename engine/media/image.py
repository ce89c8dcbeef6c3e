"""Bytes of an image file into pixels: six formats, turned upright, three channels, and nothing that is a trap.

Knows files and pixels. Knows nothing of where the bytes came from, nor of what a model makes of the pixels. The size is
read from the header and checked before any pixel is decoded, because a few hundred bytes may stand for gigabytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engine.errors import BadRequest

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP")
SPELLED = "PNG, JPEG, WebP, GIF, TIFF and BMP"
MAX_PIXELS = 1 << 26  # 8192 x 8192: more than a camera makes; 192 MiB once decoded
_WEBP_HEAD = 30  # bytes that hold a WebP file's size, whichever of its three kinds it is


def decode_image(data: bytes) -> Image:
    """The first frame, upright, as RGB. What was transparent lies on white. Raises BadRequest for what is no image."""
    from PIL import ImageOps

    with _opened(data) as image:
        image.load()
        upright = ImageOps.exif_transpose(image)
        return as_rgb(upright)


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    from PIL import Image, UnidentifiedImageError

    if not data:
        raise BadRequest("The image is empty.")
    if (canvas := webp_size(data)) is not None:
        _check_size(*canvas)
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            _check_size(*image.size)
            yield image
    except BadRequest:
        raise
    except Image.DecompressionBombError:
        raise BadRequest(f"The image has too many pixels; the most is {MAX_PIXELS}.") from None
    except UnidentifiedImageError:
        raise BadRequest(f"This is not an image that can be read: {SPELLED} can.") from None
    except MemoryError:
        raise BadRequest("The image needs more memory than there is. Send a smaller one.") from None
    except Exception as error:
        # decoders of files that somebody broke on purpose raise nearly everything
        raise BadRequest(f"The image is damaged or incomplete ({type(error).__name__}).") from error


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise BadRequest("The image has no pixels.")
    if width * height > MAX_PIXELS:
        raise BadRequest(f"The image has {width} x {height} pixels; the most is {MAX_PIXELS} in all.")


def webp_size(data: bytes) -> tuple[int, int] | None:
    """Opening a WebP already takes memory for its whole canvas, so that its size must be known before. None: no WebP."""
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP" or len(data) < _WEBP_HEAD:
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = int.from_bytes(data[26:28], "little"), int.from_bytes(data[28:30], "little")
        return width & 0x3FFF, height & 0x3FFF
    return None


def as_rgb(image: Image) -> Image:
    """Three channels of 8 bits; what was transparent lies on white."""
    from PIL import Image as pillow

    if image.mode.startswith("I"):  # 16 bits a pixel, which Pillow would cut off at 255 instead of scaling
        import numpy as np

        high = np.clip(np.asarray(image).astype(np.int64) >> 8, 0, 255).astype(np.uint8)
        return pillow.fromarray(high).convert("RGB")
    if image.mode == "F":
        raise BadRequest("The image has pixels of floating point, which have no fixed white. Save it with 8 bits.")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        clear = image.convert("RGBA")
        # what lies beneath transparent pixels is left over from the drawing, and often black
        white = pillow.new("RGBA", clear.size, (255, 255, 255, 255))
        white.alpha_composite(clear)
        return white.convert("RGB")
    return image.convert("RGB")
