"""LM Studio's conversations: `*.conversation.json`, each message a list of versions, of which one is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.runtime.imports.conversation import (
    ImportedConversation,
    ImportedFile,
    ImportedMessage,
    ImportedRole,
    listed,
    seconds,
    text_of,
)
from app.runtime.imports.export_file import ExportFile


def is_one(found: Mapping[str, Any]) -> bool:
    messages = found.get("messages")
    return (
        isinstance(messages, list)
        and all(isinstance(one, dict) and "versions" in one for one in messages)
        and "name" in found
    )


def conversation(found: Mapping[str, Any], export: ExportFile, name: str) -> ImportedConversation:
    """`name` is the file's: LM Studio writes no id into it."""
    messages: list[ImportedMessage] = []
    parent: str | None = None
    for place, message in enumerate(found["messages"]):
        versions = message["versions"]
        chosen = int(message.get("currentlySelected") or 0)
        if not 0 <= chosen < len(versions):
            raise ValueError("the version that is shown is missing")
        made = [_message(f"{place}.{at}", parent, one, export) for at, one in enumerate(versions)]
        messages += [one for one in made if one is not None]
        shown = made[chosen]
        parent = parent if shown is None else shown.id  # what follows hangs on the version that is shown
    model = (found.get("lastUsedModel") or {}).get("identifier") or ""
    created = seconds(found.get("createdAt"))
    return ImportedConversation(
        f"lmstudio:{name.rpartition('/')[2].partition('.')[0]}:{found.get('createdAt')}",
        str(found.get("name") or ""),
        tuple(messages),
        parent,
        str(model),
        str(found.get("systemPrompt") or ""),
        created,
        seconds(found.get("assistantLastMessagedAt")) or seconds(found.get("userLastMessagedAt")) or created,
        bool(found.get("pinned")),
    )


def _message(id: str, parent: str | None, version: Mapping[str, Any], export: ExportFile) -> ImportedMessage | None:
    role: ImportedRole = "user" if version["role"] == "user" else "assistant"
    if version["role"] not in ("user", "assistant"):
        return None
    texts: list[str] = []
    thoughts: list[str] = []
    files: list[ImportedFile] = []
    model = str((version.get("senderInfo") or {}).get("senderName") or "")
    blocks = listed(version["steps"]) if version.get("type") == "multiStep" else iter([version])
    for block in blocks:
        thinks = (block.get("style") or {}).get("type") == "thinking"
        for part in listed(block.get("content")):
            if part.get("type") == "text":
                (thoughts if thinks else texts).append(text_of(part["text"]))
            elif part.get("type") == "file":
                files.append(_file(part, export))
    text = "\n\n".join(part for part in texts if part)
    if not (text or thoughts or files):
        return None
    return ImportedMessage(
        id, parent, role, text, "".join(thoughts).strip(), (), tuple(files), model if role == "assistant" else ""
    )


def _file(part: Mapping[str, Any], export: ExportFile) -> ImportedFile:
    name = text_of(part["fileIdentifier"])
    where = export.find(name)
    return ImportedFile(name) if where is None else ImportedFile(name, lambda: export.read(where))
