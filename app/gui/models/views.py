"""The views of the models pane: the list of models, and the card of one model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QFont, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from app.gui.look import Look, restate
from app.gui.sampling_fields import DefaultsView
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.models.card import ModelAction, ModelDetails, ModelFact, ModelLine, title_of
from app.gui.widgets import label, paint_row, text_button

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
                item.setData(
                    Qt.ItemDataRole.AccessibleTextRole, ", ".join(filter(None, (line.title, line.second, line.mark)))
                )
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
        painter.setPen(QColor(theme.text))
        painter.drawText(upper, middle, metrics.elidedText(line.title, Qt.TextElideMode.ElideMiddle, upper.width()))
        painter.setPen(QColor(theme.second))
        painter.drawText(lower, middle, metrics.elidedText(line.second, cut, lower.width()))


_WIDTH = 640  # pixels; lines of facts are read, not scanned
_STEPS = 1000


class ModelDetailsView(QScrollArea):
    """`do(action)` is called for a button."""

    def __init__(self, look: Look, do: Callable[[ModelAction], object], defaults: DefaultsView) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._do, self._look, self._shown = do, look, ModelDetails()
        self.title = label(wrap=True)
        self.about = label(wrap=True)
        self.problem = label(wrap=True)
        self.working = label(kind="second", wrap=True)
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of the download"))
        self.buttons: dict[ModelAction, QPushButton] = {}
        self.values: dict[str, QLabel] = {}
        self.defaults = defaults
        self._build()
        look.on_change(self, self._dress)

    def _build(self) -> None:
        self._actions = QHBoxLayout()
        self._actions.setSpacing(GRID)
        self._facts = QWidget()
        self._grid = QGridLayout(self._facts)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID * 3)
        self._grid.setVerticalSpacing(GRID)
        self._grid.setColumnStretch(1, 1)
        inner = QWidget()
        inner.setMaximumWidth(_WIDTH)
        inner.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        column = QVBoxLayout(inner)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID * 2)
        parts: list[QWidget] = [self.title, self.about]
        for part in parts:
            column.addWidget(part)
        column.addLayout(self._actions)
        parts = [self.bar, self.working, self.problem, self._facts, self.defaults]
        for part in parts:
            column.addWidget(part)
        column.addStretch(1)
        body = QWidget()
        body.setProperty("kind", "window")
        row = QHBoxLayout(body)
        row.setContentsMargins(GRID * 4, GRID * 3, GRID * 4, GRID * 3)
        row.addWidget(inner, 1)
        self.setWidget(body)

    def _dress(self) -> None:
        self.title.setFont(self._look.font(1.35, QFont.Weight.DemiBold))

    def show_card(self, card: ModelDetails, name: str) -> None:
        before, self._shown = self._shown, card
        self.title.setText(card.title)
        self._dress()
        _say(self.about, card.about)
        _say(self.problem, card.problem)
        restate(self.problem, level="warning")
        download = card.download
        self.bar.setVisible(download is not None and download.state != "broken")
        if download is not None:
            self.bar.setValue(round(_STEPS * download.done / download.total) if download.total else 0)
            _say(self.working, download.sentence)
            restate(self.working, level="error" if download.state == "broken" else "")
        else:
            _say(self.working, card.busy)
            restate(self.working, level="")
        if card.actions != before.actions:
            self._show_deeds(card.actions)
        if card.rows != before.rows:
            self._show_rows(card.rows)
        self.defaults.setVisible(card.defaults)
        if card.defaults:
            self.defaults.show_of(name)

    def _show_deeds(self, actions: Sequence[ModelAction]) -> None:
        focused = next((action for action, button in self.buttons.items() if button.hasFocus()), None)
        while (item := self._actions.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        self.buttons = {}
        for i, action in enumerate(actions):
            button = text_button(title_of(action), _does(self._do, action), kind="main" if i == 0 else "")
            self.buttons[action] = button
            self._actions.addWidget(button)
        self._actions.addStretch(1)
        if focused is not None and actions:
            self.buttons.get(focused, self.buttons[actions[0]]).setFocus()

    def _show_rows(self, rows: Sequence[ModelFact]) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        self.values = {}
        for i, row in enumerate(rows):
            value = label(row.value, wrap=True)
            value.setProperty("level", row.level)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            self.values[row.title] = value
            self._grid.addWidget(label(row.title, "second"), i, 0, Qt.AlignmentFlag.AlignTop)
            self._grid.addWidget(value, i, 1)


def _does(do: Callable[[ModelAction], object], action: ModelAction) -> Callable[[], object]:
    return lambda: do(action)


def _say(part: QLabel, text: str) -> None:
    part.setText(text)
    part.setVisible(bool(text))
