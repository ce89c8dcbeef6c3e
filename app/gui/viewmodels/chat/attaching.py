"""Files that are dropped into a message: copied, read, and told what they are. Runs beside the UI thread.

A copy is named by its content, so that the same file is kept once, and a message keeps its files whatever happens to
the originals.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Literal

from app.gui.store.files import keep_bytes
from app.gui.store.messages import Attachment
from app.gui.texts import tr
from engine.errors import BadRequest, PasswordNeeded, UnreadableFile

Kind = Literal["image", "text", "pdf", "sound"]

IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".tif", ".tiff", ".bmp")
SOUNDS = (".wav", ".mp3", ".flac", ".ogg", ".opus", ".m4a", ".aac")
LONGEST_TEXT = 400_000  # characters
LARGEST = 512 << 20


def kind_of(file: Path) -> Kind:
    """By its name; what has no known ending must be text."""
    ending = file.suffix.lower()
    if ending in IMAGES:
        return "image"
    if ending in SOUNDS:
        return "sound"
    return "pdf" if ending == ".pdf" else "text"


def attach(file: Path, folder: Path) -> Attachment:
    """Copy a file and read what a model can be told of it. The copy is in use (`files.release`) until a row refers to it.
    Raises BadRequest in plain words."""
    if not file.is_file():
        raise BadRequest(tr("{name} is not a file. Drop files, not folders.", name=file.name))
    nbytes = file.stat().st_size
    if nbytes > LARGEST:
        raise BadRequest(tr("{name} is larger than 512 MB. Choose a smaller file.", name=file.name))
    return attach_bytes(file.name, file.read_bytes(), folder)


def attach_bytes(name: str, data: bytes, folder: Path) -> Attachment:
    """The same for something pasted."""
    kind = kind_of(Path(name))
    text, note, pages = "", "", 0
    if kind == "text":
        text, note = _text(name, data)
    elif kind == "pdf":
        text, pages, note = _pdf(name, data)
    elif kind == "image":
        _check_image(name, data)
    return Attachment(name, kind, str(_keep(name, data, folder)), len(data), text, pages, note)


def _keep(name: str, data: bytes, folder: Path) -> Path:
    return keep_bytes(data, folder / (hashlib.sha256(data).hexdigest()[:32] + Path(name).suffix.lower()))


def _text(name: str, data: bytes) -> tuple[str, str]:
    if b"\0" in data[:4096]:
        raise BadRequest(tr("{name} is of a kind that chat cannot read. Drop text, PDFs, images or sound.", name=name))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return _bounded(text)


def _bounded(text: str) -> tuple[str, str]:
    if len(text) <= LONGEST_TEXT:
        return text, ""
    return text[:LONGEST_TEXT], tr("Cut after {n} characters.", n=LONGEST_TEXT)


def _pdf(name: str, data: bytes) -> tuple[str, int, str]:
    from engine.media.documents import pdf_page_texts

    try:
        pages = pdf_page_texts(data)
    except PasswordNeeded:
        raise BadRequest(tr("{name} is password-protected. Save a copy without the password.", name=name)) from None
    except UnreadableFile:
        raise BadRequest(tr("{name} is not a PDF that can be read: the file is damaged.", name=name)) from None
    text, note = _bounded("\n\n".join(pages).replace("\r\n", "\n").strip())
    if not text:
        raise BadRequest(tr("{name} holds pictures of text, and no text. Open it in Read first.", name=name))
    return text, len(pages), note


def _check_image(name: str, data: bytes) -> None:
    from io import BytesIO

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(data)) as image:
            image.verify()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        raise BadRequest(tr("{name} is not an image that can be read: the file is damaged.", name=name)) from None
