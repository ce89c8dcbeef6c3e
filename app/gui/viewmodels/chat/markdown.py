"""Markdown for the transcript: top-level blocks, pieces (prose as HTML, code, formulas), and incremental parsing.

A reply that streams is parsed only where it grows: blocks before the last are settled, long lists and tables come in parts.
Formulas (`$...$`, `$$...$$`, `\\(...\\)`, `\\[...\\]`) and footnotes are found by the rules of `markdown_rules.py`, task boxes
and bare links in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html import escape
from threading import Lock
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.gui.viewmodels.chat.markdown_rules import with_footnotes, with_formulas

_TASK = re.compile(r"\[([ xX])\](?=\s)")
_BARE = re.compile(r"https?://[^\s<>\"]+")

LONGEST = 1600  # characters of prose in a piece: pieces are drawn and measured one by one

_SAFE = ("http://", "https://", "mailto:")


@dataclass(frozen=True)
class Formula:
    tex: str
    display: bool


@dataclass(frozen=True)
class MarkdownPiece:
    """`text` is the markdown of prose, or the code itself. `html` is what lies before, between and after the formulas."""

    kind: Literal["prose", "code"]
    text: str
    html: tuple[str, ...] = ("",)
    language: str = ""
    formulas: tuple[Formula, ...] = ()
    open: bool = False  # code whose end has not come yet


def pieces(text: str) -> list[MarkdownPiece]:
    """All of a finished text."""
    return list(IncrementalMarkdown(text).pieces)


class IncrementalMarkdown:
    """Incremental parser of a text that only grows; `pieces` is its current content."""

    def __init__(self, text: str = "") -> None:
        self._text = ""
        self._settled: list[MarkdownPiece] = []
        self._from, self._lead = 0, NOTHING  # where the unsettled rest begins, and what it must know
        self._tail: list[MarkdownPiece] = []
        if text:
            self.grow(text)

    @property
    def pieces(self) -> Sequence[MarkdownPiece]:
        return [*self._settled, *self._tail]

    def grow(self, text: str) -> None:
        """The whole text so far."""
        if text == self._text:
            return
        if not text.startswith(self._text):
            self._settled, self._from, self._lead = [], 0, NOTHING
        self._text = text
        rest = text[self._from :]
        *done, last = blocks(rest, self._lead) or [MarkdownBlock([], 0, 0)]
        if done:
            self._settle(done, rest)
            self._from, self._lead = self._from + last.start, last.lead
        self._tail = _group([last], rest, []) if last.tokens else []

    def _settle(self, done: Sequence[MarkdownBlock], source: str) -> None:
        last = self._settled.pop() if self._settled and self._settled[-1].kind == "prose" else None
        self._settled += _group(done, source, [last] if last is not None else [])


def _group(found: Sequence[MarkdownBlock], source: str, made: list[MarkdownPiece]) -> list[MarkdownPiece]:
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
            made[-1] = MarkdownPiece("prose", before.text + text, joined, formulas=before.formulas + formulas)
        else:
            made.append(MarkdownPiece("prose", text, html, formulas=formulas))
    return made


def _code(token: Token, source: str) -> MarkdownPiece:
    language = token.info.split()[0] if token.info.strip() else ""
    lines = source.rstrip().splitlines()
    closed = token.type != "fence" or (len(lines) > 1 and lines[-1].strip() == token.markup)
    return MarkdownPiece("code", token.content.rstrip("\n"), language=language.lower(), open=not closed)


@dataclass
class _Html:
    """Tokens as HTML, cut where formulas belong."""

    out: list[str] = field(default_factory=lambda: [""])
    formulas: list[Formula] = field(default_factory=list)
    linked: bool = False  # inside a link

    def of(self, tokens: Sequence[Token]) -> tuple[tuple[str, ...], tuple[Formula, ...]]:
        for at, token in enumerate(tokens):
            if token.type == "inline" and at > 1 and tokens[at - 2].type == "list_item_open":
                _mark_task(token)
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
        elif kind in ("footnote_open", "footnote_close"):
            self._say('<p class="footnote">' if token.nesting > 0 else "</p>")
        elif kind == "footnote_label":
            self._say(f"<sup>{escape(token.content)}</sup> ")
        elif kind in ("blockquote_open", "blockquote_close"):  # Qt draws a border beside a cell alone
            self._say(_QUOTE if token.nesting > 0 else "</td></tr></table>")
        elif kind == "table_open":
            self._say('<table cellspacing="0" cellpadding="6" border="1">')
        elif kind in ("th_open", "td_open"):
            style = str(token.attrs.get("style", ""))
            align = next((side for side in ("right", "center") if side in style), "left")
            self._say(f'<{token.tag} align="{align}">')
        elif kind == "ordered_list_open":
            self._say(f'<ol start="{token.attrs.get("start", 1)}"{_continued(token)}>')
        elif kind == "bullet_list_open":
            self._say(f"<ul{_continued(token)}>")
        elif token.tag:
            self._say(f"<{token.tag}>" if token.nesting > 0 else f"</{token.tag}>")

    def _inline(self, token: Token) -> None:
        kind = token.type
        if kind == "text":
            self._linked_text(token.content)
        elif kind == "footnote_reference":
            self._say(f"<sup>{escape(token.content)}</sup>")
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
        elif kind in ("link_open", "link_close"):
            self.linked = token.nesting > 0
            if self.linked:
                self._link(str(token.attrs.get("href", "")))
            else:
                self._say("</a>")
        elif kind == "image":
            # nothing is fetched for a reply: an image is shown as its alt text
            self._text(token.content or str(token.attrs.get("src", "")))
        elif token.tag:
            self._say(f"<{token.tag}>" if token.nesting > 0 else f"</{token.tag}>")
        else:
            self._text(token.content)

    def _linked_text(self, text: str) -> None:
        """A bare address is a link as well; the full stop after it is not part of it."""
        at = 0
        for found in () if self.linked else _BARE.finditer(text):
            address = found[0].rstrip(".,;:!?'*")
            while address.endswith(")") and address.count("(") < address.count(")"):
                address = address[:-1].rstrip(".,;:!?'*")
            self._text(text[at : found.start()])
            self._link(address)
            self._text(address)
            self._say("</a>")
            at = found.start() + len(address)
        self._text(text[at:])

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


_QUOTE = '<table class="quote" style="margin-top:6px;margin-bottom:9px" width="100%" cellspacing="0" cellpadding="0" border="0"><tr><td class="quote">'


def _mark_task(inline: Token) -> None:
    first = inline.children[0] if inline.children else None
    if first is not None and first.type == "text" and (found := _TASK.match(first.content)):
        first.content = ("☐" if found[1] == " " else "☑") + first.content[found.end() :]


def _continued(token: Token) -> str:
    """The rest of a long list follows in the next piece, as close as its own items."""
    return ' style="margin-bottom:0"' if token.meta.get("continued") else ""


def filled(piece: MarkdownPiece, drawn: Sequence[str]) -> str:
    """The whole HTML, with `drawn` in place of the formulas."""
    parts = [piece.html[0]]
    for formula, after in zip(drawn, piece.html[1:], strict=True):
        parts += [formula, after]
    return "".join(parts)


def as_source(formula: Formula) -> str:
    """A formula that cannot be drawn (yet): its TeX."""
    return f"<i>{escape(formula.tex)}</i>"


LONGEST_PART = 2000  # characters of a list or a table in one part

_making = Lock()
_ENDS = re.compile(r"\r\n|\n|\r")  # what a reader of markdown takes for the end of a line


class PartLead(NamedTuple):
    """What a reader that begins at a part must know of what lies before it."""

    columns: str = ""  # a table's first two lines
    number: int | None = None  # of a list's first item


NOTHING = PartLead()


@dataclass(frozen=True)
class MarkdownBlock:
    tokens: Sequence[Token]
    start: int
    end: int
    lead: PartLead = NOTHING

    @property
    def is_code(self) -> bool:
        return self.tokens[0].type in ("fence", "code_block")


@cache
def _made() -> MarkdownIt:
    md = with_footnotes(
        with_formulas(MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"]))
    )
    md.parse(
        "[a](https://a.example/%41?b c) <https://a.example/%41>"
    )  # fills the tables of the library that reads links
    return md


def _parser() -> MarkdownIt:
    """Made by one thread while others wait: half of the tables that it shares with all parsers would be read as whole."""
    with _making:
        return _made()


def blocks(source: str, lead: PartLead = NOTHING) -> list[MarkdownBlock]:
    """All blocks of a source that begins with a block, or with a part that `lead` belongs to."""
    whole = lead.columns + source
    lines = [0, *(end.end() for end in _ENDS.finditer(whole))]
    if lines[-1] < len(whole):
        lines.append(len(whole))
    found: list[MarkdownBlock] = []
    for tokens in _outermost(_parser().parse(whole)):
        first, last = tokens[0].map or (0, len(lines) - 1)
        block = MarkdownBlock(tokens, lines[min(first, len(lines) - 1)], lines[min(last, len(lines) - 1)])
        if not found:
            block = _led(block, lead)
        found += _parts(block, whole, lines)
    shift = len(lead.columns)
    return [replace(block, start=block.start - shift, end=block.end - shift) for block in found]


def _outermost(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    depth, block = 0, list[Token]()
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if depth == 0:
            yield block
            block = []


def _led(block: MarkdownBlock, lead: PartLead) -> MarkdownBlock:
    if lead.number is not None and block.tokens[0].type == "ordered_list_open":
        block.tokens[0].attrs["start"] = lead.number
    return replace(block, start=block.start + len(lead.columns), lead=lead)


def _parts(block: MarkdownBlock, source: str, lines: Sequence[int]) -> Iterator[MarkdownBlock]:
    """A block, or what it is made of when it is a long list or table. Each part takes what items it has room for."""
    first, last = _inside(block.tokens) if block.end - block.start > LONGEST_PART else (0, 0)
    inside = list(_outermost(block.tokens[first:last]))
    if len(inside) < 2:
        yield block
        return
    head, tail = block.tokens[:first], block.tokens[last:]
    kind, begins = head[0].type, (inside[0][0].map or (0, 0))[0]
    columns = block.lead.columns or (source[block.start : lines[begins]] if kind == "table_open" else "")
    number = int(head[0].attrs.get("start", 1)) if kind == "ordered_list_open" else None
    start, lead, part = block.start, block.lead, list[Token]()
    for n, item in enumerate(inside):
        above, below = item[0].map or (0, 0)
        if part and lines[below] - start > LONGEST_PART and _begins_alone(source, lines[above]):
            yield MarkdownBlock([*_opening(head, lead, continued=True), *part, *tail], start, lines[above], lead)
            start, part = lines[above], []
            lead = PartLead(columns, None if number is None else number + n)
        part += item
    yield MarkdownBlock([*_opening(head, lead), *part, *tail], start, block.end, lead)


def _inside(tokens: Sequence[Token]) -> tuple[int, int]:
    """From where to where the items of a list or the rows of a table go; nothing in other blocks."""
    kind = tokens[0].type
    if kind in ("bullet_list_open", "ordered_list_open"):
        return 1, len(tokens) - 1
    if kind == "table_open":
        body = next((i for i, token in enumerate(tokens) if token.type == "tbody_open"), None)
        return (0, 0) if body is None else (body + 1, len(tokens) - 2)
    return 0, 0


def _opening(head: Sequence[Token], lead: PartLead, continued: bool = False) -> list[Token]:
    attributes = head[0].attrs if lead.number is None else {**head[0].attrs, "start": lead.number}
    return [head[0].copy(attrs=attributes, meta={"continued": continued}), *head[1:]]


def _begins_alone(source: str, at: int) -> bool:
    """Whether a line is read the same without those above it: further to the right it would be code."""
    return not source.startswith(("    ", "\t"), at)


# -- a conversation as message views: user text, prose, code, reasoning, tool calls, footers. Widgets exist only for those in sight

# "unread": a reply that was not in sight yet; `MessageViews.of` makes its views
