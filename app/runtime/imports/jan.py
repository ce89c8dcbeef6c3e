"""Jan's threads: a folder for each, with `thread.json` and `messages.jsonl`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from app.runtime.imports.conversation import (
    ImportedConversation,
    ImportedFile,
    ImportedMessage,
    listed,
    picture,
    seconds,
    split_reasoning,
    text_of,
)


def is_one(found: Mapping[str, Any]) -> bool:
    return found.get("object") == "thread" or ("assistants" in found and "title" in found)


def conversation(found: Mapping[str, Any], lines: str) -> ImportedConversation:
    """`lines`: the thread's messages.jsonl. A message may be written again when it is edited: the last one counts."""
    written: dict[str, Mapping[str, Any]] = {}
    for line in lines.splitlines():
        if line.strip():
            message = json.loads(line)
            written[text_of(message["id"])] = message
    messages: list[ImportedMessage] = []
    system = next((str(one.get("instructions") or "") for one in listed(found.get("assistants"))), "")
    for id, message in written.items():
        if message["role"] == "system":
            system = _text(message)
        elif message["role"] in ("user", "assistant", "tool"):
            reasoning, text = split_reasoning(_text(message))
            files = tuple(_pictures(message))
            parent = messages[-1].id if messages else None
            created = seconds(message.get("created_at") or message.get("created"))
            messages.append(ImportedMessage(id, parent, message["role"], text, reasoning, (), files, created=created))
    model = next((one.get("model") for one in listed(found.get("assistants"))), None) or found.get("model") or {}
    created = seconds(found.get("created") or found.get("created_at"))
    return ImportedConversation(
        f"jan:{text_of(found['id'])}",
        str(found.get("title") or ""),
        tuple(messages),
        messages[-1].id if messages else None,
        str(model.get("id") or "") if isinstance(model, dict) else str(model),
        system,
        created,
        seconds(found.get("updated") or found.get("updated_at")) or created,
    )


def _text(message: Mapping[str, Any]) -> str:
    if isinstance(message["content"], str):
        return message["content"]
    texts = ((part.get("text") or {}).get("value") for part in listed(message["content"]) if part.get("type") == "text")
    return "\n\n".join(text for text in texts if isinstance(text, str))


def _pictures(message: Mapping[str, Any]) -> list[ImportedFile]:
    parts = message["content"] if isinstance(message["content"], list) else []
    addresses = [
        str((part.get("image_url") or {}).get("url") or "") for part in listed(parts) if part.get("type") == "image_url"
    ]
    return [file for at, address in enumerate(addresses, 1) if (file := picture(address, f"image-{at}")) is not None]
