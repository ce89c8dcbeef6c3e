"""Which system has the keyboard, and its class for keys that work in every app and its class for a paste."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.gui.keyboard.combination import Combination, KeyUse

System = Literal["x11", "windows", "macos", "wayland", "none"]


def system() -> System:
    """The system that provides global shortcuts. X11 programs on a Wayland desktop get none from X11."""
    shown = QGuiApplication.platformName()
    if shown == "windows":
        return "windows"
    if shown == "cocoa":
        return "macos"
    if shown.startswith("wayland") or (shown == "xcb" and os.environ.get("WAYLAND_DISPLAY")):
        return "wayland"
    return "x11" if shown == "xcb" else "none"


def hold_key(keys: Combination, use: KeyUse, parent: QObject) -> Any:
    """The key, until its `release()`. Raises OSError where it cannot be had."""
    key: Any
    if (shown := system()) == "windows":
        from app.gui.keyboard.windows_key import WindowsKey as key
    elif shown == "macos":
        from app.gui.keyboard.mac_key import MacKey as key
    elif shown == "wayland":
        from app.gui.keyboard.portal_key import PortalKey as key
    else:
        from app.gui.keyboard.x11_key import X11Key as key
    return key(keys, use, parent)


def paste(text: str, parent: QObject, then: Callable[[str], Any]) -> Any:
    """Type the text into the app in front; `then(problem)` afterwards. Raises PasteError. Wayland's is WaylandTyping, which lasts."""
    made: Any
    if (shown := system()) == "windows":
        from app.gui.keyboard.windows_paste import WindowsPaste as made
    elif shown == "macos":
        from app.gui.keyboard.mac_paste import MacPaste as made
    else:
        from app.gui.keyboard.x11_paste import X11Paste as made
    return made(text, parent, then)
