"""What a conversation uses beside its model, libraries and tools: a menu to choose from, and a chip for each."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QPoint
from PySide6.QtWidgets import QMenu, QWidget

from app.gui.chat.composer import Composer
from app.gui.pane import AppContext
from app.gui.store import records
from app.gui.store.records import LIBRARY, StoredResult
from app.gui.texts import tr
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.chat.message_views import tool_title


class ConversationUses(QObject):
    def __init__(self, context: AppContext, talk: OpenConversation, composer: Composer) -> None:
        super().__init__(composer)
        self._context, self._talk, self._composer = context, talk, composer
        talk.configured.connect(self._show)

    def choose_libraries(self) -> None:
        def show(found: list[StoredResult]) -> None:
            menu = self._menu()
            for library in found:
                line = menu.addAction(library.title.replace("&", "&&"))
                line.setToolTip(library.source)
                line.setCheckable(True)
                line.setChecked(library.source in self._talk.head.libraries)
                line.toggled.connect(partial(self._use_library, library.source))
            menu.addSeparator()
            add = tr("Add a folder of documents…")
            menu.addAction(add, lambda: self._context.open_pane("libraries").choose())
            _open_above(menu, self._composer.libraries)

        self._context.store.ask(lambda db: records.results(db, LIBRARY), show)

    def choose_tools(self) -> None:
        def show(names: list[str]) -> None:
            menu = self._menu()
            for name in names:
                line = menu.addAction(tool_title(name).replace("&", "&&"))
                line.setCheckable(True)
                line.setChecked(name in self._talk.head.tools)
                line.toggled.connect(partial(self._use_tool, name))
            menu.addSeparator()
            menu.addAction(tr("Add tools…"), lambda: self._context.open_pane("settings").show_tools())
            _open_above(menu, self._composer.tools)

        self._context.work.run(lambda: self._context.core.tools.names(), show, self._context.show_error)

    def _menu(self) -> QMenu:
        menu = QMenu(self._composer)
        menu.aboutToHide.connect(menu.deleteLater)
        return menu

    def _use_library(self, folder: str, used: bool) -> None:
        self._talk.configure(libraries=_with(self._talk.head.libraries, folder, used))

    def _use_tool(self, name: str, used: bool) -> None:
        self._talk.configure(tools=_with(self._talk.head.tools, name, used))

    def _show(self) -> None:
        head = self._talk.head
        self._composer.show_libraries(head.libraries, lambda folder: self._use_library(folder, False))
        self._composer.show_tools(head.tools, lambda name: self._use_tool(name, False))


def _with(others: tuple[str, ...], one: str, used: bool) -> tuple[str, ...]:
    left = tuple(other for other in others if other != one)
    return (*left, one) if used else left


def _open_above(menu: QMenu, button: QWidget) -> None:
    menu.popup(button.mapToGlobal(button.rect().topLeft()) - QPoint(0, menu.sizeHint().height()))
