"""The section of the settings pane about memory: the switch, and each fact that was kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app.gui.look import Look
from app.gui.settings.section import SettingsSection
from app.gui.store.memories import KeptFact
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.memories import Memories
from app.gui.widgets import icon_button


class MemoriesView(SettingsSection):
    """`open_conversation(id)` shows where a fact came from."""

    def __init__(self, look: Look, memories: Memories, open_conversation: Callable[[int], Any]) -> None:
        super().__init__(look, tr("Memory", "facts"))
        self._look, self.memories, self._open = look, memories, open_conversation
        self._shown: list[KeptFact] | None = None
        self.switch = QCheckBox(tr("Remember facts for all conversations"))
        self.switch.toggled.connect(memories.turn)
        self.put(self.switch)
        self.say().setText(
            tr("A model that calls tools may propose a fact. You are asked before it is kept, and can edit or delete it here.")
        )  # fmt: skip
        self._rows = QVBoxLayout()
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(GRID)
        rows = QWidget()
        rows.setLayout(self._rows)
        self.put(rows)
        self.field = QLineEdit()
        self.field.setAccessibleName(tr("Add a fact"))
        self.field.setPlaceholderText(tr("Add a fact, and press Enter"))
        self.field.returnPressed.connect(self._add)
        self.put(self.field)
        memories.changed.connect(self.show_facts)
        look.language_changed.connect(self._again)
        self.show_facts()

    def _add(self) -> None:
        if self.memories.add(self.field.text()):
            self.field.clear()

    def _again(self) -> None:
        self._shown = None
        self.show_facts()

    def show_facts(self) -> None:
        self.switch.blockSignals(True)
        self.switch.setChecked(self.memories.on)
        self.switch.blockSignals(False)
        if self._shown == self.memories.facts:
            return
        self._shown = list(self.memories.facts)
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for fact in self._shown:
            self._rows.addWidget(self._row(fact))

    def _row(self, fact: KeptFact) -> QWidget:
        field = QLineEdit(fact.text)
        field.setObjectName(f"fact.{fact.id}")
        field.setAccessibleName(tr("Fact"))
        field.setToolTip(fact.text)
        field.setCursorPosition(0)
        field.editingFinished.connect(partial(self._edit, fact, field))
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(field, 1)
        if (conversation := fact.conversation) is not None:
            words = tr("Open the conversation: {title}", title=fact.title)
            source = icon_button(self._look, "chat", words, partial(self._open, conversation), size=16)
            source.setObjectName(f"source.{fact.id}")
            row.addWidget(source)
        drop = icon_button(self._look, "trash", tr("Delete this fact"), partial(self.memories.delete, fact.id), size=16)
        drop.setObjectName(f"drop.{fact.id}")
        row.addWidget(drop)
        line = QWidget()
        line.setLayout(row)
        return line

    def _edit(self, fact: KeptFact, field: QLineEdit) -> None:
        """An emptied field is no deletion: the fact is shown again."""
        if field.text() != fact.text and not (field.text().strip() and self.memories.edit(fact.id, field.text())):
            field.setText(fact.text)
