"""The Speak pane's form for an audiobook: the chapters of a document, which of them are spoken, and how they are written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app.gui.dialogs import choose_target
from app.gui.pane import AppContext
from app.gui.texts import tr, trn
from app.gui.theme import GRID
from app.gui.viewmodels.speak_book import BookWork, chapter_numbers
from app.gui.widgets import label, text_button

BOOKS = (".epub", ".pdf", ".docx", ".md", ".txt", ".odt", ".rtf", ".fb2", ".html", ".htm")
_KINDS = {
    "m4b": "M4B (*.m4b)",
    "m4a": "M4A (*.m4a)",
    "mp3": "MP3 (*.mp3)",
    "opus": "Opus (*.opus)",
    "epub": "EPUB (*.epub)",
}


class BookPanel(QWidget):
    """`chosen(title, work)`: this is to be made. `left`: the person changed their mind."""

    chosen = Signal(str, object)
    left = Signal()

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.setProperty("kind", "bubble")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._context = context
        self._file = Path()
        self._title = ""
        self.heading = label(kind="heading", wrap=True)
        self.figures = label(kind="second")
        self.chapters = QListWidget()
        self.chapters.setAccessibleName(tr("Chapters"))
        self.chapters.itemChanged.connect(lambda _: self._show_figures())
        self.per_chapter = QCheckBox(tr("One file per chapter"))
        self.subtitles = QCheckBox(tr("Subtitles (SRT)"))
        self.make = text_button(tr("Make an audiobook"), self.ask, kind="main")
        cancel = text_button(tr("Cancel"), self.left.emit)
        below = QHBoxLayout()
        for box in (self.per_chapter, self.subtitles):
            below.addWidget(box)
        below.addStretch(1)
        for button in (cancel, self.make):
            below.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 2, GRID, GRID * 2, GRID)
        column.setSpacing(GRID)
        for part in (self.heading, self.figures):
            column.addWidget(part)
        column.addWidget(self.chapters, 1)
        column.addLayout(below)

    def open(self, file: Path, then: Callable[[], Any]) -> None:
        """`then` once its chapters are listed."""

        def read() -> Any:
            from engine.pipelines.reading.book import open_book

            return open_book(file)

        def here(book: Any) -> None:
            self._file, self._title = file, book.title
            self.heading.setText(" · ".join(part for part in (book.title, book.author) if part))
            self.chapters.clear()
            for number, chapter in enumerate(book.chapters, 1):
                words = trn("{n} word", "{n} words", chapter.words)
                item = QListWidgetItem(f"{number}. {chapter.title} · {words}")
                item.setData(Qt.ItemDataRole.UserRole, chapter.words)
                item.setCheckState(Qt.CheckState.Checked)
                self.chapters.addItem(item)
            self._show_figures()
            then()

        self._context.work.run(read, here, self._context.show_error)

    def ask(self) -> None:
        """Where it is written."""
        choose_target(self, tr("Make an audiobook"), self.go, _KINDS, name=self._file.stem)

    def go(self, target: Path) -> None:
        numbers = chapter_numbers(self._checked(), self.chapters.count())
        work = BookWork(str(self._file), str(target), numbers, self.per_chapter.isChecked(), self.subtitles.isChecked())
        self.chosen.emit(self._title, work)

    def _checked(self) -> list[int]:
        """Numbers, from 1."""
        items = (self.chapters.item(row) for row in range(self.chapters.count()))
        return [row for row, item in enumerate(items, 1) if item.checkState() == Qt.CheckState.Checked]

    def _show_figures(self) -> None:
        checked = self._checked()
        words = sum(self.chapters.item(number - 1).data(Qt.ItemDataRole.UserRole) for number in checked)
        counted = trn("{n} chapter", "{n} chapters", len(checked))
        self.figures.setText(" · ".join((counted, trn("{n} word", "{n} words", words))))
        self.make.setEnabled(bool(checked))
