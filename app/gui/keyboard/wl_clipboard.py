"""Wayland's clipboard and selection through wl-copy and wl-paste: an app that has no focus cannot set them itself.

wl-copy offers one format. Of what was copied before, the best one comes back: files, else text, else a picture, else the first.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject

from app.gui.keyboard.clipboard_paste import LARGEST
from app.gui.keyboard.programs import run

_KINDS = ((), ("--primary",))
_TEXT = "text/plain"
_BEST = ("x-special/gnome-copied-files", "text/uri-list", "text/plain;charset=utf-8", _TEXT, "UTF8_STRING", "image/png")


def has_wl_clipboard() -> bool:
    return bool(shutil.which("wl-copy") and shutil.which("wl-paste"))


class WlClipboard(QObject):
    """`offer` a text in both, then `restore` what they held."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._text = b""
        self._kept: dict[tuple[str, ...], tuple[str, bytes] | None] = {}
        self._failed = False

    def offer(self, text: str, then: Callable[[bool], Any]) -> None:
        self._text, self._failed = text.encode(), False
        self._kept.clear()
        self._each(self._keep, lambda: self._each(self._copy_text, lambda: then(not self._failed)))

    def restore(self, then: Callable[[], Any]) -> None:
        self._each(self._restore, then)

    def _each(self, do: Callable[[tuple[str, ...], Callable[[], Any]], Any], then: Callable[[], Any]) -> None:
        """For the clipboard, then for the selection."""
        clipboard, selection = _KINDS
        do(clipboard, lambda: do(selection, then))

    def _keep(self, kind: tuple[str, ...], then: Callable[[], Any]) -> None:
        def read(found: bytes | None) -> None:
            offered = (found or b"").decode(errors="replace").split("\n")
            format = next((one for one in _BEST if one in offered), offered[0])
            if not format:
                then()
                return
            run(self, "wl-paste", [*kind, "--no-newline", "--type", format], lambda content: keep(format, content))

        def keep(format: str, content: bytes | None) -> None:
            if content is not None and len(content) <= LARGEST:
                self._kept[kind] = (format, content)
            then()

        self._kept[kind] = None
        run(self, "wl-paste", [*kind, "--list-types"], read)

    def _copy_text(self, kind: tuple[str, ...], then: Callable[[], Any]) -> None:
        def copied(output: bytes | None) -> None:
            self._failed |= output is None
            then()

        run(self, "wl-copy", [*kind, "--type", _TEXT], copied, self._text)

    def _restore(self, kind: tuple[str, ...], then: Callable[[], Any]) -> None:
        def compare(found: bytes | None) -> None:
            if found != self._text:
                then()  # somebody has copied something else meanwhile
            elif (kept := self._kept.get(kind)) is None:
                run(self, "wl-copy", [*kind, "--clear"], lambda output: then())
            else:
                format, content = kept
                shown = _TEXT if format.startswith(_TEXT) or format == "UTF8_STRING" else format
                run(self, "wl-copy", [*kind, "--type", shown], lambda output: then(), content)

        run(self, "wl-paste", [*kind, "--no-newline", "--type", _TEXT], compare)
