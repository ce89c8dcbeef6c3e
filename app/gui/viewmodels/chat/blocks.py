"""Markdown's top-level blocks, and where each lies in its source. A long list or table comes in parts.

A block ends for good when the next one begins, and so does a part: what a reply grows by is read again from the last
part's start, however long its list becomes. A part is a list or a table of its own: its numbers go on, and its columns
have their names again, as on the next page of a book.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from threading import Lock
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.gui.viewmodels.chat.mathmark import with_formulas

LONGEST = 2000  # characters of a list or a table in one part

_making = Lock()
_ENDS = re.compile(r"\r\n|\n|\r")  # what a reader of markdown takes for the end of a line


class Lead(NamedTuple):
    """What a reader that begins at a part must know of what lies before it."""

    columns: str = ""  # a table's first two lines
    number: int | None = None  # of a list's first item


NOTHING = Lead()


@dataclass(frozen=True)
class Block:
    tokens: Sequence[Token]
    start: int
    end: int
    lead: Lead = NOTHING

    @property
    def is_code(self) -> bool:
        return self.tokens[0].type in ("fence", "code_block")


@cache
def _made() -> MarkdownIt:
    md = with_formulas(MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"]))
    md.parse(
        "[a](https://a.example/%41?b c) <https://a.example/%41>"
    )  # fills the tables of the library that reads links
    return md


def _parser() -> MarkdownIt:
    """Made by one thread while others wait: half of the tables that it shares with all parsers would be read as whole."""
    with _making:
        return _made()


def blocks(source: str, lead: Lead = NOTHING) -> list[Block]:
    """All blocks of a source that begins with a block, or with a part that `lead` belongs to."""
    whole = lead.columns + source
    lines = [0, *(end.end() for end in _ENDS.finditer(whole))]
    if lines[-1] < len(whole):
        lines.append(len(whole))
    found: list[Block] = []
    for tokens in _outermost(_parser().parse(whole)):
        first, last = tokens[0].map or (0, len(lines) - 1)
        block = Block(tokens, lines[min(first, len(lines) - 1)], lines[min(last, len(lines) - 1)])
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


def _led(block: Block, lead: Lead) -> Block:
    if lead.number is not None and block.tokens[0].type == "ordered_list_open":
        block.tokens[0].attrs["start"] = lead.number
    return replace(block, start=block.start + len(lead.columns), lead=lead)


def _parts(block: Block, source: str, lines: Sequence[int]) -> Iterator[Block]:
    """A block, or what it is made of when it is a long list or table. Each part takes what items it has room for."""
    first, last = _inside(block.tokens) if block.end - block.start > LONGEST else (0, 0)
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
        if part and lines[below] - start > LONGEST and _begins_alone(source, lines[above]):
            yield Block([*_opening(head, lead, goes_on=True), *part, *tail], start, lines[above], lead)
            start, part = lines[above], []
            lead = Lead(columns, None if number is None else number + n)
        part += item
    yield Block([*_opening(head, lead), *part, *tail], start, block.end, lead)


def _inside(tokens: Sequence[Token]) -> tuple[int, int]:
    """From where to where the items of a list or the rows of a table go; nothing in other blocks."""
    kind = tokens[0].type
    if kind in ("bullet_list_open", "ordered_list_open"):
        return 1, len(tokens) - 1
    if kind == "table_open":
        body = next((i for i, token in enumerate(tokens) if token.type == "tbody_open"), None)
        return (0, 0) if body is None else (body + 1, len(tokens) - 2)
    return 0, 0


def _opening(head: Sequence[Token], lead: Lead, goes_on: bool = False) -> list[Token]:
    attributes = head[0].attrs if lead.number is None else {**head[0].attrs, "start": lead.number}
    return [head[0].copy(attrs=attributes, meta={"goes_on": goes_on}), *head[1:]]


def _begins_alone(source: str, at: int) -> bool:
    """Whether a line is read the same without those above it: further to the right it would be code."""
    return not source.startswith(("    ", "\t"), at)
