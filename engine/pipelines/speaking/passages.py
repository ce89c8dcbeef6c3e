"""A long text in passages that a voice can speak at once: whole sentences, told apart as each script does it.

Knows scripts and lengths, no model. Nothing of the text is lost: the passages joined by a space say all that it said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

SENTENCE_PAUSE = 0.22  # seconds of silence after a sentence's end
PARAGRAPH_PAUSE = 0.6
LETTERS = 320  # of Latin and other alphabets, in a passage
SIGNS = 110  # of scripts that write syllables or words as one sign

_PARAGRAPH = re.compile(r"\n\s*\n|\r\n\s*\r\n")
_WIDE_END = "。！？；…"
_CLOSERS = "\"'”’»)]}」』）】〉》"
_SHORT = frozenset(
    ["mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "vs", "etc", "eg", "ie", "e.g", "i.e", "cf", "no", "vol", "pp", "fig", "approx", "dept", "est", "inc", "ltd", "co", "corp", "gen", "col", "capt", "lt", "sgt", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "bzw", "ca", "usw", "z.b", "d.h", "nr", "str", "hr", "fr", "abs", "bsp", "evtl", "ggf", "p.ej", "sra", "srta", "av", "m", "mme", "mlle"]
)  # fmt: skip


@dataclass(frozen=True)
class Passage:
    text: str
    pause: float  # seconds of silence after it


def passages(text: str) -> list[Passage]:
    """In order; none is empty. The last one has no pause."""
    made: list[Passage] = []
    for paragraph in _PARAGRAPH.split(text):
        group = ""
        for sentence in sentences(" ".join(paragraph.split())):
            for part in parts(sentence):
                if group and size(group) + size(part) > 1.0:
                    made.append(Passage(group, SENTENCE_PAUSE))
                    group = ""
                group = f"{group} {part}" if group and not _wide(group[-1]) else group + part
        if group:
            made.append(Passage(group, PARAGRAPH_PAUSE))
    return [*made[:-1], Passage(made[-1].text, 0.0)] if made else []


def size(text: str) -> float:
    """Of a full passage, how much this is."""
    return sum(1 / SIGNS if _wide(sign) else 1 / LETTERS for sign in text)


def sentences(text: str) -> Iterator[str]:
    """`text` is one line."""
    start = 0
    for i, sign in enumerate(text):
        if sign in _WIDE_END or (sign in ".!?…" and _ends(text, i)):
            stop = i + 1
            while stop < len(text) and (text[stop] in _CLOSERS or text[stop] in ".!?…" or text[stop] in _WIDE_END):
                stop += 1
            if stop > start:
                if sentence := text[start:stop].strip():
                    yield sentence
                start = stop
    if rest := text[start:].strip():
        yield rest


def _ends(text: str, i: int) -> bool:
    """Does the mark at `i` end a sentence, and no abbreviation, number or address?"""
    after = i + 1
    while after < len(text) and (text[after] in _CLOSERS or text[after] in ".!?…"):
        after += 1
    if after < len(text) and not text[after].isspace():
        return False
    if text[i] != ".":
        return True
    before = text[:i].rsplit(None, 1)[-1] if text[:i].split() else ""
    word = before.lstrip("\"'“‘«([").lower()
    if word in _SHORT or (len(word) == 1 and word.isalpha()):
        return False
    following = text[after:].lstrip()
    if before.isdigit() and following[:1].islower():
        return False
    return not (following[:1].islower() and len(word) <= 4)


def parts(sentence: str) -> Iterator[str]:
    """A sentence that is too long is parted at its commas, then at its spaces, and at last anywhere."""
    rest = sentence
    while size(rest) > 1.0:
        limit, total = 0, 0.0
        while limit < len(rest) and total <= 1.0:
            total += 1 / SIGNS if _wide(rest[limit]) else 1 / LETTERS
            limit += 1
        limit = max(1, limit - 1)
        cut = max((rest.rfind(mark, limit // 3, limit) + 1 for mark in ";:,、，；："), default=0)
        cut = cut if cut > 0 else rest.rfind(" ", limit // 3, limit) + 1
        cut = cut if cut > 0 else limit
        if head := rest[:cut].strip():
            yield head
        rest = rest[cut:].strip()
    if rest:
        yield rest


def _wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"
