"""A key that works in every app under macOS: Carbon's hot keys, which need no permission."""

from __future__ import annotations

import ctypes
import itertools
from ctypes import POINTER, byref, c_int32, c_uint32, c_ulong, c_void_p
from typing import Any

from PySide6.QtCore import QObject

from app.gui.keyboard.combination import MAC_CODES, MAC_MASKS, Combination, KeyUse

_CARBON = "/System/Library/Frameworks/Carbon.framework/Carbon"
_KEYBOARD = int.from_bytes(b"keyb", "big")
PRESSED, RELEASED = 5, 6  # kEventHotKeyPressed, kEventHotKeyReleased
_DIRECT_OBJECT, _TYPE_ID = int.from_bytes(b"----", "big"), int.from_bytes(b"hkid", "big")
_GRUS = int.from_bytes(b"Grus", "big")
NOT_HANDLED = -9874  # the next handler is asked: every key of Grus has one
_CARBON_HANDLER = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)
_numbers = itertools.count(1)


class HotKeyId(ctypes.Structure):
    _fields_ = (("signature", c_uint32), ("id", c_uint32))


class EventKind(ctypes.Structure):
    """EventTypeSpec."""

    _fields_ = (("family", c_uint32), ("kind", c_uint32))


class MacKey(QObject):
    """Raises OSError where the key cannot be had."""

    def __init__(self, keys: Combination, use: KeyUse, parent: QObject) -> None:
        super().__init__(parent)
        carbon = self._carbon = carbon_library()
        self._use, self._number = use, next(_numbers)
        self._handle = _CARBON_HANDLER(lambda call, event, data: self._event(event))  # must live as long as the handler
        self._handler, self._key = c_void_p(), c_void_p()
        target = carbon.GetApplicationEventTarget()
        kinds = (EventKind * 2)(EventKind(_KEYBOARD, PRESSED), EventKind(_KEYBOARD, RELEASED))
        if carbon.InstallEventHandler(target, self._handle, len(kinds), kinds, None, byref(self._handler)):
            raise OSError("the system refused it")
        code, mask = MAC_CODES[keys.key], keys.mask(MAC_MASKS)
        if carbon.RegisterEventHotKey(code, mask, HotKeyId(_GRUS, self._number), target, 0, byref(self._key)):
            carbon.RemoveEventHandler(self._handler)
            raise OSError("another program has it")

    def release(self) -> None:
        self._carbon.UnregisterEventHotKey(self._key)
        self._carbon.RemoveEventHandler(self._handler)
        self.deleteLater()

    def _event(self, event: Any) -> int:
        found = HotKeyId()
        size = ctypes.sizeof(found)
        failed = self._carbon.GetEventParameter(event, _DIRECT_OBJECT, _TYPE_ID, None, size, None, byref(found))
        if failed or (found.signature, found.id) != (_GRUS, self._number):
            return NOT_HANDLED
        if self._carbon.GetEventKind(event) == PRESSED:
            self._use.pressed()
        else:
            self._use.released()
        return 0


def carbon_library() -> Any:
    carbon: Any = ctypes.CDLL(_CARBON)
    for name, result, arguments in (
        ("GetApplicationEventTarget", c_void_p, []),
        (
            "InstallEventHandler",
            c_int32,
            [c_void_p, _CARBON_HANDLER, c_ulong, POINTER(EventKind), c_void_p, POINTER(c_void_p)],
        ),
        ("RegisterEventHotKey", c_int32, [c_uint32, c_uint32, HotKeyId, c_void_p, c_uint32, POINTER(c_void_p)]),
        ("UnregisterEventHotKey", c_int32, [c_void_p]),
        ("RemoveEventHandler", c_int32, [c_void_p]),
        ("GetEventKind", c_uint32, [c_void_p]),
        (
            "GetEventParameter",
            c_int32,
            [c_void_p, c_uint32, c_uint32, c_void_p, c_ulong, c_void_p, c_void_p],
        ),
    ):
        function = getattr(carbon, name)
        function.restype, function.argtypes = result, arguments
    return carbon
