"""The list of documents: a thumbnail, the name, how far it is; files are dropped on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.gui.look import Look, pixmap
from app.gui.pane import Desk
from app.gui.results import DragOut
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.read import Item, Reading
from app.gui.viewmodels.read_export import Pixels, as_markdown, pixels

Index = QModelIndex | QPersistentModelIndex
_ITEM = Qt.ItemDataRole.UserRole
_THUMB = QSize(40, 52)


def as_image(made: Pixels) -> QImage:
    return QImage(made.data, made.width, made.height, made.width * 3, QImage.Format.Format_RGB888).copy()


class Queue(QAbstractListModel):
    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self._reading = reading
        reading.listed.connect(self._reset)
        reading.changed.connect(self._one)

    def _reset(self) -> None:
        self.beginResetModel()
        self.endResetModel()

    def _one(self, item: Item) -> None:
        if item in self._reading.items:
            index = self.index(self._reading.items.index(item), 0)
            self.dataChanged.emit(index, index)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own spelling)
        return 0 if parent.isValid() else len(self._reading.items)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item = self._reading.items[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return item.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{item.title}, {item.status()}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{item.source}\n{item.error or item.status()}"
        return item if role == _ITEM else None


class QueueView(QListView):
    """`chosen(item)`; `menu_wanted(item, where)`."""

    chosen = Signal(object)
    menu_wanted = Signal(object, QPoint)

    def __init__(self, desk: Desk, reading: Reading) -> None:
        super().__init__()
        self.setProperty("kind", "plain")  # the focus is drawn around a row
        self.setAccessibleName(tr("Documents"))
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)
        self._desk, self._reading = desk, reading
        self._queue = Queue(reading)
        self.setModel(self._queue)
        self.painter = Painter(desk.look, self._thumbnail)
        self.setItemDelegate(self.painter)
        self.drag = DragOut(desk, self, _as_file)
        self._thumbs: dict[tuple[str, int], QImage | None] = {}
        self.clicked.connect(self._click)
        self.activated.connect(self._click)
        desk.look.on_change(self, self.viewport().update)

    def show_current(self) -> None:
        item = self._reading.current
        self.painter.current = item
        if item in self._reading.items:
            self.setCurrentIndex(self._queue.index(self._reading.items.index(item), 0))
        self.viewport().update()

    def _click(self, index: QModelIndex) -> None:
        self.chosen.emit(index.data(_ITEM))

    def startDrag(self, actions: Qt.DropAction) -> None:
        self.drag.begin(self.currentIndex().data(_ITEM))

    def _menu(self, where: QPoint) -> None:
        item = self.indexAt(where).data(_ITEM)
        if item is not None:
            self.menu_wanted.emit(item, self.viewport().mapToGlobal(where))

    def forget(self) -> None:
        """Everything was deleted, thumbnails as well."""
        self._thumbs.clear()

    def _thumbnail(self, item: Item) -> QImage | None:
        """Made beside the UI thread, when it is first looked at."""
        key = (str(item.source), item.numbers[0] if item.numbers else 1)
        if key not in self._thumbs:
            self._thumbs[key] = None
            most = round(_THUMB.height() * self.devicePixelRatioF() * 1.5)

            def made(found: Pixels) -> None:
                self._thumbs[key] = as_image(found)
                self.viewport().update()

            self._desk.work.run(
                lambda: pixels(item.source, key[1], 0.0, item.password, most), made, lambda sentence: None
            )
        return self._thumbs[key]


def _as_file(item: Item) -> tuple[str, Any] | None:
    """What was read so far, as markdown."""
    pages = item.pages
    if not pages:
        return None
    name = f"{Path(item.title).stem}.md"
    return name, lambda file: file.write_text(as_markdown(pages), encoding="utf-8")


class Painter(QStyledItemDelegate):
    def __init__(self, look: Look, thumbnail: Any) -> None:
        super().__init__()
        self._look, self._thumbnail = look, thumbnail
        self.current: Item | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, max(_THUMB.height(), option.fontMetrics.lineSpacing() * 2 + 10) + GRID * 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        item: Item = index.data(_ITEM)
        theme, room = self._look.theme, option.rect.adjusted(GRID, 1, -GRID, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        if item is self.current or option.state & QStyle.StateFlag.State_MouseOver:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.selected if item is self.current else theme.hover))
            painter.drawRoundedRect(room, 6, 6)
        if option.state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(QColor(theme.accent))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(room.adjusted(1, 1, -1, -1), 6, 6)
        self._picture(painter, item, QRect(room.left() + GRID, room.top() + GRID, _THUMB.width(), _THUMB.height()))
        words = room.adjusted(GRID * 2 + _THUMB.width() + 4, GRID, -GRID, -GRID)
        line = option.fontMetrics.lineSpacing()
        painter.setPen(QColor(theme.text))
        painter.setFont(self._look.font())
        title = painter.fontMetrics().elidedText(item.title, Qt.TextElideMode.ElideMiddle, words.width())
        painter.drawText(QRect(words.left(), words.top(), words.width(), line), Qt.AlignmentFlag.AlignLeft, title)
        bad = item.state in ("failed", "locked")
        painter.setPen(QColor(theme.error if bad else theme.second))
        painter.setFont(self._look.font(0.9))
        told = painter.fontMetrics().elidedText(item.status(), Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(
            QRect(words.left(), words.top() + line + 2, words.width(), line), Qt.AlignmentFlag.AlignLeft, told
        )
        if item.state == "reading":
            groove = QRectF(words.left(), words.top() + 2 * line + 6, words.width(), 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.pressed))
            painter.drawRoundedRect(groove, 2, 2)
            painter.setBrush(QColor(theme.accent))
            painter.drawRoundedRect(QRectF(groove.left(), groove.top(), groove.width() * item.share, 4), 2, 2)
        painter.restore()

    def _picture(self, painter: QPainter, item: Item, room: QRect) -> None:
        image = self._thumbnail(item)
        if image is None:
            mark = pixmap("file", self._look.theme.second, 24, painter.device().devicePixelRatioF())
            painter.drawPixmap(room.center() - QPoint(12, 12), mark)
            return
        size = image.size().scaled(room.size(), Qt.AspectRatioMode.KeepAspectRatio)
        place = QRect(room.center() - QPoint(size.width() // 2, size.height() // 2), size)
        painter.drawImage(place, image)
        painter.setPen(QColor(self._look.theme.line))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(place)
