"""Decoding of untrusted image files: six formats, upright, RGB.

The size in the header is checked before pixels are decoded, because a few hundred bytes may decode to gigabytes.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engine.errors import BadRequest, ErrorText

if TYPE_CHECKING:
    from PIL.Image import Image

FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP")
SPELLED = "PNG, JPEG, WebP, GIF, TIFF and BMP"
MAX_PIXELS = 1 << 26  # 8192 x 8192, larger than camera images; 192 MiB decoded
_WEBP_HEAD = 30  # bytes that contain the size of any WebP variant


def decode_image(data: bytes) -> Image:
    """The first frame, upright, as RGB on white. Raises BadRequest for anything that is no image."""
    from PIL import ImageOps

    with _opened(data) as image:
        image.load()
        upright = ImageOps.exif_transpose(image)
        return as_rgb(upright)


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    from PIL import Image, UnidentifiedImageError

    if not data:
        raise BadRequest(ErrorText("The image is empty."))
    if (canvas := webp_size(data)) is not None:
        _check_size(*canvas)
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            _check_size(*image.size)
            yield image
    except BadRequest:
        raise
    except Image.DecompressionBombError:
        raise BadRequest(ErrorText("The image has too many pixels; the most is {most}.", most=MAX_PIXELS)) from None
    except UnidentifiedImageError:
        raise BadRequest(ErrorText("This is not an image that can be read: {formats} can.", formats=SPELLED)) from None
    except MemoryError:
        raise BadRequest(ErrorText("The image needs more memory than there is. Send a smaller one.")) from None
    except Exception as error:
        # decoders raise nearly any exception for malicious files
        raise BadRequest(
            ErrorText("The image is damaged or incomplete ({kind}).", kind=type(error).__name__)
        ) from error


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise BadRequest(ErrorText("The image has no pixels."))
    if width * height > MAX_PIXELS:
        raise BadRequest(
            ErrorText(
                "The image has {width} x {height} pixels; the most is {most} in all.",
                width=width,
                height=height,
                most=MAX_PIXELS,
            )
        )


def webp_size(data: bytes) -> tuple[int, int] | None:
    """The canvas size of a WebP file, None for others. Opening a WebP allocates its canvas, so this comes first."""
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
    """The image as 8-bit RGB, transparency on white."""
    from PIL import Image as pillow

    if image.mode.startswith("I"):  # Pillow would clip 16-bit pixels instead of scaling them
        import numpy as np

        high = np.clip(np.asarray(image).astype(np.int64) >> 8, 0, 255).astype(np.uint8)
        return pillow.fromarray(high).convert("RGB")
    if image.mode == "F":
        raise BadRequest(
            ErrorText("The image has pixels of floating point, which have no fixed white. Save it with 8 bits.")
        )
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        clear = image.convert("RGBA")
        # the colour of transparent pixels is arbitrary, and often black
        white = pillow.new("RGBA", clear.size, (255, 255, 255, 255))
        white.alpha_composite(clear)
        return white.convert("RGB")
    return image.convert("RGB")
