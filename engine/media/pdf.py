"""PDF files through pypdfium2: pages drawn as pixels, and the text that they carry with the place of every word.

The library underneath must not be entered by two threads at once, so one lock stands before all of it.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from engine.errors import PasswordNeeded, UnreadableFile
from engine.media.image import MAX_PIXELS
from engine.media.page import Bounds, PageImage, Written

_ONE_AT_A_TIME = threading.RLock()
_POINTS = 72  # an inch
_ENOUGH_TEXT = 10  # signs; below, a page is taken for a scan with a stamp on it


class PdfDocument:
    def __init__(self, name: str, data: bytes, password: str | None, dots: int) -> None:
        self.name = name
        self._dots = dots
        with _ONE_AT_A_TIME:
            self._pdf = _opened(data, password)
            self._count = len(self._pdf)
        if not self._count:
            self.close()
            raise UnreadableFile("The PDF has no pages.")

    def __len__(self) -> int:
        return self._count

    def page(self, number: int, *, words: bool = False) -> PageImage:
        import pypdfium2

        with _ONE_AT_A_TIME:
            try:
                page = self._pdf[number - 1]
            except pypdfium2.PdfiumError:
                raise UnreadableFile(f"Page {number} of the PDF is damaged.") from None
            try:
                return self._drawn(page, words)
            except pypdfium2.PdfiumError:
                raise UnreadableFile(f"Page {number} of the PDF cannot be drawn.") from None
            finally:
                page.close()

    def _drawn(self, page: Any, words: bool) -> PageImage:
        width, height = page.get_size()
        dots, notes = float(self._dots), []
        most = (MAX_PIXELS / max(width * height, 1e-6)) ** 0.5 * _POINTS * 0.99
        if dots > most:
            notes.append(f"Drawn at {most:.0f} instead of {dots:.0f} dots an inch, because the page is so large.")
            dots = most
        image = page.render(scale=dots / _POINTS, rev_byteorder=True).to_pil().convert("RGB")
        found = _words(page, *image.size) if words else None
        return PageImage(image, dots, tuple(notes), found)

    def close(self) -> None:
        with _ONE_AT_A_TIME:
            self._pdf.close()


def _opened(data: bytes, password: str | None) -> Any:
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(data, password=password)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pypdfium2.raw.FPDF_ERR_PASSWORD:
            said = "The password is wrong." if password else "The PDF is protected. Give its password."
            raise PasswordNeeded(said) from None
        raise UnreadableFile("The PDF is damaged or incomplete.") from None


def texts_of(data: bytes) -> list[str]:
    """The text that each page carries. Raises PasswordNeeded or UnreadableFile."""
    with _ONE_AT_A_TIME:
        document = _opened(data, None)
        try:
            return [page.get_textpage().get_text_bounded() for page in document]
        finally:
            document.close()


def _words(page: Any, width: int, height: int) -> tuple[Written, ...] | None:
    """None: the page has no text worth the name."""
    text_page = page.get_textpage()
    try:
        words = _gather(page, text_page, width, height)
    finally:
        text_page.close()
    signs = "".join(word.text for word in words)
    # fonts without a table of characters give replacement signs, or the codes of private glyphs
    unreadable = sum(sign == "\ufffd" or "\ue000" <= sign <= "\uf8ff" or sign < " " for sign in signs)
    return tuple(words) if len(signs) >= _ENOUGH_TEXT and unreadable * 20 < len(signs) else None


def _gather(page: Any, text_page: Any, width: int, height: int) -> list[Written]:
    words: list[Written] = []
    letters: list[str] = []
    around: list[Bounds] = []

    def end() -> None:
        if letters and around:
            lefts, tops, rights, bottoms = zip(*around)
            words.append(Written("".join(letters), (min(lefts), min(tops), max(rights), max(bottoms))))
        letters.clear()
        around.clear()

    for index, sign in enumerate(_signs(text_page)):
        if sign.isspace() or sign in "\x00\ufffe\uffff":
            end()
            continue
        bounds = _placed(page, text_page.get_charbox(index, loose=True), width, height)
        if around and not _beside(around[-1], bounds):
            end()
        letters.append(sign)
        around.append(bounds)
    end()
    return words


def _signs(text_page: Any) -> list[str]:
    """One entry an index of the library, which counts characters beyond the first plane as one and as two by turns."""
    import pypdfium2

    return [chr(pypdfium2.raw.FPDFText_GetUnicode(text_page, i) or 32) for i in range(text_page.count_chars())]


def _placed(page: Any, box: tuple[float, float, float, float], width: int, height: int) -> Bounds:
    """From the page's own coordinates, whatever its rotation and crop, to pixels."""
    import pypdfium2

    corners = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        across, down = ctypes.c_int(), ctypes.c_int()
        fine = 16  # the library answers in whole units
        pypdfium2.raw.FPDF_PageToDevice(page, 0, 0, width * fine, height * fine, 0, x, y, across, down)
        corners.append((across.value / fine, down.value / fine))
    (x0, y0), (x1, y1) = corners
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _beside(last: Bounds, next: Bounds) -> bool:
    """Whether a letter may go on with the word of the last one, which may run in any direction."""
    size = max(last[3] - last[1], last[2] - last[0], 1.0)
    across = max(next[0] - last[2], last[0] - next[2])
    down = max(next[1] - last[3], last[1] - next[3])
    return max(across, down) < size
