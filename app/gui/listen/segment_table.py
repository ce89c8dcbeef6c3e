"""The transcript's table: a row for each segment, its text edited in place; which character lies under the pointer."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractItemModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent, QTextLayout, QTextLine, QTextOption
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPlainTextEdit,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableWidget,
    QWidget,
)

from app.gui.texts import tr

Index = QModelIndex | QPersistentModelIndex
TIME, TEXT, SPEAKER = 0, 1, 2  # the columns; the speaker is shown before the text
_CELL_EDGE = 6  # pixels of border and padding of the kind "cell"


class SegmentTable(QTableWidget):
    """`word_clicked(row, position)`: of the character that was clicked, or -1 beside the text. `split_asked(row, position)`.
    `speaker_clicked(row)`."""

    word_clicked = Signal(int, int)
    split_asked = Signal(int, int)
    speaker_clicked = Signal(int)

    def __init__(self) -> None:
        super().__init__(0, 3)
        self.setAccessibleName(tr("Transcript"))
        self.setProperty("kind", "plain")
        self.setShowGrid(False)
        self.setWordWrap(True)
        self.horizontalHeader().hide()
        self.verticalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(TIME, QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setSectionResizeMode(SPEAKER, QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().moveSection(SPEAKER, TEXT)
        self.setColumnHidden(SPEAKER, True)
        self.horizontalHeader().setSectionResizeMode(TEXT, QHeaderView.ResizeMode.Stretch)
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._editor = _SegmentEditor(self)
        self.setItemDelegateForColumn(TEXT, self._editor)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._editor.split_asked.connect(self.split_asked)
        self._pressed = QPoint()
        self.cellClicked.connect(self._clicked)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed = event.position().toPoint()
        super().mousePressEvent(event)

    def _clicked(self, row: int, column: int) -> None:
        if column == SPEAKER:
            self.speaker_clicked.emit(row)
            return
        self.word_clicked.emit(row, self.character_at(row, self._pressed) if column == TEXT else 0)

    def edit_speaker(self, row: int) -> None:
        if (item := self.item(row, SPEAKER)) is not None:
            self.editItem(item)

    def character_at(self, row: int, where: QPoint) -> int:
        """Of the text of a row, at a point of the viewport; -1 beside it."""
        layout, room = self._laid_out(row)
        point = QPointF(where - room.topLeft())
        for number in range(layout.lineCount()):
            line = layout.lineAt(number)
            if line.naturalTextRect().contains(point):
                return int(_cursor(line, point.x()))
        return -1

    def place_of(self, row: int, position: int) -> QPoint:
        """The middle of a character, in the viewport."""
        layout, room = self._laid_out(row)
        line = layout.lineForTextPosition(position)
        x = (_x(line.cursorToX(position)) + _x(line.cursorToX(position + 1))) / 2
        return room.topLeft() + QPoint(round(x), round(line.rect().center().y()))

    def _laid_out(self, row: int) -> tuple[QTextLayout, QRect]:
        """The text as the style lays it out, and where."""
        index = self.model().index(row, TEXT)
        option = QStyleOptionViewItem()
        self.initViewItemOption(option)
        self._editor.initStyleOption(option, index)
        option.rect = self.visualRect(index)
        style = self.style()
        room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, self)
        margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, self) + 1
        room.adjust(margin, 0, -margin, 0)
        layout = QTextLayout(option.text, option.font)
        wrapped = QTextOption(Qt.AlignmentFlag.AlignLeft)
        wrapped.setWrapMode(QTextOption.WrapMode.WordWrap)
        layout.setTextOption(wrapped)
        layout.beginLayout()
        y = 0.0
        while (line := layout.createLine()).isValid():
            line.setLineWidth(room.width())
            line.setPosition(QPointF(0, y))
            y += line.height()
        layout.endLayout()
        return layout, room


def _x(found: Any) -> float:
    """The place of a cursor, which Qt gives beside the position that it used."""
    return float(found[0] if isinstance(found, tuple) else found)


def _cursor(line: QTextLine, x: float) -> int:
    return line.xToCursor(x, QTextLine.CursorPosition.CursorOnCharacter)


class _SegmentEditor(QStyledItemDelegate):
    """Edits a segment's text with all its lines in sight. Enter keeps it, Shift+Enter splits it at the cursor, Esc leaves it as it was."""

    split_asked = Signal(int, int)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = QPlainTextEdit(parent)
        editor.setProperty("kind", "cell")
        editor.setProperty("row", index.row())
        editor.setAccessibleName(tr("Text of the segment"))
        editor.setTabChangesFocus(True)
        editor.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        editor.textChanged.connect(lambda: self._grow(editor))
        return editor

    def setEditorData(self, editor: QWidget, index: Index) -> None:
        if isinstance(editor, QPlainTextEdit) and not editor.document().isModified():
            editor.setPlainText(index.data())

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: Index) -> None:
        if isinstance(editor, QPlainTextEdit):
            model.setData(index, _plain(editor.toPlainText()))

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(option.rect)
        self._grow(editor)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and isinstance(watched, QPlainTextEdit)
            and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        ):
            row, cursor = watched.property("row"), watched.textCursor().position()
            position = len(_plain(watched.toPlainText()[:cursor]))
            self.commitData.emit(watched)
            self.closeEditor.emit(watched)
            if event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
                self.split_asked.emit(row, position)
            return True
        return super().eventFilter(watched, event)

    def _grow(self, editor: QWidget) -> None:
        """As high as its lines, and no lower than its row."""
        parent = editor.parentWidget()
        if isinstance(editor, QPlainTextEdit) and parent is not None:
            edge = _CELL_EDGE + round(editor.document().documentMargin())
            room = QRect(0, 0, editor.width() - 2 * edge, 1 << 20)
            text = editor.toPlainText() or "x"
            lines = editor.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap.value, text).height()
            height = min(parent.height(), lines + editor.fontMetrics().leading() + 2 * edge)
            editor.setGeometry(editor.x(), max(0, min(editor.y(), parent.height() - height)), editor.width(), height)


def _plain(text: str) -> str:
    return " ".join(text.split())
