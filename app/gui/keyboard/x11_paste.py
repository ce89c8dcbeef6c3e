"""Pastes a text into the window that has the keyboard under X11.

The text is offered as the clipboard and as the selection, and Shift+Insert is pressed through the XTEST extension: terminals paste the
selection by it, other programs the clipboard. A key of the text's own would need a keyboard layout that has every character.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int, c_uint, c_ulong, c_void_p

from PySide6.QtGui import QClipboard

from app.gui.keyboard.clipboard_paste import ClipboardPaste, PasteError
from app.gui.keyboard.x11_key import x11_library
from app.gui.texts import tr

_MODIFIERS = (0xFFE1, 0xFFE2, 0xFFE3, 0xFFE4, 0xFFE7, 0xFFE8, 0xFFE9, 0xFFEA, 0xFFEB, 0xFFEC)  # Shift_L to Super_R
_SHIFT, _INSERT = 0xFFE1, 0xFF63


class X11Paste(ClipboardPaste):
    modes = (QClipboard.Mode.Clipboard, QClipboard.Mode.Selection)

    def open(self) -> None:
        try:
            self._x, self._test = x11_library(), ctypes.CDLL("libXtst.so.6")
            self._test.XTestFakeKeyEvent.argtypes = [c_void_p, c_uint, c_int, c_ulong]
            self._display = self._x.XOpenDisplay(None)
            if not self._display:
                raise OSError("there is no X11 display")
        except OSError as error:
            raise PasteError(
                tr(
                    "The text cannot be typed ({error}); it is in the clipboard. On Debian, install libxtst6.",
                    error=error,
                )
            ) from error

    def modified(self) -> bool:
        pressed = ctypes.create_string_buffer(32)
        self._x.XQueryKeymap(self._display, pressed)
        codes = (self._x.XKeysymToKeycode(self._display, keysym) for keysym in _MODIFIERS)
        return any(code and pressed.raw[code // 8] >> code % 8 & 1 for code in codes)

    def press(self) -> None:
        for keysym, down in ((_SHIFT, 1), (_INSERT, 1), (_INSERT, 0), (_SHIFT, 0)):
            self._test.XTestFakeKeyEvent(self._display, self._x.XKeysymToKeycode(self._display, keysym), down, 0)
        self._x.XSync(self._display, 0)

    def close(self) -> None:
        self._x.XCloseDisplay(self._display)
