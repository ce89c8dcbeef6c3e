"""Global shortcuts, such as the one that brings Grus to the front: what the preferences hold, what Settings shows, and whether the system gives them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from app.gui.keyboard.combination import Combination, KeyUse, combination
from app.gui.keyboard.systems import hold_key, system
from app.gui.preferences import Preferences
from app.gui.texts import tr
from app.gui.viewmodels.signal import Signal

PREFERENCE = "hotkey"


class HotKey(QObject):
    """`changed`: the sentence for Settings changed, or whether the key is possible."""

    preference = PREFERENCE

    def __init__(self, preferences: Preferences, pressed: Callable[[], Any], parent: QObject) -> None:
        super().__init__(parent)
        self._preferences, self._pressed = preferences, pressed
        self._held: Any = None
        self._portal: bool | None = None  # whether Wayland's desktop gives shortcuts; None: not asked yet
        self.problem = ""
        self.changed = Signal()
        preferences.changed.connect(lambda key: self.hold() if key == self.preference else None)
        self.hold()

    @property
    def possible(self) -> bool:
        """Wayland's desktop is asked when this is first read; `changed` follows."""
        shown = system()
        if shown == "wayland" and self._portal is None:
            from app.gui.keyboard.desktop_portal import desktop_portal
            from app.gui.keyboard.portal_key import INTERFACE

            self._portal = False
            desktop_portal().offers(INTERFACE, self._asked)
        return shown in ("x11", "windows", "macos") or (shown == "wayland" and bool(self._portal))

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
            command=f"{command()} app",
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

    def use(self) -> KeyUse:
        """What the key does."""
        return KeyUse("show", tr("Show Grus"), self._pressed, lost=self.lose)

    def lose(self, problem: str) -> None:
        """The system gives the key no longer."""
        self.problem = problem
        self.changed()

    def _asked(self, found: bool) -> None:
        self._portal = found
        if found:
            self.hold()
        else:
            self.changed()

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
        return hold_key(keys, self.use(), self)


def command() -> str:
    """What a desktop's settings call to start Grus. What a Flatpak finds inside of itself is no command of the desktop's."""
    inside = os.environ.get("FLATPAK_ID")
    return f"flatpak run {inside}" if inside else shutil.which("grus") or "grus"
