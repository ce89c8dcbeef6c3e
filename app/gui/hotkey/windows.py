"""A key of Windows: registered for the UI thread, whose message queue brings it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractNativeEventFilter, QByteArray, QCoreApplication, QObject

from app.gui.hotkey.keys import WINDOWS_MASKS, Combination

_WM_HOTKEY, _NO_REPEAT, _ID = 0x0312, 0x4000, 1


class _Message(ctypes.Structure):
    """MSG, as far as it is read."""

    _fields_ = (("window", ctypes.c_void_p), ("message", ctypes.c_uint), ("wparam", ctypes.c_size_t))


class _Filter(QAbstractNativeEventFilter):
    def __init__(self, pressed: Callable[[], Any]) -> None:
        super().__init__()
        self._pressed = pressed

    def nativeEventFilter(self, kind: QByteArray | bytes | bytearray | memoryview, message: int) -> Any:
        name = kind.data() if isinstance(kind, QByteArray) else kind
        if bytes(name) == b"windows_generic_MSG":
            found = _Message.from_address(int(message))
            if found.message == _WM_HOTKEY and found.wparam == _ID:
                self._pressed()
                return True, 0
        return False, 0


class WindowsKey(QObject):
    """Raises OSError where the key cannot be had."""

    def __init__(self, keys: Combination, pressed: Callable[[], Any], parent: QObject) -> None:
        super().__init__(parent)
        self._user: Any = ctypes.windll.user32  # type: ignore[attr-defined]
        if not self._user.RegisterHotKey(None, _ID, keys.mask(WINDOWS_MASKS) | _NO_REPEAT, keys.virtual):
            raise OSError("another program has it")
        self._filter = _Filter(pressed)
        app = QCoreApplication.instance()
        assert app is not None
        app.installNativeEventFilter(self._filter)

    def release(self) -> None:
        app = QCoreApplication.instance()
        if app is not None:
            app.removeNativeEventFilter(self._filter)
        self._user.UnregisterHotKey(None, _ID)
        self.deleteLater()
