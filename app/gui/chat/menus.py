"""Menus of libraries and tools to choose from. `leave` closes what is in front of the panes where more are added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu, QWidget

from app.gui.pane import AppContext
from app.gui.store import records
from app.gui.store.records import LIBRARY, StoredResult
from app.gui.texts import tr
from app.gui.viewmodels.chat.message_views import tool_title

Use = Callable[[str, bool], Any]  # one of them, from now on or no longer


def open_library_menu(
    context: AppContext, button: QWidget, chosen: Sequence[str], use: Use, leave: Callable[[], Any] = lambda: None
) -> None:
    def show(found: list[StoredResult]) -> None:
        menu = _menu(button)
        for library in found:
            line = menu.addAction(library.title.replace("&", "&&"))
            line.setToolTip(library.source)
            line.setCheckable(True)
            line.setChecked(library.source in chosen)
            line.toggled.connect(partial(use, library.source))
        menu.addSeparator()
        menu.addAction(tr("Add a folder of documents…"), lambda: (leave(), context.open_pane("libraries").choose()))
        _open_above(menu, button)

    context.store.ask(lambda db: records.results(db, LIBRARY), show)


def open_tool_menu(
    context: AppContext,
    button: QWidget,
    chosen: Sequence[str],
    use: Use,
    leave: Callable[[], Any] = lambda: None,
    of_servers: Sequence[tuple[str, Callable[[], Any]]] = (),
) -> None:
    """`of_servers`: what can be done where a tool server is on."""

    def show(found: tuple[list[str], bool]) -> None:
        names, servers = found
        menu = _menu(button)
        for name in names:
            line = menu.addAction(tool_title(name).replace("&", "&&"))
            line.setCheckable(True)
            line.setChecked(name in chosen)
            line.toggled.connect(partial(use, name))
        menu.addSeparator()
        for title, run in of_servers if servers else ():
            menu.addAction(title, run)
        menu.addAction(tr("Add tools…"), lambda: (leave(), context.open_pane("settings").show_tools()))
        _open_above(menu, button)

    def names() -> tuple[list[str], bool]:
        tools = context.core.tools
        return tools.names(), any(one.enabled for one in tools.settings.servers())

    context.work.run(names, show, context.show_error)


def open_model_menu(button: QWidget, models: Sequence[str], chosen: Sequence[str], use: Use) -> None:
    menu = _menu(button)
    for name in models:
        line = menu.addAction(name.replace("&", "&&"))
        line.setCheckable(True)
        line.setChecked(name in chosen)
        line.toggled.connect(partial(use, name))
    if not models:
        menu.addAction(tr("There is no other model")).setEnabled(False)
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))


def _menu(button: QWidget) -> QMenu:
    menu = QMenu(button.parentWidget())
    menu.aboutToHide.connect(menu.deleteLater)
    return menu


def _open_above(menu: QMenu, button: QWidget) -> None:
    menu.popup(button.mapToGlobal(button.rect().topLeft()) - QPoint(0, menu.sizeHint().height()))
