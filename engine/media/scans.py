"""Pages that are pictures: image files (a TIFF may hold many), images from the clipboard, arrays.

Unlike `engine.media.image`, which guards a server, this takes whatever a person's own scanner made: what is too large to
work with is scaled down, and the page says so. Sizes are still read before any pixel is.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil

from engine.errors import BadRequest, UnreadableFile
from engine.media.image import FORMATS, MAX_PIXELS, as_rgb, webp_size
from engine.media.page import PageImage

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST = 1 << 29  # pixels of a page that is still opened, to be scaled down
_BYTES_A_PIXEL = 4  # as Pillow keeps colours
_HEIC_BRANDS = (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1", b"avif")
_DAMAGED = "The image is damaged or incomplete ({})."


class ScanDocument:
    """An image file."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self._data = data
        self._formats: tuple[str, ...] = FORMATS
        if data[4:8] == b"ftyp" and data[8:12] in _HEIC_BRANDS:
            self._formats = (*FORMATS, _with_heic())
        with self._opened() as image:
            # only a TIFF's frames are pages; those of a GIF or a WebP are one picture that moves
            self._frames = int(getattr(image, "n_frames", 1)) if image.format == "TIFF" else 1

    def __len__(self) -> int:
        return self._frames

    def page(self, number: int, *, words: bool = False) -> PageImage:
        with self._opened() as image:
            if number > 1:
                image.seek(number - 1)
            _check_size(*image.size)
            return _page(image)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        from PIL import Image, UnidentifiedImageError

        if (canvas := webp_size(self._data)) is not None:
            _check_size(*canvas)
        try:
            with _large_images_allowed(), Image.open(io.BytesIO(self._data), formats=self._formats) as image:
                _check_size(*image.size)
                yield image
        except BadRequest as error:
            raise error if isinstance(error, UnreadableFile) else UnreadableFile(str(error)) from None
        except UnidentifiedImageError:
            raise UnreadableFile("This is neither a PDF nor an image that can be read.") from None
        except MemoryError:
            raise UnreadableFile("The image needs more memory than is free.") from None
        except Exception as error:
            # decoders raise nearly everything for a file that was cut off or scrambled
            raise UnreadableFile(_DAMAGED.format(type(error).__name__)) from error

    def close(self) -> None:
        self._data = b""


class MemoryDocument:
    """A picture that is already in memory."""

    def __init__(self, image: Image) -> None:
        self.name = "image"
        self._image = image

    def __len__(self) -> int:
        return 1

    def page(self, number: int, *, words: bool = False) -> PageImage:
        try:
            return _page(self._image)
        except BadRequest as error:
            raise UnreadableFile(str(error)) from None
        except OSError as error:  # Pillow decodes late: a file that was opened elsewhere may be broken
            raise UnreadableFile(_DAMAGED.format(type(error).__name__)) from error

    def close(self) -> None: ...


def from_memory(source: Any) -> MemoryDocument:
    from PIL import Image

    if not isinstance(source, np.ndarray):
        _check_size(*source.size)
        return MemoryDocument(source)
    if source.ndim not in (2, 3) or 0 in source.shape or (source.ndim == 3 and source.shape[2] not in (1, 3, 4)):
        raise UnreadableFile(f"An image is an array [H, W], [H, W, 3] or [H, W, 4], not {list(source.shape)}.")
    _check_size(source.shape[1], source.shape[0])
    pixels = source[:, :, 0] if source.ndim == 3 and source.shape[2] == 1 else source
    if pixels.dtype == np.bool_:
        pixels = pixels.astype(np.uint8) * 255
    elif np.issubdtype(pixels.dtype, np.floating):
        if not np.isfinite(pixels).all() or pixels.min() < 0 or pixels.max() > 1:
            raise UnreadableFile("An image of floating point must hold numbers from 0 to 1.")
        pixels = np.round(pixels * 255).astype(np.uint8)
    elif pixels.dtype != np.uint8:
        raise UnreadableFile(f"An image must hold bytes, or floating point from 0 to 1, not {pixels.dtype}.")
    return MemoryDocument(Image.fromarray(np.ascontiguousarray(pixels)))


def _page(image: Any) -> PageImage:
    from PIL import ImageOps

    width, height = image.size
    notes: tuple[str, ...] = ()
    if width * height > MAX_PIXELS:
        factor = next(k for k in range(2, 64) if -(-width // k) * -(-height // k) <= MAX_PIXELS)
        image.draft(None, (width // factor, height // factor))  # a JPEG decodes to less at once
        left = -(-image.size[0] * factor // width)
        small = image.convert("RGBA" if "A" in image.mode else "RGB") if image.mode in ("P", "PA") else image
        shrunk = small.reduce(left) if left > 1 else small.copy()
        notes = (f"Scaled down from {width} x {height} to {shrunk.size[0]} x {shrunk.size[1]} pixels.",)
        shrunk.info, exif = dict(image.info), image.getexif()
        turn = {3: 180, 6: 270, 8: 90}.get(exif.get(0x0112, 1))
        return PageImage(as_rgb(shrunk.rotate(turn, expand=True) if turn else shrunk), _dots(image), notes)
    image.load()
    upright = ImageOps.exif_transpose(image)
    return PageImage(as_rgb(upright if upright is not None else image), _dots(image), notes)


def _dots(image: Any) -> float | None:
    """What a file claims about its resolution, if that can be true of a page."""
    try:
        dots = float(image.info["dpi"][0])
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
        return None
    return dots if 50 <= dots <= 2400 else None


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise UnreadableFile("The image has no pixels.")
    if width * height > LARGEST:
        raise UnreadableFile(f"The image has {width} x {height} pixels, more than can be read ({LARGEST}).")
    if width * height > MAX_PIXELS and width * height * _BYTES_A_PIXEL > psutil.virtual_memory().available:
        raise UnreadableFile(f"The image has {width} x {height} pixels, more than the memory that is free can hold.")


@contextmanager
def _large_images_allowed() -> Iterator[None]:
    """Pillow warns about, then refuses large images; here their size has its own bound, which is told in its own words."""
    import warnings

    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            yield
        finally:
            Image.MAX_IMAGE_PIXELS = limit


def _with_heic() -> str:
    try:
        import pillow_heif
    except ImportError:
        raise UnreadableFile(
            "This is a HEIC image, which needs one more package here: pip install pillow-heif. "
            "Or save the picture as JPEG or PNG."
        ) from None
    pillow_heif.register_heif_opener()
    return "HEIF"
