"""One page as it looks, with a box around every region. A box under the mouse, or chosen, tells the text beside it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QScrollArea, QWidget

from app.gui.look import Look
from app.gui.texts import tr
from app.gui.theme import GRID
from engine.pipelines.reading.results import Box

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
        self.paper = Paper(look, self)
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


class Paper(QWidget):
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
