"""Syntax highlighting of code and rendering of formulas to SVG. Both are slow for long input: call them off the UI thread."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

LONGEST = 60_000  # characters; longer code stays plain


class HighlightSpan(NamedTuple):
    """`length` characters from `start` in line `line`; `kind` is a token of the theme."""

    line: int
    start: int
    length: int
    kind: str


def spans(code: str, language: str) -> list[HighlightSpan]:
    """Nothing for a language that is not known."""
    if not language or len(code) > LONGEST:
        return []
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    found: list[HighlightSpan] = []
    line = column = 0
    for kind, text in lexer.get_tokens(code):
        token = _theme_token(tuple(kind))
        for number, part in enumerate(text.split("\n")):
            if number:
                line, column = line + 1, 0
            if token and part:
                found.append(HighlightSpan(line, column, _utf16(part), token))
            column += _utf16(part)
    return found


def _utf16(text: str) -> int:
    """How long Qt thinks a text is."""
    return len(text) + sum(1 for c in text if ord(c) > 0xFFFF) if not text.isascii() else len(text)


def _theme_token(kind: Sequence[str]) -> str:
    head = kind[0] if kind else ""
    if head == "Comment":
        return "code_note"
    if head == "Keyword" or kind[:2] == ("Operator", "Word"):
        return "code_word"
    if head == "Literal":
        return "code_number" if kind[1:2] == ("Number",) else "code_text"
    if head == "Name" and kind[1:2] in (("Function",), ("Class",), ("Decorator",), ("Tag",), ("Builtin",)):
        return "code_name"
    return ""


log = logging.getLogger("grus.window")

# what replies use and the reader does not know, in words that it does
_SPELLINGS = (
    (re.compile(r"\\(?:dfrac|tfrac|cfrac)\b"), r"\\frac"),
    (re.compile(r"\\(?:displaystyle|textstyle|nonumber|notag|limits|nolimits)\b"), ""),
    (re.compile(r"\\(?:label|tag)\*?\{[^}]*\}"), ""),
    (re.compile(r"\\operatorname\*?\{([^}]*)\}"), r"\\mathrm{\1}"),
    (re.compile(r"\\boxed\{"), r"{"),
    (re.compile(r"\\(?:big|Big|bigg|Bigg)[lrm]?\b"), ""),
)


@dataclass(frozen=True)
class FormulaDrawing:
    """`width`, `height` and `depth` (below the line of text) in the units of `size`."""

    svg: str
    width: float
    height: float
    depth: float


@lru_cache(maxsize=2048)
def draw(tex: str, display: bool, size: float, colour: str) -> FormulaDrawing | None:
    """One formula at a size of type."""
    import ziamath

    for pattern, spelling in _SPELLINGS:
        tex = pattern.sub(spelling, tex)
    try:
        ziamath.config.svg2 = False  # plain paths, which every SVG reader knows
        made = ziamath.Latex(tex, size=size, color=colour, inline=not display)
        width, height = made.getsize()
        return FormulaDrawing(made.svg(), float(width), float(height), max(0.0, -float(made.node.bbox.ymin)))
    except Exception as error:  # the reader fails in many ways on TeX that it does not know
        log.debug("a formula could not be drawn: %s (%s)", tex, error)
        return None
