"""Conversations of other applications into the store, with their pictures: for the window and for `grus import`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path

from app.gui.store import imports
from app.gui.store.database import private_folder, release
from app.gui.store.messages import Attachment
from app.gui.store.worker import AppStore
from app.gui.viewmodels.chat.draft import attach_bytes
from app.runtime.imports.conversation import ImportedConversation, ImportedFile, UnreadableConversation
from app.runtime.imports.exports import Export
from engine.errors import BadRequest


@dataclass
class ImportOutcome:
    application: str
    added: list[int] = field(default_factory=list)  # conversations
    there: int = 0  # were imported before
    unreadable: list[str] = field(default_factory=list)  # their titles


def import_export(
    file: Path, store: AppStore, attachments: Path, progress: Callable[[int, int], object] = lambda done, total: None
) -> ImportOutcome:
    """Every conversation of an export, one after the other; not on the UI thread. `progress(done, total)`."""
    export = Export(file)
    try:
        outcome = ImportOutcome(export.application)
        private_folder(attachments)
        for done, found in enumerate(export.conversations(), 1):
            if isinstance(found, UnreadableConversation):
                outcome.unreadable.append(found.title)
            elif (id := _stored(found, store, attachments)) is None:
                outcome.there += 1
            else:
                outcome.added.append(id)
            progress(done, export.total)
        return outcome
    finally:
        export.close()


def _stored(found: ImportedConversation, store: AppStore, folder: Path) -> int | None:
    if store.ask(lambda db: imports.is_there(db, found.origin)).result():
        return None
    files: dict[str, list[Attachment]] = {}
    messages = []
    for message in found.messages:
        left_out = []
        for one in message.files:
            attachment = _attached(one, folder)
            if attachment is None:
                left_out.append(f"[{one.name}]")  # its name shows that something was there
            else:
                files.setdefault(message.id, []).append(attachment)
        messages.append(replace(message, text="\n\n".join([*filter(None, [message.text]), *left_out])))
    whole = replace(found, messages=tuple(messages))
    try:
        return store.ask(lambda db: imports.add(db, whole, files)).result()
    finally:
        for kept in files.values():
            for attachment in kept:
                release(attachment.path)


def _attached(file: ImportedFile, folder: Path) -> Attachment | None:
    """None: the export does not have the file, or it is damaged."""
    try:
        if file.read is None:
            if not file.text:
                return None
            text = attach_bytes(f"{file.name}.txt", file.text.encode(), folder)
            return replace(text, name=file.name)
        data = file.read()
        return replace(attach_bytes(_named(file.name, data), data, folder), name=file.name)
    except (BadRequest, ValueError, KeyError):
        return None


def _named(name: str, data: bytes) -> str:
    """The name with an ending that says what a picture is: some exports write `.dat`, or none."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(BytesIO(data)) as image:
            kind = {"JPEG": "jpg"}.get(image.format or "", (image.format or "").lower())
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return name
    return f"{Path(name).stem}.{kind}" if kind else name
