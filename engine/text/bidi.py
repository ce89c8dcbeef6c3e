"""Lines that mix writing directions: signs as they stand from left to right, in the order in which they are read.

A page has places and no order. What Unicode's rules (UAX 9) make of a text before it is drawn is nearly its own reverse, so the same rules
lead back. Explicit embeddings are not in a page, so these are left out.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

_FROM_THE_RIGHT = ("R", "AL")
_NUMBERS = ("EN", "AN")
_ENDS = tuple(".!?:;,…\u060c\u061b\u061f\u06d4")
_BRACKETS = ("()", "[]", "{}", "<>", "«»", "‹›", "⟨⟩", "⟦⟧")
_CLOSING = {pair[1] for pair in _BRACKETS}
_MIRRORED = {pair[side]: pair[1 - side] for pair in _BRACKETS for side in (0, 1)}


def is_right_to_left(text: str) -> bool:
    """Whether any letter of it is written from right to left."""
    return any(ord(sign) >= 0x590 and unicodedata.bidirectional(sign) in _FROM_THE_RIGHT for sign in text)


def reading_order(signs: Sequence[str]) -> list[int]:
    """Indices of signs, each with its marks, that stand from left to right in one line. Most of its letters say how the line runs."""
    return _order(_levels(signs))


def read_line(signs: Sequence[str]) -> str:
    """The text of one line. Its brackets are as they are drawn or as they are meant: they open before they close."""
    levels = _levels(signs)
    order = _order(levels)
    first = next((signs[at] for at in order if levels[at] % 2 and signs[at] in _MIRRORED), "")
    drawn = bool(first) and first in _CLOSING
    return "".join(_MIRRORED.get(signs[at], signs[at]) if drawn and levels[at] % 2 else signs[at] for at in order)


def join_words(words: Sequence[str]) -> str:
    """The text of a line, given its words from left to right, each as it is read."""
    if not any(map(is_right_to_left, words)):
        return " ".join(words)
    return read_line([sign for at, word in enumerate(words) for sign in ([" "] if at else []) + _drawn(word)])


def with_marks(text: str) -> list[str]:
    """The signs of a text, each with the marks behind it."""
    found: list[str] = []
    for sign in text:
        if found and unicodedata.category(sign) in ("Mn", "Me"):
            found[-1] += sign
        else:
            found.append(sign)
    return found


def _drawn(word: str) -> list[str]:
    """The signs of a word as they stand, from left to right."""
    signs = with_marks(word)
    return [signs[at] for at in reading_order(signs)] if is_right_to_left(word) else signs


def _order(levels: Sequence[int]) -> list[int]:
    """UAX 9, L2: whatever lies on a level or above it is turned around, the highest one first."""
    order = list(range(len(levels)))
    for level in range(max(levels, default=0), 0, -1):
        at = 0
        while at < len(order):
            end = at
            while end < len(order) and levels[order[end]] >= level:
                end += 1
            order[at:end] = order[at:end][::-1]
            at = end + 1
    return order


def _levels(signs: Sequence[str]) -> list[int]:
    """UAX 9, W1 to I2."""
    kinds = [unicodedata.bidirectional(sign[:1]) or "L" for sign in signs]
    backwards = sum(kind in _FROM_THE_RIGHT for kind in kinds) > kinds.count("L")
    # a sentence ends where its line ends: in a line that runs from the right, on its left
    if backwards and len(signs) > 1 and signs[-1] in _ENDS and signs[0] not in _ENDS:
        backwards = False
    base = "R" if backwards else "L"
    kinds = _without_weak(kinds, base)
    at = 0
    while at < len(kinds):
        end = at
        while end < len(kinds) and kinds[end] == "ON":
            end += 1
        if end > at:
            before = _side(kinds[at - 1]) if at else base
            behind = _side(kinds[end]) if end < len(kinds) else base
            kinds[at:end] = [before if before == behind else base] * (end - at)
        at = max(end, at + 1)
    if base == "R":
        return [1 if kind == "R" else 2 for kind in kinds]
    return [{"L": 0, "R": 1}.get(kind, 2) for kind in kinds]


def _without_weak(kinds: Sequence[str], base: str) -> list[str]:
    """L, R, EN, AN or ON of each."""
    strong = [kind if kind in ("L", *_FROM_THE_RIGHT) else "" for kind in kinds]
    found, left = list(kinds), ""
    for at, kind in enumerate(kinds):
        left = strong[at] or left
        if kind == "EN" and (base == "R" or left == "AL"):  # behind an Arabic letter, which stands on its right
            right = next((one for one in strong[at:] if one), "")
            found[at] = "AN" if right == "AL" else kind
    for at, kind in enumerate(found):
        before, behind = found[at - 1] if at else "", found[at + 1] if at + 1 < len(found) else ""
        if (kind == "ES" and before == behind == "EN") or (kind == "CS" and before == behind and before in _NUMBERS):
            found[at] = before
    for number in [at for at, kind in enumerate(found) if kind == "EN"]:
        for step in (-1, 1):
            at = number + step
            while 0 <= at < len(found) and found[at] == "ET":
                found[at] = "EN"
                at += step
    last = base
    for at, kind in enumerate(found):
        if kind in ("L", *_FROM_THE_RIGHT):
            found[at] = last = "L" if kind == "L" else "R"
        elif kind == "EN" and last == "L":
            found[at] = "L"
        elif kind not in _NUMBERS:
            found[at] = "ON"
    return found


def _side(kind: str) -> str:
    return "R" if kind in _NUMBERS else kind
