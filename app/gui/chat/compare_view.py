"""Replies of several models to one message, side by side. Each column scrolls by itself, and has a button to continue with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.gui.chat.drawn import FormulaImages
from app.gui.chat.transcript import TranscriptView
from app.gui.look import Look
from app.gui.store.messages import StoredMessage
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.comparison import Comparison
from app.gui.viewmodels.chat.message_views import MessageView
from app.gui.widgets import ElidedLabel, label, text_button

Views = Callable[[StoredMessage], Sequence[MessageView]]


class CompareView(QWidget):
    def __init__(
        self, look: Look, drawn: FormulaImages, do: Callable[..., Any], comparison: Comparison, views: Views
    ) -> None:
        """`do` is what the buttons in the rows ask for; `views` are the rows of a reply."""
        super().__init__()
        self._look, self._drawn, self._do, self._comparison, self._views = look, drawn, do, comparison, views
        self.columns: dict[int, ReplyColumn] = {}
        self.asked = ElidedLabel("second")
        self.asked.setIndent(GRID * 2)  # in line with the replies
        self.waiting = label(kind="second", wrap=True)
        self._row = QHBoxLayout()
        self._row.setSpacing(GRID)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(GRID * 2, 0, GRID * 2, 0)
        whole.addWidget(self.asked)
        whole.addSpacing(GRID)
        whole.addLayout(self._row, 1)
        whole.addWidget(self.waiting)
        comparison.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        comparison = self._comparison
        for id in [id for id in self.columns if id not in comparison.shown]:
            column = self.columns.pop(id)
            self._row.removeWidget(column)
            column.hide()
            column.deleteLater()
        for message in comparison.replies:
            if message.id not in self.columns:
                column = ReplyColumn(self._look, self._drawn, self._do, message, comparison)
                self.columns[message.id] = column
                self._row.addWidget(column, 1)
            self.show_reply(message)
        self.asked.setText(" ".join(comparison.asked.split()))
        models = ", ".join(comparison.waiting)
        self.waiting.setText(tr("Answers next: {models}.", models=models) if models else "")
        self.waiting.setVisible(bool(models))

    def show_reply(self, message: StoredMessage) -> None:
        """It grew."""
        if (column := self.columns.get(message.id)) is not None:
            column.show_rows(message, self._views(message))


class ReplyColumn(QWidget):
    def __init__(
        self,
        look: Look,
        drawn: FormulaImages,
        do: Callable[..., Any],
        message: StoredMessage,
        comparison: Comparison,
    ) -> None:
        super().__init__()
        self.model = ElidedLabel("heading")
        self.model.setText(message.model)
        self.transcript = TranscriptView(look, drawn, do)
        self.transcript.setMinimumWidth(160)
        self.transcript.setAccessibleName(tr("Reply of {model}", model=message.model))
        self.go_on = text_button(tr("Continue with this"), partial(comparison.go_on_with, message.id))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(self.model)
        self.model.setIndent(GRID * 2)  # in line with the text
        column.addWidget(self.transcript, 1)
        column.addWidget(self.go_on)

    def show_rows(self, message: StoredMessage, views: Sequence[MessageView]) -> None:
        """A reply can be copied here; all else is done in the conversation."""
        can = frozenset({"copy"})
        rows = [replace(view, can=view.can & can, version=1, versions=1) for view in views]
        if self.transcript.views:
            self.transcript.replace(message.id, rows)
        else:
            self.transcript.show_views(rows)
        self.go_on.setEnabled(message.state != "writing")
