"""What a model reads of a conversation: the branch that is shown, as messages in OpenAI's shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from app.gui.store.messages import Attachment, StoredMessage, ToolUse
from app.gui.store.projects import Project
from app.gui.viewmodels.chat import guide

FILE_BEGINS = '<file name="'


def for_model(system: str, path: Sequence[StoredMessage], project: Project | None = None) -> list[dict[str, Any]]:
    """Replies that ended before their first word are left out. What was said around one is one message: many templates want
    a reply after each. The instructions of the project come first, its files with the first message."""
    if project is not None:
        system = "\n\n".join(filter(None, (project.system.strip(), system.strip())))
        path = _with_files(path, project.files)
    history: list[dict[str, Any]] = [{"role": "system", "content": system}] if system.strip() else []
    for message in path:
        if message.role == "assistant" and not (message.text or message.calls):
            continue
        for made in _message(message):
            if message.role == "assistant" and guide.is_guide(message.model):
                made["content"] = guide.as_given(message.text)
            if history and made["role"] == "user" == history[-1]["role"]:
                made["content"] = _together(history.pop()["content"], made["content"])
            history.append(made)
    return history


def _with_files(path: Sequence[StoredMessage], files: Sequence[Attachment]) -> list[StoredMessage]:
    first = next((at for at, message in enumerate(path) if message.role == "user"), len(path))
    return [
        replace(message, attachments=(*files, *message.attachments)) if at == first else message
        for at, message in enumerate(path)
    ]


def _together(before: str | list[dict[str, Any]], after: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if isinstance(before, str) and isinstance(after, str):
        return f"{before}\n\n{after}"
    return [*_parts(before), *_parts(after)]


def _parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def rounds_of(message: StoredMessage) -> list[tuple[str, list[ToolUse]]]:
    """A reply as what was said and called, one pair for each time that the model was asked. The last has no calls where it answered."""
    found: list[tuple[str, list[ToolUse]]] = []
    start = 0
    for _, group in groupby(message.calls, lambda call: call.round):
        calls = list(group)
        end = calls[0].at if calls[0].outcome else len(message.text)
        found.append((message.text[start:end].lstrip("\n") if start else message.text[:end], calls))
        start = end
    rest = message.text[start:]
    return [*found, (rest.lstrip("\n") if found else rest, [])] if rest or not found else found


def _message(message: StoredMessage) -> Iterator[dict[str, Any]]:
    if message.role == "user":
        yield {"role": "user", "content": _with_attachments(message)}
        return
    if message.role == "tool":
        yield {"role": "tool", "content": message.text}
        return
    for text, calls in rounds_of(message):
        made: dict[str, Any] = {"role": "assistant", "content": text}
        if calls:
            made["tool_calls"] = [
                {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
                for call in calls
            ]
        yield made
        for call in calls:
            if call.outcome:
                yield {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": _result(call)}


def _result(call: ToolUse) -> str:
    """As the model read it. The markers of its template are taken apart when it is known which model reads."""
    from app.runtime.tools.loop import STOPPED, from_outside

    if call.outcome in ("made", "failed"):
        return from_outside(call.label or call.name, call.result, ())
    return call.result or STOPPED


def _with_attachments(message: StoredMessage) -> str | list[dict[str, Any]]:
    """Files that have words come before the message, as words; pictures, and sounds without words, as parts of their own."""
    text = "\n\n".join([*(_words(file) for file in message.attachments if file.text), message.text]).strip()
    kinds = {"image": "image", "sound": "audio"}
    parts: list[dict[str, Any]] = [
        {"type": kinds[file.kind], kinds[file.kind]: Path(file.path)}
        for file in message.attachments
        if file.kind == "image" or (file.kind == "sound" and not file.text)
    ]
    return [*parts, {"type": "text", "text": text}] if parts else text


def _words(file: Attachment) -> str:
    return f'{FILE_BEGINS}{file.name}">\n{file.text}\n</file>'
