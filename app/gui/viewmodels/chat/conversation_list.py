"""The list of conversations: sections, search, and the actions on a conversation that is not open."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from app.gui.store import conversations, projects
from app.gui.store.conversations import ConversationSummary
from app.gui.store.projects import Project
from app.gui.store.worker import AppStore
from app.gui.texts import tr
from app.gui.viewmodels.signal import Signal


@dataclass(frozen=True)
class ConversationLine:
    """A heading, or a conversation. A project's heading knows its project."""

    title: str
    conversation: ConversationSummary | None = None
    project: Project | None = None

    @property
    def heading(self) -> bool:
        return self.conversation is None


class ConversationList:
    """`changed`: `lines` changed."""

    def __init__(self, store: AppStore, say: Callable[..., Any], today: Callable[[], datetime.date]) -> None:
        self._store, self._say, self._today = store, say, today
        self.changed, self.deleted, self.restored = Signal(), Signal(), Signal()
        self.words = ""
        self.all: list[ConversationSummary] = []
        self.projects: list[Project] = []
        self.lines: list[ConversationLine] = []
        self._asked = 0

    def look(self, then: Callable[[], Any] = lambda: None) -> None:
        """Reload the list."""
        self._asked += 1
        asked, words = self._asked, self.words

        def got(answer: tuple[list[ConversationSummary], list[Project]]) -> None:
            if asked == self._asked:
                self.all, self.projects = answer
                self.lines = self._sorted()
                self.changed()
                then()

        self._store.ask(lambda db: (conversations.search(db, words), projects.listed(db)), got)

    def search(self, words: str) -> None:
        if words != self.words:
            self.words = words
            self.look()

    def neighbour(self, id: int | None, by: int) -> int | None:
        """The conversation above (-1) or below (+1) in the list."""
        shown = [line.conversation.id for line in self.lines if line.conversation is not None]
        if not shown:
            return None
        if id not in shown:
            return shown[0]
        return shown[min(len(shown) - 1, max(0, shown.index(id) + by))]

    # -- what can be done

    def rename(self, id: int, title: str) -> None:
        title = " ".join(title.split())
        if title:
            self._do(lambda db: conversations.rename(db, id, title))

    def pin(self, id: int, pinned: bool) -> None:
        self._do(lambda db: conversations.pin(db, id, pinned))

    def move(self, id: int, project: int | None) -> None:
        self._do(lambda db: conversations.move(db, id, project))

    # -- projects

    def project(self, id: int | None) -> Project | None:
        return next((project for project in self.projects if project.id == id), None)

    def add_project(self, name: str, then: Callable[[int], Any], conversation: int | None = None) -> None:
        """`then(project)` when it is in the list. `conversation`: is moved into it."""

        def add(db: Any) -> int:
            project = projects.create(db, name)
            if conversation is not None:
                conversations.move(db, conversation, project)
            return project

        if name.strip():
            self._store.ask(add, lambda project: self.look(partial(then, project)))

    def configure_project(self, id: int, then: Callable[[], Any] = lambda: None, **values: Any) -> None:
        """`name`, `system`, `model`, `files`, `libraries` or `tools`; a project without a name keeps the one it has."""
        values |= {"name": " ".join(values["name"].split())} if "name" in values else {}
        if values.get("name", "-"):
            self._store.ask(lambda db: projects.configure(db, id, **values), lambda _: self.look(then))

    def remove_project(self, id: int) -> None:
        """Its conversations stay; the sentence that says so has an Undo."""

        def done(_: None) -> None:
            self.look()
            back = (tr("Undo"), lambda: self._do(lambda db: projects.restore(db, id)))
            self._say(tr("The project was removed. Its conversations are still here."), undo=back)

        self._store.delete(lambda db: projects.delete(db, id), done)

    def duplicate(self, id: int, then: Callable[[int], Any] | None = None) -> None:
        title = next((line.title for line in self.all if line.id == id), "")
        name = tr("{title} (copy)", title=title)

        def done(copy: int) -> None:
            self.look()
            if then is not None:
                then(copy)

        self._store.ask(lambda db: conversations.duplicate(db, id, name), done)

    def delete(self, id: int) -> None:
        """Gone from the list; the sentence that says so has an Undo."""
        title = next((line.title for line in self.all if line.id == id), "")

        def done(_: None) -> None:
            self.look()
            self.deleted(id)
            back = (tr("Undo"), lambda: self.take_back(id))
            self._say(tr("“{title}” was deleted.", title=title), undo=back)

        self._store.delete(lambda db: conversations.delete(db, id), done)

    def take_back(self, id: int) -> None:
        def done(there: bool) -> None:
            self.look()
            if there:
                self.restored(id)

        self._store.ask(lambda db: conversations.restore(db, id), done)

    def forget(self) -> None:
        """Everything was deleted."""
        self._asked += 1  # what is still on its way was read before
        self.words, self.all, self.projects, self.lines = "", [], [], []
        self.changed()

    def _do(self, change: Callable[[Any], Any]) -> None:
        self._store.ask(change, lambda _: self.look())

    # -- sections

    def _sorted(self) -> list[ConversationLine]:
        if self.words.split():
            found = [ConversationLine(summary.title, summary) for summary in self.all]
            return [ConversationLine(tr("Results")), *found] if found else []
        lines: list[ConversationLine] = []
        pinned = [s for s in self.all if s.pinned]
        if pinned:
            lines += [ConversationLine(tr("Pinned")), *(ConversationLine(s.title, s) for s in pinned)]
        for project in self.projects:
            inside = [s for s in self.all if s.project == project.id and not s.pinned]
            lines += [ConversationLine(project.name, project=project), *(ConversationLine(s.title, s) for s in inside)]
        section, there = "", {project.id for project in self.projects}
        for summary in self.all:
            if summary.pinned or summary.project in there:
                continue
            name = self._age(summary.changed)
            if name != section:
                lines.append(ConversationLine(name))
                section = name
            lines.append(ConversationLine(summary.title, summary))
        return lines

    def _age(self, changed: float) -> str:
        days = (self._today() - datetime.date.fromtimestamp(changed)).days
        if days <= 0:
            return tr("Today")
        if days == 1:
            return tr("Yesterday")
        if days < 7:
            return tr("This week")
        if days < 31:
            return tr("This month")
        return tr("Earlier")
