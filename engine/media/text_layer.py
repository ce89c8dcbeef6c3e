"""The text layer of a PDF page: its words with their places, and its text in reading order.

PDFium gives letters in the order of the file, and turns around what is written from right to left where it takes it for that. Programs write
such lines in any order, so where a page has such letters their places say how words and lines are read (`engine.text.bidi`).
"""

from __future__ import annotations

import ctypes
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from unicodedata import category, normalize

from engine.text.bidi import is_right_to_left, join_words, read_line

QuarterTurn: TypeAlias = Literal[0, 90, 180, 270]  # degrees counterclockwise
Bounds: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom in pixels of the page

QUARTER_TURNS: tuple[QuarterTurn, ...] = (0, 90, 180, 270)
_ANGLES = 500  # letters whose direction is looked at
_LEAST_TEXT = 10  # characters; a page with less is a scan with a stamp on it
_LARGEST_CLUSTER, _LOOKED_BACK = 4, 8  # signs
_RADICAL = re.compile("[\u2f00-\u2fd5]")


@dataclass(frozen=True)
class TextLayerWord:
    """A word of a PDF's text layer."""

    text: str
    bounds: Bounds


def page_words(page: Any, width: int, height: int) -> tuple[tuple[TextLayerWord, ...] | None, QuarterTurn]:
    """The words of the text layer, None for a page without useful text; and the turn that brings them upright."""
    text_page = page.get_textpage()
    try:
        words = [word for word, _ in _gathered(page, text_page, width, height)]
        turn = _text_turn(page, text_page)
    finally:
        text_page.close()
    characters = "".join(word.text for word in words)
    # fonts without a ToUnicode map give replacement characters or private codes
    unreadable = sum(sign == "\ufffd" or "\ue000" <= sign <= "\uf8ff" or sign < " " for sign in characters)
    useful = len(characters) >= _LEAST_TEXT and unreadable * 20 < len(characters)
    return (tuple(words), turn) if useful else (None, 0)


def page_text(page: Any) -> str:
    """All text of a page."""
    text_page = page.get_textpage()
    try:
        text = _plain(text_page.get_text_bounded())
        by_places = is_right_to_left(text) or any(category(sign) == "Mn" for sign in text)
        if not by_places or _text_turn(page, text_page):
            return text
        width, height = page.get_size()
        lines = _lines(list(_gathered(page, text_page, max(round(width), 1), max(round(height), 1))))
    finally:
        text_page.close()
    return "\r\n".join(lines)


def _lines(words: Sequence[tuple[TextLayerWord, bool]]) -> Iterator[str]:
    """Words that follow one another on one height are a line, whatever PDFium takes for its end where letters run from right to left."""
    line: list[TextLayerWord] = []
    for word, begins in words:
        apart = bool(line) and not _on_one_height(line[-1].bounds, word.bounds)
        plain = begins and not any(is_right_to_left(one.text) for one in [*line, word])
        if line and (apart or plain):
            yield _text_of(line)
            line = []
        line.append(word)
    if line:
        yield _text_of(line)


def _text_of(line: Sequence[TextLayerWord]) -> str:
    if not any(is_right_to_left(word.text) for word in line):
        return " ".join(word.text for word in line)
    return join_words([word.text for word in sorted(line, key=lambda word: word.bounds[0])])


def _on_one_height(last: Bounds, next: Bounds) -> bool:
    height = min(last[3] - last[1], next[3] - next[1])
    return abs((last[1] + last[3]) - (next[1] + next[3])) < height


def _text_turn(page: Any, text_page: Any) -> QuarterTurn:
    """The turn that brings most letters upright."""
    import pypdfium2

    count = text_page.count_chars()
    angles = [
        pypdfium2.raw.FPDFText_GetCharAngle(text_page, i) for i in range(0, count, max(1, count // _ANGLES))
    ]  # radians, clockwise as is the turn of the page itself
    quarters = [round(angle / (math.pi / 2)) + page.get_rotation() // 90 for angle in angles if angle >= 0]
    turns = [QUARTER_TURNS[quarter % 4] for quarter in quarters]
    most = max(QUARTER_TURNS, key=turns.count)
    return most if 2 * turns.count(most) > len(turns) else 0


def _gathered(page: Any, text_page: Any, width: int, height: int) -> Iterator[tuple[TextLayerWord, bool]]:
    """Words, and whether a line's end lies before each."""
    letters: list[str] = []
    around: list[Bounds] = []
    begins = False

    def word() -> TextLayerWord:
        # a letter beyond the first plane comes as two halves
        text = "".join(letters).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        made = TextLayerWord(_in_order(letters, around) if is_right_to_left(text) else text, _around(around))
        letters.clear()
        around.clear()
        return made

    for sign, bounds in _placed_signs(page, text_page, width, height):
        if bounds is None:
            if around:
                yield word(), begins
                begins = False
            begins = begins or sign in "\r\n"
            continue
        if around and not _beside(around[-1], bounds):
            yield word(), begins
            begins = False
        letters.append(sign)
        around.append(bounds)
    if around:
        yield word(), begins


def _placed_signs(page: Any, text_page: Any, width: int, height: int) -> Iterator[tuple[str, Bounds | None]]:
    """Each sign with its place; None: it is space. A letter with a mark that the file names once for each of its pictures comes once."""
    signs = _characters(text_page)
    marked = any(category(sign) == "Mn" for sign in signs)
    before: list[tuple[str, Bounds]] = []  # the last signs
    index = 0
    while index < len(signs):
        sign = signs[index]
        if sign.isspace() or sign in "\x00\ufffe\uffff":
            yield sign, None
            index += 1
            continue
        if marked and (count := _named_again(page, text_page, signs, index, before, width, height)):
            index += count
            if index < len(signs) and signs[index] == " " and _is_generated(text_page, index):
                index += 1
            continue
        bounds = _placed(page, text_page.get_charbox(index, loose=True), width, height)
        before = [*before[1 - _LOOKED_BACK :], (sign, bounds)]
        yield sign, bounds
        index += 1


def _named_again(
    page: Any,
    text_page: Any,
    signs: Sequence[str],
    index: int,
    before: Sequence[tuple[str, Bounds]],
    width: int,
    height: int,
) -> int:
    """How many signs from here repeat, in their place, some of those before: letters with their marks, as Chromium writes them."""
    for count in range(_LARGEST_CLUSTER, 1, -1):
        cluster = list(signs[index : index + count])
        if len(cluster) < count or [category(sign) == "Mn" for sign in cluster] != [False, *[True] * (count - 1)]:
            continue
        for at in range(len(before) - count + 1):
            if [sign for sign, _ in before[at : at + count]] != cluster:
                continue
            there = _around([bounds for _, bounds in before[at : at + count]])
            here = _around(
                [_placed(page, text_page.get_charbox(index + i, loose=True), width, height) for i in range(count)]
            )
            high = max(there[3] - there[1], 1.0)
            near = abs(there[1] + there[3] - here[1] - here[3]) < 3 * high  # a mark stands above or below
            if near and there[0] - high / 2 <= here[0] and here[2] <= there[2] + high / 2:
                return count
    return 0


def _around(bounds: Sequence[Bounds]) -> Bounds:
    lefts, tops, rights, bottoms = zip(*bounds)
    return min(lefts), min(tops), max(rights), max(bottoms)


def _is_generated(text_page: Any, index: int) -> bool:
    import pypdfium2

    return bool(pypdfium2.raw.FPDFText_IsGenerated(text_page, index) == 1)


def _in_order(letters: Sequence[str], around: Sequence[Bounds]) -> str:
    """A word as it is read, by the places of its letters."""
    middles = [left + right for left, _, right, _ in around]
    backwards = sum(middles[i] > middles[i + 1] for i in range(len(middles) - 1)) * 2 > len(middles) - 1
    bases = [i for i, sign in enumerate(letters) if category(sign) not in ("Mn", "Me")]
    if not bases:
        return "".join(letters)
    signs = {i: letters[i] for i in bases}
    for i in sorted(set(range(len(letters))) - set(bases)):
        nearest = min(bases, key=lambda base: (abs(middles[base] - middles[i]), abs(base - i)))
        signs[nearest] += letters[i]
    # letters of a ligature have one place: they come as they are read, or turned around with all others
    ordered = sorted(bases, key=lambda i: (middles[i], i if backwards else -i))
    return read_line([normalize("NFKC", signs[i]) if "\ufb50" <= signs[i] <= "\ufefc" else signs[i] for i in ordered])


def _characters(text_page: Any) -> list[str]:
    """One entry per PDFium index; PDFium counts characters beyond the first plane inconsistently as one or two."""
    import pypdfium2

    signs = [chr(pypdfium2.raw.FPDFText_GetUnicode(text_page, i) or 32) for i in range(text_page.count_chars())]
    return [_plain(sign) for sign in signs]


def _plain(text: str) -> str:
    """Radicals as the letters that they look like: fonts have one picture for both, and some files name the radical."""
    return _RADICAL.sub(lambda found: normalize("NFKC", found[0]), text)


def _placed(page: Any, box: tuple[float, float, float, float], width: int, height: int) -> Bounds:
    """A box in page coordinates, of any rotation and crop, as pixels."""
    import pypdfium2

    corners = []
    for x, y in ((box[0], box[1]), (box[2], box[3])):
        across, down = ctypes.c_int(), ctypes.c_int()
        fine = 16  # PDFium returns whole units
        pypdfium2.raw.FPDF_PageToDevice(page, 0, 0, width * fine, height * fine, 0, x, y, across, down)
        corners.append((across.value / fine, down.value / fine))
    (x0, y0), (x1, y1) = corners
    return min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)


def _beside(last: Bounds, next: Bounds) -> bool:
    """Whether a letter may continue the word of the previous one, in any writing direction."""
    size = max(last[3] - last[1], last[2] - last[0], 1.0)
    across = max(next[0] - last[2], last[0] - next[2])
    down = max(next[1] - last[3], last[1] - next[3])
    return max(across, down) < size
