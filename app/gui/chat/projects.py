"""Projects in the chat pane: new ones, their settings, and which one the open conversation is in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QWidget

from app.gui.chat.project_dialog import ProjectDialog
from app.gui.pane import AppContext
from app.gui.texts import tr
from app.gui.viewmodels.chat.conversation import OpenConversation
from app.gui.viewmodels.chat.conversation_list import ConversationList
from app.gui.viewmodels.chat.draft import FileReading
from app.gui.viewmodels.chat.project_form import ProjectForm


class ChatProjects:
    def __init__(
        self,
        context: AppContext,
        talk: OpenConversation,
        listed: ConversationList,
        parent: QWidget,
        models: Callable[[], Sequence[str]],
    ) -> None:
        """`models`: the names of those that a project can begin with."""
        self._context, self._talk, self._list, self._parent, self._models = context, talk, listed, parent, models
        listed.changed.connect(self._follow)

    def add(self) -> None:
        """A new one, and its settings."""
        self._list.add_project(tr("New project"), self.show_settings)

    def show_settings(self, id: int) -> None:
        if (project := self._list.project(id)) is None:
            return
        context = self._context
        reading = FileReading(context.store, context.work, context.core.transcribe)
        form = ProjectForm(project, self._list, context.store, reading, context.places.attachments)
        dialog = ProjectDialog(self._parent, context, form, list(self._models()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        dialog.name.setFocus()
        dialog.name.selectAll()

    def show_own_settings(self) -> None:
        """Of the project that the conversation is in; a new project for it where it is in none."""
        if (project := self._talk.head.project) is not None:
            self.show_settings(project.id)
        else:
            self._list.add_project(tr("New project"), self._enter, self._talk.id)

    def leave(self) -> None:
        """Take the conversation out of its project."""
        if (id := self._talk.id) is not None:
            self._list.move(id, None)
        else:
            self._talk.take_project(None)

    def _enter(self, id: int) -> None:
        self._talk.take_project(self._list.project(id))
        self.show_settings(id)

    def _follow(self) -> None:
        """The open conversation was moved, or its project has other settings."""
        listed, talk = self._list, self._talk
        summary = next((line for line in listed.all if line.id == talk.id), None)
        if summary is not None:
            talk.take_project(listed.project(summary.project))
        elif talk.id is None and talk.head.project is not None:
            talk.take_project(listed.project(talk.head.project.id))
