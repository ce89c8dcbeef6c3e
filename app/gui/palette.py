"""The command palette (Ctrl+K) and the overview of keyboard shortcuts (Ctrl+/): cards over the window, fed by `actions.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QScrollArea,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.gui.actions import ActionEntry, Actions
from app.gui.look import Look
from app.gui.pane import AppContext
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.widgets import icon_button, label, paint_badges

_MOST = 60
_WIDTH = 560
_WRAPPED = Qt.TextFlag.TextWordWrap.value


@dataclass(frozen=True)
class PaletteEntry:
    title: str
    hint: str  # its group, and its shortcut
    run: Callable[[], Any]
    badges: tuple[str, ...] = ()  # what a model can do


def score(title: str, typed: str) -> int | None:
    """How well the letters typed fit a title: lower is better, None when they are not all there in order."""
    where, letters = title.casefold(), typed.casefold().strip()
    if not letters:
        return 0
    if (at := where.find(letters)) >= 0:
        return at if at == 0 or not where[at - 1].isalnum() else 50 + at
    at, gaps = -1, 0
    for letter in letters:
        found = where.find(letter, at + 1)
        if found < 0:
            return None
        gaps += found - at - 1
        at = found
    return 100 + gaps


class _Lines(QStyledItemDelegate):
    """A title, and its hint on the right."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().paint(painter, option, index)
        entry: PaletteEntry | None = index.data(Qt.ItemDataRole.UserRole)
        if entry is None:
            return
        paint_badges(painter, self._context.look, option.rect.adjusted(GRID, 0, -GRID, 0), entry.badges)
        painter.save()
        painter.setPen(QColor(self._context.look.theme.second))
        room = option.rect.adjusted(GRID, 0, -GRID, 0)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, entry.hint)
        painter.restore()


class CommandPalette(QWidget):
    """A card over the window; Esc or a click elsewhere closes it."""

    def __init__(self, window: QWidget, context: AppContext) -> None:
        super().__init__(window)
        self.setProperty("kind", "floating")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Find an action, a conversation or a model"))
        self._context = context
        self._entries: list[PaletteEntry] = []
        self._back: QWidget | None = None
        self.field = QLineEdit()
        self.field.setPlaceholderText(tr("Find an action, a conversation or a model"))
        self.field.setAccessibleName(tr("Find an action, a conversation or a model"))
        self.field.textChanged.connect(self._filter)
        self.field.installEventFilter(self)
        self.results = QListWidget()
        self.results.setAccessibleName(tr("Results"))
        self.results.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.results.setItemDelegate(_Lines(context))
        self.results.itemClicked.connect(self._choose)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID, GRID, GRID, GRID)
        column.addWidget(self.field)
        column.addWidget(self.results)
        self.hide()

    def open(self) -> None:
        self._back = self.window().focusWidget()
        self._list_actions()
        self.field.clear()
        self._filter("")
        window = self.parentWidget() or self.window()
        width = min(_WIDTH, window.width() - 4 * GRID)
        self.setGeometry((window.width() - width) // 2, 8 * GRID, width, min(420, window.height() - 16 * GRID))
        self.show()
        self.raise_()
        self.field.setFocus()

    def look_again(self) -> None:
        """There are more actions than when it was opened."""
        row = self.results.currentRow()
        self._list_actions()
        self._filter(self.field.text())
        if 0 < row < self.results.count():
            self.results.setCurrentRow(row)

    def _list_actions(self) -> None:
        self._entries = [
            PaletteEntry(line.action.text(), "  ".join(filter(None, (line.group, line.keys))), line.action.trigger)
            for line in self._context.actions.listed
            if line.action is not None and line.action.isEnabled()
        ]

    def shut(self) -> None:
        self.hide()
        if self._back is not None:
            self._back.setFocus()

    def _filter(self, typed: str) -> None:
        entries = list(self._entries)
        for source in self._context.found:
            entries += [PaletteEntry(title, "", run, badges) for title, run, badges in source(typed)]
        fitting = [(score(entry.title, typed), entry) for entry in entries]
        ranked = sorted(((s, e) for s, e in fitting if s is not None), key=lambda pair: pair[0])
        self.results.clear()
        for _, entry in ranked[:_MOST]:
            item = QListWidgetItem(entry.title)
            item.setData(Qt.ItemDataRole.UserRole, entry)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join((entry.title, *entry.badges)))
            self.results.addItem(item)
        if not ranked:
            nothing = QListWidgetItem(tr("No results."))
            nothing.setFlags(Qt.ItemFlag.NoItemFlags)
            self.results.addItem(nothing)
        self.results.setCurrentRow(0)

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is None or item.data(Qt.ItemDataRole.UserRole) is None:
            return
        entry: PaletteEntry = item.data(Qt.ItemDataRole.UserRole)
        self.shut()
        entry.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut and self.isVisible():
            self.hide()
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key = event.key()
            if key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                step = 1 if key == Qt.Key.Key_Down else -1
                count = max(1, self.results.count())
                self.results.setCurrentRow((self.results.currentRow() + step) % count)
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._choose(self.results.currentItem())
                return True
            if key == Qt.Key.Key_Escape:
                self.shut()
                return True
        return super().eventFilter(watched, event)


class ShortcutOverview(QWidget):
    def __init__(self, window: QWidget, look: Look, actions: Actions) -> None:
        super().__init__(window)
        self.setProperty("kind", "floating")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Keyboard shortcuts"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._actions, self._look = actions, look
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        head = QHBoxLayout()
        title = label(tr("Keyboard shortcuts"), "heading")
        look.on_change(title, lambda: title.setFont(look.font(1.15)))
        head.addWidget(title)
        head.addStretch(1)
        head.addWidget(icon_button(look, "close", tr("Close"), self.hide, size=16))
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID * 3, GRID * 2, GRID, GRID * 2)
        column.addLayout(head)
        column.addWidget(self._area)
        self.hide()

    def toggle(self) -> None:
        if self.isVisible():
            self.hide()
            return
        self._area.setWidget(self._table())
        window = self.parentWidget() or self.window()
        width = min(self._look.grown(760), window.width() - 8 * GRID)
        height = min(self._look.grown(620), window.height() - 8 * GRID)
        self.setGeometry((window.width() - width) // 2, (window.height() - height) // 2, width, height)
        self.show()
        self.raise_()
        self.setFocus()

    def look_again(self) -> None:
        """There are more actions than when it was opened."""
        if self.isVisible():
            self._area.setWidget(self._table())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        else:
            super().keyPressEvent(event)

    def _table(self) -> QWidget:
        table = QWidget()
        columns = QHBoxLayout(table)
        columns.setContentsMargins(0, GRID, GRID * 2, 0)
        columns.setSpacing(GRID * 5)
        groups: dict[str, list[ActionEntry]] = {}
        for line in self._actions.listed:
            if line.keys:
                groups.setdefault(line.group, []).append(line)
        sides: list[list[str]] = [[], []]
        filled = [0, 0]
        for group, lines in groups.items():
            shorter = 0 if filled[0] <= filled[1] else 1
            sides[shorter].append(group)
            filled[shorter] += len(lines) + 2
        for side in sides:
            column = QVBoxLayout()
            column.setSpacing(GRID)
            for group in side:
                column.addWidget(label(group, "heading"))
                column.addWidget(ShortcutLines(self._look, groups[group]))
            column.addStretch(1)
            columns.addLayout(column, 1)
        return table


class ShortcutLines(QWidget):
    """Actions with their keys on the right, painted: two labels for each of a hundred took 50 ms of the UI thread."""

    def __init__(self, look: Look, lines: list[ActionEntry]) -> None:
        super().__init__()
        self._look, self.lines = look, [(line.title, line.keys) for line in lines]
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(". ".join(f"{title}: {keys}" for title, keys in self.lines))
        self._placed: dict[int, list[tuple[QRect, QRect]]] = {}  # by width
        look.on_change(self, self._renew)

    def _renew(self) -> None:
        self._placed.clear()
        self._metrics = QFontMetrics(self._look.font())
        wide = self._metrics.horizontalAdvance
        self._narrowest = 2 * GRID + max(max(map(wide, title.split())) + wide(keys) for title, keys in self.lines)
        self.updateGeometry()

    def places(self, width: int) -> list[tuple[QRect, QRect]]:
        """Of each title, which is wrapped where it needs more than one line, and of its keys."""
        if width in self._placed:
            return self._placed[width]
        found, y = [], 0
        for title, keys in self.lines:
            room = width - self._metrics.horizontalAdvance(keys) - 2 * GRID
            height = self._metrics.boundingRect(QRect(0, 0, room, 1 << 20), _WRAPPED, title).height()
            found.append((QRect(0, y, room, height), QRect(0, y, width, height)))
            y += height + GRID // 2
        self._placed[width] = found
        return found

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self.places(width)[-1][1].bottom() + 1

    def minimumSizeHint(self) -> QSize:
        return QSize(self._narrowest, 0)

    def sizeHint(self) -> QSize:
        width = self.minimumSizeHint().width() + 10 * GRID
        return QSize(width, self.heightForWidth(width))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._look.theme, QPainter(self)
        painter.setFont(self._look.font())
        for (title, keys), (left, right) in zip(self.lines, self.places(self.width()), strict=True):
            painter.setPen(QColor(theme.text))
            painter.drawText(left, _WRAPPED, title)
            painter.setPen(QColor(theme.second))
            painter.drawText(right, Qt.AlignmentFlag.AlignRight, keys)
        painter.end()
