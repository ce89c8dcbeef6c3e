"""The panel beside a conversation: its system prompt, how answers are chosen, and presets of both."""

from __future__ import annotations

from functools import partial
from typing import Any

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.gui.look import Look, restate
from app.gui.sampling_fields import number_field, number_in, show_number, show_thinking, thinking_box
from app.gui.store import records
from app.gui.store.records import Preset
from app.gui.store.worker import AppStore
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.sampling import BUILT_IN, OPTIONS, SamplingOption
from app.gui.widgets import icon_button, label

_NARROWEST = 260  # pixels


class Panel(QScrollArea):
    def __init__(self, look: Look, talk: OpenConversation, store: AppStore) -> None:
        super().__init__()
        self.setAccessibleName(tr("Settings of this conversation"))
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._look, self._talk, self._store = look, talk, store
        self._showing = False
        self._presets: list[Preset] = list(BUILT_IN)
        self.system = QPlainTextEdit()
        self.system.setPlaceholderText(tr("What the model should know and how it should answer."))
        self.system.setAccessibleName(tr("System prompt"))
        self.system.setTabChangesFocus(True)
        self.system.setFixedHeight(132)
        self.system.textChanged.connect(self._system_typed)
        self.preset = QComboBox()
        self.preset.setAccessibleName(tr("Preset"))
        self.preset.activated.connect(self._take_preset)
        self.name = QLineEdit()
        self.name.setPlaceholderText(tr("Name to save as a preset"))
        self.name.setAccessibleName(tr("Name to save as a preset"))
        self.name.returnPressed.connect(self._save_preset)
        self.thinking = thinking_box(lambda value: self._set("thinking", value))
        self.fields = {option.name: number_field(look, option, partial(self._typed, option)) for option in OPTIONS}
        self.setWidget(self._build())
        talk.configured.connect(self.show_settings)
        self.read_presets()
        self.show_settings()

    def minimumSizeHint(self) -> QSize:
        """As wide as what is in it, in every language and size of text: it scrolls up and down alone."""
        widget = self.widget()
        inside = widget.minimumSizeHint().width() if widget is not None else 0
        return QSize(max(_NARROWEST, inside + self.verticalScrollBar().sizeHint().width()), 120)

    def _build(self) -> QWidget:
        body = QWidget()
        body.setProperty("kind", "side")
        body.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        column = QVBoxLayout(body)
        column.setContentsMargins(GRID * 2, GRID * 2, GRID * 2, GRID * 2)
        column.setSpacing(GRID)
        column.addWidget(label(tr("System prompt"), "heading"))
        column.addWidget(self.system)
        column.addSpacing(GRID)
        column.addWidget(label(tr("Preset"), "heading"))
        row = QHBoxLayout()
        row.addWidget(self.preset, 1)
        self.drop = icon_button(self._look, "trash", tr("Delete the preset"), self._drop_preset, size=16)
        row.addWidget(self.drop)
        column.addLayout(row)
        save = QHBoxLayout()
        save.addWidget(self.name, 1)
        save.addWidget(icon_button(self._look, "save", tr("Save as a preset"), self._save_preset, size=16))
        column.addLayout(save)
        column.addSpacing(GRID)
        column.addWidget(label(tr("Sampling"), "heading"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(GRID)
        grid.setVerticalSpacing(GRID // 2)
        for i, option in enumerate(OPTIONS):
            title = label(tr(option.title), wrap=True)
            title.setBuddy(self.fields[option.name])
            title.setToolTip(tr(option.about))
            grid.addWidget(title, i, 0)
            grid.addWidget(self.fields[option.name], i, 1, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(label(tr("Reasoning")), len(OPTIONS), 0)
        grid.addWidget(self.thinking, len(OPTIONS), 1)
        grid.setColumnStretch(0, 1)
        column.addLayout(grid)
        self.problem = label(wrap=True)
        column.addWidget(self.problem)
        column.addWidget(label(tr("Empty fields use the model's defaults."), "second", wrap=True))
        column.addStretch(1)
        return body

    # -- from the conversation

    def show_settings(self) -> None:
        self._showing = True
        head = self._talk.head
        if self.system.toPlainText() != head.system:
            self.system.setPlainText(head.system)
        for option in OPTIONS:
            value = head.sampling.get(option.name)
            field = self.fields[option.name]
            if not field.hasFocus() or value is None:
                show_number(field, option, value)
        show_thinking(self.thinking, head.sampling.get("thinking"))
        self._show_preset()
        self._showing = False

    def _show_preset(self) -> None:
        sampling = dict(self._talk.head.sampling)
        found = next((i for i, p in enumerate(self._presets) if dict(p.sampling) == sampling), -1)
        self.preset.setCurrentIndex(found)
        self.drop.setEnabled(found >= len(BUILT_IN))

    # -- from the person

    def _system_typed(self) -> None:
        if not self._showing:
            self._talk.configure(system=self.system.toPlainText())

    def _typed(self, option: SamplingOption, field: QLineEdit) -> None:
        if field.text() and not field.hasAcceptableInput():
            message = tr("{title} must be between {low} and {high}.", title=tr(option.title), low=f"{option.low:g}",
                      high=f"{option.high:g}")  # fmt: skip
            self.problem.setText(message)
            restate(self.problem, level="error")
            return
        self.problem.setText("")
        self._set(option.name, number_in(field, option))

    def _set(self, name: str, value: Any) -> None:
        chosen = dict(self._talk.head.sampling)
        if value is None:
            chosen.pop(name, None)
        else:
            chosen[name] = value
        self._talk.configure(sampling=chosen)

    # -- presets

    def read_presets(self) -> None:
        def got(found: list[Preset]) -> None:
            self._presets = [*BUILT_IN, *found]
            self.preset.clear()
            for i, preset in enumerate(self._presets):
                self.preset.addItem(tr(preset.name) if i < len(BUILT_IN) else preset.name)
            self._show_preset()

        self._store.ask(records.presets, got)

    def _take_preset(self, index: int) -> None:
        preset = self._presets[index]
        changes: dict[str, Any] = {"sampling": dict(preset.sampling)}
        if preset.system is not None:
            changes["system"] = preset.system
        self._talk.configure(**changes)

    def _save_preset(self) -> None:
        name = self.name.text().strip()
        if not name:
            self.name.setFocus()
            return
        preset = Preset(name, dict(self._talk.head.sampling), self._talk.head.system or None)
        self._store.ask(lambda db: records.keep_preset(db, preset), lambda _: self.read_presets())
        self.name.clear()

    def _drop_preset(self) -> None:
        index = self.preset.currentIndex()
        if index >= len(BUILT_IN):
            name = self._presets[index].name
            self._store.ask(lambda db: records.drop_preset(db, name), lambda _: self.read_presets())
