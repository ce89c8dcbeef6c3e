"""`ResultsPane`, the base of the Read, Listen and Speak panes: the list of results, dropping files in, dragging results out.

A result that is dragged out is written as a file off the UI thread when the drag begins, into a folder that is emptied when
Grus ends or begins, and when something is deleted.
"""

from __future__ import annotations

import re
import tempfile
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from PySide6.QtCore import (
    QAbstractListModel,
    QMimeData,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    QUrl,
    Signal,
)
from PySide6.QtGui import QColor, QDrag, QDropEvent, QGuiApplication, QImage, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QLayout,
    QListView,
    QSplitter,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.gui.drop import DropLight, accept_copy
from app.gui.look import Look, pixmap
from app.gui.model_box import ModelBox
from app.gui.pane import AppContext, Pane
from app.gui.store.database import DRAGGED, private_folder
from app.gui.theme import GRID
from app.gui.viewmodels.results import ListedResult, Results
from app.gui.widgets import paint_row

Index = QModelIndex | QPersistentModelIndex
T = TypeVar("T", bound=ListedResult)
Write = Callable[[Path], Any]  # into this file
Offer = Callable[
    [Any], "tuple[str, Write] | None"
]  # of an item: the file's name, and how it is written; None: nothing yet
Thumbnail = Callable[[Any], "QImage | None"]
_ITEM = Qt.ItemDataRole.UserRole
_THUMB = QSize(40, 52)
_LONGEST = 80  # characters of a file's name
_NO_NAME = re.compile(r'[\x00-\x1f<>:"/\\|?*]+')


class ResultsPane(Pane, Generic[T]):
    """`results` is the view-model. A subclass defines `offer`, `menu`, `reset` and `_show`."""

    def __init__(self, context: AppContext, kind: str, results: Results[T], list_name: str) -> None:
        super().__init__(context)
        self.setAcceptDrops(True)
        self.drop_light = DropLight(context.look, self)
        self.kind, self.results = kind, results
        self.list = ResultList(context.look, list_name, results)
        self.list.drag = DragOut(context, self.list, lambda item: self.offer(item))
        self.model_box = ModelBox(context, kind)
        self.outer = QSplitter(Qt.Orientation.Horizontal)
        context.look.language_changed.connect(self._show)

    @abstractmethod
    def offer(self, item: Any) -> tuple[str, Write] | None:
        """What is dragged out of the list."""

    @abstractmethod
    def menu(self, item: T, where: QPoint) -> None: ...

    def reset(self) -> None:
        """Everything was deleted."""
        self.results.forget()

    @abstractmethod
    def _show(self) -> None: ...

    def lay_out(self, tools: QLayout, middle: QWidget) -> None:
        """The list with `tools` above it on the left, `middle` beside it."""
        left = QWidget()
        left.setProperty("kind", "side")
        left.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.context.look.limit_width(left, 400)
        column = QVBoxLayout(left)
        column.addStrut(200)
        column.setContentsMargins(0, GRID // 2, 0, 0)
        column.addLayout(tools)
        column.addWidget(self.list, 1)
        self.outer.setHandleWidth(1)
        self.outer.setChildrenCollapsible(False)
        self.outer.addWidget(left)
        self.outer.addWidget(middle)
        self.outer.setStretchFactor(1, 1)
        key = f"{self.kind}.list"
        self.outer.setSizes([*self.context.preferences.get(key, [264, 900])])
        self.outer.splitterMoved.connect(lambda *_: self.context.preferences.put(key, self.outer.sizes()))
        whole = QHBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.outer)

    def connect_results(self) -> None:
        results = self.results
        results.listed.connect(self.list.reset_items)
        results.listed.connect(self._show)
        results.shown.connect(self._show)
        results.changed.connect(self.list.refresh)
        self.list.chosen.connect(results.choose)
        self.list.menu_wanted.connect(self.menu)
        self.context.wiped.connect(self.reset)
        self.context.reread.connect(results.look)

    def on_current(self, run: Callable[[T], Any]) -> None:
        if self.results.current is not None:
            run(self.results.current)

    def enable(self, **ready: bool) -> None:
        """Actions of this pane, by their names."""
        for name, enabled in ready.items():
            self.context.actions[f"{self.kind}.{name}"].setEnabled(enabled)

    def takes(self, event: QDropEvent) -> bool:
        return from_outside(event)

    def dragEnterEvent(self, event: Any) -> None:
        if self.takes(event):
            self.drop_light.enter(event)

    def dragMoveEvent(self, event: Any) -> None:
        accept_copy(event)

    def dragLeaveEvent(self, event: Any) -> None:
        self.drop_light.hide()

    def dropEvent(self, event: Any) -> None:
        self.drop_light.take(event)
        self.take_mime(event.mimeData())

    def take_mime(self, given: QMimeData) -> None:
        self.take([Path(url.toLocalFile()) for url in given.urls() if url.isLocalFile()])


class _ListModel(QAbstractListModel):
    def __init__(self, results: Results[Any]) -> None:
        super().__init__()
        self._results = results

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 (Qt's own spelling)
        return 0 if parent.isValid() else len(self._results.items)

    def flags(self, index: Index) -> Qt.ItemFlag:
        return super().flags(index) | Qt.ItemFlag.ItemIsDragEnabled

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        item = self._results.items[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return item.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{item.title}, {item.status()}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return item.tooltip()
        return item if role == _ITEM else None

    def index_of(self, item: Any) -> QModelIndex:
        items = self._results.items
        return self.index(items.index(item), 0) if item in items else QModelIndex()


class ResultList(QListView):
    """Results, newest first: a title, and one line about each. `chosen(item)`; `menu_wanted(item, where)`."""

    chosen = Signal(object)
    menu_wanted = Signal(object, QPoint)

    def __init__(self, look: Look, name: str, results: Results[Any]) -> None:
        super().__init__()
        self.setProperty("kind", "plain")  # the focus is drawn around a row
        self.setAccessibleName(name)
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._menu)
        self.drag: DragOut | None = None
        self._list_model = _ListModel(results)
        self.setModel(self._list_model)
        self.painter = _ResultPainter(look)
        self.setItemDelegate(self.painter)
        self.clicked.connect(lambda index: self.chosen.emit(index.data(_ITEM)))
        self.activated.connect(lambda index: self.chosen.emit(index.data(_ITEM)))
        look.on_change(self, self.viewport().update)

    def show_thumbnails(self, thumbnail: Thumbnail) -> None:
        """Before each title a picture, where there is one already."""
        self.painter.thumbnail = thumbnail

    def reset_items(self) -> None:
        self._list_model.beginResetModel()
        self._list_model.endResetModel()

    def show_current(self, item: Any) -> None:
        self.painter.current = item
        if (index := self._list_model.index_of(item)).isValid():
            self.setCurrentIndex(index)
        self.viewport().update()

    def refresh(self, item: Any) -> None:
        """Redraw it: its state or progress changed."""
        if (index := self._list_model.index_of(item)).isValid():
            self._list_model.dataChanged.emit(index, index)

    def startDrag(self, actions: Qt.DropAction) -> None:
        if self.drag is not None:
            self.drag.begin(self.currentIndex().data(_ITEM))

    def _menu(self, where: QPoint) -> None:
        item = self.indexAt(where).data(_ITEM)
        if item is not None:
            self.menu_wanted.emit(item, self.viewport().mapToGlobal(where))


class _ResultPainter(QStyledItemDelegate):
    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.current: Any = None
        self.thumbnail: Thumbnail | None = None

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        words = option.fontMetrics.lineSpacing() * 2 + 10
        return QSize(100, (max(_THUMB.height(), words) if self.thumbnail else words) + GRID * 2)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        item: ListedResult = index.data(_ITEM)
        theme, room = self._look.theme, option.rect.adjusted(GRID, 1, -GRID, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        paint_row(painter, theme, room, option.state, item is self.current)
        words = room.adjusted(GRID, GRID - 2, -GRID, -GRID)
        if self.thumbnail is not None:
            place = QRect(room.left() + GRID, room.top() + GRID, _THUMB.width(), _THUMB.height())
            self._picture(painter, self.thumbnail(item), place)
            words.setLeft(place.right() + GRID + 4)
        line, left = option.fontMetrics.lineSpacing(), Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setFont(self._look.font())
        painter.setPen(QColor(theme.text))
        cut = Qt.TextElideMode.ElideMiddle if self.thumbnail is not None else Qt.TextElideMode.ElideRight
        title = painter.fontMetrics().elidedText(item.title, cut, words.width())
        painter.drawText(QRectF(words.left(), words.top(), words.width(), line), left, title)
        painter.setFont(self._look.font(0.9))
        painter.setPen(QColor(theme.error if item.failed else theme.second))
        status = painter.fontMetrics().elidedText(item.status(), Qt.TextElideMode.ElideRight, words.width())
        painter.drawText(QRectF(words.left(), words.top() + line + 2, words.width(), line), left, status)
        if item.share is not None:
            groove = QRectF(words.left(), words.top() + 2 * line + 5, words.width(), 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.pressed))
            painter.drawRoundedRect(groove, 2, 2)
            painter.setBrush(QColor(theme.accent))
            painter.drawRoundedRect(QRectF(groove.left(), groove.top(), groove.width() * item.share, 4), 2, 2)
        painter.restore()

    def _picture(self, painter: QPainter, image: QImage | None, room: QRect) -> None:
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


class DragOut:
    """Makes the items of a view draggable as files. `offer` returns None for an item that has nothing to give yet."""

    def __init__(self, context: AppContext, view: QAbstractItemView, offer: Offer) -> None:
        self._context, self._view, self._offer = context, view, offer
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
            folder = private_folder(self._context.places.data / DRAGGED)
            file = Path(tempfile.mkdtemp(dir=folder)) / file_name(name)
            write(file)
            return file

        def made(file: Path) -> None:
            self._writing = False
            if QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:  # still wanted
                self._carry(file)

        def failed(sentence: str) -> None:
            self._writing = False
            self._context.show_error(sentence)

        self._writing = True
        self._context.work.run(make, made, failed)

    def _carry(self, file: Path) -> None:
        drag, data = QDrag(self._view), QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(file))])
        drag.setMimeData(data)
        drag.setPixmap(self._context.look.icon("file").pixmap(QSize(32, 32)))
        drag.exec(Qt.DropAction.CopyAction)


def from_outside(event: QDropEvent) -> bool:
    """Files of another program: what was dragged out of a list is not dropped back into its pane."""
    return event.mimeData().hasUrls() and event.source() is None


def file_name(title: str) -> str:
    """A title as a file name that every system accepts, with its ending."""
    stem, dot, ending = title.rpartition(".")
    stem = " ".join(_NO_NAME.sub(" ", stem if dot else ending).split()).strip(". ")[:_LONGEST].strip(". ") or "Grus"
    return f"{stem}.{ending}" if dot else stem
