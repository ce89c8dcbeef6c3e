"""What is stored where, with sizes, and the button that deletes all of it, in two steps."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from app.gui.buttons import icon_button, label, text_button
from app.gui.look import Look
from app.gui.style import restate
from app.gui.texts import size, tr
from app.gui.theme import GRID
from app.gui.viewmodels.settings.privacy import Privacy, Stored


class PrivacyView(QWidget):
    def __init__(self, look: Look, privacy: Privacy) -> None:
        super().__init__()
        self._look, self._privacy = look, privacy
        self._shown: list[Stored] = []
        self._table = QWidget()
        self._grid = QGridLayout(self._table)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID * 2)
        self._grid.setVerticalSpacing(GRID)
        self._grid.setColumnStretch(0, 1)
        self.begin = text_button(tr("Delete all"), privacy.ask)
        self.question = label(
            tr("Delete every conversation, result, voice, file and setting of Grus? This cannot be undone."), wrap=True
        )
        restate(self.question, level="error")
        self.keep = text_button(tr("Keep everything"), lambda: privacy.ask(False))
        self.really = text_button(tr("Delete all now"), privacy.delete_all, kind="main")
        self._answer = QWidget()
        row = QHBoxLayout(self._answer)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.keep)
        row.addWidget(self.really)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        told = tr("Grus has no account and sends nothing by itself. All of this lies on this machine alone.")
        column.addWidget(label(told, "second", wrap=True))
        column.addWidget(self._table)
        column.addSpacing(GRID)
        column.addWidget(self.begin, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.question)
        column.addWidget(self._answer)
        privacy.changed.connect(self.show_stored)
        self.show_stored()

    def show_stored(self) -> None:
        asking = self._privacy.asking
        was = self._answer.isVisibleTo(self)
        self.question.setVisible(asking)
        self._answer.setVisible(asking)
        if asking and not was:
            self.keep.setFocus()
        self.begin.setVisible(not asking)
        if self._privacy.stored != self._shown:
            self._fill(self._privacy.stored)

    def _fill(self, stored: list[Stored]) -> None:
        self._shown = stored
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for i, kept in enumerate(stored):
            words = QWidget()
            column = QVBoxLayout(words)
            column.setContentsMargins(0, 0, 0, 0)
            column.setSpacing(0)
            column.addWidget(label(tr(kept.title)))
            path = label(str(kept.path), "second")
            path.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            path.setToolTip(str(kept.path))
            column.addWidget(path)
            self._grid.addWidget(words, i, 0)
            self._grid.addWidget(label(size(kept.nbytes)), i, 1, Qt.AlignmentFlag.AlignRight)
            show = icon_button(self._look, "folder", tr("Show {what}", what=tr(kept.title)), _opens(kept), size=16)
            self._grid.addWidget(show, i, 2)


def _opens(kept: Stored) -> Callable[[], object]:
    folder = kept.path if kept.path.is_dir() else kept.path.parent
    return lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
