"""The section of the settings pane with the voices that are known again."""

from __future__ import annotations

from functools import partial

from app.gui.look import Look
from app.gui.settings.deletable_rows import DeletableRows
from app.gui.settings.section import SettingsSection
from app.gui.texts import tr
from app.gui.viewmodels.known_voices import KnownVoiceList
from app.gui.widgets import label


class KnownVoicesView(SettingsSection):
    def __init__(self, look: Look, voices: KnownVoiceList) -> None:
        super().__init__(look, tr("Known voices"))
        self.voices = voices
        self.say().setText(
            tr("Speakers whom you name in Listen are named in the next recording, where a model that recognizes voices is installed. What is kept of a voice are numbers, on this machine only.")
        )  # fmt: skip
        self._rows = DeletableRows(look)
        self.put(self._rows)
        voices.changed.connect(self.show_voices)
        look.language_changed.connect(self.show_voices)

    def show_voices(self) -> None:
        self._rows.clear()
        for name in self.voices.names:
            words = tr("Forget the voice of {name}", name=name)
            self._rows.add(
                label(name, wrap=True), words=words, delete=partial(self.voices.forget, name), name=f"voice.{name}"
            )
