"""The overview of shortcuts (Ctrl+/): every action with its keys, by group, in one card over the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from app.gui.actions import Actions, Listed
from app.gui.buttons import icon_button, label
from app.gui.look import Look
from app.gui.texts import tr
from app.gui.theme import GRID


class Overview(QWidget):
    def __init__(self, window: QWidget, look: Look, actions: Actions) -> None:
        super().__init__(window)
        self.setProperty("kind", "floating")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName(tr("Keyboard shortcuts"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._actions = actions
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        head = QHBoxLayout()
        title = label(tr("Keyboard shortcuts"), "heading")
        title.setFont(look.font(1.15))
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
        width, height = min(760, window.width() - 8 * GRID), min(620, window.height() - 8 * GRID)
        self.setGeometry((window.width() - width) // 2, (window.height() - height) // 2, width, height)
        self.show()
        self.raise_()
        self.setFocus()

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
        groups: dict[str, list[Listed]] = {}
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
            grid = QGridLayout()
            grid.setVerticalSpacing(GRID // 2)
            grid.setHorizontalSpacing(GRID * 2)
            for group in side:
                _add_group(grid, group, groups[group])
            grid.setRowStretch(grid.rowCount(), 1)
            grid.setColumnStretch(0, 1)
            columns.addLayout(grid, 1)
        return table


def _add_group(grid: QGridLayout, group: str, lines: list[Listed]) -> None:
    row = grid.rowCount()
    grid.setRowMinimumHeight(row, GRID)
    grid.addWidget(label(group, "heading"), row + 1, 0, 1, 2)
    for i, line in enumerate(lines, row + 2):
        grid.addWidget(label(line.title, wrap=True), i, 0)
        grid.addWidget(label(line.keys, "second"), i, 1, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignTop)
