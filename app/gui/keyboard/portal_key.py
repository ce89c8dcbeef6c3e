"""A key that works in every app on a Wayland desktop whose portal has global shortcuts: the desktop asks the person, and may give other keys."""

from __future__ import annotations

import os
from typing import Any

from PySide6.QtCore import QObject

from app.gui.keyboard.combination import Combination, KeyUse
from app.gui.keyboard.desktop_portal import desktop_portal
from app.gui.texts import tr

INTERFACE = "GlobalShortcuts"
_SHORTCUTS = f"org.freedesktop.portal.{INTERFACE}"


class PortalKey(QObject):
    """What the desktop refuses comes later, through the use's `lost`."""

    def __init__(self, keys: Combination, use: KeyUse, parent: QObject) -> None:
        super().__init__(parent)
        self._keys, self._use = keys, use
        self._session: str | None = None
        self._released = self._down = False
        self._portal = desktop_portal()
        self._portal.listen(f"{_SHORTCUTS}.Activated", self._activated)
        self._portal.listen(f"{_SHORTCUTS}.Deactivated", self._deactivated)
        self._portal.open_session(_SHORTCUTS, {}, self._opened, self._closed)

    def release(self) -> None:
        self._released = True
        self._portal.forget(self._activated)
        self._portal.forget(self._deactivated)
        if self._session is not None:
            self._portal.close_session(self._session)
            self._session = None
        self.deleteLater()

    def _opened(self, path: str | None) -> None:
        if path is None:
            self._refused()
            return
        if self._released:
            self._portal.close_session(path)
            return
        self._session = path
        wanted = {"description": ("s", self._use.description), "preferred_trigger": ("s", self._keys.trigger)}
        self._portal.request(
            _SHORTCUTS, "BindShortcuts", "oa(sa{sv})sa{sv}", (path, [(self._use.name, wanted)], ""), {}, self._bound
        )

    def _bound(self, results: dict[str, Any] | None) -> None:
        names = [name for name, _ in (results or {}).get("shortcuts", ())]
        if self._use.name not in names:
            self._refused()

    def _activated(self, body: tuple[Any, ...]) -> None:
        if body[:2] == (self._session, self._use.name) and not self._down:
            self._down = True
            if token := body[3].get("activation_token"):
                os.environ["XDG_ACTIVATION_TOKEN"] = str(token[1])  # Qt takes it from there when the window is raised
            self._use.pressed()

    def _deactivated(self, body: tuple[Any, ...]) -> None:
        if body[:2] == (self._session, self._use.name):
            self._down = False
            self._use.released()

    def _refused(self) -> None:
        if not self._released:
            self._use.lost(tr("The desktop did not give the shortcut. Clear the field and press the keys again."))

    def _closed(self) -> None:
        """The desktop's portal was restarted, or the person took the shortcut away."""
        self._session = None
        if self._down:
            self._down = False
            self._use.released()
        self._use.lost(tr("The desktop ended the shortcut. Clear the field and press the keys again."))
