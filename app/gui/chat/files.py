"""Conversations to files and back: the dialogs, and the writing beside the UI thread."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from PySide6.QtCore import QMarginsF
from PySide6.QtGui import QPageLayout, QPageSize, QPdfWriter, QTextDocument
from PySide6.QtWidgets import QFileDialog, QWidget

from app.gui.desk import Desk
from app.gui.store import conversations, messages
from app.gui.store.conversations import Head
from app.gui.store.messages import Message
from app.gui.texts import tr
from app.gui.viewmodels.chat import exchange
from app.gui.viewmodels.chat.tree import Tree

_ENDINGS = {"md": "Markdown (*.md)", "json": "JSON (*.json)", "pdf": "PDF (*.pdf)"}


class Files:
    def __init__(self, desk: Desk, window: QWidget) -> None:
        self._desk, self._window = desk, window

    def export(self, id: int, kind: str) -> None:
        """Ask where to, then write."""

        def ask(found: tuple[Head | None, list[Message]]) -> None:
            head = found[0]
            if head is None:
                return
            dialog = QFileDialog(self._window, tr("Export the conversation"))
            dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
            dialog.setNameFilter(_ENDINGS[kind])
            dialog.setDefaultSuffix(kind)
            dialog.selectFile(_file_name(head.title) + f".{kind}")
            dialog.fileSelected.connect(lambda chosen: self.write(id, kind, Path(chosen)))
            dialog.open()

        self._desk.store.ask(lambda db: (conversations.head(db, id), messages.all_of(db, id)), ask)

    def write(self, id: int, kind: str, file: Path) -> None:
        def make(found: tuple[Head | None, list[Message]]) -> None:
            head, every = found
            if head is None:
                return
            tree = Tree(every)
            path = tree.path(head.leaf if head.leaf in tree else tree.newest_leaf(tree.last))

            def save() -> None:
                if kind == "pdf":
                    _write_pdf(exchange.as_html(head, path), head.title, file)
                else:
                    text = exchange.as_json(head, every) if kind == "json" else exchange.as_markdown(head, path)
                    file.write_text(text, encoding="utf-8")

            self._desk.work.run(
                save, lambda _: self._desk.say(tr("Saved as {file}.", file=file), level="ok"), self._complain
            )

        self._desk.store.ask(lambda db: (conversations.head(db, id), messages.all_of(db, id)), make)

    def choose_import(self, then: Any) -> None:
        dialog = QFileDialog(self._window, tr("Import a conversation"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilter(_ENDINGS["json"])
        dialog.fileSelected.connect(lambda chosen: self.read(Path(chosen), then))
        dialog.open()

    def read(self, file: Path, then: Any) -> None:
        """`then(id)` with the conversation that was made."""

        def take(found: tuple[Head, list[Message]]) -> None:
            head, every = found

            def write(db: Any) -> int:
                id = conversations.create(db, head.model, head.system, head.sampling, title=head.title)
                messages.add_all(db, id, every)
                return id

            self._desk.store.ask(write, then)

        self._desk.work.run(lambda: exchange.read_json(file.read_text(encoding="utf-8")), take, self._complain)

    def _complain(self, sentence: str) -> None:
        self._desk.say(sentence, level="error")


def _write_pdf(html: str, title: str, file: Path) -> None:
    document = QTextDocument()
    document.setHtml(html)
    writer = QPdfWriter(str(file))
    writer.setTitle(title)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    writer.setPageMargins(QMarginsF(20, 20, 20, 20), QPageLayout.Unit.Millimeter)
    writer.setResolution(96)
    document.setPageSize(writer.pageLayout().paintRectPixels(96).size().toSizeF())
    document.print_(writer)
    if not file.exists():
        raise OSError(0, tr("The PDF could not be written"), str(file))


def _file_name(title: str) -> str:
    return re.sub(r"[^\w \-]+", "", title).strip()[:60] or tr("Conversation")
