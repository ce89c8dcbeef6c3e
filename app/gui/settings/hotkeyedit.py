"""Where a person presses the keys that bring Grus to the front."""

from __future__ import annotations

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QToolButton

from app.gui.hotkey.hotkey import PREFERENCE
from app.gui.preferences import Preferences
from app.gui.texts import tr


class HotKeyEdit(QKeySequenceEdit):
    """Writes the preference when the keys were pressed; clearing it takes none."""

    def __init__(self, preferences: Preferences) -> None:
        super().__init__(QKeySequence.fromString(str(preferences.get(PREFERENCE, ""))))
        self.setAccessibleName(tr("Bring Grus to the front"))
        self.setMaximumSequenceLength(1)
        self.setClearButtonEnabled(True)
        if (clear := self.findChild(QToolButton)) is not None:
            clear.setAccessibleName(tr("No key"))
        self._preferences = preferences
        self.keySequenceChanged.connect(self._keep)

    def _keep(self, keys: QKeySequence) -> None:
        self._preferences.put(PREFERENCE, keys.toString(QKeySequence.SequenceFormat.PortableText))
