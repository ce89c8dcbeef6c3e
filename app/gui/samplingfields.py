"""The fields in which a person says how answers are chosen: beside a conversation, and as a model's defaults."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QDoubleValidator, QIntValidator, QValidator
from PySide6.QtWidgets import QComboBox, QLineEdit

from app.gui.texts import mark, tr
from app.gui.viewmodels.chat.options import Option

_THINKING = ((None, mark("As the model does")), (True, mark("Think first")), (False, mark("Do not think")))


def number_field(option: Option, typed: Callable[[QLineEdit], object]) -> QLineEdit:
    """Empty for the usual value. `typed(field)` after every change by a person, also to what is not acceptable."""
    field = QLineEdit()
    field.setFixedWidth(104)
    field.setAlignment(Qt.AlignmentFlag.AlignRight)
    field.setPlaceholderText(tr("usual"))
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


def number_in(field: QLineEdit, option: Option) -> float | int | None:
    """What an acceptable field says; None: as usual."""
    text = field.text()
    if not text:
        return None
    return int(text) if option.whole else float(text)


def show_number(field: QLineEdit, option: Option, value: float | None) -> None:
    field.setText("" if value is None else str(int(value)) if option.whole else f"{value:g}")


def thinking_box(chosen: Callable[[bool | None], object]) -> QComboBox:
    box = QComboBox()
    box.setAccessibleName(tr("Thoughts"))
    for value, title in _THINKING:
        box.addItem(tr(title), value)
    box.activated.connect(lambda _: chosen(box.currentData()))
    return box


def show_thinking(box: QComboBox, value: bool | None) -> None:
    box.setCurrentIndex(max(0, box.findData(value)))
