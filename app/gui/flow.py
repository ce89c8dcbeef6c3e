"""`FlowRow`: a row of controls that continues in a second line where one is too narrow."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem

_Line = list[tuple[QLayoutItem, QSize]]


class FlowRow(QLayout):
    """What is added after `begin_right` stands at the right edge, together, in the first line if it fits there."""

    def __init__(self, spacing: int) -> None:
        super().__init__()
        self.setSpacing(spacing)
        self._items: list[QLayoutItem] = []
        self._right: int | None = None
        self._sizes: tuple[_Line, _Line] | None = None  # computed once between two changes: Qt asks for them many times

    def begin_right(self) -> None:
        self._right = len(self._items)

    # -- what Qt asks of a layout

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def invalidate(self) -> None:
        self._sizes = None
        super().invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # type: ignore[override]
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        lines = self._lines(width - margins.left() - margins.right())
        heights = [_height(left + right) for left, right in lines]
        return sum(heights) + max(0, len(heights) - 1) * self.spacing() + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        """All in one line."""
        left, right = self._shown()
        return self._with_margins(QSize(self._width(left + right), _height(left + right)))

    def minimumSize(self) -> QSize:
        """As wide as the widest, or as all that stands on the right."""
        left, right = self._shown()
        widest = max([self._width(right), *(size.width() for _, size in left)])
        return self._with_margins(QSize(widest, _height(left + right)))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        margins = self.contentsMargins()
        room = rect.marginsRemoved(margins)
        y = room.top()
        for left, right in self._lines(room.width()):
            height = _height(left + right)
            x = room.left()
            for item, size in left:
                _put(item, QPoint(x, y), size, height)
                x += size.width() + self.spacing()
            x = room.right() + 1 - self._width(right)
            for item, size in right:
                _put(item, QPoint(x, y), size, height)
                x += size.width() + self.spacing()
            y += height + self.spacing()

    # -- lines

    def _shown(self) -> tuple[_Line, _Line]:
        """What stands on the left and on the right, each with the size that it wants."""
        if self._sizes is None:
            sizes = [
                (item, item.sizeHint().expandedTo(item.minimumSize())) if not item.isEmpty() else None
                for item in self._items
            ]
            at = len(sizes) if self._right is None else self._right
            self._sizes = [one for one in sizes[:at] if one], [one for one in sizes[at:] if one]
        return self._sizes

    def _width(self, line: _Line) -> int:
        return sum(size.width() for _, size in line) + max(0, len(line) - 1) * self.spacing()

    def _lines(self, width: int) -> list[tuple[_Line, _Line]]:
        """What stands on the left of each line, and on its right."""
        left, right = self._shown()
        lines: list[tuple[_Line, _Line]] = []
        end = 0
        for item, size in left:
            if not lines or end + size.width() > width:
                lines.append(([], []))
                end = 0
            lines[-1][0].append((item, size))
            end += size.width() + self.spacing()
        if right:
            if not lines or end + self._width(right) > width:
                lines.append(([], []))
            lines[-1][1].extend(right)
        return lines

    def _with_margins(self, size: QSize) -> QSize:
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())


def _height(line: _Line) -> int:
    return max((size.height() for _, size in line), default=0)


def _put(item: QLayoutItem, place: QPoint, size: QSize, height: int) -> None:
    """In the middle of its line's height."""
    item.setGeometry(QRect(place + QPoint(0, (height - size.height()) // 2), size))


def empty_row(row: FlowRow) -> None:
    while (item := row.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()
