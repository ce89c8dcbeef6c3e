"""The rail on the left: one button a pane."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QButtonGroup, QToolButton, QVBoxLayout, QWidget

from app.gui.look import Look
from app.gui.pane import Spec
from app.gui.texts import tr
from app.gui.theme import GRID, RAIL

_BELOW = "settings"  # apart, at the bottom


class Rail(QWidget):
    def __init__(
        self, look: Look, specs: Sequence[Spec], actions: dict[str, QAction], choose: Callable[[str], object]
    ) -> None:
        super().__init__()
        self.setProperty("kind", "rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setFixedWidth(RAIL)
        self.setAccessibleName(tr("Panes"))
        self._look = look
        self._buttons: dict[str, QToolButton] = {}
        self._group = QButtonGroup(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(GRID - 1, GRID, GRID, GRID)
        column.setSpacing(GRID // 2)
        for spec in specs:
            if spec.name == _BELOW:
                column.addStretch(1)
            column.addWidget(self._button(spec, actions[spec.name].toolTip(), choose))
        if _BELOW not in self._buttons:
            column.addStretch(1)
        look.on_change(self, self._colour)

    def _button(self, spec: Spec, tip: str, choose: Callable[[str], object]) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "rail")
        button.setCheckable(True)
        button.setFixedSize(RAIL - 2 * GRID, RAIL - 2 * GRID)
        button.setIconSize(QSize(22, 22))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(tr(spec.title))
        button.setToolTip(tip)
        button.clicked.connect(lambda checked=False: choose(spec.name))
        self._group.addButton(button)
        self._buttons[spec.name] = button
        return button

    def show_chosen(self, name: str) -> None:
        self._buttons[name].setChecked(True)
        self._colour()

    def button(self, name: str) -> QToolButton:
        return self._buttons[name]

    def _colour(self) -> None:
        for name, button in self._buttons.items():
            button.setIcon(self._look.icon(name, "accent" if button.isChecked() else "second"))
