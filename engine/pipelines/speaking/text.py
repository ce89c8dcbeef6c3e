"""Text for speech synthesis: Markdown removed, numbers in words, and long texts split into passages.

`plain` and `in_words` normalize a text. `passages` splits it into whole sentences that a speech model can speak at once;
the passages joined by a space hold all of the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

ISO = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt", "russian": "ru",
    "japanese": "ja", "korean": "ko",
}  # fmt: skip
MOST_DIGITS = 15  # longer numbers are spoken digit by digit

_FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.MULTILINE | re.DOTALL)
_MARKS: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"!\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\[([^\]]+)\]\([^)]*\)"), r"\1"),
    (re.compile(r"^\s{0,3}#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE), r"\1.\n"),
    (
        re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?(.*[^\s.!?:;,…。！？])[ \t]*$", re.MULTILINE),
        r"\1.",
    ),
    (re.compile(r"^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?", re.MULTILINE), ""),
    (re.compile(r"^\s*>\s?", re.MULTILINE), ""),
    (re.compile(r"^\s*([-*_]\s*){3,}$", re.MULTILINE), ""),
    (re.compile(r"^\s*\|?[\s:|-]+\|[\s:|-]*$", re.MULTILINE), ""),
    (re.compile(r"[ \t]*\|[ \t]*$", re.MULTILINE), "."),
    (re.compile(r"[ \t]*\|[ \t]*"), ", "),
    (re.compile(r"(\*\*\*|\*\*|__|~~|`+)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<![\w*])[*_](?=\S)([^*_\n]+?)(?<=\S)[*_](?![\w*])"), r"\1"),
    (re.compile(r"<https?://([^>/\s]+)[^>]*>|https?://([^/\s)]+)\S*"), lambda m: m[1] or m[2]),  # type: ignore[list-item]
    (re.compile(r"</?[a-zA-Z][^>]{0,200}>"), ""),
]
_CURRENCY = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
_MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]

_MONEY = re.compile(r"([$€£¥])\s?(\d[\d,]*)(\.\d{2})?\b|\b(\d+)([.,]\d{2})?\s?([€£¥])")
_DATE = re.compile(r"\b(1\d{3}|20\d{2})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])\b")
_TIME = re.compile(r"\b([01]?\d|2[0-3]):([0-5]\d)\b(?!:)")
_MONTH = rf"(?:{'|'.join(_MONTHS)})"
_DAY = re.compile(rf"\b({_MONTH}) ([1-9]|[12]\d|3[01])(?![\d:])")
_YEAR = re.compile(rf"(\b[Ii]n |\b{_MONTH}(?: \d\d?(?:st|nd|rd|th)?)?,? )(1[1-9]\d\d|20\d\d)\b")
_RANGE = re.compile(r"(?<![\w.,:/=-])(\d+)[-–](?=\d+(?![\w.,:/=-]*[\w:/=-]))")
_ORDINAL = re.compile(r"\b(\d{1,6})(st|nd|rd|th)\b")
_PERCENT = re.compile(r"(\d)\s?%")
# Numbers in addresses, times, ranges and versions stay as they are.
_BEFORE, _AFTER = r"(?<![\w.,:/=&?#–-])(-?)", r"(?![\w/=])(?![.,:–-]\d)"
_NUMBER = re.compile(rf"{_BEFORE}(\d{{1,3}}(?:,\d{{3}})+|\d+)(\.\d+)?{_AFTER}")
# 1.234,5 or 1 234,5
_NUMBER_ELSEWHERE = re.compile(rf"{_BEFORE}(\d{{1,3}}(?:[.\u00a0\u202f ]\d{{3}})+|\d+)(,\d+)?{_AFTER}")
_ORDINAL_DOT = re.compile(r"\.\s+\w")  # after a German number of one or two digits: am 3. Mai

_COMMAS = frozenset(["de", "fr", "es", "it", "pt", "ru"])  # languages with a decimal comma


def plain(markdown: str) -> str:
    """Markdown as plain text. Code blocks become "(code)"."""
    text = _FENCE.sub("(code)\n", markdown)
    for pattern, instead in _MARKS:
        text = pattern.sub(instead, text)
    text = re.sub(r"(?m)^, |, $", "", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def in_words(text: str, language: str = "auto") -> str:
    """Numbers written out in words: dates, times, money and ordinals in English, plain numbers in other languages."""
    code = ISO.get(language.lower(), language.lower())
    code = "en" if code == "auto" else code
    from num2words import CONVERTER_CLASSES

    if code not in CONVERTER_CLASSES:
        return text
    if code == "en":
        for pattern, say in _ENGLISH:
            text = pattern.sub(say, text)
    pattern = _NUMBER_ELSEWHERE if code in _COMMAS else _NUMBER
    return pattern.sub(lambda m: _number(m, code), text)


def _spelled(number: float, **how: Any) -> str:
    from num2words import num2words  # 60 languages, 3 MB: imported when a text is spoken

    return str(num2words(number, **how))


def _number(m: re.Match[str], code: str) -> str:
    whole, fraction = re.sub(r"\D", "", m[2]), (m[3] or "").replace(",", ".")
    if code == "de" and len(whole) <= 2 and not fraction and _ORDINAL_DOT.match(m.string, m.end()):
        return m[0]
    if code == "de" and re.fullmatch(r"1[1-9]\d\d", m[2]) and not fraction:
        return _spelled(int(whole), lang=code, to="year")
    if len(whole) > MOST_DIGITS or (len(whole) > 1 and whole[0] == "0"):
        return " ".join(_spelled(int(digit), lang=code) for digit in whole) + fraction
    value = float(whole + fraction) if fraction else int(whole)
    return _spelled(-value if m[1] else value, lang=code)


def _money(m: re.Match[str]) -> str:
    sign, whole, cents = m[1] or m[6], (m[2] or m[4]).replace(",", ""), (m[3] or m[5] or "").lstrip(".,")
    if len(whole) > MOST_DIGITS:
        return m[0]
    value = int(whole) + (int(cents) / 100 if cents else 0)
    amount = _spelled(float(value), lang="en", to="currency", currency=_CURRENCY[sign])
    return re.sub(r",? (?:and )?zero (?:cents?|pence|penny|sen)\b", "", amount)


def _date(m: re.Match[str]) -> str:
    year = _spelled(int(m[1]), lang="en", to="year")
    return f"{_MONTHS[int(m[2]) - 1]} {_spelled(int(m[3]), lang='en', to='ordinal')}, {year}"


def _time(m: re.Match[str]) -> str:
    hour, minute = int(m[1]), int(m[2])
    if minute == 0:
        return f"{_spelled(hour, lang='en')} o'clock" if 0 < hour < 13 else f"{_spelled(hour, lang='en')} hundred"
    spoken = _spelled(minute, lang="en")
    return f"{_spelled(hour, lang='en')} {'oh ' if minute < 10 else ''}{spoken}"


_ENGLISH: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
    (_MONEY, _money),
    (_DATE, _date),
    (_TIME, _time),
    (_YEAR, lambda m: m[1] + _spelled(int(m[2]), lang="en", to="year")),
    (_DAY, lambda m: f"{m[1]} {_spelled(int(m[2]), lang='en', to='ordinal')}"),
    (_RANGE, lambda m: f"{m[1]} to "),
    (_ORDINAL, lambda m: _spelled(int(m[1]), lang="en", to="ordinal")),
    (_PERCENT, lambda m: f"{m[1]} percent"),
]


# seconds of silence between the last word of a passage and the first word of the next
PARAGRAPH_PAUSE = 0.8
SENTENCE_PAUSE = 0.45
CLAUSE_PAUSE = 0.2  # where a long sentence is split at a comma
BREATH = 0.08  # where it is split between words
LETTERS = 320  # letters of an alphabet in one passage
SIGNS = 110  # syllabic or logographic characters in one passage

_PARAGRAPH = re.compile(r"\n\s*\n|\r\n\s*\r\n")
_WIDE_END = "。！？；"  # sentence ends that need no space after them
_END = ".!?…؟۔।॥"
_CLAUSE = ";:,、，；：،"
_SOON = 0.15  # of a passage: what is longer is not begun soon
# characters after the mark that belong to the sentence; French has a space before the closing quotation mark
_TAIL = re.compile(r"""["'”“’»«)\]}」』）】〉》.!?…؟۔।॥。！？；]*(?:[ \u00a0\u202f]»(?=[\s.,;!?]|$))?""")
_SHORT = frozenset(
    ["mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "vs", "etc", "eg", "ie", "e.g", "i.e", "cf", "no", "vol", "pp", "fig", "approx", "dept", "est", "inc", "ltd", "co", "corp", "gen", "col", "capt", "lt", "sgt", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "bzw", "ca", "usw", "z.b", "d.h", "nr", "str", "hr", "fr", "abs", "bsp", "evtl", "ggf", "p.ej", "sra", "srta", "av", "m", "mme", "mlle"]
)  # fmt: skip


@dataclass(frozen=True)
class Passage:
    """Whole sentences that a speech model speaks at once."""

    text: str
    pause: float  # seconds of silence after it


def passages(text: str) -> list[Passage]:
    """A text split into passages, none empty. The last one has no pause."""
    made: list[Passage] = []
    for paragraph in _PARAGRAPH.split(text):
        group, pause = "", SENTENCE_PAUSE
        for sentence in sentences(" ".join(paragraph.split())):
            *within, last = parts(sentence)
            for part, behind in [*((part, _pause_after(part)) for part in within), (last, SENTENCE_PAUSE)]:
                if group and size(group) + size(part) > 1.0:
                    made.append(Passage(group, pause))
                    group = ""
                apart = group and not _spaceless(group[-1]) and not _spaceless(part[0])
                group, pause = f"{group} {part}" if apart else group + part, behind
        if group:
            made.append(Passage(group, PARAGRAPH_PAUSE))
    return [*made[:-1], Passage(made[-1].text, 0.0)] if made else []


def begun_soon(whole: list[Passage]) -> list[Passage]:
    """The same text, its first passage cut behind the first sentence, of a long one behind its first part that ends at a comma: of a
    voice that is heard passage by passage, the sound begins sooner."""
    first, *rest = whole
    head, pause = next(sentences(first.text)), SENTENCE_PAUSE
    if size(head) > _SOON:
        ends = (
            i + 1 for i, sign in enumerate(head) if sign in _CLAUSE and (_wide(sign) or head[i + 1 : i + 2].isspace())
        )
        if at := next((at for at in ends if _SOON / 2 <= size(head[:at]) <= size(head) - _SOON / 2), 0):
            head, pause = head[:at], CLAUSE_PAUSE
    tail = first.text[len(head) :].strip()
    return [Passage(head, pause), Passage(tail, first.pause), *rest] if tail else whole


def size(text: str) -> float:
    """The share of a full passage that the text takes."""
    return sum(1 / SIGNS if _wide(character) else 1 / LETTERS for character in text)


def sentences(text: str) -> Iterator[str]:
    """The sentences of one line of text."""
    start = 0
    for i, sign in enumerate(text):
        if sign in _WIDE_END or (sign in _END and _ends(text, i)):
            stop = _sentence_end(text, i)
            if stop > start:
                if sentence := text[start:stop].strip():
                    yield sentence
                start = stop
    if rest := text[start:].strip():
        yield rest


def _ends(text: str, i: int) -> bool:
    """True if the mark at `i` ends a sentence rather than an abbreviation, a number, an address or quoted speech."""
    after = _sentence_end(text, i)
    if after < len(text) and not text[after].isspace() and not _wide(text[after]):
        return False
    following = text[after:].lstrip(" \u00a0—–-")
    if text[i] != "." or "." in (text[i - 1 : i], text[i + 1 : i + 2]):  # "Why?" she asked. Well... perhaps.
        return not following[:1].islower()
    before = text[:i].rsplit(None, 1)[-1] if text[:i].split() else ""
    word = before.lstrip("\"'“‘«([").lower()
    if word in _SHORT or (len(word) == 1 and word.isalpha()):
        return False
    if before.isdigit() and (len(before) <= 2 or following[:1].islower()):  # Am 3. Mai, im 19. Jahrhundert
        return False
    return not (following[:1].islower() and len(word) <= 4)


def _sentence_end(text: str, i: int) -> int:
    """Index after the sentence that ends with the mark at `i`."""
    tail = _TAIL.match(text, i + 1)
    return i + 1 if tail is None else tail.end()


def parts(sentence: str) -> Iterator[str]:
    """A sentence split to passage size: at commas, else at spaces, else anywhere."""
    rest = sentence
    while size(rest) > 1.0:
        limit, total = 0, 0.0
        while limit < len(rest) and total <= 1.0:
            total += 1 / SIGNS if _wide(rest[limit]) else 1 / LETTERS
            limit += 1
        limit = max(1, limit - 1)
        cut = max((rest.rfind(mark, limit // 3, limit) + 1 for mark in _CLAUSE), default=0)
        cut = cut if cut > 0 else rest.rfind(" ", limit // 3, limit) + 1
        cut = cut if cut > 0 else limit
        if head := rest[:cut].strip():
            yield head
        rest = rest[cut:].strip()
    if rest:
        yield rest


def _pause_after(part: str) -> float:
    """The pause after a part of a split sentence."""
    return CLAUSE_PAUSE if part.endswith(tuple(_CLAUSE)) else BREATH


def _spaceless(sign: str) -> bool:
    """True for scripts without spaces between words: Chinese and Japanese, not Korean."""
    return _wide(sign) and not unicodedata.name(sign, "").startswith("HANGUL")


def _wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"
