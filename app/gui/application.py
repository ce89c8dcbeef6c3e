"""The Qt application, which also receives the files that macOS opens with Grus: "Open with", or a drop on its icon.

macOS gives them as events and not as arguments. Only this object gets them, so no event of a window passes through Python.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication


class GrusApplication(QApplication):
    """An application that keeps the files that arrive before there is a window to take them."""

    def __init__(self, arguments: list[str]) -> None:
        super().__init__(arguments)
        self._take: Callable[[list[Path]], object] | None = None
        self._early: list[Path] = []

    def open_files_with(self, take: Callable[[list[Path]], object]) -> None:
        """From now on `take` gets files, and at once those that came before."""
        self._take = take
        early, self._early = self._early, []
        if early:
            take(early)

    def event(self, event: QEvent) -> bool:
        if not isinstance(event, QFileOpenEvent) or not event.file():
            return super().event(event)
        file = Path(event.file())
        if self._take is None:
            self._early.append(file)
        else:
            self._take([file])
        return True
