"""The draft of a message: text that is being typed and attached files, saved for every conversation at every change."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

from app.gui.store import records
from app.gui.store.database import keep_bytes, release
from app.gui.store.messages import Attachment, StoredMessage
from app.gui.store.worker import AppStore
from app.gui.texts import in_language, tr
from app.gui.viewmodels.signal import Signal
from app.window_engine import JobRunner
from engine.errors import BadRequest, PasswordNeeded, UnreadableFile

Kind = Literal["image", "text", "pdf", "sound", "document"]

IMAGES = (".png", ".jpg", ".jpeg", ".webp", ".gif", ".tif", ".tiff", ".bmp")
# web pages stay as they are written: a person who attaches one may ask for its code
DOCUMENTS = (
    ".docx",
    ".docm",
    ".pptx",
    ".pptm",
    ".xlsx",
    ".xlsm",
    ".odt",
    ".ods",
    ".odp",
    ".rtf",
    ".epub",
    ".fb2",
    ".eml",
)
SOUNDS = (".wav", ".mp3", ".flac", ".ogg", ".opus", ".m4a", ".aac")
LONGEST_TEXT = 400_000  # characters
LARGEST = 512 << 20


def place_of(conversation: int | None) -> str:
    """What the store knows a draft by; a conversation that is not begun yet has no number."""
    return "new" if conversation is None else str(conversation)


def kind_of(file: Path) -> Kind:
    """By its name; what has no known ending must be text."""
    ending = file.suffix.lower()
    if ending in IMAGES:
        return "image"
    if ending in SOUNDS:
        return "sound"
    if ending in DOCUMENTS:
        return "document"
    return "pdf" if ending == ".pdf" else "text"


def attach(file: Path, folder: Path) -> Attachment:
    """Copy a file and extract the text that a model gets. The copy is in use (`files.release`) until a row refers to it.
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
    elif kind == "document":
        kind = "text"
        text, pages, note = _document(name, data)
    elif kind == "image":
        _check_image(name, data)
    return Attachment(name, kind, str(_keep(name, data, folder)), len(data), text, pages, note)


def _keep(name: str, data: bytes, folder: Path) -> Path:
    return keep_bytes(data, folder / (hashlib.sha256(data).hexdigest()[:32] + Path(name).suffix.lower()))


def _text(name: str, data: bytes) -> tuple[str, str]:
    if b"\0" in data[:4096]:
        raise BadRequest(tr("{name} is not supported. Attach text, PDFs, images or audio.", name=name))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return _bounded(text)


def _bounded(text: str) -> tuple[str, str]:
    if len(text) <= LONGEST_TEXT:
        return text, ""
    return text[:LONGEST_TEXT], tr("Shortened to {n} characters.", n=LONGEST_TEXT)


def _pdf(name: str, data: bytes) -> tuple[str, int, str]:
    from engine.media.documents import pdf_page_texts

    try:
        pages = pdf_page_texts(data)
    except PasswordNeeded:
        raise BadRequest(tr("{name} is password-protected. Save a copy without a password.", name=name)) from None
    except UnreadableFile:
        raise BadRequest(tr("{name} cannot be opened: the file is damaged.", name=name)) from None
    text, note = _bounded("\n\n".join(pages).replace("\r\n", "\n").strip())
    if not text:
        raise BadRequest(tr("{name} contains scanned pages without text. Open it in Read first.", name=name))
    return text, len(pages), note


def _document(name: str, data: bytes) -> tuple[str, int, str]:
    """An Office file, a book or a message as markdown."""
    from engine.pipelines.reading.formats.documents import open_text_document
    from engine.pipelines.reading.writers import ExportOptions, page_text

    try:
        document = open_text_document(data, Path(name).suffix)
    except UnreadableFile as error:
        raise BadRequest(tr("{name} cannot be opened. {why}", name=name, why=in_language(error.text))) from None
    if document is None:
        raise BadRequest(tr("{name} cannot be opened: the file is damaged.", name=name))
    text, note = _bounded(page_text(document.pages, "md", ExportOptions()).strip())
    if not text:
        raise BadRequest(tr("{name} contains no text.", name=name))
    return text, len(document.pages), note


def _check_image(name: str, data: bytes) -> None:
    from io import BytesIO

    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(data)) as image:
            image.verify()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError):
        raise BadRequest(tr("{name} cannot be opened: the file is damaged.", name=name)) from None


@dataclass(frozen=True)
class PictureAdvice:
    """What is said where pictures are, and the model cannot see."""

    sentence: str
    unread: tuple[Attachment, ...] = ()  # pictures of the draft whose text can be read
    seeing: str = ""  # a model here that can see


def picture_advice(
    model: str, abilities: Mapping[str, Collection[str]], files: Sequence[Attachment], path: Sequence[StoredMessage]
) -> PictureAdvice | None:
    """None: there is nothing to say. Of a model that is not known nothing is said."""
    if not model or "vision" in abilities.get(model, {"vision"}):
        return None
    pictures = [file for file in files if file.kind == "image"]
    unread = tuple(file for file in pictures if not file.text)
    seeing = next(
        (name for name, can in abilities.items() if {"vision", "chat"} <= set(can) and "remote" not in can), ""
    )
    if unread:
        return PictureAdvice(tr("{model} does not support images.", model=model), unread, seeing)
    if pictures:
        return PictureAdvice(tr("{model} receives the text of the image.", model=model), (), seeing)
    if any(
        file.kind == "image" and not file.text
        for message in path
        if message.role == "user"
        for file in message.attachments
    ):
        return PictureAdvice(tr("{model} answers without the images in this conversation.", model=model), (), seeing)
    return None


ReadText = Callable[[Path, Callable[[str], Any], Callable[[str], Any]], Any]


class FileReading:
    """Reads files that are attached, off the UI thread."""

    def __init__(
        self,
        store: AppStore,
        work: JobRunner,
        transcribe: ReadText | None = None,
        takes_sound: Callable[[], bool] = lambda: False,
    ) -> None:
        """`transcribe` turns sound into text for models that take text only; where the model `takes_sound`, it stays as it is."""
        self._store, self._work, self._transcribe, self._takes_sound = store, work, transcribe, takes_sound

    def begin(
        self, read: Callable[[], Attachment], taken: Callable[[Attachment], Any], failed: Callable[[str], Any]
    ) -> None:
        """`taken(file)`: its copy is in use until the caller has stored a row with it, and releases it."""

        def done(file: Attachment) -> None:
            if file.kind == "sound" and self._transcribe is not None and not self._takes_sound():
                self._transcribe(
                    Path(file.path), lambda words: taken(replace(file, text=words)), lambda why: refused(file, why)
                )
            else:
                taken(file)

        def refused(file: Attachment, sentence: str) -> None:
            release(file.path)
            self._store.drop_files(file.path)
            failed(sentence)

        self._work.run(read, done, failed)


class MessageDraft:
    """`loaded`: another draft is here, text and all. `files_changed`: files came or went. `failed(sentence)`; an empty one: it works again."""

    def __init__(self, store: AppStore, work: JobRunner, folder: Path, transcribe: ReadText | None = None) -> None:
        self._store, self._folder = store, folder
        self.takes_sound: Callable[[], bool] = lambda: False  # whether the model that is chosen does
        self._files = FileReading(store, work, transcribe, lambda: self.takes_sound())
        self.loaded, self.files_changed, self.failed = Signal(), Signal(), Signal()
        self.place = "new"
        self._opened = 0  # how often; an answer to an earlier opening is too late
        self.text = ""
        self.files: list[Attachment] = []
        self.reading = 0  # files that are being read
        self._guard = threading.Lock()
        self._changes: dict[str, tuple[str, tuple[Attachment, ...]]] = {}  # by place, not yet with the store

    def open(self, conversation: int | None) -> None:
        """The draft of a conversation, or that of the one that is not begun yet. What is typed before the store has answered
        stands behind what was stored."""
        place = place_of(conversation)
        if place == self.place and (self.text or self.files):
            return
        if place != self.place:
            self.place = place
            self.clear()
        self._opened = opened = self._opened + 1

        def got(draft: records.Draft) -> None:
            if opened != self._opened or place != self.place or not (draft.text or draft.attachments):
                return
            typed = bool(self.text or self.files)
            self.text, self.files = draft.text + self.text, [*draft.attachments, *self.files]
            self.loaded()
            self.files_changed()
            if typed:
                self._keep()

        self._store.ask(lambda db: records.draft(db, place), got)

    def follow(self, conversation: int) -> None:
        """The conversation that was not begun yet has begun: what was typed since belongs to it."""
        if self.place == "new":
            self._write("new", "", ())
            self.place = str(conversation)
            self._keep()

    def type(self, text: str) -> None:
        if text != self.text:
            self.text = text
            self._keep()

    def add(self, files: Sequence[Path]) -> None:
        for file in files:
            self._read(partial(attach, file, self._folder))

    def add_bytes(self, name: str, data: bytes) -> None:
        self._read(lambda: attach_bytes(name, data, self._folder))

    def read_pictures(self, files: Sequence[Attachment], read: ReadText) -> None:
        """Give pictures their text, for models that cannot see. `read` is what reads pages."""
        for file in files:
            self.reading += 1
            read(Path(file.path), partial(self._read_one, file), partial(self._unreadable, file))
        self.files_changed()

    def _read_one(self, file: Attachment, text: str) -> None:
        self.reading -= 1
        if file in self.files:
            self.files[self.files.index(file)] = replace(file, text=text, note=tr("The text was read."))
            self._keep()
        self.failed("")
        self.files_changed()

    def _unreadable(self, file: Attachment, sentence: str) -> None:
        self.reading -= 1
        self.failed(sentence)
        self.files_changed()

    def remove(self, file: Attachment) -> None:
        self.files.remove(file)
        self.files_changed()
        self._keep()
        self._store.drop_files(file.path)

    def clear(self) -> None:
        """It was sent, and is out of the store with that."""
        self.text, self.files = "", []
        self.loaded()
        self.files_changed()

    def forget(self) -> None:
        """Everything was deleted: nothing is written that was typed before."""
        with self._guard:
            self._changes.clear()
        self._opened += 1
        self.place = "new"
        self.clear()

    def _read(self, read: Callable[[], Attachment]) -> None:
        self.reading += 1
        self.files_changed()

        def taken(file: Attachment) -> None:
            self.reading -= 1
            self.files.append(file)
            self.failed("")  # what failed before works
            self.files_changed()
            self._keep(lambda: release(file.path))

        def failed(sentence: str) -> None:
            self.reading -= 1
            self.files_changed()
            self.failed(sentence)

        self._files.begin(read, taken, failed)

    def _keep(self, then: Callable[[], Any] | None = None) -> None:
        self._write(self.place, self.text, tuple(self.files), then)

    def _write(
        self, place: str, text: str, files: tuple[Attachment, ...], then: Callable[[], Any] | None = None
    ) -> None:
        """One write a place at a time: a fast typist does not fill the store's queue."""
        with self._guard:
            waits = place in self._changes
            self._changes[place] = (text, files)

        def write(db: Any) -> None:
            with self._guard:
                change = self._changes.pop(place, None)
            if change is not None:
                records.keep_draft(db, place, *change)

        if not waits or then is not None:
            self._store.ask(write, lambda _: then() if then is not None else None)
