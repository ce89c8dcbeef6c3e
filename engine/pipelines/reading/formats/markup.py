"""HTML as tags and text, in time that grows with the length alone.

Python's own `HTMLParser` takes minutes for 100 KB of unclosed quotes, and ends with an AssertionError at `<![x[`. This follows the tokenizer of the
HTML standard as far as text needs it. `<script/>` and its like end at once, as in the XHTML of books.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import NamedTuple

_NAME = re.compile(r"[^\s/>]++")
_ATTRIBUTE = re.compile(r"[\s/]*+([^\s/>=][^\s/>=]*+)(\s*+=\s*+)?")
_UNQUOTED = re.compile(r"[^\s>]*+")
_RAW = frozenset({"script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes"})  # no tags inside
_RAW_END = {name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE) for name in _RAW}
_PLAIN = frozenset({"script", "style", "xmp", "iframe", "noembed", "noframes"})  # no character references inside


class StartTag(NamedTuple):
    name: str  # in lower case
    attributes: dict[str, str]


class EndTag(NamedTuple):
    name: str


def tokens(text: str) -> Iterator[StartTag | EndTag | str]:
    """Tags, and the text between them with its character references replaced. Comments and declarations are left out."""
    return _Tokenizer(text).run()


class _Tokenizer:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._unclosed: set[str] = set()  # quotes that do not come again

    def run(self) -> Iterator[StartTag | EndTag | str]:
        text, shown = self._text, 0  # where text begins that was not given yet
        while True:
            start = text.find("<", self._at)
            after = text[start + 1 : start + 2] if start >= 0 else ""
            if start >= 0 and not (after in ("!", "?", "/") or (after.isascii() and after.isalpha())):
                self._at = start + 1  # a sign of its own
                continue
            if before := text[shown : start if start >= 0 else len(text)]:
                yield unescape(before)
            if start < 0:
                return
            self._at = start
            if after in ("!", "?"):
                self._skip(
                    "-->" if text.startswith("<!--", start) else "]]>" if text.startswith("<![CDATA[", start) else ">"
                )
            elif after == "/":
                name = _NAME.match(text, start + 2)
                self._skip(">")
                if name is not None:
                    yield EndTag(name[0].lower())
            else:
                yield from self._start_tag()
            shown = self._at

    def _skip(self, end: str) -> None:
        found = self._text.find(end, self._at)
        self._at = len(self._text) if found < 0 else found + len(end)

    def _start_tag(self) -> Iterator[StartTag | EndTag | str]:
        text = self._text
        found = _NAME.match(text, self._at + 1)
        assert found is not None  # a letter follows
        name, self._at = found[0].lower(), found.end()
        attributes: dict[str, str] = {}
        while (found := _ATTRIBUTE.match(text, self._at)) is not None:
            self._at = found.end()
            value = self._value() if found[2] else ""
            attributes.setdefault(found[1].lower(), value)
        before = self._at
        self._skip(">")
        yield StartTag(name, attributes)
        if "/" in text[before : self._at]:
            yield EndTag(name)
        elif name in _RAW:
            end = _RAW_END[name].search(text, self._at)
            inside = text[self._at : end.start() if end else len(text)]
            self._at = end.start() if end else len(text)
            if inside:
                yield inside if name in _PLAIN else unescape(inside)

    def _value(self) -> str:
        text, quote = self._text, self._text[self._at : self._at + 1]
        if quote in ("'", '"') and quote not in self._unclosed:
            end = text.find(quote, self._at + 1)
            if end >= 0:
                value, self._at = text[self._at + 1 : end], end + 1
                return unescape(value)
            self._unclosed.add(quote)
        found = _UNQUOTED.match(text, self._at)
        assert found is not None  # it may be empty
        self._at = found.end()
        return unescape(found[0])
