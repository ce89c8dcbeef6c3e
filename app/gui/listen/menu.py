"""The menu of a recording, and the names of the formats that it is exported as."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QMenu

from app.gui.texts import tr
from app.gui.viewmodels.listen.listening import FORMATS, Recording

if TYPE_CHECKING:
    from app.gui.listen.pane import ListenPane

NAMES = {"txt": "Text (*.txt)", "srt": "SubRip (*.srt)", "vtt": "WebVTT (*.vtt)", "json": "JSON (*.json)"}


def show_menu(pane: ListenPane, item: Recording, where: Any) -> None:
    pane.listening.choose(item)
    menu, actions = QMenu(pane), pane.desk.actions
    for name in ("copy", "again", "cancel"):
        menu.addAction(actions[f"listen.{name}"])
    out = menu.addMenu(tr("Export as"))
    for kind in FORMATS:
        out.addAction(NAMES[kind], partial(pane.export, item, kind))
    menu.addSeparator()
    menu.addAction(actions["listen.remove"])
    menu.popup(where)
