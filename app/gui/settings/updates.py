"""The section of the settings pane about updates of Grus."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QWidget

from app.gui.look import Look, restate
from app.gui.settings.section import SettingsSection
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.updates import WindowUpdates
from app.gui.widgets import label, text_button


class UpdatesView(SettingsSection):
    """Hidden where Grus runs from source, and looks for nothing."""

    def __init__(self, look: Look, updates: WindowUpdates, restart: Callable[[], object]) -> None:
        super().__init__(look, tr("Updates"))
        self._updates = updates
        self.allowed = QCheckBox(tr("Check for new versions when Grus starts"))
        self.allowed.toggled.connect(updates.allow)
        self.put(self.allowed)
        self.say().setText(tr("Once a day at most. Only the version of this Grus is sent."))
        self.status = label(kind="second", wrap=True)
        self.status.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.notes = label(wrap=True)
        self.notes.setTextFormat(Qt.TextFormat.MarkdownText)
        self.look_now = text_button(tr("Check now"), updates.look)
        self.get = text_button(tr("Download"), updates.download, kind="main")
        self.install = text_button(tr("Install"), lambda: updates.install(_open, restart), kind="main")
        buttons = QWidget()
        row = QHBoxLayout(buttons)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        for button in (self.look_now, self.get, self.install):
            row.addWidget(button)
        row.addStretch(1)
        for part in (self.status, self.notes, buttons):
            self.put(part)
        self.setVisible(updates.offered)
        updates.changed.connect(self.show_updates)
        look.language_changed.connect(self.show_updates)
        self.show_updates()

    def show_updates(self) -> None:
        updates = self._updates
        self.allowed.blockSignals(True)
        self.allowed.setChecked(updates.allowed)
        self.allowed.blockSignals(False)
        self.status.setText(updates.status)
        restate(self.status, level="error" if updates.problem else "")
        self.status.setVisible(bool(updates.status))
        self.notes.setText(updates.notes)
        self.notes.setVisible(bool(updates.notes))
        self.look_now.setEnabled(updates.phase not in ("looking", "downloading"))
        self.get.setVisible(updates.may_download)
        self.install.setVisible(updates.phase == "downloaded")
        title = tr("Install and restart") if updates.restarts else tr("Install")
        self.install.setText(title)
        self.install.setAccessibleName(title)


def _open(file: Path) -> None:
    """By the system's own program for such files."""
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))
