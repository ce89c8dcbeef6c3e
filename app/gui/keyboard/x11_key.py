"""A key that works in every app under X11, through Xlib."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, c_char_p, c_int, c_long, c_uint, c_ulong, c_void_p
from typing import Any

from PySide6.QtCore import QObject, QSocketNotifier

from app.gui.keyboard.combination import X11_MASKS, Combination, KeyUse

_PRESS, _RELEASE, _ASYNC = 2, 3, 1
_LOCKS = (0, 2, 16, 18)  # with and without Caps Lock and Num Lock
_EVENT = c_long * 24
_X11_HANDLER = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)


class X11Key(QObject):
    """Raises OSError where the key cannot be had."""

    def __init__(self, keys: Combination, use: KeyUse, parent: QObject) -> None:
        super().__init__(parent)
        self._use = use
        self._x = x11_library()
        self._display = self._x.XOpenDisplay(None)
        if not self._display:
            raise OSError("there is no X11 display")
        self._x.XkbSetDetectableAutoRepeat(self._display, 1, None)  # else a held key is let go and pressed again
        self._root = self._x.XDefaultRootWindow(self._display)
        self._code = self._x.XKeysymToKeycode(self._display, keys.keysym)
        if not self._grabbed(keys.mask(X11_MASKS)):
            self._x.XCloseDisplay(self._display)
            raise OSError("another program has it")
        self._watch = QSocketNotifier(self._x.XConnectionNumber(self._display), QSocketNotifier.Type.Read, self)
        self._watch.activated.connect(lambda *_: self._read())
        self._read()

    def release(self) -> None:
        self._watch.setEnabled(False)
        self._x.XCloseDisplay(self._display)  # the grab goes with the connection
        self.deleteLater()

    def _grabbed(self, mask: int) -> bool:
        """A refusal comes as an error, which Xlib would end the process for."""
        refused: list[int] = []

        def refuse(display: object, error: object) -> int:
            refused.append(1)
            return 0

        handler = _X11_HANDLER(refuse)
        before = self._x.XSetErrorHandler(ctypes.cast(handler, c_void_p))
        for locks in _LOCKS:
            self._x.XGrabKey(self._display, self._code, mask | locks, self._root, 0, _ASYNC, _ASYNC)
        self._x.XSync(self._display, 0)
        self._x.XSetErrorHandler(before)
        return bool(self._code) and not refused

    def _read(self) -> None:
        event = _EVENT()
        while self._x.XPending(self._display):
            self._x.XNextEvent(self._display, ctypes.byref(event))
            kind = ctypes.cast(event, POINTER(c_int))[0]
            if kind == _PRESS:
                self._use.pressed()
            elif kind == _RELEASE:
                self._use.released()


def x11_library() -> Any:
    x: Any = ctypes.CDLL("libX11.so.6")
    for name, result, arguments in (
        ("XOpenDisplay", c_void_p, [c_char_p]),
        ("XDefaultRootWindow", c_ulong, [c_void_p]),
        ("XKeysymToKeycode", ctypes.c_ubyte, [c_void_p, c_ulong]),
        ("XGrabKey", c_int, [c_void_p, c_int, c_uint, c_ulong, c_int, c_int, c_int]),
        ("XSync", c_int, [c_void_p, c_int]),
        ("XSetErrorHandler", c_void_p, [c_void_p]),
        ("XConnectionNumber", c_int, [c_void_p]),
        ("XkbSetDetectableAutoRepeat", c_int, [c_void_p, c_int, c_void_p]),
        ("XQueryKeymap", c_int, [c_void_p, c_char_p]),
        ("XPending", c_int, [c_void_p]),
        ("XNextEvent", c_int, [c_void_p, c_void_p]),
        ("XCloseDisplay", c_int, [c_void_p]),
    ):
        function = getattr(x, name)
        function.restype, function.argtypes = result, arguments
    return x
