"""Claude's export: `conversations.json`, each conversation a list of `chat_messages` that name the one before them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.runtime.imports.conversation import (
    ImportedCall,
    ImportedConversation,
    ImportedFile,
    ImportedMessage,
    ImportedTree,
    listed,
    seconds,
    text_of,
)
from app.runtime.imports.export_file import ExportFile

_ROLES = {"human": "user", "assistant": "assistant"}


def is_one(found: Mapping[str, Any]) -> bool:
    return isinstance(found.get("chat_messages"), list)


def conversation(found: Mapping[str, Any], export: ExportFile) -> ImportedConversation:
    tree = ImportedTree()
    before: str | None = None
    for message in found["chat_messages"]:
        id = text_of(message["uuid"])
        parent = message.get("parent_message_uuid", before)  # older exports have no branches, and do not say
        tree.add(id, parent, _message(id, message, export))
        before = id
    last = found.get("current_leaf_message_uuid")
    return ImportedConversation(
        f"claude:{text_of(found['uuid'])}",
        str(found.get("name") or ""),
        tree.messages(),
        tree.shown(last if last in tree.nodes else before),
        str(found.get("model") or ""),
        "",
        seconds(found.get("created_at")),
        seconds(found.get("updated_at")),
        bool(found.get("is_starred")),
    )


def _message(id: str, message: Mapping[str, Any], export: ExportFile) -> ImportedMessage | None:
    role = _ROLES[message["sender"]]
    texts, thoughts, calls = [], [], []
    for part in listed(message.get("content")):
        kind = part.get("type")
        if kind == "text":
            texts.append(text_of(part["text"]))
        elif kind == "thinking":
            thoughts.append(text_of(part.get("thinking")))
        elif kind == "tool_use":
            calls.append(
                ImportedCall(
                    text_of(part["name"]), json.dumps(part.get("input"), ensure_ascii=False), str(part.get("id") or "")
                )
            )
        elif kind == "tool_result":
            texts += [one["text"] for one in listed(part.get("content")) if isinstance(one.get("text"), str)]
    text = "\n\n".join(texts) if texts else str(message.get("text") or "")
    files = [_file(one, export) for name in ("attachments", "files", "files_v2") for one in listed(message.get(name))]
    known = {file.name: file for file in reversed(files) if file.name}  # both lists may name one file
    if not (text or thoughts or calls or known):
        return None
    return ImportedMessage(
        id, None, role, text, "\n\n".join(thoughts), tuple(calls), tuple(known.values()), created=seconds(message.get("created_at"))  # type: ignore[arg-type]
    )  # fmt: skip


def _file(one: Mapping[str, Any], export: ExportFile) -> ImportedFile:
    name = str(one.get("file_name") or one.get("file_uuid") or "")
    where = next((found for key in ("file_uuid", "id") if one.get(key) and (found := export.find(str(one[key])))), None)
    if where is not None:
        return ImportedFile(name, lambda: export.read(where))
    return ImportedFile(name, text=str(one.get("extracted_content") or ""))
