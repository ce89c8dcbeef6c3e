"""Conversations in the shape that a family's chat template can render.

Clients send several calls in one message, ids of any length and reasoning in a field of its own. Some templates raise an
error for that, or leave it out without a word. Each change here is made for the templates that need it, told by their text.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeGuard

from engine.text.families import CallSpelling, Family, MessageSpelling, family_of, shows_convention

_NINE = re.compile(r"[A-Za-z0-9]{9}")
_THINKING_PARTS = re.compile(r"\[?['\"]?type['\"]?\]?\s*==\s*['\"]thinking['\"]")
_TOOLS_OF_A_MESSAGE = re.compile(r"['\"]tools['\"] in message|message\[['\"]tools['\"]\]")
_REASONING = ("reasoning_content", "thinking", "reasoning")


def adapted(
    messages: Sequence[Mapping[str, Any]],
    template: str,
    model_type: str,
    tools: Sequence[Mapping[str, Any]] | None = None,
) -> list[dict[str, Any]]:
    """The messages, changed where this template would refuse them or drop a part. `tools`: the functions that are offered."""
    chat = [copy.copy(dict(message)) for message in messages]
    if tools and "tools" not in _TOOLS_OF_A_MESSAGE.sub("", template):
        chat = _tools_in_system_message(chat, tools, template, model_type)
    family = family_of(model_type, template)
    if family.name == "harmony" or "single tool-calls" in template:
        chat = _one_call_each(chat)
    if family.name == "harmony":
        for message in chat:
            if message.get("tool_calls") and message.get("content") and _reasoning(message):
                del message["content"]  # the template has one place for either
    nine, parts = _reads(template)
    if nine:
        _shorten_ids(chat)
    if parts:
        for message in chat:
            _reasoning_as_part(message)
    if family.name == "glm4" and "metadata" in template:
        chat = [part for message in chat for part in _observed(message)]
    if "tool_calls" not in template:
        for message in chat:
            _calls_as_text(message, family)
    return chat


@lru_cache(64)
def _reads(template: str) -> tuple[bool, bool]:
    """Whether it takes ids of nine letters alone, and whether it reads reasoning as a part of the content alone."""
    parts = _THINKING_PARTS.search(template) is not None and "reasoning_content" not in template
    return re.search(r"length\s*!=\s*9", template) is not None, parts


def completed(tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Tools with the descriptions and parameters that some templates read without asking whether they are there."""
    made: list[dict[str, Any]] = copy.deepcopy([dict(tool) for tool in tools])
    for tool in made:
        function = tool.get("function", tool)
        function.setdefault("description", "")
        parameters = function["parameters"] = function.get("parameters") or {"type": "object"}
        for value in parameters.setdefault("properties", {}).values():
            if isinstance(value, dict):
                value.setdefault("description", "")
    return made


def _tools_in_system_message(
    chat: Sequence[dict[str, Any]], tools: Sequence[Mapping[str, Any]], template: str, model_type: str
) -> list[dict[str, Any]]:
    """Tools for a template that is given none: Phi-4-mini's reads those of its system message, others only write calls."""
    functions = [json.dumps(tool.get("function", tool), ensure_ascii=False) for tool in tools]
    system = chat[0] if chat and chat[0].get("role") == "system" else {"role": "system", "content": ""}
    rest = chat[1:] if chat and system is chat[0] else chat
    spelling = family_of(model_type, template).spelling
    if _TOOLS_OF_A_MESSAGE.search(template):
        text = system["content"] or "You are a helpful assistant with some tools."
        return [{**system, "content": text, "tools": f"[{', '.join(functions)}]"}, *rest]
    if not shows_convention(model_type, template) or not _as_text(spelling) or not isinstance(system["content"], str):
        return list(chat)
    example = _calls_text([{"name": "NAME", "arguments": {"PARAMETER": "VALUE"}}], spelling)
    listed = "\n".join(["You may call these functions:", *functions, "To call one, write:", example])
    return [{**system, "content": "\n\n".join(filter(None, (system["content"], listed)))}, *rest]


def _reasoning(message: Mapping[str, Any]) -> Any:
    return next((message[key] for key in _REASONING if message.get(key)), None)


def _one_call_each(chat: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A message of several calls becomes one of each, with its result behind it."""
    made: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for at, message in enumerate(chat):
        calls = message.get("tool_calls") or []
        if len(calls) < 2:
            if not any(message is result for result in results):
                made.append(dict(message))
            continue
        after = chat[at + 1 :]
        end = next((n for n, later in enumerate(after) if later.get("role") != "tool"), len(after))
        open_results = list(after[:end])
        for number, call in enumerate(calls):
            turn = dict(message) if not number else {"role": message["role"], "content": ""}
            made.append(turn | {"tool_calls": [call]})
            own = [result for result in open_results if result.get("tool_call_id") == call.get("id", "")]
            for result in own[:1] or open_results[:1]:
                open_results = [other for other in open_results if other is not result]
                made.append(dict(result))
                results.append(result)  # type: ignore[arg-type]
    return made


def _observed(message: dict[str, Any]) -> list[dict[str, Any]]:
    """GLM-4's messages: a call is one with the function's name as its metadata, and results are observations."""
    if message.get("role") == "tool":
        return [message | {"role": "observation"}]
    calls = message.pop("tool_calls", None) or []
    made = [message] if message.get("content") or not calls else []
    for call in calls:
        function = call.get("function", call)
        given = function.get("arguments") or {}
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        made.append({"role": message["role"], "metadata": str(function.get("name", "")), "content": text})
    return made


def _shorten_ids(chat: Sequence[dict[str, Any]]) -> None:
    """Mistral's ids have nine letters and digits."""
    for message in chat:
        if "tool_call_id" in message or message.get("role") == "tool":
            message["tool_call_id"] = _short(message.get("tool_call_id"))
        if message.get("tool_calls"):
            message["tool_calls"] = [dict(call) | {"id": _short(call.get("id"))} for call in message["tool_calls"]]


def _short(given: Any) -> str:
    given = str(given or "")
    return given if _NINE.fullmatch(given) else hashlib.sha256(given.encode()).hexdigest()[:9]


def _reasoning_as_part(message: dict[str, Any]) -> None:
    reasoning, content = _reasoning(message), message.get("content")
    if message.get("role") != "assistant" or not reasoning or not isinstance(content, str | None):
        return
    text = [{"type": "text", "text": content}] if content else []
    message["content"] = [{"type": "thinking", "thinking": reasoning}, *text]


def _as_text(spelling: CallSpelling | MessageSpelling | None) -> TypeGuard[CallSpelling]:
    """Whether calls of this spelling can be written here."""
    return isinstance(spelling, CallSpelling) and spelling.arguments in ("json", "python")


def _calls_as_text(message: dict[str, Any], family: Family) -> None:
    """Calls that the template would leave out become a part of the text, as the model has written them."""
    calls, spelling = message.get("tool_calls"), family.spelling
    if not calls or not _as_text(spelling):
        return
    text = _calls_text([call.get("function", call) for call in calls], spelling)
    content = message.get("content") or ""
    del message["tool_calls"]
    if isinstance(content, list):
        message["content"] = [*content, {"type": "text", "text": text}]
    else:
        message["content"] = f"{content}\n{text}" if content else text


def _calls_text(functions: Sequence[Mapping[str, Any]], spelling: CallSpelling) -> str:
    texts = [_written(function, spelling) for function in functions]
    if spelling.grouped:
        return spelling.marker + spelling.open + spelling.between.join(texts) + spelling.close
    return spelling.between.join(spelling.marker + text for text in texts)


def _written(function: Mapping[str, Any], spelling: CallSpelling) -> str:
    given = function.get("arguments") or {}
    try:
        arguments = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        arguments = {}
    if spelling.arguments == "python" and isinstance(arguments, Mapping):
        body = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    else:
        body = json.dumps(arguments, ensure_ascii=False)
    head = spelling.head.replace("{name}", str(function.get("name", ""))).replace("{number}", "0")
    return f"{spelling.each}{head}{body}{spelling.tail}{spelling.end}"
