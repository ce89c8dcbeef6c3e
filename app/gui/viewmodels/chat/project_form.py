"""The settings of one project. Every change is stored at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from app.gui.store.database import release
from app.gui.store.messages import Attachment
from app.gui.store.projects import Project
from app.gui.store.worker import AppStore
from app.gui.texts import trn
from app.gui.viewmodels.chat.conversation_list import ConversationList
from app.gui.viewmodels.chat.draft import FileReading, attach
from app.gui.viewmodels.signal import Signal


class ProjectForm:
    """`changed`: a setting, or a file that is being read. `failed(sentence)`: a file cannot be used; an empty one: it can."""

    def __init__(
        self, project: Project, listed: ConversationList, store: AppStore, reading: FileReading, folder: Path
    ) -> None:
        """`folder` holds copies of the files."""
        self.project = project
        self.reading = 0
        self.changed, self.failed = Signal(), Signal()
        self._list, self._store, self._files, self._folder = listed, store, reading, folder

    def put(self, *then: Callable[[], Any], **values: Any) -> None:
        """`name`, `system`, `model`, `files`, `libraries` or `tools`."""
        if any(getattr(self.project, key) != value for key, value in values.items()):
            self.project = replace(self.project, **values)
            self._list.configure_project(self.project.id, *then, **values)
            self.changed()

    def use(self, kind: str, one: str, used: bool) -> None:
        """A library or a tool, from now on or no longer."""
        left = tuple(other for other in getattr(self.project, kind) if other != one)
        self.put(**{kind: (*left, one) if used else left})

    def add_files(self, files: Sequence[Path]) -> None:
        self.failed("")
        for file in files:
            self.reading += 1
            self._files.begin(partial(attach, file, self._folder), self._taken, self._refused)
        self.changed()

    def remove_file(self, file: Attachment) -> None:
        left = tuple(other for other in self.project.files if other != file)
        self.put(lambda: self._store.drop_files(file.path), files=left)

    def _taken(self, file: Attachment) -> None:
        self.reading -= 1
        self.put(lambda: release(file.path), files=(*self.project.files, file))

    def _refused(self, sentence: str) -> None:
        self.reading -= 1
        self.changed()
        self.failed(sentence)


def summary(project: Project) -> str:
    """What a project gives to its conversations, in a line."""
    parts = [
        trn("{n} file", "{n} files", len(project.files)) if project.files else "",
        trn("{n} library", "{n} libraries", len(project.libraries)) if project.libraries else "",
        trn("{n} tool", "{n} tools", len(project.tools)) if project.tools else "",
    ]
    return " · ".join(filter(None, [project.name, *parts]))
