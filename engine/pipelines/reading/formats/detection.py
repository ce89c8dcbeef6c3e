"""Which documents carry their text, known by their names and first bytes. The readers themselves are imported when one is opened."""

from __future__ import annotations

import os
import re
from pathlib import Path

from engine.media.documents import Source

DOCUMENTS = (
    ".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm", ".odt", ".ods", ".odp", ".fodt", ".fods", ".fodp", ".rtf", ".epub", ".fb2", ".eml",
    ".html", ".htm", ".xhtml",
)  # fmt: skip
TEXTS = (".md", ".markdown", ".csv", ".tsv", ".txt", ".text", ".log", ".rst")
HEAD = 4096
_HTML = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).){0,2000}+-->\s*+)*+<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)  # fmt: skip
_MAIL = re.compile(
    rb"^(?:from|to|subject|date|message-id|received|return-path|delivered-to|mime-version|reply-to):\s",
    re.IGNORECASE | re.MULTILINE,
)
_XML = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).){0,2000}+-->\s*+)*+<(office:document|FictionBook)\b", re.DOTALL)  # fmt: skip
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def carries_text(source: Source) -> bool:
    """Whether a source is read without a model. A file that is missing or broken is no concern of this."""
    if isinstance(source, bytes):
        return kind_of(source[:HEAD], "") is not None
    if not isinstance(source, str | os.PathLike):
        return False
    path = Path(source)
    try:
        return kind_of(head_of(path), path.suffix.lower()) is not None
    except OSError:
        return False


def head_of(path: Path) -> bytes:
    try:
        if not path.is_file():  # a pipe would wait for somebody to write
            return b""
        with path.open("rb") as file:
            return file.read(HEAD)
    except OSError:
        return b""  # opening the file as a page will say what is wrong


def kind_of(head: bytes, ending: str) -> str | None:
    if not head:
        return None
    if head.startswith(b"PK\x03\x04"):
        return "package"
    if head.startswith(_OLE):
        return "old office"
    if head.startswith(b"{\\rtf"):
        return "rtf"
    if found := _XML.match(head):
        return "flat" if found[1] == b"office:document" else "fiction"
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
