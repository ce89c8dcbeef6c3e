"""Pastes a text into the window that has the keyboard under Windows: SendInput presses Ctrl+V."""

from __future__ import annotations

import ctypes
from ctypes import Structure, Union, c_int32, c_size_t, c_uint16, c_uint32

from app.gui.keyboard.clipboard_paste import ClipboardPaste, PasteError
from app.gui.keyboard.windows_key import is_down, user_library
from app.gui.texts import tr

_LEFT_CTRL, _V = 0xA2, 0x56
_MODIFIERS = (0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xA5, 0x5B, 0x5C)  # Shift, Ctrl, Alt and the Windows key, left and right
_EXTENDED = (0xA3, 0xA5, 0x5B, 0x5C)  # of them, those whose scan code has the prefix E0
_KEYBOARD, _KEY_IS_EXTENDED, _KEY_UP = 1, 1, 2


class MouseInput(Structure):
    """MOUSEINPUT: never sent, but INPUT has its size."""

    _fields_ = (("dx", c_int32), ("dy", c_int32), ("data", c_uint32), ("flags", c_uint32), ("time", c_uint32), ("extra", c_size_t))  # fmt: skip


class KeyboardInput(Structure):
    """KEYBDINPUT."""

    _fields_ = (("virtual", c_uint16), ("scan", c_uint16), ("flags", c_uint32), ("time", c_uint32), ("extra", c_size_t))


class _AnyInput(Union):
    _fields_ = (("mouse", MouseInput), ("key", KeyboardInput))


class Input(Structure):
    """INPUT."""

    _fields_ = (("kind", c_uint32), ("of", _AnyInput))


class WindowsPaste(ClipboardPaste):
    def open(self) -> None:
        self._user = user_library()

    def modified(self) -> bool:
        return bool(self._held())

    def press(self) -> None:
        """What somebody still holds after the longest wait is let go first."""
        strokes = [*((virtual, False) for virtual in self._held())]
        strokes += [(_LEFT_CTRL, True), (_V, True), (_V, False), (_LEFT_CTRL, False)]
        inputs = (Input * len(strokes))(*(self._input(virtual, down) for virtual, down in strokes))
        if self._user.SendInput(len(inputs), ctypes.byref(inputs), ctypes.sizeof(Input)) != len(inputs):
            raise PasteError(
                tr("Windows does not let Grus type into this app; the text is in the clipboard. Press Ctrl+V there.")
            )

    def _held(self) -> list[int]:
        return [virtual for virtual in _MODIFIERS if is_down(self._user, virtual)]

    def _input(self, virtual: int, down: bool) -> Input:
        made = Input(kind=_KEYBOARD)
        flags = (0 if down else _KEY_UP) | (_KEY_IS_EXTENDED if virtual in _EXTENDED else 0)
        made.of.key = KeyboardInput(virtual, self._user.MapVirtualKeyW(virtual, 0), flags)
        return made
