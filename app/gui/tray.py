"""The tray icon, where the desktop has a tray: show the window, start a conversation, quit."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.gui.icons import icon
from app.gui.texts import tr
from app.gui.theme import LIGHT
from app.gui.window import Window


def app_icon() -> QIcon:
    return icon("crane", LIGHT.accent)


def add_tray(window: Window) -> QSystemTrayIcon | None:
    if not QSystemTrayIcon.isSystemTrayAvailable():
        return None
    tray = QSystemTrayIcon(app_icon(), window)
    tray.setToolTip("Grus")
    menu = QMenu(window)
    menu.addAction(tr("Show Grus"), window.raise_up)
    for spec in window.specs:
        menu.addAction(tr(spec.title), partial(_show, window, spec.name))
    menu.addSeparator()
    menu.addAction(window.desk.actions["window.quit"])
    tray.setContextMenu(menu)
    tray.activated.connect(
        lambda reason: window.raise_up() if reason == QSystemTrayIcon.ActivationReason.Trigger else None
    )
    tray.show()
    return tray


def _show(window: Window, pane: str) -> None:
    window.raise_up()
    window.open_pane(pane)
