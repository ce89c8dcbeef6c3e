"""Fields for sampling options: beside a conversation, and as the defaults of one model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QDoubleValidator, QIntValidator, QValidator
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.gui.look import Look
from app.gui.texts import mark, tr
from app.gui.theme import GRID
from app.gui.viewmodels.models.library import ModelLibrary
from app.gui.viewmodels.sampling import OPTIONS, SamplingOption
from app.gui.widgets import label

_THINKING = (
    (None, mark("Default")),
    (False, mark("Off")),
    (True, mark("On")),
    ("low", mark("Low")),
    ("medium", mark("Medium")),
    ("high", mark("High")),
)


def number_field(look: Look, option: SamplingOption, typed: Callable[[QLineEdit], object]) -> QLineEdit:
    """Empty for the default. `typed(field)` after every change by a person, also to what is not acceptable."""
    field = QLineEdit()
    look.hold_width(field, 104)
    field.setAlignment(Qt.AlignmentFlag.AlignRight)
    field.setPlaceholderText(tr("Default"))
    field.setAccessibleName(tr(option.title))
    field.setToolTip(tr(option.about))
    check: QValidator = (
        QIntValidator(int(option.low), int(option.high), field)
        if option.whole
        else QDoubleValidator(option.low, option.high, 4, field)
    )
    check.setLocale(check.locale().c())
    field.setValidator(check)
    field.textEdited.connect(lambda _: typed(field))
    return field


def number_in(field: QLineEdit, option: SamplingOption) -> float | int | None:
    """What an acceptable field says; None: the default."""
    text = field.text()
    if not text:
        return None
    return int(text) if option.whole else float(text)


def show_number(field: QLineEdit, option: SamplingOption, value: float | None) -> None:
    field.setText("" if value is None else str(int(value)) if option.whole else f"{value:g}")


def thinking_box(chosen: Callable[[bool | str | None], object]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(tr("Reasoning"))
    for value, title in _THINKING:
        box.addItem(tr(title), value)
    box.activated.connect(lambda _: chosen(box.currentData()))
    return box


def show_thinking(box: QComboBox, value: bool | str | None) -> None:
    box.setCurrentIndex(max(0, box.findData(value)))


_WIDTH = 340  # pixels, at the usual size of text
_LEFT_OUT = {"seed"}  # one for every answer would make them all alike


class DefaultsView(QWidget):
    def __init__(self, library: ModelLibrary, look: Look) -> None:
        super().__init__()
        self._library = library
        self._name = ""
        self._options = options = [option for option in OPTIONS if option.name not in _LEFT_OUT]
        self.fields = {option.name: number_field(look, option, partial(self._typed, option)) for option in options}
        self.thinking = thinking_box(lambda value: self._set("thinking", value))
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID)
        column.addWidget(label(tr("Defaults of this model"), "heading"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(GRID)
        grid.setVerticalSpacing(GRID // 2)
        for i, option in enumerate(options):
            title = label(tr(option.title), wrap=True)
            title.setBuddy(self.fields[option.name])
            grid.addWidget(title, i, 0)
            grid.addWidget(self.fields[option.name], i, 1, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(label(tr("Reasoning"), wrap=True), len(options), 0)
        grid.addWidget(self.thinking, len(options), 1)
        grid.setColumnStretch(0, 1)
        column.addLayout(grid)
        note = tr("Empty fields use the model's own defaults. Settings of a conversation take precedence.")
        column.addWidget(label(note, "second", wrap=True))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(body, 1)
        row.addStretch(0)
        look.limit_width(body, _WIDTH)  # a field stands beside its name

    def show_of(self, name: str) -> None:
        self._name = name
        kept = self._library.defaults(name)
        for option in self._options:
            field = self.fields[option.name]
            if not field.hasFocus():
                show_number(field, option, kept.get(option.name))
        show_thinking(self.thinking, kept.get("thinking"))

    def _typed(self, option: SamplingOption, field: QLineEdit) -> None:
        if not field.text() or field.hasAcceptableInput():
            self._set(option.name, number_in(field, option))

    def _set(self, key: str, value: object) -> None:
        if self._name:
            self._library.set_default(self._name, key, value)
