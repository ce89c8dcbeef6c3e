"""The section of the settings pane about memory: the switch, and each fact that was kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from app.gui.look import Look
from app.gui.settings.deletable_rows import DeletableRows
from app.gui.settings.section import SettingsSection
from app.gui.store.memories import KeptFact
from app.gui.texts import tr
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
        self._rows = DeletableRows(look)
        self.put(self._rows)
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
        self._rows.clear()
        for fact in self._shown:
            self._add_row(fact)

    def _add_row(self, fact: KeptFact) -> None:
        field = QLineEdit(fact.text)
        field.setObjectName(f"fact.{fact.id}")
        field.setAccessibleName(tr("Fact"))
        field.setToolTip(fact.text)
        field.setCursorPosition(0)
        field.editingFinished.connect(partial(self._edit, fact, field))
        sources = list[QWidget]()
        if (conversation := fact.conversation) is not None:
            words = tr("Open the conversation: {title}", title=fact.title)
            sources = [icon_button(self._look, "chat", words, partial(self._open, conversation), size=16)]
            sources[0].setObjectName(f"source.{fact.id}")
        delete = partial(self.memories.delete, fact.id)
        self._rows.add(field, *sources, words=tr("Delete this fact"), delete=delete, name=f"drop.{fact.id}")

    def _edit(self, fact: KeptFact, field: QLineEdit) -> None:
        """An emptied field is no deletion: the fact is shown again."""
        if field.text() != fact.text and not (field.text().strip() and self.memories.edit(fact.id, field.text())):
            field.setText(fact.text)
