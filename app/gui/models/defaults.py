"""How one model answers unless a conversation says otherwise: a person's defaults, empty as its makers chose."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QGridLayout, QLineEdit, QVBoxLayout, QWidget

from app.gui.buttons import label
from app.gui.samplingfields import number_field, number_in, show_number, show_thinking, thinking_box
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.options import OPTIONS, Option
from app.gui.viewmodels.models.library import Library

_LEFT_OUT = {"seed"}  # one for every answer would make them all alike


class DefaultsView(QWidget):
    def __init__(self, library: Library) -> None:
        super().__init__()
        self._library = library
        self._name = ""
        self._options = options = [option for option in OPTIONS if option.name not in _LEFT_OUT]
        self.fields = {option.name: number_field(option, partial(self._typed, option)) for option in options}
        self.thinking = thinking_box(lambda value: self._set("thinking", value))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(label(tr("Defaults of this model"), "heading"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(GRID * 2)
        grid.setVerticalSpacing(GRID // 2)
        for i, option in enumerate(options):
            title = label(tr(option.title))
            title.setBuddy(self.fields[option.name])
            grid.addWidget(title, i // 2, i % 2 * 2)
            grid.addWidget(self.fields[option.name], i // 2, i % 2 * 2 + 1)
        last = (len(options) + 1) // 2
        grid.addWidget(label(tr("Thoughts")), last, 0)
        grid.addWidget(self.thinking, last, 1)
        grid.setColumnStretch(4, 1)
        column.addLayout(grid)
        told = tr("What is left empty is as the model's makers chose it. A conversation's own settings win.")
        column.addWidget(label(told, "second", wrap=True))

    def show_of(self, name: str) -> None:
        self._name = name
        kept = self._library.defaults(name)
        for option in self._options:
            field = self.fields[option.name]
            if not field.hasFocus():
                show_number(field, option, kept.get(option.name))
        show_thinking(self.thinking, kept.get("thinking"))

    def _typed(self, option: Option, field: QLineEdit) -> None:
        if not field.text() or field.hasAcceptableInput():
            self._set(option.name, number_in(field, option))

    def _set(self, key: str, value: object) -> None:
        if self._name:
            self._library.set_default(self._name, key, value)
