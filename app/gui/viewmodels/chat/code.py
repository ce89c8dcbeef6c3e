"""Which words of a piece of code have which meaning, for colours. Slow for long code: call it beside the UI thread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LONGEST = 60_000  # characters; longer code stays plain


class Span(NamedTuple):
    """`length` characters from `start` in line `line`; `kind` is a token of the theme."""

    line: int
    start: int
    length: int
    kind: str


def spans(code: str, language: str) -> list[Span]:
    """Nothing for a language that is not known."""
    if not language or len(code) > LONGEST:
        return []
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        lexer = get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return []
    found: list[Span] = []
    line = column = 0
    for kind, text in lexer.get_tokens(code):
        token = _theme_token(tuple(kind))
        for number, part in enumerate(text.split("\n")):
            if number:
                line, column = line + 1, 0
            if token and part:
                found.append(Span(line, column, _utf16(part), token))
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
