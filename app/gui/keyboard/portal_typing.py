"""Types into the app in front on a Wayland desktop whose portal lets apps press keys (RemoteDesktop); the person is asked once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.gui.keyboard.clipboard_paste import RESTORE
from app.gui.keyboard.desktop_portal import desktop_portal
from app.gui.keyboard.portal_clipboard import PortalClipboard
from app.gui.keyboard.wl_clipboard import WlClipboard, has_wl_clipboard
from app.gui.preferences import Preferences

INTERFACE = "RemoteDesktop"
_REMOTE = f"org.freedesktop.portal.{INTERFACE}"
_KEYBOARD, _UNTIL_REVOKED = 1, 2  # the devices that are asked for; how long the person's answer holds
_TOKEN = "dictation.portal_token"  # the preference: by it the portal finds that answer again
PRESSES = ((42, 1), (110, 1), (110, 0), (42, 0))  # Shift+Insert, by Linux' numbers of the keys
LET_GO = 300  # milliseconds in which the keys that were held come up, and a new session learns what the clipboard holds


class PortalTyping(QObject):
    """One session, used for every text until the desktop ends it. `closed()`: it did."""

    def __init__(self, preferences: Preferences, parent: QObject, closed: Callable[[], Any]) -> None:
        super().__init__(parent)
        self._preferences, self._closed = preferences, closed
        self._portal = desktop_portal()
        self._session = ""
        self._clipboard: PortalClipboard | WlClipboard | None = None

    def start(self, then: Callable[[bool], Any]) -> None:
        def opened(path: str | None) -> None:
            if path is None:
                then(False)
                return
            self._session = path
            self._clipboard = clipboard = PortalClipboard(self._portal, path, self)
            options: dict[str, Any] = {"types": ("u", _KEYBOARD), "persist_mode": ("u", _UNTIL_REVOKED)}
            if token := str(self._preferences.get(_TOKEN, "")):
                options["restore_token"] = ("s", token)
            self._portal.request(_REMOTE, "SelectDevices", "oa{sv}", (path,), options, selected)
            clipboard.request()

        def selected(results: dict[str, Any] | None) -> None:
            if results is None:
                refuse()
            else:
                self._portal.request(_REMOTE, "Start", "osa{sv}", (self._session, ""), {}, started)

        def started(results: dict[str, Any] | None) -> None:
            if results is None or not results.get("devices", 0) & _KEYBOARD:
                refuse()
                return
            if token := results.get("restore_token"):
                self._preferences.put(_TOKEN, token)
            if not results.get("clipboard_enabled", False):
                self._drop_clipboard()
                self._clipboard = WlClipboard(self) if has_wl_clipboard() else None
            then(self._clipboard is not None)

        def refuse() -> None:
            self.release()
            then(False)

        self._portal.open_session(_REMOTE, {}, opened, self._ended)

    def release(self) -> None:
        if self._session:
            self._portal.close_session(self._session)
        self._session = ""
        self._drop_clipboard()

    def type(self, text: str, then: Callable[[bool], Any]) -> None:
        """`then(whether it was typed)`, once the clipboard is restored."""
        clipboard = self._clipboard
        if clipboard is None:
            then(False)
            return

        def press(offered: bool) -> None:
            if not offered:
                then(False)
                return
            for code, down in PRESSES:
                self._portal.call(_REMOTE, "NotifyKeyboardKeycode", "oa{sv}iu", (self._session, {}, code, down))
            QTimer.singleShot(RESTORE, self, lambda: clipboard.restore(lambda: then(True)))

        QTimer.singleShot(LET_GO, self, lambda: clipboard.offer(text, press))

    def _drop_clipboard(self) -> None:
        if isinstance(self._clipboard, PortalClipboard):
            self._clipboard.close()
        self._clipboard = None

    def _ended(self) -> None:
        self._session = ""
        self._drop_clipboard()
        self._closed()
