"""The list of conversations: search above, sections below; names are edited in place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QDragEnterEvent, QDragLeaveEvent, QDropEvent, QFont, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLineEdit,
    QListView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.gui.drop import DropLight
from app.gui.look import Look, pixmap
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.conversation_list import ConversationLine, ConversationList
from app.gui.widgets import icon_button, label, paint_row

Index = QModelIndex | QPersistentModelIndex
_LINE = Qt.ItemDataRole.UserRole


class ConversationListModel(QAbstractListModel):
    def __init__(self, conversation_list: ConversationList) -> None:
        super().__init__()
        self._list = conversation_list
        conversation_list.changed.connect(self._reset)

    def _reset(self) -> None:
        self.beginResetModel()
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own spelling)
        return 0 if parent.isValid() else len(self._list.lines)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        line = self._list.lines[index.row()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.EditRole, Qt.ItemDataRole.AccessibleTextRole):
            return line.title
        if role == Qt.ItemDataRole.ToolTipRole:
            return line.title if line.conversation is not None else None
        return line if role == _LINE else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        line = self._list.lines[index.row()]
        if line.conversation is not None:
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsEditable
        if line.project is not None:
            return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsEditable
        return Qt.ItemFlag.NoItemFlags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        line = self._list.lines[index.row()]
        if line.conversation is not None:
            self._list.rename(line.conversation.id, str(value))
        elif line.project is not None:
            self._list.configure_project(line.project.id, name=str(value))
        return True


class _Painter(QStyledItemDelegate):
    def __init__(self, look: Look, conversation_list: ConversationList) -> None:
        super().__init__()
        self._look, self._list = look, conversation_list
        self.current: int | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        line: ConversationLine = index.data(_LINE)
        height = self._look.font().pointSizeF() * 2
        text = option.fontMetrics.lineSpacing()
        if line.heading:
            return QSize(100, text + round(height * 0.9))
        second = bool(line.conversation and line.conversation.found)
        return QSize(100, text * (2 if second else 1) + GRID * 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: ConversationLine = index.data(_LINE)
        theme, room = self._look.theme, option.rect.adjusted(GRID, 1, -GRID, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if line.heading:
            self._heading(painter, line, room)
            painter.restore()
            return
        summary = line.conversation
        assert summary is not None
        selected = summary.id == self.current
        paint_row(painter, theme, room, option.state, selected)
        inner = room.adjusted(GRID, 0, -GRID, 0)
        if summary.pinned:
            ratio = painter.device().devicePixelRatioF()
            mark = pixmap("pin", theme.second, 14, ratio)
            painter.drawPixmap(QPoint(inner.right() - 14, inner.center().y() - 7), mark)
            inner.setRight(inner.right() - 20)
        self._words(painter, line, inner)
        painter.restore()

    def _heading(self, painter: QPainter, line: ConversationLine, room: QRect) -> None:
        font = self._look.font(0.9, QFont.Weight.DemiBold)
        painter.setFont(font)
        painter.setPen(QColor(self._look.theme.second))
        inner = room.adjusted(GRID, 0, -GRID, -4)
        if line.project is not None:
            ratio = painter.device().devicePixelRatioF()
            mark = pixmap("folder", self._look.theme.second, 14, ratio)
            painter.drawPixmap(QPoint(inner.left(), inner.bottom() - 15), mark)
            inner.setLeft(inner.left() + 20)
        painter.drawText(inner, Qt.AlignmentFlag.AlignBottom | Qt.AlignmentFlag.AlignLeft, line.title)

    def _words(self, painter: QPainter, line: ConversationLine, room: QRect) -> None:
        assert line.conversation is not None
        painter.setFont(self._look.font())
        metrics = painter.fontMetrics()
        painter.setPen(QColor(self._look.theme.text))
        title = metrics.elidedText(line.title or tr("Untitled"), Qt.TextElideMode.ElideRight, room.width())
        middle = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        if not line.conversation.found:
            painter.drawText(room, middle, title)
            return
        half = room.height() // 2
        painter.drawText(room.adjusted(0, 2, 0, -half), middle, title)
        painter.setPen(QColor(self._look.theme.second))
        found = metrics.elidedText(line.conversation.found, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room.adjusted(0, half - 2, 0, -2), middle, found)


def _exports(event: QDropEvent) -> list[Path]:
    """The dragged files, where all of them may be exports."""
    files = [Path(url.toLocalFile()) for url in event.mimeData().urls() if url.isLocalFile()]
    return files if all(file.suffix.lower() in (".zip", ".json") for file in files) else []


class ConversationListView(QWidget):
    """`chosen(conversation)`: the ConversationSummary that was clicked; `menu_wanted(line, position)`; `export_dropped(file)`:
    conversations to import."""

    chosen = Signal(object)
    export_dropped = Signal(object)
    menu_wanted = Signal(object, QPoint)

    def __init__(self, look: Look, conversation_list: ConversationList, new: Callable[[], Any]) -> None:
        super().__init__()
        self.setProperty("kind", "side")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAcceptDrops(True)
        self._drop_light = DropLight(look, self)
        self.conversation_list = conversation_list
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Search in all conversations"))
        self.field.setToolTip(tr("Search in all conversations"))
        self.field.setAccessibleName(tr("Search in all conversations"))
        self.field.setClearButtonEnabled(True)
        if (clear := self.field.findChild(QToolButton)) is not None:
            clear.setAccessibleName(tr("Clear the search"))
        self.field.textChanged.connect(conversation_list.search)
        self.field.installEventFilter(self)
        self.new = icon_button(look, "compose", tr("New conversation"), new, size=20)
        self.list = QListView()
        self.list.setAccessibleName(tr("Conversations"))
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._menu)
        self.list.setModel(ConversationListModel(conversation_list))
        self.painter = _Painter(look, conversation_list)
        self.list.setItemDelegate(self.painter)
        self.list.clicked.connect(self._clicked)
        self.list.activated.connect(self._clicked)
        self.empty = label(tr("No results."), "second")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        top = QHBoxLayout()
        top.setContentsMargins(GRID * 2, GRID, GRID, 0)
        top.addWidget(self.field, 1)
        top.addWidget(self.new)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID // 2, 0, 0)
        column.addLayout(top)
        column.addWidget(self.empty)
        column.addWidget(self.list, 1)
        conversation_list.changed.connect(self._refreshed)
        look.on_change(self, self.list.viewport().update)
        self.empty.hide()

    def show_current(self, id: int | None) -> None:
        self.painter.current = id
        for i, line in enumerate(self.conversation_list.lines):
            if line.conversation is not None and line.conversation.id == id:
                self.list.setCurrentIndex(self.list.model().index(i, 0))
                break
        else:
            self.list.setCurrentIndex(QModelIndex())
        self.list.viewport().update()

    def edit_name(self, id: int) -> None:
        """Begin to edit a conversation's name in its place."""
        for i, line in enumerate(self.conversation_list.lines):
            if line.conversation is not None and line.conversation.id == id:
                self.list.edit(self.list.model().index(i, 0))

    def edit_project(self, id: int) -> None:
        for i, line in enumerate(self.conversation_list.lines):
            if line.project is not None and line.project.id == id:
                self.list.edit(self.list.model().index(i, 0))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """From the search field the arrows lead into the list, and Enter opens the first result."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            rows = [i for i, line in enumerate(self.conversation_list.lines) if line.conversation is not None]
            if rows and event.key() == Qt.Key.Key_Down:
                self.list.setFocus()
                self.list.setCurrentIndex(self.list.model().index(rows[0], 0))
                return True
            if rows and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._clicked(self.list.model().index(rows[0], 0))
                return True
        return super().eventFilter(watched, event)

    def _refreshed(self) -> None:
        self.empty.setVisible(bool(self.conversation_list.words.strip()) and not self.conversation_list.lines)
        self.show_current(self.painter.current)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Exports belong here; what else is dragged goes to the window."""
        if _exports(event):
            self._drop_light.enter(event)
        else:
            event.ignore()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._drop_light.hide()

    def dropEvent(self, event: QDropEvent) -> None:
        self._drop_light.take(event)
        for file in _exports(event):
            self.export_dropped.emit(file)

    def _clicked(self, index: QModelIndex) -> None:
        line: ConversationLine = index.data(_LINE)
        if line is not None and line.conversation is not None:
            self.chosen.emit(line.conversation)

    def _menu(self, where: QPoint) -> None:
        line = self.list.indexAt(where).data(_LINE)
        if line is not None and (line.conversation is not None or line.project is not None):
            self.menu_wanted.emit(line, self.list.viewport().mapToGlobal(where))
