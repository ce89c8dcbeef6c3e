"""What every document is to those who read it: a name, a number of pages, and each page as pixels.

`open_document` tells files apart by their first bytes and not by their names. Knows no layout and no model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from engine.errors import UnreadableFile
from engine.media.page import PageImage

Source: TypeAlias = Any  # a path, the bytes of a file, a PIL image, or an array [H, W], [H, W, 3] or [H, W, 4]

DOTS = 200  # an inch: what a PDF's pages are drawn at. Print of 8 points is then 12 pixels high without its tails


class Document(Protocol):
    name: str

    def __len__(self) -> int:
        """Pages."""

    def page(self, number: int, *, words: bool = False) -> PageImage:
        """Counted from 1. Raises UnreadableFile; other pages may be fine."""

    def close(self) -> None: ...


def open_document(source: Source, *, password: str | None = None, dots: int = DOTS) -> Document:
    """Raises UnreadableFile or PasswordNeeded."""
    from engine.media import pdf, scans

    if isinstance(source, np.ndarray) or hasattr(source, "convert"):
        return scans.from_memory(source)
    data, name = (source, "bytes") if isinstance(source, bytes) else (_bytes_of(Path(source)), str(source))
    if not data:
        raise UnreadableFile("The file is empty.")
    if b"%PDF-" in data[:1024]:
        return pdf.PdfDocument(name, data, password, dots)
    return scans.ScanDocument(name, data)


def _bytes_of(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise UnreadableFile(f"There is no file {path}.") from None
    except IsADirectoryError:
        raise UnreadableFile(f"{path} is a folder.") from None
    except OSError as error:
        raise UnreadableFile(f"{path} cannot be read: {error.strerror or error}.") from None
    except MemoryError:
        raise UnreadableFile(f"{path} is larger than the memory that is free.") from None
