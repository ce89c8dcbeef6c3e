"""Pastes a text into the app in front under macOS: Core Graphics presses Command+V, once Grus is allowed to control other apps."""

from __future__ import annotations

import ctypes
from ctypes import c_bool, c_int32, c_long, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any

from app.gui.keyboard.clipboard_paste import ClipboardPaste, PasteError
from app.gui.texts import tr

_SERVICES = "/System/Library/Frameworks/ApplicationServices.framework/ApplicationServices"
_CORE = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
_V = 9  # its place on the keyboard
_COMMAND = 0x100000
_MODIFIERS = 0x20000 | 0x40000 | 0x80000 | _COMMAND  # Shift, Control, Option
_HARDWARE = 1  # kCGEventSourceStateHIDSystemState: the keys themselves
_HID_TAP = 0  # kCGHIDEventTap


class MacPaste(ClipboardPaste):
    def open(self) -> None:
        self._services = services_library()
        if not self._services.AXIsProcessTrusted():
            ask_for_access(self._services, core_library())
            raise PasteError(
                tr(
                    "macOS does not let Grus type into other apps yet: allow it in System Settings, Privacy & Security, "
                    "Accessibility. The text is in the clipboard."
                )
            )

    def modified(self) -> bool:
        return bool(self._services.CGEventSourceFlagsState(_HARDWARE) & _MODIFIERS)

    def press(self) -> None:
        for down in (True, False):
            event = self._services.CGEventCreateKeyboardEvent(None, _V, down)
            self._services.CGEventSetFlags(event, _COMMAND)  # instead of the keys that are held
            self._services.CGEventPost(_HID_TAP, event)
            self._services.CFRelease(event)


def ask_for_access(services: Any, core: Any) -> None:
    """macOS opens its own window once, and lists Grus where access is given."""
    key = c_void_p.in_dll(services, "kAXTrustedCheckOptionPrompt")
    yes = c_void_p.in_dll(core, "kCFBooleanTrue")
    options = core.CFDictionaryCreate(
        None, (c_void_p * 1)(key.value), (c_void_p * 1)(yes.value), 1,
        ctypes.addressof(ctypes.c_char.in_dll(core, "kCFTypeDictionaryKeyCallBacks")),
        ctypes.addressof(ctypes.c_char.in_dll(core, "kCFTypeDictionaryValueCallBacks")),
    )  # fmt: skip
    services.AXIsProcessTrustedWithOptions(options)
    core.CFRelease(options)


def services_library() -> Any:
    services: Any = ctypes.CDLL(_SERVICES)
    for name, result, arguments in (
        ("AXIsProcessTrusted", c_bool, []),
        ("AXIsProcessTrustedWithOptions", c_bool, [c_void_p]),
        ("CGEventSourceFlagsState", c_uint64, [c_int32]),
        ("CGEventCreateKeyboardEvent", c_void_p, [c_void_p, c_uint16, c_bool]),
        ("CGEventSetFlags", None, [c_void_p, c_uint64]),
        ("CGEventPost", None, [c_uint32, c_void_p]),
        ("CFRelease", None, [c_void_p]),  # Core Foundation's, which the framework loads
    ):
        function = getattr(services, name)
        function.restype, function.argtypes = result, arguments
    return services


def core_library() -> Any:
    core: Any = ctypes.CDLL(_CORE)
    core.CFDictionaryCreate.restype = c_void_p
    core.CFDictionaryCreate.argtypes = [c_void_p, c_void_p, c_void_p, c_long, c_void_p, c_void_p]
    core.CFRelease.restype, core.CFRelease.argtypes = None, [c_void_p]
    return core
