"""Export and import of conversations: Markdown, HTML (which is printed as PDF) and JSON with every branch. Works on strings, not files."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any

from app.gui.store.conversations import ConversationHead
from app.gui.store.messages import Attachment, GivenPassage, ReplyStatistics, StoredMessage, ToolUse
from app.gui.texts import tr
from app.gui.viewmodels.chat.highlight import draw
from app.gui.viewmodels.chat.history import rounds_of
from app.gui.viewmodels.chat.markdown import Formula, as_source, filled, pieces
from app.gui.viewmodels.chat.message_views import FROM_TOOL, call_title
from engine.errors import BadRequest

FORMAT = "grus-conversation"
VERSION = 1
SIZE = 16.0  # of formulas, in pixels
_ROLES = ("user", "assistant", "tool")


def speaker(message: StoredMessage) -> str:
    if message.role == "user":
        return tr("You")
    if message.role == "tool":
        return tr("Tool")
    return message.model or tr("Reply")


def as_markdown(head: ConversationHead, path: Sequence[StoredMessage]) -> str:
    """The branch that is shown."""
    parts = [f"# {head.title}"]
    if head.system:
        parts.append("\n".join(f"> {line}" for line in head.system.splitlines()))
    for message in path:
        parts.append(f"## {speaker(message)}")
        parts += [f"*{file.name}*" for file in message.attachments]
        if message.reasoning:
            parts.append(f"<details><summary>{tr('Reasoning')}</summary>\n\n{message.reasoning}\n\n</details>")
        for text, calls in rounds_of(message):
            parts += [text] if text.strip() else []
            parts += map(_call_as_markdown, calls)
    return "\n\n".join(parts) + "\n"


def _call_as_markdown(call: ToolUse) -> str:
    asked = f"```json\n{call.name} {call.arguments}\n```"
    if not call.outcome:
        return asked
    title = f"<summary>{escape(call_title(call))}</summary>"
    shown = f"\n\n{tr(FROM_TOOL)}\n\n{_fenced(call.result)}" if call.result else ""
    return f"<details>{title}\n\n{asked}{shown}\n\n</details>"


def _fenced(text: str) -> str:
    """As code, whatever stands in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def _call_as_html(call: ToolUse) -> str:
    made = f'<p class="by">{escape(call_title(call) if call.outcome else call.name)}</p><pre>{escape(call.arguments)}</pre>'
    return made + (f"<p>{escape(tr(FROM_TOOL))}</p><pre>{escape(call.result)}</pre>" if call.result else "")


def as_svg(formula: Formula) -> str:
    """A formula as it is drawn, for browsers; its TeX where it cannot be."""
    drawing = draw(formula.tex, formula.display, SIZE, "#18181B")
    if drawing is None:
        return as_source(formula)
    data = b64encode(drawing.svg.encode()).decode()
    return (
        f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(formula.tex)}"'
        f' width="{drawing.width:.0f}" height="{drawing.height:.0f}" style="vertical-align:{-drawing.depth:.1f}px">'
    )


def as_html(head: ConversationHead, path: Sequence[StoredMessage], formula: Callable[[Formula], str] = as_svg) -> str:
    """The branch that is shown, for paper: always dark on white. `formula` writes one as HTML."""
    parts = [
        f'<!DOCTYPE html><html><head><meta charset="utf-8"><title>{escape(head.title)}</title><style>'
        "body{font-family:sans-serif;max-width:48em;margin:auto} pre,code{font-family:monospace}"
        " pre{background:#F4F4F5;white-space:pre-wrap} .by{font-weight:600;color:#52525B} p,li{line-height:140%}"
        " td.quote{border-left:3px solid #E4E4E7;padding-left:12px;color:#52525B}</style></head><body>",
        f"<h2>{escape(head.title)}</h2>",
    ]
    for message in path:
        parts.append(f'<p class="by">{escape(speaker(message))}</p>')
        parts += [f"<p><i>{escape(file.name)}</i></p>" for file in message.attachments]
        if message.role != "assistant":
            parts.append(f"<p>{escape(message.text).replace(chr(10), '<br>')}</p>")
            continue
        for text, calls in rounds_of(message):
            for piece in pieces(text):
                if piece.kind == "code":
                    parts.append(f"<pre>{escape(piece.text)}</pre>")
                else:
                    parts.append(filled(piece, [formula(each) for each in piece.formulas]))
            parts += map(_call_as_html, calls)
    return "".join([*parts, "</body></html>"])


def as_json(head: ConversationHead, messages: Sequence[StoredMessage]) -> str:
    """Everything, every branch: what `read_json` takes back."""
    made = {
        "format": FORMAT,
        "version": VERSION,
        "title": head.title,
        "model": head.model,
        "system": head.system,
        "sampling": dict(head.sampling),
        "leaf": head.leaf,
        "messages": [_as_dict(message) for message in messages],
    }
    return json.dumps(made, ensure_ascii=False, indent=2) + "\n"


def _as_dict(message: StoredMessage) -> dict[str, Any]:
    made = {field.name: getattr(message, field.name) for field in fields(message)}
    made["calls"] = [vars(call) for call in message.calls]
    made["attachments"] = [vars(file) for file in message.attachments]
    made["figures"] = vars(message.figures)
    made["passages"] = [vars(one) for one in message.passages]
    return made


def read_json(text: str) -> tuple[ConversationHead, list[StoredMessage]]:
    """A conversation that Grus exported, or a list of messages as chat programs exchange them."""
    try:
        found = json.loads(text)
    except ValueError:
        raise BadRequest(tr("This file is not JSON. Import a conversation that was exported as JSON.")) from None
    if isinstance(found, list):
        found = {"messages": found}
    if not isinstance(found, dict) or not isinstance(found.get("messages"), list):
        raise BadRequest(tr("This JSON file contains no conversation: it has no list of messages."))
    if found.get("format") == FORMAT and found.get("version", 0) > VERSION:
        raise BadRequest(tr("This conversation was exported by a newer version of Grus. Update Grus to import it."))
    try:
        return _ours(found) if found.get("format") == FORMAT else _plain(found)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise BadRequest(tr("This conversation cannot be imported: one of its messages is incomplete.")) from None


def _ours(found: Mapping[str, Any]) -> tuple[ConversationHead, list[StoredMessage]]:
    messages = []
    known: set[int] = set()
    for item in found["messages"]:
        values = {**item}
        values["calls"] = tuple(ToolUse(**call) for call in item["calls"])
        values["attachments"] = tuple(Attachment(**file) for file in item["attachments"])
        values["figures"] = ReplyStatistics(**item["figures"])
        values["passages"] = tuple(GivenPassage(**one) for one in item.get("passages", ()))
        message = StoredMessage(**values)
        if message.role not in _ROLES or not isinstance(message.text, str):
            raise ValueError("not a message")
        if message.parent is not None and message.parent not in known:
            raise ValueError("a message without the one before it")
        known.add(message.id)
        messages.append(message)
    sampling = dict(found.get("sampling", {}))
    head = ConversationHead(
        0, str(found["title"]), True, found.get("leaf"), str(found["model"]), str(found["system"]), sampling
    )
    return head, messages


def _plain(found: Mapping[str, Any]) -> tuple[ConversationHead, list[StoredMessage]]:
    system = ""
    messages: list[StoredMessage] = []
    for item in found["messages"]:
        text = item["content"] if isinstance(item["content"], str) else _joined(item["content"])
        if item["role"] == "system":
            system = text
        elif item["role"] in _ROLES:
            id = len(messages) + 1
            messages.append(StoredMessage(id, id - 1 or None, item["role"], text))
    title = str(found.get("title") or "") or next((m.text[:60] for m in messages if m.role == "user"), "")
    return ConversationHead(
        0, title or tr("Imported"), True, len(messages) or None, str(found.get("model") or ""), system, {}
    ), messages


def _joined(parts: Sequence[Mapping[str, Any]]) -> str:
    return "\n\n".join(part["text"] for part in parts if part.get("type") == "text")
