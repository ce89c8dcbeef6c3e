"""The buttons under a message: its branches, and what can be done with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QRegion
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.gui.look import Look
from app.gui.texts import mark, tr
from app.gui.viewmodels.chat.message_views import MessageView
from app.gui.widgets import icon_button, label

_DOES = {
    "copy": ("copy", mark("Copy")),
    "edit": ("edit", mark("Edit")),
    "regenerate": ("retry", mark("Regenerate")),
    "continue": ("continue", mark("Continue")),
    "delete": ("trash", mark("Delete")),
    "figures": ("more", mark("Tokens and time")),
}


class MessageButtons(QWidget):
    """Versions, and the things that can be done with a message."""

    def __init__(self, look: Look, act: Callable[..., Any], names: tuple[str, ...], parent: QWidget) -> None:
        super().__init__(parent)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        self.before = icon_button(look, "left", tr("Previous branch"), lambda: act("turn", -1), size=14)
        self.which = label(kind="second")
        self.after = icon_button(look, "right", tr("Next branch"), lambda: act("turn", 1), size=14)
        for part in (self.before, self.which, self.after):
            layout.addWidget(part)
        self._revealed: bool | None = None  # None: of a message that was bound since
        self.buttons = {}
        for name in names:
            icon, title = _DOES[name]
            self.buttons[name] = icon_button(look, icon, tr(title), _act(act, name), size=16)
            layout.addWidget(self.buttons[name])

    def bind(self, view: MessageView) -> None:
        several = view.versions > 1
        for part in (self.before, self.which, self.after):
            part.setVisible(several)
        self.which.setText(f"{view.version}/{view.versions}")
        self.before.setEnabled(view.version > 1)
        self.after.setEnabled(view.version < view.versions)
        for name, button in self.buttons.items():
            button.setVisible(name in view.can or (name == "figures" and bool(view.figures)))
        if (inside := self.layout()) is not None:
            inside.activate()
        self._revealed = None

    def reveal(self, on: bool) -> None:
        """Out of sight the buttons can still be reached with Tab, which reveals them; which branch it is stays in sight."""
        if on is self._revealed:
            return
        self._revealed = on
        if on:
            self.clearMask()
        else:
            shown = [part.geometry() for part in (self.before, self.which, self.after) if not part.isHidden()]
            region = QRegion(-1, -1, 1, 1)
            for place in shown:
                region += QRegion(place)
            self.setMask(region)


def _act(act: Callable[..., Any], name: str) -> Callable[[], Any]:
    return lambda: act(name)
