"""A key that works in every app under Windows: RegisterHotKey gives its press; its release is looked for while it is held."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QAbstractNativeEventFilter, QByteArray, QCoreApplication, QObject, QTimer

from app.gui.keyboard.combination import WINDOWS_MASKS, Combination, KeyUse

WM_HOTKEY, NO_REPEAT = 0x0312, 0x4000
_LOOK = 20  # milliseconds between two looks at a key that is held
_numbers = itertools.count(
    1
)  # a number a key of this thread: a second one of the same number would take the first one's place


class Message(ctypes.Structure):
    """MSG, as far as it is read."""

    _fields_ = (("window", ctypes.c_void_p), ("message", ctypes.c_uint32), ("wparam", ctypes.c_size_t))


class _Filter(QAbstractNativeEventFilter):
    def __init__(self, number: int, pressed: Callable[[], Any]) -> None:
        super().__init__()
        self._number, self._pressed = number, pressed

    def nativeEventFilter(self, kind: QByteArray | bytes | bytearray | memoryview, message: int) -> Any:
        name = kind.data() if isinstance(kind, QByteArray) else kind
        if bytes(name) == b"windows_generic_MSG":
            found = Message.from_address(int(message))
            if found.message == WM_HOTKEY and found.wparam == self._number:
                self._pressed()
                return True, 0
        return False, 0


class WindowsKey(QObject):
    """Raises OSError where the key cannot be had."""

    def __init__(self, keys: Combination, use: KeyUse, parent: QObject) -> None:
        super().__init__(parent)
        self._use, self._virtual, self._number = use, keys.virtual, next(_numbers)
        self._user = user_library()
        if not self._user.RegisterHotKey(None, self._number, keys.mask(WINDOWS_MASKS) | NO_REPEAT, keys.virtual):
            raise OSError("another program has it")
        self._held = QTimer(self)
        self._held.setInterval(_LOOK)
        self._held.timeout.connect(self._look)
        self._filter = _Filter(self._number, self._press)
        app = QCoreApplication.instance()
        assert app is not None
        app.installNativeEventFilter(self._filter)

    def release(self) -> None:
        app = QCoreApplication.instance()
        if app is not None:
            app.removeNativeEventFilter(self._filter)
        self._held.stop()
        self._user.UnregisterHotKey(None, self._number)
        self.deleteLater()

    def _press(self) -> None:
        if not self._held.isActive():
            self._use.pressed()
            self._held.start()

    def _look(self) -> None:
        """Windows sends no message when the key of a shortcut is let go; its state stays readable."""
        if not is_down(self._user, self._virtual):
            self._held.stop()
            self._use.released()


def is_down(user: Any, virtual: int) -> bool:
    return bool(user.GetAsyncKeyState(virtual) & 0x8000)


def user_library() -> Any:
    user: Any = ctypes.WinDLL("user32", use_last_error=True)  # type: ignore[attr-defined]
    for name, result, arguments in (
        ("RegisterHotKey", ctypes.c_int32, [ctypes.c_void_p, ctypes.c_int32, ctypes.c_uint32, ctypes.c_uint32]),
        ("UnregisterHotKey", ctypes.c_int32, [ctypes.c_void_p, ctypes.c_int32]),
        ("GetAsyncKeyState", ctypes.c_int16, [ctypes.c_int32]),
        ("MapVirtualKeyW", ctypes.c_uint32, [ctypes.c_uint32, ctypes.c_uint32]),
        ("SendInput", ctypes.c_uint32, [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_int32]),
    ):
        function = getattr(user, name)
        function.restype, function.argtypes = result, arguments
    return user
