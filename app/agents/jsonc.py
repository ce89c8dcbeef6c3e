"""JSON as editors keep it, with comments and trailing commas: read, and change single values while all else stays as it stands."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_SCALAR = re.compile(r"true|false|null|-?\d[\d.eE+-]*")
_REST = re.compile(r"[ \t]*(?:/\*[^\n]*?\*/[ \t]*)*(?://[^\n]*)?(?=\n|\Z)")  # of a line without a value
_DEEPEST = 200


@dataclass
class _Node:
    start: int
    end: int = 0
    value: Any = None
    members: dict[str, tuple[int, _Node]] = field(default_factory=dict)  # of an object: where the key begins


class JsoncError(ValueError):
    """The text is no JSON; `line` counts from 1."""

    def __init__(self, text: str, at: int) -> None:
        self.line = text.count("\n", 0, at) + 1
        super().__init__(f"line {self.line} is not JSON")


def load(text: str) -> Any:
    """The value; an empty text is an empty object."""
    return _root(text).value


def put(text: str, path: Sequence[str], value: Any) -> str:
    """The text with `value` at `path`. Objects on the way that are missing are made; what is there and no object gives way."""
    root = _root(text)
    if root.end == root.start:  # nothing but space and comments
        text = f"{text.rstrip()}\n{{}}\n".lstrip()
        root = _root(text)
    node, depth = root, 0
    while depth < len(path) - 1 and path[depth] in node.members:
        if not isinstance(node.members[path[depth]][1].value, dict):
            break
        node, depth = node.members[path[depth]][1], depth + 1
    if not isinstance(node.value, dict):
        raise JsoncError(text, node.start)
    key, made = path[depth], value
    for name in reversed(path[depth + 1 :]):
        made = {name: made}
    unit = _unit(text, root)
    if key in node.members:
        at, old = node.members[key]
        return text[: old.start] + _written(made, _indent(text, at), unit) + text[old.end :]
    return _inserted(text, node, key, made, unit)


def drop(text: str, path: Sequence[str]) -> str:
    """The text without the member at `path`, with its line where it has one of its own."""
    node = _root(text)
    for name in path[:-1]:
        node = node.members[name][1]
    start, old = node.members[path[-1]]
    end = old.end
    after = _SPACE.match(text, end).end()  # type: ignore[union-attr]
    if text[after : after + 1] == ",":
        end = after + 1
    else:  # the last member: the comma before it goes too
        before = max((one.end for _, one in node.members.values() if one.end <= start), default=None)
        if before is not None:
            comma = _SPACE.match(text, before).end()  # type: ignore[union-attr]
            text = text[:comma] + text[comma + 1 :]
            start, end = start - 1, end - 1
    line = text.rfind("\n", 0, start) + 1
    rest = _REST.match(text, end)
    if not text[line:start].strip() and rest is not None and line > 0:
        return text[: line - 1] + text[rest.end() :]
    return text[:start].rstrip(" \t") + text[end:]


def _inserted(text: str, node: _Node, key: str, value: Any, unit: str) -> str:
    outer = _indent(text, node.start)
    if not node.members:
        inner = outer + unit
        body = text[node.start + 1 : node.end - 1].rstrip()
        entry = f"\n{inner}{json.dumps(key)}: {_written(value, inner, unit)}\n{outer}"
        return text[: node.start + 1] + body + entry + text[node.end - 1 :]
    first, (_, last) = (
        min(at for at, _ in node.members.values()),
        max(node.members.values(), key=lambda one: one[1].end),
    )
    if "\n" not in text[node.start : first]:  # all in one line
        return text[: last.end] + f", {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}" + text[last.end :]
    inner = _indent(text, first)
    comma = _SPACE.match(text, last.end).end()  # type: ignore[union-attr]
    trailing = text[comma : comma + 1] == ","
    at = comma + 1 if trailing else last.end
    rest = _REST.match(text, at)
    line_end = rest.end() if rest is not None else at  # a comment behind the value stays there
    entry = f"\n{inner}{json.dumps(key)}: {_written(value, inner, unit)}{',' if trailing else ''}"
    return text[:at] + ("" if trailing else ",") + text[at:line_end] + entry + text[line_end:]


def _written(value: Any, indent: str, unit: str) -> str:
    """An object over several lines, a list of plain values in one."""
    if isinstance(value, dict) and value:
        inner = indent + unit
        lines = (f"{inner}{json.dumps(key)}: {_written(one, inner, unit)}" for key, one in value.items())
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return json.dumps(value, ensure_ascii=False)


def _indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _unit(text: str, root: _Node) -> str:
    """What this file indents by."""
    for at, _ in root.members.values():
        if "\n" in text[root.start : at]:
            return _indent(text, at) or "  "
    return "  "


def _root(text: str) -> _Node:
    at = _SPACE.match(text, 1 if text.startswith("\ufeff") else 0).end()  # type: ignore[union-attr]
    if at == len(text):
        return _Node(at, at, {})
    node = _parsed(text, at, 0)
    end = _SPACE.match(text, node.end).end()  # type: ignore[union-attr]
    if end != len(text):
        raise JsoncError(text, end)
    return node


def _parsed(text: str, at: int, depth: int) -> _Node:
    node = _Node(at)
    if text[at : at + 1] in ("{", "[") and depth < _DEEPEST:
        return _parsed_items(text, node, depth)
    if found := _STRING.match(text, at) or _SCALAR.match(text, at):
        try:
            node.value, node.end = json.loads(found[0]), found.end()
        except ValueError:
            raise JsoncError(text, at) from None
        return node
    raise JsoncError(text, at)


def _parsed_items(text: str, node: _Node, depth: int) -> _Node:
    is_object = text[node.start] == "{"
    closing = "}" if is_object else "]"
    items: list[Any] = []
    at = _SPACE.match(text, node.start + 1).end()  # type: ignore[union-attr]
    while text[at : at + 1] != closing:
        key_at, key = at, ""
        if is_object:
            found = _STRING.match(text, at)
            colon = _SPACE.match(text, found.end()).end() if found else at  # type: ignore[union-attr]
            if found is None or text[colon : colon + 1] != ":":
                raise JsoncError(text, at)
            key = json.loads(found[0])
            at = _SPACE.match(text, colon + 1).end()  # type: ignore[union-attr]
        item = _parsed(text, at, depth + 1)
        items.append(item.value)
        node.members[key] = (key_at, item)
        at = _SPACE.match(text, item.end).end()  # type: ignore[union-attr]
        if text[at : at + 1] == ",":
            at = _SPACE.match(text, at + 1).end()  # type: ignore[union-attr]
        elif text[at : at + 1] != closing:
            raise JsoncError(text, at)
    node.end = at + 1
    if is_object:
        node.value = {name: item.value for name, (_, item) in node.members.items()}
    else:
        node.value, node.members = items, {}
    return node
