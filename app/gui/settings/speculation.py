"""The section of the settings pane about speculative decoding."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLineEdit, QWidget

from app.gui.dialogs import choose_folder
from app.gui.look import Look, restate
from app.gui.settings.section import SettingsSection
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.speculation import KINDS, SpeculationSettings
from app.gui.widgets import text_button


class SpeculationView(SettingsSection):
    def __init__(self, look: Look, settings: SpeculationSettings, restart: Callable[[], object], width: int) -> None:
        super().__init__(look, tr("Speculative decoding"))
        self._settings = settings
        self.kind = QComboBox()
        self.kind.setAccessibleName(tr("Draft tokens from"))
        look.hold_width(self.kind, width)
        for value, title in KINDS:
            self.kind.addItem(tr(title), value)
        self.kind.activated.connect(lambda index: settings.choose(self.kind.itemData(index)))
        self.add(
            tr("Draft tokens from"),
            self.kind,
            tr("Several draft tokens are verified in one step. Replies come sooner and stay the same."),
        )
        self.draft = QLineEdit()
        self.draft.setAccessibleName(tr("Draft model"))
        look.hold_width(self.draft, width)
        self.draft.editingFinished.connect(lambda: settings.set_draft(self.draft.text()))
        self.folder = text_button(tr("Choose a folder"), self._choose)
        both = QWidget()
        row = QHBoxLayout(both)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(self.draft)
        row.addWidget(self.folder)
        self.about = self.add(
            tr("Draft model"),
            both,
            tr(
                "The name or folder of a small model with the same vocabulary, or of an EAGLE-3 head made for the model."
            ),
        )
        self.note = self.say()
        self.restart = text_button(tr("Restart Grus"), restart, kind="main")
        self.put(self.restart)
        settings.changed.connect(self.show_settings)
        look.language_changed.connect(self.show_settings)
        self.show_settings()

    def _choose(self) -> None:
        choose_folder(
            self, tr("Choose the folder of a draft model"), lambda folder: self._settings.set_draft(str(folder))
        )

    def show_settings(self) -> None:
        settings = self._settings
        self.kind.setCurrentIndex(max(0, self.kind.findData(settings.kind)))
        drafts = settings.kind == "draft"
        for part in (self.draft, self.folder):
            part.setEnabled(drafts)
        if not self.draft.hasFocus():
            self.draft.setText(settings.draft)
        applies = tr("Applies after a restart of Grus.") if settings.altered else ""
        self.note.setText(settings.problem or applies)
        restate(self.note, level="error" if settings.problem else "")
        self.note.setVisible(bool(settings.problem or applies))
        self.restart.setVisible(settings.altered)
