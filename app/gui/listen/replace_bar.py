"""The bar above a transcript that finds a text in it and replaces it (Ctrl+F)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from app.gui.flow import FlowRow
from app.gui.look import Look, restate
from app.gui.texts import tr, trn
from app.gui.theme import GRID
from app.gui.viewmodels.listen import ListenResults
from app.gui.widgets import icon_button, label, text_button


class ReplaceBar(QWidget):
    """Enter in the first field goes to the next segment that has the text: `show_row` receives its number."""

    def __init__(self, look: Look, results: ListenResults, show_row: Callable[[int], Any]) -> None:
        super().__init__()
        self._results, self._show_row = results, show_row
        self.field, self.by = QLineEdit(), QLineEdit()
        for field, name in ((self.field, tr("Find")), (self.by, tr("Replace with"))):
            field.setPlaceholderText(name)
            field.setAccessibleName(name)
        self.case = QCheckBox(tr("Match case"))
        self.count = label(kind="second")
        self.next = icon_button(look, "down", tr("Next match (Enter)"), self.step, size=16)
        self.replace = text_button(tr("Replace all"), self.replace_all)
        self.end = icon_button(look, "close", tr("Close the search"), self.shut, size=16)
        row = FlowRow(GRID)
        row.setContentsMargins(0, 0, 0, 0)
        for part in (self.field, self.by, self.case, self.count, self.next, self.replace, self.end):
            row.addWidget(part)
        self.setLayout(row)
        self._at = -1
        self.field.textChanged.connect(lambda _: self._changed())
        self.field.returnPressed.connect(self.step)
        self.by.returnPressed.connect(self.replace_all)
        self.case.toggled.connect(lambda _: self._changed())
        self.hide()

    def open(self) -> None:
        self.show()
        self.field.setFocus()
        self.field.selectAll()
        self._changed()

    def shut(self) -> bool:
        """False when it was not open."""
        if self.isHidden():
            return False
        self.hide()
        return True

    def step(self) -> None:
        """To the next match, and from the last one to the first."""
        if rows := self._rows():
            self._at = next((row for row in rows if row > self._at), rows[0])
            self._show_row(self._at)

    def replace_all(self) -> None:
        item = self._results.current
        if item is None or not self.field.text().strip():
            return
        count = self._results.replace_all(item, self.field.text(), self.by.text(), self.case.isChecked())
        self._changed()
        self.count.setText(trn("{n} place replaced", "{n} places replaced", count))

    def _rows(self) -> list[int]:
        item = self._results.current
        return [] if item is None else self._results.found(item, self.field.text(), self.case.isChecked())

    def _changed(self) -> None:
        self._at, rows = -1, self._rows()
        given = bool(self.field.text().strip())
        self.count.setText(trn("in {n} segment", "in {n} segments", len(rows)) if given else "")
        restate(self.count, level="warning" if given and not rows else "")
        for part in (self.next, self.replace):
            part.setEnabled(bool(rows))
