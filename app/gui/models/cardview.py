"""The card of one model, drawn: title, what can be done, progress, facts, and its defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.gui.buttons import label, text_button
from app.gui.look import Look
from app.gui.models.defaults import DefaultsView
from app.gui.style import restate
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.models.card import Card, Deed, Row, title_of

_WIDTH = 640  # pixels; lines of facts are read, not scanned
_STEPS = 1000


class CardView(QScrollArea):
    """`do(deed)` is called for a button."""

    def __init__(self, look: Look, do: Callable[[Deed], object], defaults: DefaultsView) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._do, self._look, self._shown = do, look, Card()
        self.title = label(wrap=True)
        self.about = label(wrap=True)
        self.problem = label(wrap=True)
        self.working = label(kind="second", wrap=True)
        self.bar = QProgressBar()
        self.bar.setRange(0, _STEPS)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(tr("Progress of the download"))
        self.buttons: dict[Deed, QPushButton] = {}
        self.values: dict[str, QLabel] = {}
        self.defaults = defaults
        self._build()
        look.on_change(self, self._dress)

    def _build(self) -> None:
        self._deeds = QHBoxLayout()
        self._deeds.setSpacing(GRID)
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
        column.addLayout(self._deeds)
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

    def show_card(self, card: Card, name: str) -> None:
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
        if card.deeds != before.deeds:
            self._show_deeds(card.deeds)
        if card.rows != before.rows:
            self._show_rows(card.rows)
        self.defaults.setVisible(card.defaults)
        if card.defaults:
            self.defaults.show_of(name)

    def _show_deeds(self, deeds: Sequence[Deed]) -> None:
        focused = next((deed for deed, button in self.buttons.items() if button.hasFocus()), None)
        while (item := self._deeds.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        self.buttons = {}
        for i, deed in enumerate(deeds):
            button = text_button(title_of(deed), _does(self._do, deed), kind="main" if i == 0 else "")
            self.buttons[deed] = button
            self._deeds.addWidget(button)
        self._deeds.addStretch(1)
        if focused is not None and deeds:
            self.buttons.get(focused, self.buttons[deeds[0]]).setFocus()

    def _show_rows(self, rows: Sequence[Row]) -> None:
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


def _does(do: Callable[[Deed], object], deed: Deed) -> Callable[[], object]:
    return lambda: do(deed)


def _say(part: QLabel, text: str) -> None:
    part.setText(text)
    part.setVisible(bool(text))
