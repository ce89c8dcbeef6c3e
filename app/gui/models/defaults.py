"""How one model answers unless a conversation says otherwise: a person's defaults, empty as its makers chose."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QDoubleValidator, QIntValidator, QValidator
from PySide6.QtWidgets import QComboBox, QGridLayout, QLineEdit, QVBoxLayout, QWidget

from app.gui.buttons import label
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
        options = [option for option in OPTIONS if option.name not in _LEFT_OUT]
        self.fields = {option.name: self._field(option) for option in options}
        self.thinking = QComboBox()
        self.thinking.setAccessibleName(tr("Thoughts"))
        for value, title in ((None, tr("As the model does")), (True, tr("Think first")), (False, tr("Do not think"))):
            self.thinking.addItem(title, value)
        self.thinking.activated.connect(lambda _: self._set("thinking", self.thinking.currentData()))
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
        for key, field in self.fields.items():
            value = kept.get(key)
            if not field.hasFocus():
                field.setText("" if value is None else f"{value:g}")
        self.thinking.setCurrentIndex(max(0, self.thinking.findData(kept.get("thinking"))))

    def _field(self, option: Option) -> QLineEdit:
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
        field.textEdited.connect(lambda text: self._typed(option, field))
        return field

    def _typed(self, option: Option, field: QLineEdit) -> None:
        text = field.text()
        if text and not field.hasAcceptableInput():
            return
        self._set(option.name, None if not text else int(text) if option.whole else float(text))

    def _set(self, key: str, value: object) -> None:
        if self._name:
            self._library.set_default(self._name, key, value)
