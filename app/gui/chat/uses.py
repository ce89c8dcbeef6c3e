"""What a conversation uses beside its model, its project, libraries and tools: a menu to choose from, and a chip for each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.gui.chat.composer import Composer
from app.gui.chat.menus import open_library_menu, open_model_menu, open_tool_menu
from app.gui.chat.projects import ChatProjects
from app.gui.chat.server_items import ServerItemsDialog, open_server_items
from app.gui.pane import AppContext
from app.gui.texts import tr
from app.gui.viewmodels.chat.comparison import Comparison
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.chat.draft import MessageDraft
from app.gui.viewmodels.chat.project_form import summary
from app.gui.viewmodels.chat.server_items import ItemKind, ServerItems


class ConversationUses(QObject):
    def __init__(
        self,
        context: AppContext,
        talk: OpenConversation,
        composer: Composer,
        projects: ChatProjects,
        comparison: Comparison,
        draft: MessageDraft,
    ) -> None:
        super().__init__(composer)
        self._context, self._talk, self._composer, self._projects = context, talk, composer, projects
        self._comparison, self._draft = comparison, draft
        self.dialog: ServerItemsDialog | None = None  # that is open
        comparison.chosen.connect(self._show_compared)
        talk.configured.connect(self._show)

    def choose_libraries(self) -> None:
        open_library_menu(self._context, self._composer.libraries, self._talk.head.libraries, self._use_library)

    def choose_tools(self) -> None:
        more = ((tr("Attach a resource…"), self.attach_resource), (tr("Use a prompt…"), self.use_prompt))
        open_tool_menu(self._context, self._composer.tools, self._talk.head.tools, self._use_tool, of_servers=more)

    def attach_resource(self) -> None:
        self._open_items("resource")

    def use_prompt(self) -> None:
        self._open_items("prompt")

    def _open_items(self, kind: ItemKind) -> None:
        items = ServerItems(kind, self._context.work, lambda: self._context.core.tools, self._draft)
        self.dialog = open_server_items(self._composer, items)
        self.dialog.finished.connect(self._closed)

    def _closed(self) -> None:
        self.dialog = None
        self._composer.field.setFocus()

    def choose_compared(self, button: QWidget, models: Sequence[str]) -> None:
        """Other models, that answer the next message, too."""
        others = [name for name in models if name != self._talk.head.model]
        open_model_menu(button, others, self._comparison.others, self._comparison.use)

    def _show_compared(self) -> None:
        self._composer.show_compared(self._comparison.others, lambda model: self._comparison.use(model, False))

    def _use_library(self, folder: str, used: bool) -> None:
        self._talk.configure(libraries=_with(self._talk.head.libraries, folder, used))

    def _use_tool(self, name: str, used: bool) -> None:
        self._talk.configure(tools=_with(self._talk.head.tools, name, used))

    def _show(self) -> None:
        head = self._talk.head
        if (project := head.project) is not None:
            settings = partial(self._projects.show_settings, project.id)
            self._composer.show_project(project.name, summary(project), self._projects.leave, settings)
        else:
            self._composer.show_project("")
        self._composer.show_libraries(head.libraries, lambda folder: self._use_library(folder, False))
        self._composer.show_tools(head.tools, lambda name: self._use_tool(name, False))


def _with(others: tuple[str, ...], one: str, used: bool) -> tuple[str, ...]:
    left = tuple(other for other in others if other != one)
    return (*left, one) if used else left
