"""One document page as it looks, with a box around every region, and the editable text of its regions beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QFont,
    QImage,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QScrollArea,
    QTableWidget,
    QTableWidgetItem,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.gui.look import Look, restate
from app.gui.texts import in_language, tr
from app.gui.theme import GRID
from app.gui.viewmodels.read import KINDS
from app.gui.widgets import label
from engine.pipelines.reading.results import Box, Element, Table

_ZOOMS = (0.25, 6.0)


class PageView(QScrollArea):
    """`pointed(order)`: the mouse is over a box, -1: over none. `chosen(order)`: one was clicked."""

    pointed = Signal(int)
    chosen = Signal(int)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self.setAccessibleName(tr("The page"))
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignTop)
        self.zoom = 1.0  # of what fits the width
        self.paper = PageCanvas(look, self)
        self.setWidget(self.paper)
        look.on_change(self, self.paper.update)

    def show_image(self, image: QImage | None, page: tuple[int, int]) -> None:
        self.paper.image, self.paper.page = image, page
        self.fit()

    def show_boxes(self, boxes: Mapping[int, Box], busy: frozenset[int] = frozenset()) -> None:
        self.paper.boxes, self.paper.busy = dict(boxes), busy
        self.paper.update()

    def highlight(self, order: int, *, choose: bool) -> None:
        """From the text: a region is pointed at, or chosen."""
        if choose:
            self.paper.chosen = order
            box = self.paper.boxes.get(order)
            if box is not None:
                place = self.paper.placed(box).center()
                self.ensureVisible(round(place.x()), round(place.y()), 60, 120)
        else:
            self.paper.pointed = order
        self.paper.update()

    def scale(self, by: float) -> None:
        """0: as it fits."""
        self.zoom = min(_ZOOMS[1], max(_ZOOMS[0], self.zoom * by)) if by else 1.0
        self.fit()

    def fit(self) -> None:
        width, height = self.paper.page
        if not width:
            return
        room = max(80, self.viewport().width() - 2 * GRID)
        scale = room / width * self.zoom
        self.paper.setFixedSize(QSize(round(width * scale) + 2 * GRID, round(height * scale) + 2 * GRID))
        self.paper.update()

    def resizeEvent(self, event: object) -> None:
        super().resizeEvent(event)  # type: ignore[arg-type]
        self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.scale(1.15 if event.angleDelta().y() > 0 else 1 / 1.15)
            event.accept()
            return
        super().wheelEvent(event)


class PageCanvas(QWidget):
    """What is scrolled."""

    def __init__(self, look: Look, view: PageView) -> None:
        super().__init__()
        self._look, self._view = look, view
        self.image: QImage | None = None
        self.page = (0, 0)  # its size in the pixels that boxes mean
        self.boxes: dict[int, Box] = {}
        self.busy: frozenset[int] = frozenset()  # regions that are being read
        self.pointed = self.chosen = -1
        self.setMouseTracking(True)

    def placed(self, box: Box) -> QRectF:
        """A box of the page on this widget."""
        scale = (self.width() - 2 * GRID) / max(1, self.page[0])
        return QRectF(GRID + box.left * scale, GRID + box.top * scale, box.width * scale, box.height * scale)

    def at(self, place: QPointF) -> int:
        """The smallest box there."""
        found = [(box.area, order) for order, box in self.boxes.items() if self.placed(box).contains(place)]
        return min(found)[1] if found else -1

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._look.theme, QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        sheet = QRectF(GRID, GRID, self.width() - 2 * GRID, self.height() - 2 * GRID)
        painter.fillRect(sheet, QColor(theme.side))
        if self.image is not None:
            painter.drawImage(sheet, self.image)
        painter.setPen(QPen(QColor(theme.line), 1))
        painter.drawRect(sheet)
        for order, box in self.boxes.items():
            strong = order in (self.pointed, self.chosen)
            colour = QColor(theme.accent if strong else "#52525B")  # the paper is white whatever the theme is
            colour.setAlpha(255 if strong else 90)
            pen = QPen(colour, 2 if strong else 1)
            pen.setStyle(Qt.PenStyle.DashLine if order in self.busy else Qt.PenStyle.SolidLine)
            painter.setPen(pen)
            fill = QColor(theme.accent)
            fill.setAlpha(36 if strong else 0)
            painter.setBrush(fill)
            painter.drawRoundedRect(self.placed(box).adjusted(-2, -2, 2, 2), 3, 3)
        painter.end()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        order = self.at(event.position())
        if order != self.pointed:
            self.pointed = order
            self.setCursor(Qt.CursorShape.PointingHandCursor if order >= 0 else Qt.CursorShape.ArrowCursor)
            self.update()
            self._view.pointed.emit(order)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.chosen = self.at(event.position())
            self.update()
            self._view.chosen.emit(self.chosen)

    def leaveEvent(self, event: QEvent) -> None:
        self.pointed = -1
        self.update()
        self._view.pointed.emit(-1)


_MOST_ROWS = 12  # of a table before it scrolls


class RegionList(QScrollArea):
    """`pointed(order)`, `chosen(order)` as in PageView. `edited(order, text)` and `cell_edited(order, row, column, text)`."""

    pointed = Signal(int)
    chosen = Signal(int)
    edited = Signal(int, str)
    cell_edited = Signal(int, int, int, str)

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look
        self.setAccessibleName(tr("The text"))
        self.setWidgetResizable(True)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.blocks: dict[int, RegionView] = {}
        self.current = -1
        body = QWidget()
        self._column = QVBoxLayout(body)
        self._column.setContentsMargins(GRID, GRID, GRID, GRID)
        self._column.setSpacing(GRID // 2)
        self._column.addStretch(1)
        self.setWidget(body)

    def clear(self) -> None:
        for block in self.blocks.values():
            block.hide()
            block.deleteLater()
        self.blocks, self.current = {}, -1

    def show_elements(self, elements: Sequence[Element]) -> None:
        """What was read, in its order."""
        self.clear()
        for element in elements:
            self._add(RegionView(self._look, self, element))

    def show_partial(self, order: int, text: str) -> None:
        """A region that is being read has more text."""
        block = self.blocks.get(order)
        if block is None:
            block = RegionView(self._look, self, None, order)
            self._add(block)
        block.show_text(text)

    def _add(self, block: RegionView) -> None:
        later = [other for order, other in self.blocks.items() if order > block.order]
        at = min((self._column.indexOf(other) for other in later), default=self._column.count() - 1)
        self._column.insertWidget(at, block)
        self.blocks[block.order] = block

    def highlight(self, order: int, *, choose: bool) -> None:
        """From the page."""
        if choose:
            if self.current in self.blocks:
                restate(self.blocks[self.current], chosen=False)
            self.current = order
            if order in self.blocks:
                restate(self.blocks[order], chosen=True)
                self.ensureWidgetVisible(self.blocks[order], 0, GRID * 4)
            return
        for each in self.blocks.values():
            if each.order != self.current and each.property("chosen") != (each.order == order):
                restate(each, chosen=each.order == order)

    def step(self, by: int) -> None:
        orders = sorted(self.blocks)
        if orders:
            at = orders.index(self.current) + by if self.current in orders else 0 if by > 0 else len(orders) - 1
            order = orders[max(0, min(len(orders) - 1, at))]
            self.highlight(order, choose=True)
            self.chosen.emit(order)

    def text_of(self, order: int) -> str:
        return self.blocks[order].text() if order in self.blocks else ""


class RegionView(QWidget):
    """One region: what it is, and its text or its cells."""

    def __init__(self, look: Look, owner: RegionList, element: Element | None, order: int = 0) -> None:
        super().__init__()
        self.setProperty("kind", "block")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self._owner = owner
        self.order = element.order if element is not None else order
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(GRID, GRID // 2, GRID, GRID // 2)
        self._column.setSpacing(2)
        self.kind = label(tr(KINDS[element.kind]) if element is not None else tr("Reading"), "second")
        look.on_change(self.kind, lambda: self.kind.setFont(look.font(0.85)))
        self._column.addWidget(self.kind)
        self.field: RegionEditor | None = None
        self.table: RegionTable | None = None
        if element is None:
            self._words("", look, "text").setReadOnly(True)
        elif element.table is not None:
            self.table = RegionTable(
                element.table, lambda *cell: owner.cell_edited.emit(self.order, *cell), self._choose
            )
            self._column.addWidget(self.table)
        else:
            self._words(element.text, look, element.kind)
        if element is not None and element.doubt:
            doubt = label(tr("Low confidence: {why}", why=in_language(element.doubt)), wrap=True)
            self._column.addWidget(doubt)
            restate(doubt, level="warning")

    def _words(self, text: str, look: Look, kind: str) -> RegionEditor:
        field = self.field = RegionEditor(
            text, lambda changed: self._owner.edited.emit(self.order, changed), self._choose
        )
        field.setAccessibleName(self.kind.text())
        if kind == "heading":
            look.on_change(field, lambda: field.setFont(look.font(1.15, QFont.Weight.DemiBold)))
        elif kind in ("code", "formula"):
            look.on_change(field, lambda: field.setFont(look.mono))
        if kind == "figure" and not text:
            field.hide()
        self._column.addWidget(field)
        return field

    def show_text(self, text: str) -> None:
        if self.field is not None:
            self.field.setPlainText(text)

    def text(self) -> str:
        return self.table.plain() if self.table is not None else self.field.toPlainText() if self.field else ""

    def _choose(self) -> None:
        self._owner.highlight(self.order, choose=True)
        self._owner.chosen.emit(self.order)

    def enterEvent(self, event: QEvent) -> None:  # type: ignore[override]
        self._owner.pointed.emit(self.order)

    def leaveEvent(self, event: QEvent) -> None:
        self._owner.pointed.emit(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._choose()


class RegionEditor(QTextEdit):
    """An editable text field as high as its content."""

    def __init__(self, text: str, changed: Callable[[str], Any], entered: Callable[[], Any]) -> None:
        super().__init__()
        self._changed, self._entered = changed, entered
        self.setProperty("kind", "bare")
        self.setAcceptRichText(False)
        self.setTabChangesFocus(True)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self.setPlainText(text)
        self.moveCursor(QTextCursor.MoveOperation.Start)
        self.textChanged.connect(self._typed)
        self.fit()

    def _typed(self) -> None:
        self.fit()
        if not self.isReadOnly():
            self._changed(self.toPlainText())

    def fit(self) -> None:
        self.setFixedHeight(round(max(self.document().size().height(), self.fontMetrics().lineSpacing())) + 2)

    def resizeEvent(self, event: Any) -> None:
        super().resizeEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.fit()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._entered()

    def wheelEvent(self, event: Any) -> None:
        event.ignore()  # the column scrolls


class RegionTable(QTableWidget):
    """A table as a grid; a cell that spans is edited at its first place."""

    def __init__(self, table: Table, changed: Callable[[int, int, str], Any], entered: Callable[[], Any]) -> None:
        super().__init__(table.rows, table.columns)
        self.setProperty("kind", "bare")
        self.setAccessibleName(tr("Table"))
        self.horizontalHeader().hide()
        self.verticalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.setTabKeyNavigation(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ContiguousSelection)
        for cell in table.cells:
            item = QTableWidgetItem(cell.text)
            if cell.heading:
                font = item.font()
                font.setBold(True)
                item.setFont(font)
            self.setItem(cell.row, cell.column, item)
            if cell.rows > 1 or cell.columns > 1:
                self.setSpan(cell.row, cell.column, cell.rows, cell.columns)
        self.resizeRowsToContents()
        shown = sum(self.rowHeight(row) for row in range(min(table.rows, _MOST_ROWS)))
        self.setFixedHeight(shown + 4)
        self.cellChanged.connect(lambda row, column: changed(row, column, self._text_at(row, column)))
        self.cellClicked.connect(lambda row, column: entered())

    def plain(self) -> str:
        rows = range(self.rowCount())
        texts = [[self._text_at(r, c) for c in range(self.columnCount())] for r in rows]
        return "\n".join("\t".join(row) for row in texts)

    def _text_at(self, row: int, column: int) -> str:
        item = self.item(row, column)
        return "" if item is None else item.text()
