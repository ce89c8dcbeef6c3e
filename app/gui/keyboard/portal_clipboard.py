"""The clipboard of a Wayland desktop through its portal, in a session of RemoteDesktop: a text is offered, and what was there comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from app.gui.keyboard.clipboard_paste import LARGEST
from app.gui.keyboard.clipboard_pipe import ClipboardReader, ClipboardWriter
from app.gui.keyboard.desktop_portal import DesktopPortal

_CLIPBOARD = "org.freedesktop.portal.Clipboard"
_TEXTS = ("text/plain;charset=utf-8", "text/plain", "UTF8_STRING", "STRING", "TEXT")
# of what was copied before, the formats that come back
_KEPT = (*_TEXTS, "text/html", "text/uri-list", "x-special/gnome-copied-files", "image/png")


class PortalClipboard(QObject):
    def __init__(self, portal: DesktopPortal, session: str, parent: QObject) -> None:
        super().__init__(parent)
        self._portal, self._session = portal, session
        self._formats: list[str] = []  # of what is in the clipboard
        self._owned = False
        self._kept: dict[str, bytes] = {}
        self._offered: dict[str, bytes] = {}
        portal.listen(f"{_CLIPBOARD}.SelectionOwnerChanged", self._changed)
        portal.listen(f"{_CLIPBOARD}.SelectionTransfer", self._transfer)

    def request(self) -> None:
        """Ask for the clipboard; the answer comes with the session's start."""
        self._portal.call(_CLIPBOARD, "RequestClipboard", "oa{sv}", (self._session, {}))

    def close(self) -> None:
        self._portal.forget(self._changed)
        self._portal.forget(self._transfer)
        self.deleteLater()

    def offer(self, text: str, then: Callable[[bool], Any]) -> None:
        wanted = [] if self._owned else [name for name in self._formats if name in _KEPT]
        if not self._owned:
            self._kept = {}
        self._keep(wanted, lambda: self._offer(dict.fromkeys(_TEXTS, text.encode()), then))

    def restore(self, then: Callable[[], Any]) -> None:
        """Unless somebody has copied something else meanwhile. What was kept is offered as long as Grus runs."""
        if self._owned:
            self._offer(self._kept, lambda good: then())
        else:
            then()

    def _keep(self, formats: list[str], then: Callable[[], Any]) -> None:
        """One format after another."""
        if not formats:
            then()
            return
        name, *others = formats

        def keep(content: bytes | None) -> None:
            if content is not None:
                self._kept[name] = content
            self._keep(others, then)

        def read(answer: tuple[Any, ...] | None) -> None:
            if answer is None:
                keep(None)
            else:
                ClipboardReader(answer[0].to_raw_fd(), LARGEST, self, keep)

        self._portal.call(_CLIPBOARD, "SelectionRead", "os", (self._session, name), read)

    def _offer(self, contents: dict[str, bytes], then: Callable[[bool], Any]) -> None:
        self._offered = contents
        options = {"mime_types": ("as", list(contents))}
        self._owned = True
        self._portal.call(
            _CLIPBOARD, "SetSelection", "oa{sv}", (self._session, options), lambda answer: then(answer is not None)
        )

    def _changed(self, body: tuple[Any, ...]) -> None:
        session, options = body
        if session == self._session:
            self._owned = bool(options.get("session_is_owner", ("b", False))[1])
            formats = options.get("mime_types", ("as", []))[1]
            # a portal of the first version wraps the list in a structure
            self._formats = list(formats[0] if isinstance(formats, tuple) else formats)

    def _transfer(self, body: tuple[Any, ...]) -> None:
        session, name, serial = body
        if session != self._session:
            return

        def write(answer: tuple[Any, ...] | None) -> None:
            if answer is None:
                return
            ClipboardWriter(answer[0].to_raw_fd(), self._offered.get(name, b""), self, done)

        def done(good: bool) -> None:
            self._portal.call(_CLIPBOARD, "SelectionWriteDone", "oub", (self._session, serial, good))

        self._portal.call(_CLIPBOARD, "SelectionWrite", "ou", (self._session, serial), write)
