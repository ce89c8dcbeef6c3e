"""The list of results in Read, Listen and Speak, and dragging a result out of the window as a file.

The file is written off the UI thread when the drag begins, into a folder that is emptied when Grus ends or begins, and when
something is deleted.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRectF,
    QSize,
    Qt,
    QUrl,
    Signal,
)
from PySide6.QtGui import QColor, QDrag, QDropEvent, QGuiApplication, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.gui.look import Look
from app.gui.pane import Desk
from app.gui.store.files import DRAGGED, private_folder
from app.gui.theme import GRID

_LONGEST = 80  # characters of a name
_NO_NAME = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')

Write = Callable[[Path], Any]  # into this file
Offer = Callable[[Any], "tuple[str, Write] | None"]  # of an item: the file's name, and how it is written


class DragOut:
    """For a view whose items can be dragged. `offer` gives None for one that has nothing to give yet."""

    def __init__(self, desk: Desk, view: QAbstractItemView, offer: Offer) -> None:
        self._desk, self._view, self._offer = desk, view, offer
        self._writing = False
        view.setDragEnabled(True)
        view.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)

    def begin(self, item: Any) -> None:
        """The button is down and the mouse has moved."""
        offered = self._offer(item)
        if offered is None or self._writing:
            return
        name, write = offered

        def make() -> Path:
            folder = private_folder(self._desk.places.data / DRAGGED)
            file = Path(tempfile.mkdtemp(dir=folder)) / file_name(name)
            write(file)
            return file

        def made(file: Path) -> None:
            self._writing = False
            if QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:  # still wanted
                self._carry(file)

        def failed(sentence: str) -> None:
            self._writing = False
            self._desk.say(sentence, level="error")

        self._writing = True
        self._desk.work.run(make, made, failed)

    def _carry(self, file: Path) -> None:
        drag, data = QDrag(self._view), QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(file))])
        drag.setMimeData(data)
        drag.setPixmap(self._desk.look.icon("file").pixmap(QSize(32, 32)))
        drag.exec(Qt.DropAction.CopyAction)


def from_outside(event: QDropEvent) -> bool:
    """Files that come from elsewhere: what was dragged out of a list is no news to the pane it came from."""
    return event.mimeData().hasUrls() and event.source() is None


def file_name(title: str) -> str:
    """A title as a name that every system takes, its ending kept."""
    stem, dot, ending = title.rpartition(".")
    stem = " ".join(_NO_NAME.sub(" ", stem if dot else ending).split()).strip(". ")[:_LONGEST].strip(". ") or "Grus"
    return f"{stem}.{ending}" if dot else stem


Index = QModelIndex | QPersistentModelIndex
_ITEM = Qt.ItemDataRole.UserRole


class Made(Protocol):
    title: str

    @property
    def failed(self) -> bool: ...
    @property
    def share(self) -> float | None:
        """How much of it is made; None: all."""

    def status(self) -> str: ...


class _Model(QAbstractListModel):
    def __init__(self, items: Callable[[], Sequence[Made]]) -> None:
        super().__init__()
        self.items = items

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own spelling)
        return 0 if parent.isValid() else len(self.items())

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item = self.items()[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return item.title
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            return f"{item.title}, {item.status()}"
        return item if role == _ITEM else None


class ResultList(QListView):
    """`chosen(item)`; `menu_wanted(item, where)`. With `drag` its items can be dragged out as files."""

    chosen = Signal(object)
    menu_wanted = Signal(object, QPoint)

    def __init__(self, look: Look, name: str, items: Callable[[], Sequence[Made]]) -> None:
        super().__init__()
        self.setProperty("kind", "plain")  # the focus is drawn around a row
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)
        self.drag: DragOut | None = None
        self._model = _Model(items)
        self.setModel(self._model)
        self.painter = _Painter(look)
        self.setItemDelegate(self.painter)
        self.clicked.connect(lambda index: self.chosen.emit(index.data(_ITEM)))
        self.activated.connect(lambda index: self.chosen.emit(index.data(_ITEM)))
        look.on_change(self, self.viewport().update)

    def reset_items(self, current: Made | None) -> None:
        self._model.beginResetModel()
        self._model.endResetModel()
        self.painter.current = current
        if current is not None and current in self._model.items():
            self.setCurrentIndex(self._model.index(list(self._model.items()).index(current), 0))

    def refresh(self) -> None:
        self.viewport().update()

    def startDrag(self, actions: Qt.DropAction) -> None:
        if self.drag is not None:
            self.drag.begin(self.currentIndex().data(_ITEM))

    def _menu(self, where: QPoint) -> None:
        item = self.indexAt(where).data(_ITEM)
        if item is not None:
            self.menu_wanted.emit(item, self.viewport().mapToGlobal(where))


class _Painter(QStyledItemDelegate):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.current: Made | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, option.fontMetrics.lineSpacing() * 2 + 8 + GRID * 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        item: Made = index.data(_ITEM)
        theme, room = self._look.theme, option.rect.adjusted(GRID, 1, -GRID, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if item is self.current or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.selected if item is self.current else theme.hover))
            painter.drawRoundedRect(room, 6, 6)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(theme.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(room.adjusted(1, 1, -1, -1), 6, 6)
        words, line = room.adjusted(GRID, GRID - 2, -GRID, -GRID), option.fontMetrics.lineSpacing()
        left = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(self._look.font())
        painter.setPen(QColor(theme.text))
        title = painter.fontMetrics().elidedText(item.title, Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(QRectF(words.left(), words.top(), words.width(), line), left, title)
        painter.setFont(self._look.font(0.9))
        painter.setPen(QColor(theme.error if item.failed else theme.second))
        told = painter.fontMetrics().elidedText(item.status(), Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(QRectF(words.left(), words.top() + line + 2, words.width(), line), left, told)
        if item.share is not None:
            groove = QRectF(words.left(), words.top() + 2 * line + 5, words.width(), 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.pressed))
            painter.drawRoundedRect(groove, 2, 2)
            painter.setBrush(QColor(theme.accent))
            painter.drawRoundedRect(QRectF(groove.left(), groove.top(), groove.width() * item.share, 4), 2, 2)
        painter.restore()
