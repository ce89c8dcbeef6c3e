"""ChatGPT's export: `conversations.json` (or several, numbered), each conversation a `mapping` of nodes; pictures lie beside it."""

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
)
from app.runtime.imports.export_file import ExportFile

_HIDDEN = "is_visually_hidden_from_conversation"
_INSTRUCTIONS = "user_editable_context"


def is_one(found: Mapping[str, Any]) -> bool:
    return isinstance(found.get("mapping"), dict)


def conversation(found: Mapping[str, Any], export: ExportFile) -> ImportedConversation:
    tree = ImportedTree()
    system = ""
    for id, node in found["mapping"].items():
        message = node.get("message")
        made, reasoning = None, ""
        if message is not None:
            made, reasoning = _message(str(id), message, export)
            system = system or _system(message)
        tree.add(str(id), node.get("parent"), made, reasoning)
    return ImportedConversation(
        f"chatgpt:{found.get('conversation_id') or found['id']}",
        str(found.get("title") or ""),
        tree.messages(),
        tree.shown(found.get("current_node")),
        str(found.get("default_model_slug") or ""),
        system,
        seconds(found.get("create_time")),
        seconds(found.get("update_time")),
        bool(found.get("is_starred") or found.get("pinned_time")),
    )


def _system(message: Mapping[str, Any]) -> str:
    """Instructions that the person had written: of the conversation or of a GPT."""
    content, hidden = message["content"], (message.get("metadata") or {}).get(_HIDDEN)
    if message["author"]["role"] != "system" and content.get("content_type") != _INSTRUCTIONS:
        return ""
    if content.get("content_type") == _INSTRUCTIONS:
        return "\n\n".join(text for name in ("user_profile", "user_instructions") if (text := content.get(name)))
    return "" if hidden else "\n".join(part for part in content.get("parts") or () if isinstance(part, str)).strip()


def _message(id: str, message: Mapping[str, Any], export: ExportFile) -> tuple[ImportedMessage | None, str]:
    """The message, or None where it is not shown; and what was thought before it."""
    role, content, about = message["author"]["role"], message["content"], message.get("metadata") or {}
    kind = content.get("content_type")
    if kind == "thoughts":
        thoughts = (
            f"{one.get('summary') or ''}\n{one.get('content') or ''}".strip() for one in listed(content.get("thoughts"))
        )
        return None, "\n\n".join(thoughts)
    if role not in ("user", "assistant", "tool") or kind in (
        _INSTRUCTIONS,
        "model_editable_context",
        "reasoning_recap",
    ):
        return None, ""
    text, files = _content(content, export)
    for one in listed(about.get("attachments")):
        if not any(one.get("id") and str(one["id"]) in file.name for file in files):
            files += _file(str(one.get("id") or ""), str(one.get("name") or ""), export)
    calls: tuple[ImportedCall, ...] = ()
    recipient = message.get("recipient") or "all"
    if role == "assistant" and recipient != "all":
        calls, text = (ImportedCall(str(recipient), text if _is_json(text) else json.dumps({"input": text}), id),), ""
    if about.get(_HIDDEN) or not (text or files or calls):
        return None, ""
    created, model = seconds(message.get("create_time")), str(about.get("model_slug") or "")
    return ImportedMessage(id, None, role, text, "", calls, files, model if role == "assistant" else "", created), ""


def _content(content: Mapping[str, Any], export: ExportFile) -> tuple[str, tuple[ImportedFile, ...]]:
    texts: list[str] = []
    files: tuple[ImportedFile, ...] = ()
    for part in content.get("parts") or ():
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and part.get("asset_pointer"):
            files += _file(str(part["asset_pointer"]).rpartition("/")[2], "", export)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):  # what was said in a spoken conversation
            texts.append(part["text"])
    # "text" is that of code, "result" what it gave
    texts += [content[name] for name in ("text", "result") if isinstance(content.get(name), str)]
    return "\n\n".join(text for text in texts if text.strip()).strip(), files


def _file(id: str, name: str, export: ExportFile) -> tuple[ImportedFile, ...]:
    """By the beginning of its name in the export; where it is not in there, its name is all that is left."""
    where = export.find(id) if id else None
    if where is None:
        return (ImportedFile(name),) if name else ()
    return (ImportedFile(name or where.rpartition("/")[2], lambda: export.read(where)),)


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
