"""Types into the app in front under Wayland, by the first of these that works there: wtype, the desktop's portal, ydotool.

wtype types the text itself, through a protocol of wlroots' compositors (Sway, Hyprland, ...). The others press Shift+Insert after the text
was put into the clipboard: the portal asks the person once, ydotool presses keys through the kernel, where its service runs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, QTimer

from app.gui.keyboard.clipboard_paste import RESTORE
from app.gui.keyboard.desktop_portal import desktop_portal
from app.gui.keyboard.portal_typing import INTERFACE, LET_GO, PRESSES, PortalTyping
from app.gui.keyboard.programs import run
from app.gui.keyboard.wl_clipboard import WlClipboard, has_wl_clipboard
from app.gui.preferences import Preferences
from app.gui.texts import tr

_SETTLE = "100"  # milliseconds that programs need to follow a keyboard that appears
_LONGEST = 60_000  # milliseconds for a long text

Method = Callable[[str, Callable[[bool], Any]], Any]


class WaylandTyping(QObject):
    """`prepare` finds the way, which may ask the person; `paste` uses it."""

    def __init__(self, preferences: Preferences, parent: QObject) -> None:
        super().__init__(parent)
        self._preferences = preferences
        self._method: Method | None = None
        self._asking: list[Callable[[], Any]] | None = None  # who waits for the way
        self._portal: PortalTyping | None = None
        self._refused = False  # by the person, who is not asked again at every dictation

    def prepare(self, then: Callable[[], Any] = lambda: None) -> None:
        if self._method is not None:
            then()
        elif self._asking is not None:
            self._asking.append(then)
        else:
            self._asking = [then]
            run(
                self,
                "wtype",
                ["-s", "1"],
                lambda output: self._ask_portal() if output is None else self._use(self._by_wtype),
            )

    def paste(self, text: str, then: Callable[[str], Any]) -> None:
        """`then(problem)`."""

        def ready() -> None:
            if self._method is None:
                self._leave(text, then)
            else:
                self._method(text, done)

        def done(good: bool) -> None:
            if good:
                then("")
            else:
                self._method = None  # it is looked for again
                self._leave(text, then)

        self.prepare(ready)

    def release(self) -> None:
        if self._portal is not None:
            self._portal.release()

    def _ask_portal(self) -> None:
        def offered(found: bool) -> None:
            if found and not self._refused:
                self._portal = portal = PortalTyping(self._preferences, self, self._forget)
                portal.start(lambda good: started(portal, good))
            else:
                self._ask_ydotool()

        def started(portal: PortalTyping, good: bool) -> None:
            self._refused = not good
            if good:
                self._use(portal.type)
            else:
                self._ask_ydotool()

        desktop_portal().offers(INTERFACE, offered)

    def _ask_ydotool(self) -> None:
        self._use(self._by_ydotool if shutil.which("ydotool") and has_wl_clipboard() and _ydotool_serves() else None)

    def _use(self, method: Method | None) -> None:
        self._method = method
        waiting, self._asking = self._asking or [], None
        for then in waiting:
            then()

    def _forget(self) -> None:
        self._method = None

    def _by_wtype(self, text: str, then: Callable[[bool], Any]) -> None:
        """A new line would press Return, and send what was written."""
        typed = " ".join(text.split("\n"))
        arguments = ["-s", _SETTLE, "-", "-s", _SETTLE]
        run(self, "wtype", arguments, lambda output: then(output is not None), typed.encode(), _LONGEST)

    def _by_ydotool(self, text: str, then: Callable[[bool], Any]) -> None:
        clipboard = WlClipboard(self)
        keys = [f"{code}:{down}" for code, down in PRESSES]

        def pressed(output: bytes | None) -> None:
            if output is None:
                end(False)
            else:
                QTimer.singleShot(RESTORE, self, lambda: clipboard.restore(lambda: end(True)))

        def end(good: bool) -> None:
            clipboard.deleteLater()
            then(good)

        def press(offered: bool) -> None:
            if offered:
                run(self, "ydotool", ["key", *keys], pressed)
            else:
                end(False)

        QTimer.singleShot(LET_GO, self, lambda: clipboard.offer(text, press))

    def _leave(self, text: str, then: Callable[[str], Any]) -> None:
        """Without focus only wl-copy can put it into the clipboard."""

        def copied(output: bytes | None) -> None:
            if output is None:
                then(
                    tr(
                        "This desktop lets no app type into others. Copy puts the text into the clipboard. Install wtype "
                        "(Sway, Hyprland), or ydotool with its service and wl-clipboard (any desktop)."
                    )
                )
            else:
                then(
                    tr(
                        "This desktop lets no app type into others, so the text is in the clipboard. Install wtype "
                        "(Sway, Hyprland), or ydotool with its service (any desktop)."
                    )
                )

        run(self, "wl-copy", ["--type", "text/plain"], copied, text.encode())


def _ydotool_serves() -> bool:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    places = (
        os.environ.get("YDOTOOL_SOCKET", ""),
        f"{runtime}/.ydotool_socket" if runtime else "",
        "/tmp/.ydotool_socket",
    )
    return any(place and Path(place).exists() for place in places)
