"""From the messages that are shown to those that a model reads, in OpenAI's shape."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.gui.store.messages import Attachment, Message


def for_model(system: str, path: Sequence[Message]) -> list[dict[str, Any]]:
    """Replies that ended before their first word are left out. What was said around one is one message: many templates want
    a reply after each."""
    said: list[dict[str, Any]] = [{"role": "system", "content": system}] if system.strip() else []
    for message in path:
        if message.role == "assistant" and not (message.text or message.calls):
            continue
        made = _message(message)
        if said and made["role"] == "user" == said[-1]["role"]:
            made["content"] = _together(said.pop()["content"], made["content"])
        said.append(made)
    return said


def _together(before: str | list[dict[str, Any]], after: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if isinstance(before, str) and isinstance(after, str):
        return f"{before}\n\n{after}"
    return [*_parts(before), *_parts(after)]


def _parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _message(message: Message) -> dict[str, Any]:
    if message.role == "user":
        return {"role": "user", "content": _with_attachments(message)}
    made: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        made["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    return made


def _with_attachments(message: Message) -> str | list[dict[str, Any]]:
    """Files that have words come before the message, as words; pictures as parts of their own."""
    text = "\n\n".join([*(_words(file) for file in message.attachments if file.text), message.text]).strip()
    pictures = [file for file in message.attachments if file.kind == "image"]
    if not pictures:
        return text
    parts: list[dict[str, Any]] = [{"type": "image", "image": Path(file.path)} for file in pictures]
    return [*parts, {"type": "text", "text": text}]


def _words(file: Attachment) -> str:
    return f'<file name="{file.name}">\n{file.text}\n</file>'
