"""Plain text, Markdown and messages (eml)."""

from __future__ import annotations

import email
import email.errors
import email.policy
import re
from collections.abc import Iterator
from email.message import EmailMessage, Message
from typing import Any

from engine.pipelines.reading.formats.blocks import PageBuilder
from engine.pipelines.reading.formats.packages import damaged
from engine.pipelines.reading.formats.web import add_html, decoded_by
from engine.pipelines.reading.results import Page, is_list, list_items, without_bullet

_UNDERLINE = re.compile(r"^([=\-~^\"'*+#])\1{2,}\s*$")
_FRONT = re.compile(r"\A---\r?\n(.{0,20000}?)\r?\n(?:---|\.\.\.)\r?\n", re.DOTALL)
_HEADERS = ("From", "To", "Cc", "Date")
_MOST_PARTS = 200  # of a message
_MOST_FORWARDED = 5  # messages in each other
_MOST_BOUNDARIES = 100  # each line of a message is held against all that are open
_MOST_LINES, _LARGEST_MARKDOWN = 100_000, 4 << 20  # of Markdown; more is read as plain text
_MOST_BRACKETS, _LONGEST_INLINE = 200, 50_000  # of a paragraph whose marks are read


def decoded(data: bytes) -> str:
    """Text in UTF-8, UTF-16 or UTF-32 with their marks, or Windows-1252."""
    if data[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        return data.decode("utf-32", "replace")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def read_text(text: str) -> tuple[Page, ...]:
    """Paragraphs are parted by empty lines, pages by form feeds; a line with a line of signs under it is a heading."""
    sheets = text.split("\f")
    out = PageBuilder("page" if len(sheets) > 1 else "part")
    levels: dict[str, int] = {}  # by the sign of the underline
    for at, sheet in enumerate(sheets):
        for block in re.split(r"\n[ \t]*\n", sheet.replace("\r\n", "\n").replace("\r", "\n")):
            _block(block, out, levels)
        if at < len(sheets) - 1:
            out.end_page()
    return out.pages()


def _block(block: str, out: PageBuilder, levels: dict[str, int]) -> None:
    lines = block.strip("\n").splitlines()
    if len(lines) > 2 and _UNDERLINE.match(lines[0]) and _UNDERLINE.match(lines[2]):
        lines = lines[1:]  # a line of signs above the title as well
    if (
        len(lines) > 1
        and lines[0].strip()
        and _UNDERLINE.match(lines[1])
        and len(lines[0].rstrip()) <= len(lines[1]) + 2
    ):
        out.heading(lines[0], levels.setdefault(lines[1][0], len(levels) + 1))
        lines = lines[2:]
    rest = "\n".join(lines)
    if is_list(rest):
        for item in list_items(rest):
            bullet = without_bullet(item)
            number, _, text = item.partition(" ")
            if bullet is not None:
                out.item(bullet)
            elif number[:-1].isdigit() and number[-1:] == ".":
                out.item(text, 0, int(number[:-1]))
            else:
                out.text(item)
    else:
        out.text(rest)


# -- Markdown


def read_markdown(text: str) -> tuple[Page, ...]:
    from markdown_it import MarkdownIt

    if len(text) > _LARGEST_MARKDOWN or text.count("\n") > _MOST_LINES:
        return read_text(text)
    out = PageBuilder("part")
    front = _FRONT.match(text)
    if front:
        out.text(front[1], "aside")
        text = text[front.end() :]
    parser = MarkdownIt("commonmark", {"maxNesting": 40}).enable("table").disable("inline")
    known: dict[str, Any] = {}  # references to links
    tokens = parser.parse(text, known)
    for (
        token
    ) in tokens:  # the time for a paragraph's marks grows with their cube; without them its text stands as it is
        content = token.content
        if token.type == "inline" and len(content) < _LONGEST_INLINE and content.count("[") < _MOST_BRACKETS:
            token.children = []
            parser.inline.parse(content, parser, known, token.children)
    _Markdown(out).read(tokens)
    return out.pages()


class _Markdown:
    def __init__(self, out: PageBuilder) -> None:
        self._out = out
        self._lists: list[int | None] = []
        self._item: tuple[int, int | None] | None = None
        self._heading = self._quotes = 0
        self._rows: list[list[str]] | None = None

    def read(self, tokens: list[Any]) -> None:
        for token in tokens:
            kind = token.type
            if kind == "inline":
                self._inline(_words(token))
            elif kind in ("fence", "code_block"):
                self._out.code(token.content)
            elif kind == "html_block":
                add_html(self._out, token.content)
            elif kind == "heading_open":
                self._heading = int(token.tag[1])
            elif kind == "heading_close":
                self._heading = 0
            elif kind in ("bullet_list_open", "ordered_list_open"):
                start = token.attrs.get("start", 1)
                self._lists.append(int(start) - 1 if kind.startswith("ordered") else None)
            elif kind in ("bullet_list_close", "ordered_list_close"):
                self._lists.pop()
            elif kind == "list_item_open":
                self._open_item()
            elif kind in ("blockquote_open", "blockquote_close"):
                self._quotes += 1 if kind.endswith("open") else -1
            elif kind == "table_open":
                self._rows = []
            elif kind == "tr_open" and self._rows is not None:
                self._rows.append([])
            elif kind == "table_close":
                self._out.plain_table(self._rows or [], heading=True)
                self._rows = None

    def _open_item(self) -> None:
        number = None
        if self._lists[-1] is not None:
            number = self._lists[-1] = self._lists[-1] + 1
        self._item = (len(self._lists) - 1, number)

    def _inline(self, text: str) -> None:
        item, self._item = self._item, None
        if self._rows is not None:
            self._rows[-1].append(" ".join(text.split()))
        elif self._heading:
            self._out.heading(text, self._heading)
        elif item is not None:
            self._out.item(text, *item)
        else:
            self._out.text(text, "aside" if self._quotes else "text")


def _words(token: Any) -> str:
    """The words of a line without its marks."""
    if not token.children:
        return str(token.content)
    parts = []
    for child in token.children:
        if child.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif child.type == "image" or child.type != "html_inline":
            parts.append(child.content)
    return "".join(parts)


# -- messages


def read_message(data: bytes) -> tuple[Page, ...]:
    """The heads that a person sees, the body, and the names of attachments, which are not opened."""
    out = PageBuilder("part")
    if data.lower().count(b"boundary=") > _MOST_BOUNDARIES:
        raise damaged("boundaries")
    try:
        message = email.message_from_bytes(data, policy=email.policy.default)
        _message(message, out)
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        AssertionError,
        RecursionError,
        email.errors.MessageError,
    ) as error:
        raise damaged(type(error).__name__) from None  # of broken heads
    return out.pages()


def _message(message: Any, out: PageBuilder, depth: int = 0) -> None:
    out.heading(str(message.get("Subject", "") or ""), 1)
    out.text("\n".join(f"{name}: {message[name]}" for name in _HEADERS if message.get(name)))
    body = message.get_body(("plain", "html")) if isinstance(message, EmailMessage) else None
    if body is not None:
        text = _content(body)
        other = None if text.strip() else message.get_body(("html",))
        if other is not None:  # the plain form is there and says nothing
            body, text = other, _content(other)
        if body.get_content_subtype() == "html":
            add_html(out, text)
        else:
            for page in read_text(text.replace("\f", "\n")):
                for element in page.elements:
                    out.text(element.text) if element.kind != "code" else out.code(element.text)
    parts = [part for part, _ in zip(_parts(message), range(_MOST_PARTS))]
    names = [part.get_filename() for part in parts]
    if any(names):
        out.heading("Attachments", 2)
        for name in filter(None, names):
            out.item(name)
    for part in parts:
        inner = part.get_payload() if part.get_content_type() == "message/rfc822" and not part.get_filename() else ()
        if isinstance(inner, list) and inner and depth < _MOST_FORWARDED:
            _message(inner[0], out, depth + 1)


def _parts(message: Any, depth: int = 0) -> Iterator[Any]:
    """Without those of messages that are passed on in it."""
    payload = message.get_payload()
    if message.get_content_maintype() == "multipart" and isinstance(payload, list) and depth < _MOST_BOUNDARIES:
        for part in payload:
            yield from _parts(part, depth + 1)
    else:
        yield message


def _content(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    return decoded_by(data, part.get_content_charset() or "utf-8") or decoded(data)
