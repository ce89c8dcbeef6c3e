"""Markdown as pieces: prose as HTML, code as text, in order. A reply that grows is read only where it grows.

Blocks end for good when the next one begins (`blocks.py`), so what lies before the last one is never read again. Knows
the HTML that Qt's rich text understands, and no widget. Raw HTML in a reply is text like any other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Literal

from markdown_it.token import Token

from app.gui.viewmodels.chat.blocks import NOTHING, Block, blocks

LONGEST = 1600  # characters of prose in a piece: pieces are drawn and measured one by one

_SAFE = ("http://", "https://", "mailto:")


@dataclass(frozen=True)
class Formula:
    tex: str
    display: bool


@dataclass(frozen=True)
class Piece:
    """`text` is the markdown of prose, or the code itself. `html` is what lies before, between and after the formulas."""

    kind: Literal["prose", "code"]
    text: str
    html: tuple[str, ...] = ("",)
    language: str = ""
    formulas: tuple[Formula, ...] = ()
    open: bool = False  # code whose end has not come yet


def pieces(text: str) -> list[Piece]:
    """All of a finished text."""
    return list(Growing(text).pieces)


class Growing:
    """A text that only gets longer; `pieces` is what it is made of now."""

    def __init__(self, text: str = "") -> None:
        self._text = ""
        self._settled: list[Piece] = []
        self._from, self._lead = 0, NOTHING  # where the unsettled rest begins, and what it must know
        self._tail: list[Piece] = []
        if text:
            self.grow(text)

    @property
    def pieces(self) -> Sequence[Piece]:
        return [*self._settled, *self._tail]

    def grow(self, text: str) -> None:
        """The whole text so far."""
        if text == self._text:
            return
        if not text.startswith(self._text):
            self._settled, self._from, self._lead = [], 0, NOTHING
        self._text = text
        rest = text[self._from :]
        *done, last = blocks(rest, self._lead) or [Block([], 0, 0)]
        if done:
            self._settle(done, rest)
            self._from, self._lead = self._from + last.start, last.lead
        self._tail = _group([last], rest, []) if last.tokens else []

    def _settle(self, done: Sequence[Block], source: str) -> None:
        last = self._settled.pop() if self._settled and self._settled[-1].kind == "prose" else None
        self._settled += _group(done, source, [last] if last is not None else [])


def _group(found: Sequence[Block], source: str, made: list[Piece]) -> list[Piece]:
    """Neighbouring prose becomes one piece, up to `LONGEST`."""
    for block in found:
        text = source[block.start : block.end]
        if block.is_code:
            made.append(_code(block.tokens[0], text))
            continue
        html, formulas = _Html().of(block.tokens)
        before = made[-1] if made else None
        if before is not None and before.kind == "prose" and len(before.text) + len(text) <= LONGEST:
            joined = (*before.html[:-1], before.html[-1] + html[0], *html[1:])
            made[-1] = Piece("prose", before.text + text, joined, formulas=before.formulas + formulas)
        else:
            made.append(Piece("prose", text, html, formulas=formulas))
    return made


def _code(token: Token, source: str) -> Piece:
    language = token.info.split()[0] if token.info.strip() else ""
    lines = source.rstrip().splitlines()
    closed = token.type != "fence" or (len(lines) > 1 and lines[-1].strip() == token.markup)
    return Piece("code", token.content.rstrip("\n"), language=language.lower(), open=not closed)


@dataclass
class _Html:
    """Tokens as HTML, cut where formulas belong."""

    out: list[str] = field(default_factory=lambda: [""])
    formulas: list[Formula] = field(default_factory=list)

    def of(self, tokens: Sequence[Token]) -> tuple[tuple[str, ...], tuple[Formula, ...]]:
        for token in tokens:
            self._block(token)
        return tuple(self.out), tuple(self.formulas)

    def _say(self, html: str) -> None:
        self.out[-1] += html

    def _text(self, text: str) -> None:
        self.out[-1] += escape(text, quote=True)

    def _block(self, token: Token) -> None:
        kind = token.type
        if kind == "inline":
            for child in token.children or ():
                self._inline(child)
        elif kind in ("paragraph_open", "paragraph_close"):
            if token.hidden:
                return
            self._say("<p>" if token.nesting > 0 else "</p>")
        elif kind in ("heading_open", "heading_close"):
            level = min(3, int(token.tag[1]))
            self._say(f"<h{level}>" if token.nesting > 0 else f"</h{level}>")
        elif kind in ("fence", "code_block"):
            self._say("<pre>")
            self._text(token.content.rstrip("\n"))
            self._say("</pre>")
        elif kind == "formula_block":
            self._formula(token.content, True)
        elif kind == "hr":
            self._say("<hr>")
        elif kind == "table_open":
            self._say('<table cellspacing="0" cellpadding="6" border="1">')
        elif kind in ("th_open", "td_open"):
            style = str(token.attrs.get("style", ""))
            align = next((side for side in ("right", "center") if side in style), "left")
            self._say(f'<{token.tag} align="{align}">')
        elif kind == "ordered_list_open":
            self._say(f'<ol start="{token.attrs.get("start", 1)}"{_goes_on(token)}>')
        elif kind == "bullet_list_open":
            self._say(f"<ul{_goes_on(token)}>")
        elif token.tag:
            self._say(f"<{token.tag}>" if token.nesting > 0 else f"</{token.tag}>")

    def _inline(self, token: Token) -> None:
        kind = token.type
        if kind == "text":
            self._text(token.content)
        elif kind == "softbreak":
            self._say(" ")
        elif kind == "hardbreak":
            self._say("<br>")
        elif kind == "code_inline":
            self._say("<code>")
            self._text(token.content)
            self._say("</code>")
        elif kind == "formula":
            self._formula(token.content, bool(token.meta["display"]))
        elif kind == "link_open":
            self._link(str(token.attrs.get("href", "")))
        elif kind == "image":
            # nothing is fetched for a reply: an image is told by its words
            self._text(token.content or str(token.attrs.get("src", "")))
        elif token.tag:
            self._say(f"<{token.tag}>" if token.nesting > 0 else f"</{token.tag}>")
        else:
            self._text(token.content)

    def _link(self, target: str) -> None:
        if target.startswith(_SAFE):
            self._say('<a href="')
            self._text(target)
            self._say('">')
        else:
            self._say("<a>")

    def _formula(self, tex: str, display: bool) -> None:
        self.formulas.append(Formula(tex, display))
        self._say('<p align="center">' if display else "")
        self.out.append("</p>" if display else "")


def _goes_on(token: Token) -> str:
    """The rest of a long list follows in the next piece, as close as its own items."""
    return ' style="margin-bottom:0"' if token.meta.get("goes_on") else ""


def filled(piece: Piece, drawn: Sequence[str]) -> str:
    """The whole HTML, with `drawn` in place of the formulas."""
    parts = [piece.html[0]]
    for formula, after in zip(drawn, piece.html[1:], strict=True):
        parts += [formula, after]
    return "".join(parts)


def as_source(formula: Formula) -> str:
    """A formula that cannot be drawn (yet): its TeX."""
    return f"<i>{escape(formula.tex)}</i>"
