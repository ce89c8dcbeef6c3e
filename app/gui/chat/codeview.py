"""Code in a row: a box with its language, a copy button, and colours that arrive when they have been found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QColor, QSyntaxHighlighter, QTextCharFormat, QTextCursor, QTextDocument, QWheelEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QWidget
from shiboken6 import isValid

from app.gui.buttons import icon_button, label
from app.gui.chat.rowviews import Do, RowView
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.code import Span, spans
from app.gui.viewmodels.chat.rows import Row

if TYPE_CHECKING:
    from app.gui.chat.drawn import Drawn
    from app.gui.look import Look

_HEAD = 32
_COLOURED_EVERY = 250  # milliseconds, while code is being written
_PAUSE = 8  # times as long as it took: colours for long code take a share of the machine, not all of it


class CodeView(RowView):
    def __init__(self, look: Look, drawn: Drawn, do: Do) -> None:
        super().__init__(look, drawn, do)
        self.box = QWidget(self)
        self.box.setProperty("kind", "codebox")
        self.box.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.language = label(kind="second")
        self.language.setParent(self.box)
        self.copy = icon_button(look, "copy", tr("Copy the code"), self._copy, size=16, parent=self.box)
        self.code = _Code(self.box)
        self.colours = _Colours(self.code.document(), look)
        self._version = 0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_COLOURED_EVERY)
        self._timer.timeout.connect(self._find_colours)

    def _copy(self) -> None:
        if self.row is not None:
            self.do("copy_text", self.row.message, self.row.text)

    def fill(self, row: Row, before: Row | None) -> None:
        piece = row.piece
        assert piece is not None
        self.language.setText(piece.language or tr("Code"))
        self.code.setFont(self.look.mono)
        same = before is not None and before.key == row.key and before.text and row.text.startswith(before.text)
        if same:
            cursor = QTextCursor(self.code.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(row.text[len(before.text) :] if before else row.text)
            if not self._timer.isActive():
                self._timer.start()
        else:
            self.colours.show([])
            self.code.setPlainText(row.text)
            self._find_colours()

    def _find_colours(self) -> None:
        row = self.row
        if row is None or row.piece is None:
            return
        self._version += 1
        version, language, text = self._version, row.piece.language, row.text

        def find() -> tuple[Sequence[Span], float]:
            began = time.thread_time()
            return spans(text, language), time.thread_time() - began

        def found(answer: tuple[Sequence[Span], float]) -> None:
            if version == self._version and isValid(self.code):
                self.colours.show(answer[0])
                self._timer.setInterval(max(_COLOURED_EVERY, round(1000 * _PAUSE * answer[1])))

        self.do("work", row.message, find, found)

    def measure(self, width: int) -> int:
        lines = self.code.document().blockCount()
        height = round(lines * self.code.fontMetrics().lineSpacing()) + 2 * GRID + 2
        widest = max((len(line) for line in (self.row.text if self.row else "").split("\n")), default=0)
        if widest * self.code.fontMetrics().averageCharWidth() > width - 3 * GRID:
            height += 12  # the bar below
        self.box.setGeometry(0, 0, width, _HEAD + height)
        self.language.setGeometry(GRID * 2, 2, width - 64, _HEAD - 2)
        self.copy.setGeometry(width - 32, 2, 28, 28)
        self.code.setGeometry(GRID, _HEAD, width - 2 * GRID, height - 2)
        return _HEAD + height + GRID


class _Code(QPlainTextEdit):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setReadOnly(True)
        self.setProperty("kind", "bare")
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.setAccessibleName(tr("Code"))
        self.viewport().setAutoFillBackground(False)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if abs(event.angleDelta().x()) > abs(event.angleDelta().y()):
            super().wheelEvent(event)
        else:
            event.ignore()


class _Colours(QSyntaxHighlighter):
    """Applies spans that were found elsewhere."""

    def __init__(self, document: QTextDocument, look: Look) -> None:
        super().__init__(document)
        self._look = look
        self._lines: dict[int, list[Span]] = {}

    def show(self, found: Sequence[Span]) -> None:
        before = self._lines
        self._lines = {}
        for span in found:
            self._lines.setdefault(span.line, []).append(span)
        block = self.document().begin()
        while block.isValid():
            number = block.blockNumber()
            if before.get(number) != self._lines.get(number):
                self.rehighlightBlock(block)
            block = block.next()

    def highlightBlock(self, text: str) -> None:
        for span in self._lines.get(self.currentBlock().blockNumber(), ()):
            style = QTextCharFormat()
            style.setForeground(QColor(getattr(self._look.theme, span.kind)))
            self.setFormat(span.start, span.length, style)
