"""The part of the settings about what Grus may reach: the offline switch and the Hugging Face token."""

from __future__ import annotations

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QWidget

from app.gui.buttons import text_button
from app.gui.look import Look
from app.gui.settings.sections import Section
from app.gui.style import restate
from app.gui.texts import tr
from app.gui.theme import GRID
from app.gui.viewmodels.settings.access import Access

_CONTROL = 220


class AccessView(Section):
    def __init__(self, look: Look, access: Access) -> None:
        super().__init__(look, tr("Network"))
        self._access = access
        self.offline = QCheckBox(tr("Work offline"))
        self.offline.toggled.connect(access.set_offline)
        self.put(self.offline)
        self.about_offline = self.say()
        self.token = QLineEdit()
        self.token.setEchoMode(QLineEdit.EchoMode.Password)
        self.token.setAccessibleName(tr("Hugging Face token"))
        self.token.setPlaceholderText(tr("Paste it, and press Enter"))
        self.token.setFixedWidth(_CONTROL)
        self.token.returnPressed.connect(self._keep)
        self.remove = text_button(tr("Remove the token"), access.remove)
        field = QWidget()
        row = QHBoxLayout(field)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        row.addWidget(self.remove)
        row.addWidget(self.token)
        self.about_token = self.add(tr("Hugging Face token"), field, " ")
        access.changed.connect(self.show_access)
        self.show_access()

    def _keep(self) -> None:
        given = self.token.text()
        self.token.clear()  # it is shown nowhere again
        self._access.keep(given)

    def show_access(self) -> None:
        access = self._access
        self.offline.blockSignals(True)
        self.offline.setChecked(access.offline)
        self.offline.blockSignals(False)
        self.offline.setEnabled(access.may_switch)
        self.about_offline.setText(access.about_offline)
        self.about_token.setText(access.about_token)
        restate(self.about_token, level="error" if access.problem else "")
        self.remove.setVisible(access.removable)
        self.token.setEnabled(not access.busy)
