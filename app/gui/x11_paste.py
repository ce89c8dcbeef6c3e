"""Pastes a text into the window that has the keyboard under X11, and gives the clipboard back what it held.

The text is offered as the clipboard and as the selection, and Shift+Insert is pressed through the XTEST extension: terminals paste the
selection by it, other programs the clipboard. A key of the text's own would need a keyboard layout that has every character.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int, c_uint, c_ulong, c_void_p
from typing import Any

from PySide6.QtCore import QByteArray, QMimeData, QObject, QTimer
from PySide6.QtGui import QClipboard, QGuiApplication

from app.gui.hotkey import x11_library

_MODIFIERS = (0xFFE1, 0xFFE2, 0xFFE3, 0xFFE4, 0xFFE7, 0xFFE8, 0xFFE9, 0xFFEA, 0xFFEB, 0xFFEC)  # Shift_L to Super_R
_SHIFT, _INSERT = 0xFFE1, 0xFF63
_WAIT, _MOST_WAITS = 30, 100  # milliseconds between two looks at the modifiers; looks
_RESTORE = 1000  # milliseconds in which the other program asks for the text
_LARGEST = 32 << 20  # bytes of a clipboard's format that are kept
_MODES = (QClipboard.Mode.Clipboard, QClipboard.Mode.Selection)


class X11Paste(QObject):
    """One paste, which deletes itself; `then()` when the clipboard is restored. Raises OSError where keys cannot be pressed."""

    def __init__(self, text: str, parent: QObject, then: Callable[[], Any] = lambda: None) -> None:
        super().__init__(parent)
        self._text, self._then, self._waits = text, then, 0
        self._x, self._test = x11_library(), ctypes.CDLL("libXtst.so.6")
        self._test.XTestFakeKeyEvent.argtypes = [c_void_p, c_uint, c_int, c_ulong]
        self._display = self._x.XOpenDisplay(None)
        if not self._display:
            raise OSError("there is no X11 display")
        self._kept: dict[QClipboard.Mode, QMimeData] = {}
        self._begin()

    def _begin(self) -> None:
        """Once the keys that were held are up: with Ctrl, Shift+Insert would be another shortcut."""
        if self._modified() and self._waits < _MOST_WAITS:
            self._waits += 1
            QTimer.singleShot(_WAIT, self, self._begin)
            return
        clipboard = QGuiApplication.clipboard()
        for mode in _MODES:
            self._kept[mode] = _copied(clipboard.mimeData(mode))
            clipboard.setText(self._text, mode)
        QGuiApplication.processEvents()  # both are owned before the key is pressed
        for keysym, down in ((_SHIFT, 1), (_INSERT, 1), (_INSERT, 0), (_SHIFT, 0)):
            self._test.XTestFakeKeyEvent(self._display, self._x.XKeysymToKeycode(self._display, keysym), down, 0)
        self._x.XSync(self._display, 0)
        QTimer.singleShot(_RESTORE, self, self._restore)

    def _modified(self) -> bool:
        pressed = ctypes.create_string_buffer(32)
        self._x.XQueryKeymap(self._display, pressed)
        codes = (self._x.XKeysymToKeycode(self._display, keysym) for keysym in _MODIFIERS)
        return any(code and pressed.raw[code // 8] >> code % 8 & 1 for code in codes)

    def _restore(self) -> None:
        clipboard = QGuiApplication.clipboard()
        for mode, kept in self._kept.items():
            if clipboard.text(mode) != self._text:
                continue  # somebody has copied something else meanwhile
            if kept.formats():
                clipboard.setMimeData(kept, mode)
            else:
                clipboard.clear(mode)
        self._x.XCloseDisplay(self._display)
        self._then()
        self.deleteLater()


def _copied(data: QMimeData | None) -> QMimeData:
    """What a clipboard holds is its owner's until it is copied."""
    made = QMimeData()
    for kind in data.formats() if data is not None else ():
        assert data is not None
        content: QByteArray = data.data(kind)
        if content.size() <= _LARGEST:
            made.setData(kind, content)
    return made
