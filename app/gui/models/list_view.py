"""The list of the models pane: headings, and models with what they can do."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFont, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
)

from app.gui.look import Look
from app.gui.theme import GRID
from app.gui.viewmodels.models.card import ModelLine
from app.gui.widgets import paint_badges, paint_row

Index = QModelIndex | QPersistentModelIndex
_LINE = Qt.ItemDataRole.UserRole


class ModelListView(QListWidget):
    """`chosen(key)`: a person went to a model, by mouse or by keyboard."""

    chosen = Signal(str)

    def __init__(self, look: Look, name: str) -> None:
        super().__init__()
        self.setProperty("kind", "lines")
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setItemDelegate(_Painter(look))
        self.lines: list[ModelLine] = []
        self.currentItemChanged.connect(self._went)
        look.on_change(self, self.viewport().update)

    def show_lines(self, lines: Sequence[ModelLine], key: str) -> None:
        """The line of `key` stays current, and what is in sight stays in sight."""
        if list(lines) != self.lines:
            self.lines = list(lines)
            place = self.verticalScrollBar().value()
            self.blockSignals(True)
            self.clear()
            for line in lines:
                item = QListWidgetItem(line.title)
                item.setData(_LINE, line)
                description = ", ".join(filter(None, (line.title, *line.badges, line.second, line.mark)))
                item.setData(Qt.ItemDataRole.AccessibleTextRole, description)
                item.setToolTip("" if line.heading else line.key)
                if line.heading:
                    item.setFlags(Qt.ItemFlag.NoItemFlags)
                self.addItem(item)
            self.blockSignals(False)
            self.verticalScrollBar().setValue(place)
        self.mark(key)

    def row_of(self, key: str) -> int:
        return next((i for i, line in enumerate(self.lines) if line.key == key and key), -1)

    def mark(self, key: str) -> None:
        """Make the line of `key` the current one, without telling."""
        row = self.row_of(key)
        if row != self.currentRow():
            self.blockSignals(True)
            self.setCurrentRow(row)
            self.blockSignals(False)
            self.viewport().update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.begin()

    def begin(self) -> None:
        """The first line is chosen, where none is."""
        if self.currentRow() < 0:
            self.setCurrentRow(next((i for i, line in enumerate(self.lines) if not line.heading), -1))

    def _went(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.chosen.emit(item.data(_LINE).key)


class _Painter(QStyledItemDelegate):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line: ModelLine = index.data(_LINE)
        text = option.fontMetrics.lineSpacing()
        return QSize(100, text + GRID * 2 if line.heading else text * 2 + GRID * 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: ModelLine = index.data(_LINE)
        theme, room = self._look.theme, option.rect.adjusted(GRID, 1, -GRID, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if line.heading:
            painter.setFont(self._look.font(0.9, QFont.Weight.DemiBold))
            painter.setPen(QColor(theme.second))
            below = Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft
            painter.drawText(room.adjusted(GRID, 0, -GRID, -4), below, line.title)
            painter.restore()
            return
        selected = bool(option.state & QStyle.StateFlag.State_Selected)
        paint_row(painter, theme, room, option.state, selected)
        self._words(painter, line, room.adjusted(GRID, 3, -GRID, -3))
        painter.restore()

    def _words(self, painter: QPainter, line: ModelLine, room: QRect) -> None:
        theme, middle = self._look.theme, Qt.AlignmentFlag.AlignVCenter
        half = room.height() // 2
        upper, lower = room.adjusted(0, 0, 0, -half), room.adjusted(0, half, 0, 0)
        painter.setFont(self._look.font())
        metrics, cut = painter.fontMetrics(), Qt.TextElideMode.ElideRight
        if line.mark:
            painter.setPen(QColor(theme.ok if line.level == "ok" else theme.second))
            painter.drawText(lower, middle | Qt.AlignmentFlag.AlignRight, line.mark)
            lower.setRight(lower.right() - metrics.horizontalAdvance(line.mark) - GRID)
        upper.setRight(upper.right() - paint_badges(painter, self._look, upper, line.badges))
        painter.setPen(QColor(theme.text))
        painter.drawText(upper, middle, metrics.elidedText(line.title, Qt.TextElideMode.ElideMiddle, upper.width()))
        painter.setPen(QColor(theme.second))
        painter.drawText(lower, middle, metrics.elidedText(line.second, cut, lower.width()))
