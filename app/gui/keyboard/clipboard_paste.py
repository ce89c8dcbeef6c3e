"""A paste into the app in front: the text is put into the clipboard, a key is pressed, and the clipboard gets back what it held."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QByteArray, QMimeData, QObject, QTimer
from PySide6.QtGui import QClipboard, QGuiApplication

_WAIT, _MOST_WAITS = 30, 100  # milliseconds between two looks at the modifiers; looks
RESTORE = 1000  # milliseconds in which the other program asks for the text
LARGEST = 32 << 20  # bytes of a clipboard's format that are kept


class PasteError(Exception):
    """Why a text could not be typed, in a sentence for the window. The text is in the clipboard."""


class ClipboardPaste(QObject):
    """One paste, which deletes itself; `then(problem)` when the clipboard is restored. Raises PasteError where the system offers no paste.

    A system's class says how its keys are read and pressed.
    """

    modes: tuple[QClipboard.Mode, ...] = (QClipboard.Mode.Clipboard,)

    def __init__(self, text: str, parent: QObject, then: Callable[[str], Any]) -> None:
        super().__init__(parent)
        self._text, self._then, self._waits = text, then, 0
        self._kept: dict[QClipboard.Mode, QMimeData] = {}
        try:
            self.open()
        except PasteError:
            self.deleteLater()
            raise
        self._begin()

    def open(self) -> None:
        """Make the system's libraries ready. Raises PasteError."""

    def modified(self) -> bool:
        """Whether Ctrl or another modifier is down: with it, the keys that paste would be another shortcut."""
        raise NotImplementedError

    def press(self) -> None:
        """Press and release the keys that paste. Raises PasteError."""
        raise NotImplementedError

    def close(self) -> None:
        """The system's libraries are needed no longer."""

    def _begin(self) -> None:
        """Once the keys that were held are up."""
        if self.modified() and self._waits < _MOST_WAITS:
            self._waits += 1
            QTimer.singleShot(_WAIT, self, self._begin)
            return
        clipboard = QGuiApplication.clipboard()
        for mode in self.modes:
            self._kept[mode] = _copied(clipboard.mimeData(mode))
            clipboard.setText(self._text, mode)
        QGuiApplication.processEvents()  # the clipboard is owned before the key is pressed
        try:
            self.press()
        except PasteError as error:
            self._end(str(error))
            return
        QTimer.singleShot(RESTORE, self, self._restore)

    def _restore(self) -> None:
        clipboard = QGuiApplication.clipboard()
        for mode, kept in self._kept.items():
            if clipboard.text(mode) != self._text:
                continue  # somebody has copied something else meanwhile
            if kept.formats():
                clipboard.setMimeData(kept, mode)
            else:
                clipboard.clear(mode)
        self._end("")

    def _end(self, problem: str) -> None:
        self.close()
        self._then(problem)
        self.deleteLater()


def _copied(data: QMimeData | None) -> QMimeData:
    """What a clipboard holds is its owner's until it is copied."""
    made = QMimeData()
    for kind in data.formats() if data is not None else ():
        assert data is not None
        content: QByteArray = data.data(kind)
        if content.size() <= LARGEST:
            made.setData(kind, content)
    return made
