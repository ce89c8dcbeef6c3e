"""Opens documents that carry their text as pages of elements; no model is needed, and nothing outside the file is read.

Packages, RTF, HTML, books and messages are recognized by their content. What is only text says by its ending what it is.
"""

from __future__ import annotations

import logging
import os
from pathlib import Path

from engine.errors import ErrorText, GrusError, UnreadableFile
from engine.media.documents import Source, bytes_of
from engine.pipelines.reading.formats.blocks import larger
from engine.pipelines.reading.formats.detection import HEAD, head_of, kind_of
from engine.pipelines.reading.formats.epub import Epub
from engine.pipelines.reading.formats.fiction import read_fiction
from engine.pipelines.reading.formats.opendocument import read_flat_opendocument, read_opendocument
from engine.pipelines.reading.formats.packages import LARGEST_TREE, Package, damaged, protected, xml_tree
from engine.pipelines.reading.formats.plain import decoded, read_markdown, read_message, read_text
from engine.pipelines.reading.formats.rich_text import read_rich_text
from engine.pipelines.reading.formats.sheets import read_csv, read_workbook
from engine.pipelines.reading.formats.slides import read_slides
from engine.pipelines.reading.formats.web import decoded_html, read_html
from engine.pipelines.reading.formats.word import read_word
from engine.pipelines.reading.results import Page, TextDocument

log = logging.getLogger("grus.reading")

LARGEST = 512 << 20  # bytes of a file
LARGEST_TEXT = 64 << 20  # bytes of a text
_OPEN_DOCUMENT = tuple(
    b"application/vnd.oasis.opendocument." + kind for kind in (b"text", b"spreadsheet", b"presentation")
)
# what a stream in an old file is called, and what such a file is
_OLD = (
    ("EncryptedPackage", None),
    ("__properties_version1.0", ErrorText("This is an Outlook message (msg). Save it as eml, or print it to a PDF.")),
    ("WordDocument", ErrorText("This is an old Word file (doc). Open it in Word or LibreOffice, and save it as docx.")),
    ("PowerPoint Document", ErrorText("This is an old PowerPoint file (ppt). Open it in PowerPoint or LibreOffice, and save it as pptx.")),
    ("Workbook", ErrorText("This is an old Excel file (xls). Open it in Excel or LibreOffice, and save it as xlsx.")),
    ("Book", ErrorText("This is an old Excel file (xls). Open it in Excel or LibreOffice, and save it as xlsx.")),
)  # fmt: skip


def open_text_document(source: Source, ending: str = "") -> TextDocument | None:
    """None for what is a picture, a PDF or unknown. `ending`: of the name that bytes had. Raises UnreadableFile, or PasswordNeeded."""
    if not isinstance(source, bytes | str | os.PathLike):
        return None
    name = "bytes" if isinstance(source, bytes) else os.fspath(source)
    ending = ending.lower() if isinstance(source, bytes) else Path(str(name)).suffix.lower()
    head = source[:HEAD] if isinstance(source, bytes) else head_of(Path(source))
    kind = kind_of(head, ending)
    if kind is None:
        return None
    if not isinstance(source, bytes):
        _check_size(Path(source), kind)
    data = source if isinstance(source, bytes) else bytes_of(Path(source))
    if len(data) > _largest(kind):
        raise larger()
    try:
        return TextDocument(str(name), _read(kind, data))
    except GrusError:
        raise
    except (RecursionError, MemoryError, OverflowError) as error:
        raise damaged(type(error).__name__) from None
    except Exception as error:  # the others in a queue are read on
        log.exception("A document could not be read.")
        raise damaged(type(error).__name__) from None


def _largest(kind: str) -> int:
    return LARGEST if kind in ("package", "old office", "rtf", "flat", "fiction") else LARGEST_TEXT


def _check_size(path: Path, kind: str) -> None:
    """Before it is in memory."""
    try:
        size = path.stat().st_size
    except OSError:
        return  # opening it will say what is wrong
    if size > _largest(kind):
        raise larger()


def _read(kind: str, data: bytes) -> tuple[Page, ...]:
    if kind == "package":
        return _package(data)
    if kind == "old office":
        raise _old_office(data)
    if kind == "rtf":
        return read_rich_text(data)
    if kind in ("flat", "fiction"):
        if len(data) > LARGEST_TREE:
            raise larger()
        return (read_flat_opendocument if kind == "flat" else read_fiction)(xml_tree(data))
    if kind == "html":
        return read_html(decoded_html(data))
    if kind == "eml":
        return read_message(data)
    text = decoded(data)
    if kind == "csv":
        return read_csv(text)
    return read_markdown(text) if kind == "md" else read_text(text)


def _old_office(data: bytes) -> UnreadableFile:
    for name, said in _OLD:
        if name.encode("utf-16-le") in data:
            return protected() if said is None else UnreadableFile(said)
    return UnreadableFile(
        ErrorText("This is an old Office file of a kind that is not read. Save it as docx, xlsx or pptx.")
    )


def _package(data: bytes) -> tuple[Page, ...]:
    package = Package(data)
    try:
        if "mimetype" in package.names:
            kind = package.read("mimetype").strip()
            if kind == b"application/epub+zip":
                return Epub(package).pages()
            if kind.startswith(_OPEN_DOCUMENT):
                return read_opendocument(package)
        if "META-INF/container.xml" in package.names:
            return Epub(package).pages()
        main = next((name for kind, name in package.relations("").values() if kind == "officeDocument"), "")
        if main.endswith(".bin"):
            raise UnreadableFile(ErrorText("This is a binary Excel file (xlsb). Save it as xlsx."))
        if main in package.names:
            reader = {"word": read_word, "ppt": read_slides, "xl": read_workbook}.get(main.partition("/")[0])
            if reader is not None:
                return reader(package, main)
    finally:
        package.close()
    raise UnreadableFile(
        ErrorText("This archive is not a document that can be read: no docx, pptx, xlsx, odt, ods, odp or epub.")
    )
