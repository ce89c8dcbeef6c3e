"""From the messages that are shown to those that a model reads, in OpenAI's shape."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.gui.store.messages import Attachment, Message


def for_model(system: str, path: Sequence[Message]) -> list[dict[str, Any]]:
    """Replies that failed before their first word are left out."""
    said: list[dict[str, Any]] = [{"role": "system", "content": system}] if system.strip() else []
    for message in path:
        if message.role == "assistant" and not (message.text or message.calls):
            continue
        said.append(_message(message))
    return said


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
