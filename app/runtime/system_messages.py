"""System messages behind the first turn, for models whose chat template takes one at the beginning only.

Agents put reminders into a conversation that way. A template that refuses or drops them is given the same text within the user's
turn beside it, so that the model reads it at the same place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Message = Mapping[str, Any]


def later_texts(messages: Sequence[Message]) -> list[str]:
    """The texts of system messages that are not the first message."""
    return [_text(message) for message in messages[1:] if message.get("role") == "system"]


def moved_into_user_turns(messages: Sequence[Message]) -> list[Message]:
    """System messages at the beginning are one; each later one is part of the user message before it, else of the one behind
    it, else a user message of its own."""
    out: list[Message] = []
    waiting = ""  # for the user message behind it
    for at, message in enumerate(messages):
        last = out[-1] if out else None
        if message.get("role") != "system":
            content = _joined(waiting, message.get("content")) if waiting else message.get("content")
            out.append({**message, "content": content} if waiting else message)
            waiting = ""
        elif last is None:
            out.append(message)
        elif last.get("role") == "system":
            out[-1] = {**last, "content": f"{_text(last)}\n\n{_text(message)}"}
        elif last.get("role") == "user":
            out[-1] = {**last, "content": _joined(last.get("content"), _marked(message))}
        elif at + 1 < len(messages) and messages[at + 1].get("role") == "user":
            waiting = _marked(message)
        else:
            out.append({"role": "user", "content": _marked(message)})
    return out


def _text(message: Message) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content or ""}]
    return "\n".join(str(part.get("text", "")) for part in parts)


def _marked(message: Message) -> str:
    return f"<system-reminder>\n{_text(message)}\n</system-reminder>"


def _joined(first: Any, second: Any) -> Any:
    """Contents of messages: texts, or lists of parts where there are images."""
    if isinstance(first, list) or isinstance(second, list):
        return [
            part
            for content in (first, second)
            for part in (content if isinstance(content, list) else [{"type": "text", "text": content or ""}])
        ]
    return "\n\n".join(filter(None, (first, second)))
