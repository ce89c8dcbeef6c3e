"""Text from a file that is to be spoken: txt, md, pdf, epub. Runs off the UI thread."""

from __future__ import annotations

import posixpath
import re
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

from app.gui.texts import tr
from engine.errors import BadRequest, UnreadableFile

ENDINGS = (".txt", ".md", ".pdf", ".epub")
_LARGEST = 64 << 20  # bytes of a book's pages, unpacked
_BLOCKS = frozenset(
    ["p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "li", "tr", "br", "blockquote", "section", "article", "td"]
)
_UNSAID = frozenset(["script", "style", "head", "title"])


def text_of(file: Path) -> str:
    """Raises BadRequest in plain words."""
    ending = file.suffix.lower()
    if ending not in ENDINGS:
        raise BadRequest(tr("{name} cannot be read aloud. Drop a txt, md, pdf or epub file.", name=file.name))
    if ending == ".epub":
        text = _epub(file)
    elif ending == ".pdf":
        text = _pdf(file)
    else:
        data = file.read_bytes()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    if not text.strip():
        raise BadRequest(tr("{name} holds no text. Open it in Read first.", name=file.name))
    return text.strip()


def _pdf(file: Path) -> str:
    from engine.media.documents import pdf_page_texts

    try:
        pages = pdf_page_texts(file.read_bytes())
    except UnreadableFile:
        raise BadRequest(
            tr("{name} cannot be opened: it is damaged or protected by a password.", name=file.name)
        ) from None
    # lines of a page are no paragraphs, and a word cut at a line's end is one word
    text = "\n\n".join(pages).replace("\r\n", "\n")
    text = re.sub(r"(\w)[-\ufffe\xad]\n(\w)", r"\1\2", text)
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text)


def _epub(file: Path) -> str:
    """The chapters in the order of the book's spine."""
    try:
        with zipfile.ZipFile(file) as book:
            container = ElementTree.fromstring(book.read("META-INF/container.xml"))
            path = next(e.attrib["full-path"] for e in container.iter() if e.tag.endswith("rootfile"))
            package = ElementTree.fromstring(book.read(path))
            items = {e.attrib["id"]: e.attrib["href"] for e in package.iter() if e.tag.endswith("}item")}
            spine = [e.attrib["idref"] for e in package.iter() if e.tag.endswith("}itemref")]
            names = [posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(items[i]))) for i in spine]
            if sum(book.getinfo(name).file_size for name in names) > _LARGEST:
                raise BadRequest(tr("{name} is too large to be read aloud.", name=file.name))
            chapters = [_plain(book.read(name).decode("utf-8", "replace")) for name in names]
    except (zipfile.BadZipFile, KeyError, StopIteration, ElementTree.ParseError):
        raise BadRequest(tr("{name} is no book that can be read: the file is damaged.", name=file.name)) from None
    return "\n\n".join(chapter for chapter in chapters if chapter)


def _plain(page: str) -> str:
    reader = _Page()
    reader.feed(page)
    lines = (" ".join(line.split()) for line in "".join(reader.said).split("\n"))
    return "\n\n".join(line for line in lines if line)


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self._unsaid = 0

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self._unsaid += tag in _UNSAID
        if tag in _BLOCKS:
            self.said.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self._unsaid -= tag in _UNSAID and self._unsaid > 0
        if tag in _BLOCKS:
            self.said.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unsaid:
            self.said.append(data.replace("\n", " "))
