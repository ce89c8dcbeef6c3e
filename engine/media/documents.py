"""Documents as page images: PDFs, image files and images in memory.

`open_document` recognizes a file by its first bytes, not by its name. PDF pages are rendered by pypdfium2, and may have a text
layer with the position of every word. Image files are scans and photographs of any size: unlike `engine.media.image`, which
limits what a server accepts, oversized pages are scaled down, with a note. Sizes are checked before pixels are decoded.
"""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import psutil

from engine.errors import BadRequest, ErrorText, PasswordNeeded, UnreadableFile
from engine.media.image import FORMATS, MAX_PIXELS, as_rgb, webp_size
from engine.media.text_layer import QUARTER_TURNS, QuarterTurn, TextLayerWord, page_text, page_words

if TYPE_CHECKING:
    from PIL.Image import Image

Source: TypeAlias = Any  # a path, the bytes of a file, a PIL image, or an array [H, W], [H, W, 3] or [H, W, 4]

DPI = 200  # of rendered PDF pages; print of 8 points has an x-height of 12 pixels
LARGEST = 1 << 29  # pixels of an image that is opened, to be scaled down
_BYTES_PER_PIXEL = 4  # in Pillow
_HEIC_BRANDS = (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1", b"avif")
_DAMAGED = "The image is damaged or incomplete ({kind})."
_PDFIUM_LOCK = threading.RLock()  # PDFium is not thread-safe
_POINTS = 72  # per inch
_MOST_BOOKMARKS = 10_000
_RANGE = re.compile(r"\s*(\d{0,9})\s*(-?)\s*(\d{0,9})\s*")


@dataclass(frozen=True)
class PageImage:
    """One upright page as RGB pixels."""

    image: Image
    dots: float | None = None  # dots per inch, where the file states it
    notes: tuple[str, ...] = ()  # messages about changes to the pixels
    words: tuple[TextLayerWord, ...] | None = None  # the text layer, where there is one and it was requested
    text_turn: QuarterTurn = 0  # the turn that brings the letters of the text layer upright


class SourceDocument(Protocol):
    name: str

    def __len__(self) -> int:
        """The number of pages."""

    def page(self, number: int, *, words: bool = False) -> PageImage:
        """A page, counted from 1, with its text layer if `words`. Raises UnreadableFile for this page alone."""

    def close(self) -> None: ...


def open_document(source: Source, *, password: str | None = None, dots: int = DPI) -> SourceDocument:
    """The document in a file or in memory. Raises UnreadableFile or PasswordNeeded."""
    if isinstance(source, np.ndarray) or hasattr(source, "convert"):
        return from_memory(source)
    data, name = (source, "bytes") if isinstance(source, bytes) else (bytes_of(Path(source)), str(source))
    if not data:
        raise UnreadableFile(ErrorText("The file is empty."))
    if b"%PDF-" in data[:1024]:
        return PdfDocument(name, data, password, dots)
    return ScanDocument(name, data)


def bytes_of(path: Path) -> bytes:
    """The content of a file. Raises UnreadableFile."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UnreadableFile(ErrorText("There is no file {path}.", path=path)) from None
    except IsADirectoryError:
        raise UnreadableFile(ErrorText("{path} is a folder.", path=path)) from None
    except OSError as error:
        raise UnreadableFile(
            ErrorText("{path} cannot be read: {reason}.", path=path, reason=error.strerror or error)
        ) from None
    except MemoryError:
        raise UnreadableFile(ErrorText("{path} is larger than the memory that is free.", path=path)) from None


# -- PDF


class PdfDocument:
    def __init__(self, name: str, data: bytes, password: str | None, dots: int) -> None:
        self.name = name
        self._dots = dots
        with _PDFIUM_LOCK:
            self._pdf = _opened(data, password)
            self._count = len(self._pdf)
        if not self._count:
            self.close()
            raise UnreadableFile(ErrorText("The PDF has no pages."))

    def __len__(self) -> int:
        return self._count

    def page(self, number: int, *, words: bool = False) -> PageImage:
        import pypdfium2

        with _PDFIUM_LOCK:
            try:
                page = self._pdf[number - 1]
            except pypdfium2.PdfiumError:
                raise UnreadableFile(ErrorText("Page {number} of the PDF is damaged.", number=number)) from None
            try:
                return self._drawn(page, words)
            except pypdfium2.PdfiumError:
                raise UnreadableFile(ErrorText("Page {number} of the PDF cannot be drawn.", number=number)) from None
            finally:
                page.close()

    def _drawn(self, page: Any, words: bool) -> PageImage:
        width, height = page.get_size()
        dots, notes = float(self._dots), []
        most = (MAX_PIXELS / max(width * height, 1e-6)) ** 0.5 * _POINTS * 0.99
        if dots > most:
            notes.append(
                ErrorText(
                    "Drawn at {drawn} instead of {wanted} dots an inch, because the page is so large.",
                    drawn=round(most),
                    wanted=round(dots),
                )
            )
            dots = most
        bitmap = page.render(scale=dots / _POINTS, rev_byteorder=True)
        try:
            image = bitmap.to_pil().convert("RGB")
        finally:
            bitmap.close()  # it lies in a reference cycle: a garbage collection would free it much later
        found, turn = page_words(page, *image.size) if words else (None, QUARTER_TURNS[0])
        return PageImage(image, dots, tuple(notes), found, turn)

    def close(self) -> None:
        with _PDFIUM_LOCK:
            self._pdf.close()


def pdf_page_texts(data: bytes) -> list[str]:
    """The text layer of each page of a PDF. Raises PasswordNeeded or UnreadableFile."""
    with _PDFIUM_LOCK:
        document = _opened(data, None)
        try:
            return [page_text(page) for page in document]
        finally:
            document.close()


@dataclass(frozen=True)
class PdfBookmark:
    level: int  # from 0
    title: str
    page: int  # from 0


@dataclass(frozen=True)
class PdfBookFacts:
    """What a PDF says of itself, and its outline."""

    title: str
    author: str
    bookmarks: tuple[PdfBookmark, ...]


def pdf_book_facts(data: bytes) -> PdfBookFacts:
    """Raises PasswordNeeded or UnreadableFile."""
    with _PDFIUM_LOCK:
        document = _opened(data, None)
        try:
            facts = document.get_metadata_dict()
            marks: list[PdfBookmark] = []
            for mark in islice(document.get_toc(max_depth=6), _MOST_BOOKMARKS):
                target = mark.get_dest()
                page = target.get_index() if target is not None else None
                if page is not None and page >= (marks[-1].page if marks else 0):
                    marks.append(PdfBookmark(mark.level, " ".join(mark.get_title().split()), page))
            return PdfBookFacts(facts["Title"].strip(), facts["Author"].strip(), tuple(marks))
        finally:
            document.close()


def _opened(data: bytes, password: str | None) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(data, password=password)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            message = ErrorText("The password is wrong." if password else "The PDF is protected. Give its password.")
            raise PasswordNeeded(message) from None
        raise UnreadableFile(ErrorText("The PDF is damaged or incomplete.")) from None


# -- images


class ScanDocument:
    """An image file; each frame of a TIFF is a page."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name = name
        self._data = data
        self._formats: tuple[str, ...] = FORMATS
        if data[4:8] == b"ftyp" and data[8:12] in _HEIC_BRANDS:
            self._formats = (*FORMATS, _with_heic())
        with self._opened() as image:
            # frames of a GIF or a WebP are an animation
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
            raise UnreadableFile(ErrorText("This is neither a document nor an image that can be read.")) from None
        except MemoryError:
            raise UnreadableFile(ErrorText("The image needs more memory than is free.")) from None
        except Exception as error:
            # decoders raise nearly any exception for truncated or corrupt files
            raise UnreadableFile(ErrorText(_DAMAGED, kind=type(error).__name__)) from error

    def close(self) -> None:
        self._data = b""


class MemoryDocument:
    """An image in memory, as a document of one page."""

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
        except OSError as error:  # Pillow decodes lazily: the caller's file may be damaged
            raise UnreadableFile(ErrorText(_DAMAGED, kind=type(error).__name__)) from error

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
        image.draft(None, (width // factor, height // factor))  # a JPEG can be decoded at a reduced size
        left = -(-image.size[0] * factor // width)
        small = image.convert("RGBA" if "A" in image.mode else "RGB") if image.mode in ("P", "PA") else image
        shrunk = small.reduce(left) if left > 1 else small.copy()
        notes = (
            ErrorText(
                "Scaled down from {width} x {height} to {less} x {lower} pixels.",
                width=width,
                height=height,
                less=shrunk.size[0],
                lower=shrunk.size[1],
            ),
        )
        shrunk.info, exif = dict(image.info), image.getexif()
        turn = {3: 180, 6: 270, 8: 90}.get(exif.get(0x0112, 1))
        return PageImage(as_rgb(shrunk.rotate(turn, expand=True) if turn else shrunk), _dots(image), notes)
    image.load()
    upright = ImageOps.exif_transpose(image)
    return PageImage(as_rgb(upright if upright is not None else image), _dots(image), notes)


def _dots(image: Any) -> float | None:
    """The resolution that a file states, if plausible for a page."""
    try:
        dots = float(image.info["dpi"][0])
    except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
        return None
    return dots if 50 <= dots <= 2400 else None


def _check_size(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise UnreadableFile(ErrorText("The image has no pixels."))
    if width * height > LARGEST:
        raise UnreadableFile(
            ErrorText(
                "The image has {width} x {height} pixels, more than can be read ({most}).",
                width=width,
                height=height,
                most=LARGEST,
            )
        )
    if width * height > MAX_PIXELS and width * height * _BYTES_PER_PIXEL > psutil.virtual_memory().available:
        raise UnreadableFile(
            ErrorText(
                "The image has {width} x {height} pixels, more than the memory that is free can hold.",
                width=width,
                height=height,
            )
        )


@contextmanager
def _large_images_allowed() -> Iterator[None]:
    """Pillow's limit on image sizes switched off; `_check_size` has its own."""
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
            ErrorText(
                "This is a HEIC image, which needs one more package here: pip install pillow-heif. Or save the "
                "picture as JPEG or PNG."
            )
        ) from None
    pillow_heif.register_heif_opener()
    return "HEIF"


# -- page ranges


def page_numbers(text: str | None, count: int) -> list[int]:
    """The pages of a range such as `1-3,5` or `7-`, counted from 1, in the given order and without repetition.

    Pages beyond `count` are left out. Raises BadRequest for an invalid range, and when no page is left."""
    if text is None:
        return list(range(1, count + 1))
    chosen: dict[int, None] = {}
    for part in text.split(","):
        first, last = _bounds(part, text, count)
        chosen.update(dict.fromkeys(range(first, min(last, count) + 1)))
    if not chosen:
        raise BadRequest(
            f"There {'is 1 page' if count == 1 else f'are {count} pages'}; {text} names none of them.", "pages"
        )
    return list(chosen)


def check_pages(text: str | None) -> None:
    """Raise BadRequest for an invalid range."""
    if text is not None:
        for part in text.split(","):
            _bounds(part, text, 1)


def _bounds(part: str, text: str, count: int) -> tuple[int, int]:
    found = _RANGE.fullmatch(part)
    if found and (found[1] or found[3]):
        first = int(found[1] or 1)
        last = int(found[3] or count) if found[2] else first
        if first >= 1 and not (found[3] and (last < first or not found[2])):
            return first, last
    raise BadRequest(ErrorText("Pages are named like 1-3,5 or 7-, not {text}.", text=repr(text)), "pages")
