"""HTML: headings, paragraphs, lists, tables and code in order. Nothing that a page refers to is fetched."""

from __future__ import annotations

import codecs
import re

from engine.pipelines.reading.formats.blocks import PageBuilder, Row, larger, whole_number
from engine.pipelines.reading.formats.markup import EndTag, StartTag, tokens
from engine.pipelines.reading.results import MOST_CELLS, Page

_VOID = frozenset(
    {"br", "hr", "img", "input", "meta", "link", "area", "base", "col", "embed", "source", "track", "wbr"}
)
_HIDDEN = frozenset(
    {"script", "style", "template", "noscript", "title", "iframe", "object", "svg", "select", "audio", "video"}
)
_BLOCKS = frozenset(
    {"p", "div", "section", "article", "aside", "main", "nav", "header", "footer", "address", "blockquote", "figure", "figcaption",
     "form", "fieldset", "dl", "dt", "dd", "li", "ul", "ol", "table", "caption", "tr", "td", "th", "thead", "tbody", "tfoot", "h1",
     "h2", "h3", "h4", "h5", "h6", "pre", "body", "html", "hr", "details", "summary", "center"}
)  # fmt: skip
_UNSHOWN = re.compile(r"(?:^|;)\s*display\s*:\s*none", re.IGNORECASE)
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([\w.:-]{1,40})""", re.IGNORECASE)
_NO_LETTERS = frozenset({"unicode_escape", "raw_unicode_escape", "punycode", "idna", "undefined", "mbcs", "oem"})
_HALVES = re.compile("[\ud800-\udfff]")  # of a character, which UTF-7 can hold and no file may
MOST_DEPTH = 2000  # lists and tables in each other; more is text


def read_html(text: str) -> tuple[Page, ...]:
    out = PageBuilder("part")
    add_html(out, text)
    return out.pages()


def add_html(out: PageBuilder, text: str) -> None:
    reader = _Reader(out)
    for token in tokens(text):
        if isinstance(token, StartTag):
            reader.begin(token.name, token.attributes)
        elif isinstance(token, EndTag):
            reader.end(token.name)
        else:
            reader.add(token)
    reader.close()


def decoded_html(data: bytes) -> str:
    """By its byte order mark, by what it says of itself, else as UTF-8, else as Windows-1252."""
    declared = _CHARSET.search(data[:4096]) or re.search(
        rb"""<\?xml[^>]{0,100}encoding=["']([\w.:-]{1,40})""", data[:200]
    )
    names = ["utf-16"] if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ["utf-8-sig"]
    if declared and len(names[0]) > 6:
        names.insert(0, declared[1].decode("ascii"))
    for name in names:
        text = decoded_by(data, "utf-8-sig" if name.lower() in ("utf-8", "utf8") else name)
        if text is not None:
            return text
    return data.decode("cp1252", "replace")


def decoded_by(data: bytes, charset: str) -> str | None:
    """None where the letters are others, or are called what no document's letters are."""
    try:
        name = codecs.lookup(charset).name
        if name in _NO_LETTERS:
            return None
        return _HALVES.sub("\ufffd", data.decode(name))
    except (LookupError, ValueError):
        return None


class _Reader:
    def __init__(self, out: PageBuilder) -> None:
        self._out = out
        self._text: list[str] = []
        self._hidden, self._hidden_depth = (
            "",
            0,
        )  # the open element that is not shown, and how many of its name are open in it
        self._heading = 0
        self._lists: list[int | None] = []  # open lists: the number of the last item, None for bullets
        self._item: tuple[int, int | None] | None = None  # depth and number of the item that begins here
        self._pre = 0
        self._quote = self._caption = False
        self._tables = 0  # open ones; inner tables are text of their cell
        self._rows: list[Row] = []
        self._cell: tuple[int, int, bool] | None = None
        self._cells = 0

    def begin(self, tag: str, given: dict[str, str]) -> None:
        if self._hidden == "p" and tag in _BLOCKS:  # a block ends a paragraph that was not closed
            self._hidden = ""
        if self._hidden:
            self._hidden_depth += tag == self._hidden
            return
        if tag in _HIDDEN or "hidden" in given or _UNSHOWN.search(given.get("style", "")):
            if tag not in _VOID:
                self._hidden, self._hidden_depth = tag, 1
            return
        if tag == "br":
            self._text.append("\n")
        elif tag == "table":
            self._begin_table()
        elif self._tables and tag in ("tr", "td", "th"):
            self._begin_cell(tag, given)
        elif self._tables and tag != "caption":
            self._text.append("\n" if tag in _BLOCKS else "")
        elif tag in _BLOCKS:
            self._end_block()
            self._begin_block(tag, given)

    def end(self, tag: str) -> None:
        if self._hidden:
            self._hidden_depth -= tag == self._hidden
            if not self._hidden_depth or tag in ("html", "body"):
                self._hidden = ""
            return
        if tag == "table":
            self._end_table()
        elif self._tables:
            if tag in ("td", "th", "tr"):
                self._end_cell()
            elif tag in _BLOCKS:
                self._text.append("\n")
        elif tag in _BLOCKS:
            self._end_block()
            self._heading = 0
            self._pre -= tag == "pre" and self._pre > 0
            if tag in ("ul", "ol") and self._lists:
                self._lists.pop()
            if tag == "li":
                self._item = None
            if tag == "blockquote":
                self._quote = False
            if tag in ("figcaption", "caption"):
                self._caption = False

    def close(self) -> None:
        while self._tables:  # one that was not closed
            self._end_table()
        self._end_block()

    def add(self, data: str) -> None:
        if not self._hidden:
            self._text.append(data if self._pre else data.replace("\n", " ").replace("\r", " "))

    # -- blocks

    def _begin_block(self, tag: str, given: dict[str, str]) -> None:
        if len(tag) == 2 and tag[0] == "h" and tag[1].isdigit():
            self._heading = int(tag[1])
        elif tag in ("ul", "ol") and len(self._lists) < MOST_DEPTH:
            self._lists.append(whole_number(given.get("start"), 1) - 1 if tag == "ol" else None)
        elif tag == "li":
            number = None
            if self._lists and self._lists[-1] is not None:
                number = self._lists[-1] + 1
                self._lists[-1] = number
            self._item = (max(0, len(self._lists) - 1), number)
        elif tag == "pre":
            self._pre += 1
        elif tag == "blockquote":
            self._quote = True
        elif tag in ("figcaption", "caption"):
            self._caption = True

    def _end_block(self) -> None:
        """What was gathered since the last block is one."""
        text = "".join(self._text)
        self._text = []
        if not text.strip():
            return
        item, self._item = self._item, None
        if self._pre:
            self._out.code(text)
        elif self._heading:
            self._out.heading(text, self._heading)
        elif item is not None:
            self._out.item(text, *item)
        else:
            self._out.text(text, "caption" if self._caption else "aside" if self._quote else "text")

    # -- tables

    def _begin_table(self) -> None:
        self._tables += 1
        if self._tables == 1:
            self._end_block()
            self._rows, self._cell, self._cells = [], None, 0

    def _begin_cell(self, tag: str, given: dict[str, str]) -> None:
        if self._tables > 1:
            self._text.append("\n" if tag == "tr" else " ")
            return
        self._end_cell()
        if tag == "tr" or not self._rows:
            self._rows.append([])
        if tag != "tr":
            down, across = (_span(given.get(name)) for name in ("rowspan", "colspan"))
            self._cell = (down, across, tag == "th")

    def _end_cell(self) -> None:
        if self._tables != 1:
            return
        text = "\n".join(filter(None, (" ".join(line.split()) for line in "".join(self._text).splitlines())))
        if self._cell is not None:
            self._text = []
            self._cells += 1
            if self._cells > MOST_CELLS * 10:
                raise larger()
            self._rows[-1].append((text, *self._cell))
            self._cell = None
        elif text:  # words between cells are shown above the table
            self._text = []
            self._out.text(text, "caption")

    def _end_table(self) -> None:
        if self._tables == 1:
            self._end_cell()
            self._tables = 0
            rows = [row for row in self._rows if row]
            width = max(map(len, rows), default=0)
            if width < 2:  # a frame that only places its content
                for row in rows:
                    self._out.text(row[0][0])
            else:
                self._out.table(rows)
            self._rows = []
        self._tables = max(0, self._tables - 1)


def _span(text: str | None) -> int:
    return max(1, whole_number(text, 1, 64))
