"""The section of the settings pane with the voices that are known again."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.gui.look import Look
from app.gui.settings.section import SettingsSection
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.known_voices import KnownVoiceList
from app.gui.widgets import icon_button, label


class KnownVoicesView(SettingsSection):
    def __init__(self, look: Look, voices: KnownVoiceList) -> None:
        super().__init__(look, tr("Known voices"))
        self._look, self.voices = look, voices
        self.say().setText(
            tr("Speakers whom you name in Listen are named in the next recording, where a model that recognizes voices is installed. What is kept of a voice are numbers, on this machine only.")
        )  # fmt: skip
        self._rows = QVBoxLayout()
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(GRID)
        rows = QWidget()
        rows.setLayout(self._rows)
        self.put(rows)
        voices.changed.connect(self.show_voices)
        look.language_changed.connect(self.show_voices)

    def show_voices(self) -> None:
        while (item := self._rows.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.setParent(None)
                widget.deleteLater()
        for name in self.voices.names:
            row = QHBoxLayout()
            row.setContentsMargins(0, 0, 0, 0)
            row.setSpacing(GRID)
            row.addWidget(label(name, wrap=True), 1)
            words = tr("Forget the voice of {name}", name=name)
            drop = icon_button(self._look, "trash", words, partial(self.voices.forget, name), size=16)
            drop.setObjectName(f"voice.{name}")
            row.addWidget(drop)
            line = QWidget()
            line.setLayout(row)
            self._rows.addWidget(line)
