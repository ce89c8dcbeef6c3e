"""A key of macOS: Carbon's hot keys, which need no permission, through the system's own framework."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import POINTER, byref, c_int32, c_uint32, c_void_p
from typing import Any

from PySide6.QtCore import QObject

from app.gui.hotkey.keys import MAC_CODES, MAC_MASKS, Combination

_CARBON = "/System/Library/Frameworks/Carbon.framework/Carbon"
_KEYBOARD, _HOT_KEY_PRESSED = int.from_bytes(b"keyb", "big"), 5
_GRUS = int.from_bytes(b"Grus", "big")
_HANDLER = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)


class _Id(ctypes.Structure):
    _fields_ = (("signature", c_uint32), ("id", c_uint32))


class _Kind(ctypes.Structure):
    _fields_ = (("family", c_uint32), ("kind", c_uint32))


class MacKey(QObject):
    """Raises OSError where the key cannot be had."""

    def __init__(self, keys: Combination, pressed: Callable[[], Any], parent: QObject) -> None:
        super().__init__(parent)
        carbon = self._carbon = _library()

        def heard(call: Any, event: Any, data: Any) -> int:
            pressed()
            return 0

        self._heard = _HANDLER(heard)  # must live as long as the handler
        self._handler, self._key = c_void_p(), c_void_p()
        target = carbon.GetApplicationEventTarget()
        kind = _Kind(_KEYBOARD, _HOT_KEY_PRESSED)
        if carbon.InstallEventHandler(target, self._heard, 1, byref(kind), None, byref(self._handler)):
            raise OSError("the system refused it")
        code, mask = MAC_CODES[keys.key], keys.mask(MAC_MASKS)
        if carbon.RegisterEventHotKey(code, mask, _Id(_GRUS, 1), target, 0, byref(self._key)):
            carbon.RemoveEventHandler(self._handler)
            raise OSError("another program has it")

    def release(self) -> None:
        self._carbon.UnregisterEventHotKey(self._key)
        self._carbon.RemoveEventHandler(self._handler)
        self.deleteLater()


def _library() -> Any:
    carbon: Any = ctypes.CDLL(_CARBON)
    carbon.GetApplicationEventTarget.restype = c_void_p
    carbon.GetApplicationEventTarget.argtypes = []
    carbon.InstallEventHandler.argtypes = [c_void_p, _HANDLER, c_uint32, POINTER(_Kind), c_void_p, POINTER(c_void_p)]
    carbon.RegisterEventHotKey.argtypes = [c_uint32, c_uint32, _Id, c_void_p, c_uint32, POINTER(c_void_p)]
    carbon.UnregisterEventHotKey.argtypes = [c_void_p]
    carbon.RemoveEventHandler.argtypes = [c_void_p]
    return carbon
