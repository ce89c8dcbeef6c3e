"""A field in which a person records a shortcut."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit, QToolButton

from app.gui.preferences import Preferences
from app.gui.texts import tr


class HotKeyEdit(QKeySequenceEdit):
    """Records one shortcut, after a click, Space or Enter, and then gives the focus back: without that it would take the next
    shortcut of the window. Clearing it takes none."""

    def __init__(self, preferences: Preferences, preference: str, name: str) -> None:
        super().__init__(QKeySequence.fromString(str(preferences.get(preference, ""))))
        self.setAccessibleName(name)
        self._preference = preference
        self.setMaximumSequenceLength(1)
        self.setClearButtonEnabled(True)
        if (clear := self.findChild(QToolButton)) is not None:
            clear.setAccessibleName(tr("No shortcut"))
        self._preferences = preferences
        self.recording = False
        self._field = self.findChild(QLineEdit)
        if self._field is not None:
            self._field.installEventFilter(self)
        self.keySequenceChanged.connect(self._keep)
        self._record(False)

    def _keep(self, keys: QKeySequence) -> None:
        self._preferences.put(self._preference, keys.toString(QKeySequence.SequenceFormat.PortableText))
        if self.recording:
            self._record(False)
            self.focusNextChild()

    def _record(self, on: bool) -> None:
        self.recording = on
        if self._field is not None:
            hint = tr("Press the keys") if on else tr("Press Enter, then the keys")
            self._field.setPlaceholderText(hint)
            self._field.setToolTip(hint)

    def event(self, event: QEvent) -> bool:
        """The window's shortcuts work while nothing is recorded; Qt's own field takes every key."""
        if event.type() == QEvent.Type.ShortcutOverride and not self.recording:
            event.ignore()
            return False
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and not self.recording:
            self.keyPressEvent(event)
            return event.isAccepted()
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if self.recording and key == Qt.Key.Key_Escape:
            self._record(False)
        elif self.recording:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._record(True)
        elif key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self.focusNextPrevChild(key == Qt.Key.Key_Tab)
        else:
            event.ignore()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if self.recording:
            super().keyReleaseEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self._record(False)
        super().focusOutEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonPress:
            self.setFocus()
            self._record(True)
        return super().eventFilter(watched, event)
