"""Finds out which application an export is from, and reads its conversations one by one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.runtime.imports import chatgpt, claude, jan, lmstudio, openwebui
from app.runtime.imports.conversation import ImportedConversation, UnreadableConversation
from app.runtime.imports.export_file import ExportFile
from engine.errors import BadRequest, ErrorText

_LISTS = re.compile(r"(?:^|/)conversations(?:[-_]\d+)?\.json$")
_LMSTUDIO = ".conversation.json"
_THREAD = re.compile(r"(?:^|/)thread\.json$")
_WRONG = (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError)


@dataclass(frozen=True)
class _Entry:
    title: str
    make: Callable[[], ImportedConversation]


class Export:
    """`total` conversations, from `application`. Close it when its files were read."""

    def __init__(self, file: Path) -> None:
        self._export = ExportFile(file)
        self.application = ""
        self._entries = [entry for name in self._wanted() for entry in self._of_file(name)]
        if not self._entries:
            self._export.close()
            raise BadRequest(
                ErrorText(
                    "{file} is no export of ChatGPT, Claude, LM Studio, Jan or Open WebUI that can be read.",
                    file=file.name,
                ),
                "file",
            )

    @property
    def total(self) -> int:
        return len(self._entries)

    def close(self) -> None:
        self._export.close()

    def conversations(self) -> Iterator[ImportedConversation | UnreadableConversation]:
        """In the order of the export. One that is malformed is named; the others are not harmed."""
        for entry in self._entries:
            try:
                made = entry.make()
                yield made if made.messages else UnreadableConversation(entry.title)
            except _WRONG:
                yield UnreadableConversation(entry.title)

    def _wanted(self) -> list[str]:
        """The files that hold conversations."""
        names = [name for name in self._export.names if not name.startswith("__MACOSX/")]
        known = [name for name in names if _LISTS.search(name) or name.endswith(_LMSTUDIO) or _THREAD.search(name)]
        return known or [name for name in names if name.endswith(".json")]

    def _of_file(self, name: str) -> Iterator[_Entry]:
        try:
            found = json.loads(self._export.text(name))
        except (ValueError, RecursionError):
            yield _Entry(name, _malformed)
            return
        if isinstance(found, dict) and isinstance(found.get("conversations"), list):
            found = found["conversations"]
        for at, one in enumerate(found if isinstance(found, list) else [found]):
            if (entry := self._entry(name, at, one)) is not None:
                yield entry

    def _entry(self, name: str, at: int, one: Any) -> _Entry | None:
        """None: this file holds something else."""
        if not isinstance(one, dict):
            return _Entry(f"{name}, {at + 1}", _malformed) if _LISTS.search(name) else None
        title = str(one.get("title") or one.get("name") or f"{name}, {at + 1}")
        export = self._export
        if chatgpt.is_one(one):
            self.application = "ChatGPT"
            return _Entry(title, lambda: chatgpt.conversation(one, export))
        if claude.is_one(one):
            self.application = "Claude"
            return _Entry(title, lambda: claude.conversation(one, export))
        if openwebui.is_one(one):
            self.application = "Open WebUI"
            return _Entry(title, lambda: openwebui.conversation(one))
        if _THREAD.search(name) and jan.is_one(one):
            self.application = "Jan"
            return _Entry(
                title, lambda: jan.conversation(one, export.text(f"{name[: -len('thread.json')]}messages.jsonl"))
            )
        if lmstudio.is_one(one):
            self.application = "LM Studio"
            return _Entry(title, lambda: lmstudio.conversation(one, export, name))
        return (
            _Entry(title, _malformed)
            if _LISTS.search(name) or name.endswith(_LMSTUDIO) or _THREAD.search(name)
            else None
        )


def _malformed() -> ImportedConversation:
    raise ValueError("not a conversation")


def is_export(file: Path) -> bool:
    """Whether the file is one of these exports, as far as its beginning shows: a conversation that Grus wrote is none."""
    try:
        export = Export(file)
    except (BadRequest, OSError, ValueError):
        return False
    export.close()
    return bool(export.application)
