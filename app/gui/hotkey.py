"""Global shortcuts, such as the one that brings Grus to the front: parsing them, and registering them on X11, Windows and macOS.

Each system's own library is used through ctypes. Wayland gives no program a global shortcut.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import string
import sys
from collections.abc import Callable, Iterable
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_long, c_uint, c_uint32, c_ulong, c_void_p
from dataclasses import dataclass
from typing import Any, Literal

from PySide6.QtCore import QAbstractNativeEventFilter, QByteArray, QCoreApplication, QObject, QSocketNotifier
from PySide6.QtGui import QGuiApplication

from app.gui.preferences import Preferences
from app.gui.texts import tr
from app.gui.viewmodels.signal import Signal

MODIFIERS = ("Ctrl", "Alt", "Shift", "Meta")
LETTERS, DIGITS = tuple(string.ascii_uppercase), tuple(string.digits)
FUNCTIONS = tuple(f"F{number}" for number in range(1, 13))
NAMES = frozenset((*LETTERS, *DIGITS, *FUNCTIONS, "Space"))

# what each system calls them
X11_MASKS = {"Shift": 1, "Ctrl": 4, "Alt": 8, "Meta": 64}
WINDOWS_MASKS = {"Alt": 1, "Ctrl": 2, "Shift": 4, "Meta": 8}
MAC_MASKS = {"Ctrl": 0x100, "Shift": 0x200, "Alt": 0x800, "Meta": 0x1000}  # Qt's Ctrl is Command there
_MAC_LETTERS = dict(zip("ASDFHGZXCV", range(10))) | dict(zip("BQWERYT", range(11, 18))) | {
    "O": 31, "U": 32, "I": 34, "P": 35, "L": 37, "J": 38, "K": 40, "N": 45, "M": 46,
}  # fmt: skip
_MAC_DIGITS = dict(zip("123465", range(18, 24))) | {"9": 25, "7": 26, "8": 28, "0": 29}
_MAC_FUNCTIONS = dict(zip(FUNCTIONS, (122, 120, 99, 118, 96, 97, 98, 100, 101, 109, 103, 111)))
MAC_CODES = {**_MAC_LETTERS, **_MAC_DIGITS, **_MAC_FUNCTIONS, "Space": 49}


@dataclass(frozen=True)
class Combination:
    modifiers: frozenset[str]
    key: str

    def mask(self, masks: dict[str, int]) -> int:
        return sum(masks[modifier] for modifier in self.modifiers)

    @property
    def keysym(self) -> int:
        """X11's number for the key."""
        if self.key in FUNCTIONS:
            return 0xFFBE + FUNCTIONS.index(self.key)
        return 0x20 if self.key == "Space" else ord(self.key.lower())

    @property
    def virtual(self) -> int:
        """Windows' number for it."""
        if self.key in FUNCTIONS:
            return 0x70 + FUNCTIONS.index(self.key)
        return 0x20 if self.key == "Space" else ord(self.key)


def combination(written: str) -> Combination | None:
    """None for what no program should take from all others: a key alone, or one that has no name everywhere."""
    *modifiers, key = written.split("+") if written else [""]
    key = key if key in FUNCTIONS or key == "Space" else key.upper()
    if key not in NAMES or not set(modifiers) <= set(MODIFIERS) or not _enough(modifiers, key):
        return None
    return Combination(frozenset(modifiers), key)


def _enough(modifiers: Iterable[str], key: str) -> bool:
    """With Shift alone a letter is only a letter."""
    return key in FUNCTIONS or bool(set(modifiers) - {"Shift"})


_PRESS, _RELEASE, _ASYNC = 2, 3, 1
_LOCKS = (0, 2, 16, 18)  # with and without Caps Lock and Num Lock
_EVENT = c_long * 24
_X11_HANDLER = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)


class X11Key(QObject):
    """`released`: the key itself was let go. Raises OSError where the key cannot be had."""

    def __init__(
        self,
        keys: Combination,
        pressed: Callable[[], Any],
        parent: QObject,
        released: Callable[[], Any] = lambda: None,
    ) -> None:
        super().__init__(parent)
        self._pressed, self._released = pressed, released
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
                self._pressed()
            elif kind == _RELEASE:
                self._released()


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


_CARBON = "/System/Library/Frameworks/Carbon.framework/Carbon"
_KEYBOARD, _HOT_KEY_PRESSED = int.from_bytes(b"keyb", "big"), 5
_GRUS = int.from_bytes(b"Grus", "big")
_CARBON_HANDLER = ctypes.CFUNCTYPE(c_int32, c_void_p, c_void_p, c_void_p)


class _Id(ctypes.Structure):
    _fields_ = (("signature", c_uint32), ("id", c_uint32))


class _Kind(ctypes.Structure):
    _fields_ = (("family", c_uint32), ("kind", c_uint32))


class MacKey(QObject):
    """Raises OSError where the key cannot be had."""

    def __init__(self, keys: Combination, pressed: Callable[[], Any], parent: QObject) -> None:
        super().__init__(parent)
        carbon = self._carbon = _carbon_library()

        def handle(call: Any, event: Any, data: Any) -> int:
            pressed()
            return 0

        self._handle = _CARBON_HANDLER(handle)  # must live as long as the handler
        self._handler, self._key = c_void_p(), c_void_p()
        target = carbon.GetApplicationEventTarget()
        kind = _Kind(_KEYBOARD, _HOT_KEY_PRESSED)
        if carbon.InstallEventHandler(target, self._handle, 1, byref(kind), None, byref(self._handler)):
            raise OSError("the system refused it")
        code, mask = MAC_CODES[keys.key], keys.mask(MAC_MASKS)
        if carbon.RegisterEventHotKey(code, mask, _Id(_GRUS, 1), target, 0, byref(self._key)):
            carbon.RemoveEventHandler(self._handler)
            raise OSError("another program has it")

    def release(self) -> None:
        self._carbon.UnregisterEventHotKey(self._key)
        self._carbon.RemoveEventHandler(self._handler)
        self.deleteLater()


def _carbon_library() -> Any:
    carbon: Any = ctypes.CDLL(_CARBON)
    carbon.GetApplicationEventTarget.restype = c_void_p
    carbon.GetApplicationEventTarget.argtypes = []
    carbon.InstallEventHandler.argtypes = [
        c_void_p,
        _CARBON_HANDLER,
        c_uint32,
        POINTER(_Kind),
        c_void_p,
        POINTER(c_void_p),
    ]
    carbon.RegisterEventHotKey.argtypes = [c_uint32, c_uint32, _Id, c_void_p, c_uint32, POINTER(c_void_p)]
    carbon.UnregisterEventHotKey.argtypes = [c_void_p]
    carbon.RemoveEventHandler.argtypes = [c_void_p]
    return carbon


PREFERENCE = "hotkey"
System = Literal["x11", "windows", "macos", "wayland", "none"]


def system() -> System:
    """The system that provides global shortcuts. X11 programs on a Wayland desktop get none."""
    shown = QGuiApplication.platformName()
    if shown == "windows":
        return "windows"
    if shown == "cocoa":
        return "macos"
    if shown.startswith("wayland") or (shown == "xcb" and os.environ.get("WAYLAND_DISPLAY")):
        return "wayland"
    return "x11" if shown == "xcb" else "none"


class HotKey(QObject):
    """`changed`: the sentence for Settings changed."""

    preference = PREFERENCE

    def __init__(self, preferences: Preferences, pressed: Callable[[], Any], parent: QObject) -> None:
        super().__init__(parent)
        self._preferences, self._pressed = preferences, pressed
        self._held: Any = None
        self.problem = ""
        self.changed = Signal()
        preferences.changed.connect(lambda key: self.hold() if key == self.preference else None)
        self.hold()

    @property
    def possible(self) -> bool:
        return system() in ("x11", "windows", "macos")

    @property
    def about(self) -> str:
        """For Settings."""
        if self.problem:
            return self.problem
        if self.possible:
            return tr("Works in every app. Clear the field for none.")
        return tr(
            "This desktop does not let apps set global shortcuts. In its keyboard settings, add a shortcut for the "
            "command {command}, which brings the window to the front.",
            command=f"{shutil.which('grus') or 'grus'} app",
        )

    def hold(self) -> None:
        """What the preferences say, from now on."""
        self.release()
        written = str(self._preferences.get(self.preference, ""))
        self.problem = self._take(written) if written and self.possible else ""
        self.changed()

    def release(self) -> None:
        if self._held is not None:
            self._held.release()
            self._held = None

    def _take(self, written: str) -> str:
        keys = combination(written)
        if keys is None:
            return tr(
                "{keys} cannot be used. Use a letter, a digit, Space or F1 to F12, with Ctrl, Alt or Meta.",
                keys=written,
            )
        try:
            self._held = self._grab(keys)
        except (OSError, AttributeError) as error:
            return tr("{keys} cannot be used: {error}. Choose other keys.", keys=written, error=error)
        return ""

    def _grab(self, keys: Combination) -> Any:
        return _class()(keys, self._pressed, self)


def _class() -> Any:
    if sys.platform == "win32":
        return WindowsKey
    if sys.platform == "darwin":
        return MacKey
    return X11Key
