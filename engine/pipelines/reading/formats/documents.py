"""Opens documents that carry their text as pages of elements; no model is needed, and nothing outside the file is read.

Packages, HTML and messages are recognized by their content. What is only text says by its ending what it is.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ErrorText, UnreadableFile
from engine.media.documents import Source, bytes_of
from engine.pipelines.reading.formats.opendocument import read_opendocument
from engine.pipelines.reading.formats.packages import Package, damaged
from engine.pipelines.reading.formats.plain import decoded, read_markdown, read_message, read_text
from engine.pipelines.reading.formats.sheets import read_csv, read_workbook
from engine.pipelines.reading.formats.slides import read_slides
from engine.pipelines.reading.formats.web import decoded_html, read_book, read_html
from engine.pipelines.reading.formats.word import read_word
from engine.pipelines.reading.results import Page

DOCUMENTS = (".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm", ".odt", ".epub", ".eml", ".html", ".htm", ".xhtml")
TEXTS = (".md", ".markdown", ".csv", ".tsv", ".txt", ".text", ".log", ".rst")
LARGEST = 512 << 20  # bytes of a file
LARGEST_TEXT = 64 << 20  # bytes of a text
_HEAD = 4096
_HTML = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)  # fmt: skip
_MAIL = re.compile(
    rb"^(?:from|to|subject|date|message-id|received|return-path|delivered-to|mime-version|reply-to):\s",
    re.IGNORECASE | re.MULTILINE,
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True)
class TextDocument:
    """A document that carried its text, read to the end."""

    name: str
    pages: tuple[Page, ...]


def open_text_document(source: Source, ending: str = "") -> TextDocument | None:
    """None for what is a picture, a PDF or unknown. `ending`: of the name that bytes had. Raises UnreadableFile, or PasswordNeeded."""
    if not isinstance(source, bytes | str | os.PathLike):
        return None
    name = "bytes" if isinstance(source, bytes) else os.fspath(source)
    ending = ending.lower() if isinstance(source, bytes) else Path(str(name)).suffix.lower()
    head = source[:_HEAD] if isinstance(source, bytes) else _head(Path(source))
    kind = _kind(head, ending)
    if kind is None:
        return None
    data = source if isinstance(source, bytes) else bytes_of(Path(source))
    if len(data) > (LARGEST if kind == "package" else LARGEST_TEXT):
        raise UnreadableFile(ErrorText("The file is larger than can be read here."))
    try:
        return TextDocument(str(name), _read(kind, data))
    except (RecursionError, MemoryError, OverflowError) as error:
        raise damaged(type(error).__name__) from None


def carries_text(source: Source) -> bool:
    """Whether a source is read without a model. A file that is missing or broken is no concern of this."""
    if isinstance(source, bytes):
        return _kind(source[:_HEAD], "") is not None
    if not isinstance(source, str | os.PathLike):
        return False
    path = Path(source)
    try:
        return _kind(_head(path), path.suffix.lower()) is not None
    except OSError:
        return False


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_HEAD)
    except OSError:
        return b""  # opening the file as a page will say what is wrong


def _kind(head: bytes, ending: str) -> str | None:
    if not head:
        return None
    if head.startswith(b"PK\x03\x04"):
        return "package"
    if head.startswith(_OLE):
        return "old office"
    if _HTML.match(head):
        return "html"
    if ending in (".html", ".htm", ".xhtml", ".eml") or ending in TEXTS:
        if b"\0" in head and head[:2] not in (b"\xff\xfe", b"\xfe\xff"):
            return None
        return {".htm": "html", ".xhtml": "html", ".tsv": "csv", ".markdown": "md"}.get(
            ending, ending[1:] if ending in (".html", ".eml", ".csv", ".md") else "text"
        )
    lines = head.split(b"\n\n")[0].split(b"\r\n\r\n")[0]
    return "eml" if len(_MAIL.findall(lines)) >= 3 and b"\0" not in head else None


def _read(kind: str, data: bytes) -> tuple[Page, ...]:
    if kind == "package":
        return _package(data)
    if kind == "old office":
        raise UnreadableFile(
            ErrorText("This is a protected or an old Office file. Save it as docx, xlsx or pptx without a password.")
        )
    if kind == "html":
        return read_html(decoded_html(data))
    if kind == "eml":
        return read_message(data)
    text = decoded(data)
    if kind == "csv":
        return read_csv(text)
    return read_markdown(text) if kind == "md" else read_text(text)


def _package(data: bytes) -> tuple[Page, ...]:
    package = Package(data)
    try:
        if "mimetype" in package.names:
            kind = package.read("mimetype").strip()
            if kind == b"application/epub+zip":
                return read_book(package)
            if kind.startswith(b"application/vnd.oasis.opendocument.text"):
                return read_opendocument(package)
        if "META-INF/container.xml" in package.names:
            return read_book(package)
        main = next((name for kind, name in package.relations("").values() if kind == "officeDocument"), "")
        if main in package.names:
            reader = {"word": read_word, "ppt": read_slides, "xl": read_workbook}.get(main.partition("/")[0])
            if reader is not None:
                return reader(package, main)
    finally:
        package.close()
    raise UnreadableFile(
        ErrorText("This archive is not a document that can be read: no docx, pptx, xlsx, odt or epub.")
    )
