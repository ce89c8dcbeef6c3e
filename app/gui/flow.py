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

    def begin_right(self) -> None:
        self._right = len(self._items)

    # -- what Qt asks of a layout

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

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
        heights = [max(size.height() for _, size in left + right) for left, right in lines]
        return sum(heights) + max(0, len(heights) - 1) * self.spacing() + margins.top() + margins.bottom()

    def sizeHint(self) -> QSize:
        """All in one line."""
        shown = [self._wanted(item) for item in self._items if not item.isEmpty()]
        width = sum(size.width() for size in shown) + max(0, len(shown) - 1) * self.spacing()
        return self._with_margins(QSize(width, max((size.height() for size in shown), default=0)))

    def minimumSize(self) -> QSize:
        """As wide as the widest, or as all that stands on the right."""
        shown = [self._wanted(item) for item in self._items if not item.isEmpty()]
        right = [self._wanted(item).width() for item in self._on_right() if not item.isEmpty()]
        together = sum(right) + max(0, len(right) - 1) * self.spacing()
        width = max([together, *(size.width() for size in shown)])
        return self._with_margins(QSize(width, max((size.height() for size in shown), default=0)))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        margins = self.contentsMargins()
        room = rect.marginsRemoved(margins)
        y = room.top()
        for left, right in self._lines(room.width()):
            height = max(size.height() for _, size in left + right)
            x = room.left()
            for item, size in left:
                _put(item, QPoint(x, y), size, height)
                x += size.width() + self.spacing()
            x = room.right() + 1 - sum(size.width() for _, size in right) - max(0, len(right) - 1) * self.spacing()
            for item, size in right:
                _put(item, QPoint(x, y), size, height)
                x += size.width() + self.spacing()
            y += height + self.spacing()

    # -- lines

    def _on_right(self) -> list[QLayoutItem]:
        return self._items[self._right :] if self._right is not None else []

    def _wanted(self, item: QLayoutItem) -> QSize:
        return item.sizeHint().expandedTo(item.minimumSize())

    def _lines(self, width: int) -> list[tuple[_Line, _Line]]:
        """What stands on the left of each line, and on its right."""
        lines: list[tuple[_Line, _Line]] = []
        end = 0
        for item in self._items[: self._right]:
            if item.isEmpty():
                continue
            size = self._wanted(item)
            if not lines or end + size.width() > width:
                lines.append(([], []))
                end = 0
            lines[-1][0].append((item, size))
            end += size.width() + self.spacing()
        right = [(item, self._wanted(item)) for item in self._on_right() if not item.isEmpty()]
        if right:
            if not lines or end + sum(size.width() for _, size in right) + self.spacing() * (len(right) - 1) > width:
                lines.append(([], []))
            lines[-1][1].extend(right)
        return lines

    def _with_margins(self, size: QSize) -> QSize:
        margins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())


def _put(item: QLayoutItem, place: QPoint, size: QSize, height: int) -> None:
    """In the middle of its line's height."""
    item.setGeometry(QRect(place + QPoint(0, (height - size.height()) // 2), size))
