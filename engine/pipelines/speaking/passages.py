"""A long text in passages that a voice can speak at once: whole sentences, told apart as each script does it.

Knows scripts and lengths, no model. Nothing of the text is lost: the passages joined by a space say all that it said.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# seconds of silence between the last word of a passage and the first of the next
PARAGRAPH_PAUSE = 0.8
SENTENCE_PAUSE = 0.45
CLAUSE_PAUSE = 0.2  # where a sentence was too long, and parted at a comma
BREATH = 0.08  # or between two words
LETTERS = 320  # of Latin and other alphabets, in a passage
SIGNS = 110  # of scripts that write syllables or words as one sign

_PARAGRAPH = re.compile(r"\n\s*\n|\r\n\s*\r\n")
_WIDE_END = "。！？；"  # need no space after them
_END = ".!?…؟۔।॥"
_CLAUSE = ";:,、，；：،"
# what still belongs to a sentence behind its mark; in French a space stands before the closing quotation mark
_TAIL = re.compile(r"""["'”“’»«)\]}」』）】〉》.!?…؟۔।॥。！？；]*(?:[ \u00a0\u202f]»(?=[\s.,;!?]|$))?""")
_SHORT = frozenset(
    ["mr", "mrs", "ms", "dr", "prof", "sr", "jr", "st", "vs", "etc", "eg", "ie", "e.g", "i.e", "cf", "no", "vol", "pp", "fig", "approx", "dept", "est", "inc", "ltd", "co", "corp", "gen", "col", "capt", "lt", "sgt", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "bzw", "ca", "usw", "z.b", "d.h", "nr", "str", "hr", "fr", "abs", "bsp", "evtl", "ggf", "p.ej", "sra", "srta", "av", "m", "mme", "mlle"]
)  # fmt: skip


@dataclass(frozen=True)
class Passage:
    text: str
    pause: float  # seconds of silence behind it


def passages(text: str) -> list[Passage]:
    """In order; none is empty. The last one has no pause."""
    made: list[Passage] = []
    for paragraph in _PARAGRAPH.split(text):
        group, pause = "", SENTENCE_PAUSE
        for sentence in sentences(" ".join(paragraph.split())):
            *within, last = parts(sentence)
            for part, behind in [*((part, _within(part)) for part in within), (last, SENTENCE_PAUSE)]:
                if group and size(group) + size(part) > 1.0:
                    made.append(Passage(group, pause))
                    group = ""
                apart = group and not _spaceless(group[-1]) and not _spaceless(part[0])
                group, pause = f"{group} {part}" if apart else group + part, behind
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
        if sign in _WIDE_END or (sign in _END and _ends(text, i)):
            stop = _behind(text, i)
            if stop > start:
                if sentence := text[start:stop].strip():
                    yield sentence
                start = stop
    if rest := text[start:].strip():
        yield rest


def _ends(text: str, i: int) -> bool:
    """Does the mark at `i` end a sentence, and no abbreviation, number or address, nor speech that somebody is said to say?"""
    after = _behind(text, i)
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


def _behind(text: str, i: int) -> int:
    """Where what follows the sentence with the mark at `i` begins."""
    tail = _TAIL.match(text, i + 1)
    return i + 1 if tail is None else tail.end()


def parts(sentence: str) -> Iterator[str]:
    """A sentence that is too long is parted at its commas, then at its spaces, and at last anywhere."""
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


def _within(part: str) -> float:
    """The pause behind a part of a sentence that goes on."""
    return CLAUSE_PAUSE if part.endswith(tuple(_CLAUSE)) else BREATH


def _spaceless(sign: str) -> bool:
    """Of a script that puts no spaces between its words: Chinese and Japanese, not Korean."""
    return _wide(sign) and not unicodedata.name(sign, "").startswith("HANGUL")


def _wide(sign: str) -> bool:
    return unicodedata.east_asian_width(sign) in "WF"
