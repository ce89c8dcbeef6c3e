"""Open WebUI's export: a list of chats, each with a history of messages that name their parents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.runtime.imports.conversation import (
    ImportedConversation,
    ImportedFile,
    ImportedMessage,
    ImportedTree,
    listed,
    picture,
    seconds,
    split_reasoning,
    text_of,
)


def is_one(found: Mapping[str, Any]) -> bool:
    chat = found.get("chat")
    return isinstance(chat, dict) and ("history" in chat or "messages" in chat)


def conversation(found: Mapping[str, Any]) -> ImportedConversation:
    chat = found["chat"]
    history = chat.get("history") or {}
    messages = history.get("messages")
    if not isinstance(messages, dict):  # the oldest exports have the branch that is shown alone
        ids = [str(one.get("id") or at) for at, one in enumerate(chat["messages"])]
        messages = {id: {**one, "parentId": before} for id, one, before in zip(ids, chat["messages"], [None, *ids])}
        history = {"currentId": ids[-1] if ids else None}
    tree = ImportedTree()
    system = str(chat.get("system") or (chat.get("params") or {}).get("system") or "")
    for id, message in messages.items():
        role = message["role"]
        if role == "system":
            system = system or text_of(message["content"])
        tree.add(
            str(id), message.get("parentId"), _message(str(id), message) if role in ("user", "assistant") else None
        )
    models = [name for name in chat.get("models") or () if isinstance(name, str)]
    return ImportedConversation(
        f"openwebui:{text_of(found.get('id') or chat.get('id'))}",
        str(found.get("title") or chat.get("title") or ""),
        tree.messages(),
        tree.shown(history.get("currentId")),
        models[0] if models else "",
        system,
        seconds(found.get("created_at") or chat.get("timestamp")),
        seconds(found.get("updated_at")),
        bool(found.get("pinned")),
    )


def _message(id: str, message: Mapping[str, Any]) -> ImportedMessage | None:
    content = message["content"]
    if isinstance(content, list):
        content = "\n\n".join(text_of(part["text"]) for part in listed(content) if part.get("type") == "text")
    text, reasoning = text_of(content), ""
    if message["role"] == "assistant":
        reasoning, text = split_reasoning(text)
    files = tuple(_file(one, at) for at, one in enumerate(listed(message.get("files")), 1))
    if not (text or reasoning or files):
        return None
    model = message.get("model") if message["role"] == "assistant" else ""
    return ImportedMessage(
        id, None, message["role"], text, reasoning, (), files, str(model or ""), seconds(message.get("timestamp"))
    )


def _file(one: Mapping[str, Any], at: int) -> ImportedFile:
    """Pictures are in the export as a whole, of documents their text."""
    inner = one.get("file") or {}
    name = str(one.get("name") or inner.get("filename") or one.get("id") or f"file-{at}")
    shown = picture(str(one.get("url") or ""), f"image-{at}")
    return shown or ImportedFile(name, text=str((inner.get("data") or {}).get("content") or ""))
