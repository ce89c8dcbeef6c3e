"""The key that brings Grus to the front: chosen in Settings, held while Grus runs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from typing import Any, Literal

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication

from app.gui.hotkey.keys import combination
from app.gui.preferences import Preferences
from app.gui.texts import tr
from app.gui.viewmodels.hook import Hook

PREFERENCE = "hotkey"
System = Literal["x11", "windows", "macos", "wayland", "none"]


def system() -> System:
    """Who gives keys here. A program that talks X11 to a Wayland desktop gets none that hold everywhere."""
    shown = QGuiApplication.platformName()
    if shown == "windows":
        return "windows"
    if shown == "cocoa":
        return "macos"
    if shown.startswith("wayland") or (shown == "xcb" and os.environ.get("WAYLAND_DISPLAY")):
        return "wayland"
    return "x11" if shown == "xcb" else "none"


class HotKey(QObject):
    """`told`: what a person should know of it is another sentence."""

    def __init__(self, preferences: Preferences, pressed: Callable[[], Any], parent: QObject) -> None:
        super().__init__(parent)
        self._preferences, self._pressed = preferences, pressed
        self._held: Any = None
        self.problem = ""
        self.told = Hook()
        preferences.changed.connect(lambda key: self.hold() if key == PREFERENCE else None)
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
            return tr("Works in every program. Press the keys, or clear them for none.")
        return tr(
            "This desktop gives no program a key of its own. In the desktop's keyboard settings, add a shortcut for the "
            "command {command}: it brings the open window to the front.",
            command=f"{shutil.which('grus') or 'grus'} app",
        )

    def hold(self) -> None:
        """What the preferences say, from now on."""
        self.release()
        written = str(self._preferences.get(PREFERENCE, ""))
        self.problem = self._take(written) if written and self.possible else ""
        self.told()

    def release(self) -> None:
        if self._held is not None:
            self._held.release()
            self._held = None

    def _take(self, written: str) -> str:
        keys = combination(written)
        if keys is None:
            return tr(
                "{keys} cannot be used. Take a letter, a digit, Space or F1 to F12, with Ctrl, Alt or Meta.",
                keys=written,
            )
        try:
            self._held = _class()(keys, self._pressed, self)
        except (OSError, AttributeError) as error:
            return tr("{keys} could not be taken: {error}. Choose other keys.", keys=written, error=error)
        return ""


def _class() -> Any:
    if sys.platform == "win32":
        from app.gui.hotkey.windows import WindowsKey

        return WindowsKey
    if sys.platform == "darwin":
        from app.gui.hotkey.macos import MacKey

        return MacKey
    from app.gui.hotkey.x11 import X11Key

    return X11Key
