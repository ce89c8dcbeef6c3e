"""A program's settings as text: single values are changed, and comments, order and other keys stay as they stand.

Every change is read back with a parser of the format. A file that cannot be changed so, because it is written in a way that the
edits here do not know, is left alone.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from app.agents import jsonc
from engine.errors import BadRequest, ErrorText

if TYPE_CHECKING:  # imported where it is used: an idle window does not hold it
    import yaml

Format = Literal["json", "toml", "yaml"]
SettingPath = tuple[str, ...]  # to a value; an item of a list goes by its "name"
MISSING: Any = object()
LIST = "models"  # of Continue: the one list whose items are set, by their names


def load(format: Format, text: str) -> Any:
    """The settings; raises ValueError where the text is none of this format."""
    if format == "json":
        return jsonc.load(text)
    if format == "toml":
        import tomllib

        return tomllib.loads(text.removeprefix("\ufeff"))
    import yaml

    try:
        return yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        raise ValueError(str(error).replace("\n", " ")) from None


def value_at(data: Any, path: Sequence[str]) -> Any:
    """The value there, or MISSING."""
    for name in path:
        if isinstance(data, list):
            data = next((one for one in data if isinstance(one, dict) and one.get("name") == name), MISSING)
        else:
            data = data.get(name, MISSING) if isinstance(data, dict) else MISSING
    return data


def changed(format: Format, text: str, changes: Mapping[SettingPath, Any]) -> str:
    """The text with every value of `changes` in its place; MISSING takes one away."""
    returns = "\r\n" in text and text.count("\r\n") == text.count("\n")
    new = text.replace("\r\n", "\n") if returns else text
    for path, value in changes.items():
        data = load(format, new)
        if value_at(data, path) == value:
            continue
        wanted = _with(data, path, value)
        new = (_drop if value is MISSING else _put)(format, new, path, value)
        there = load(format, new)
        if format == "toml":  # a table is there as long as one within it
            there, wanted = _filled(there), _filled(wanted)
        if there != wanted:
            raise ValueError(f"{'.'.join(path)} cannot be changed in place")
    return new.replace("\n", "\r\n") if returns else new


def _filled(data: Any) -> Any:
    """Without tables that hold nothing."""
    if not isinstance(data, dict):
        return data
    inner = {name: _filled(value) for name, value in data.items()}
    return {name: value for name, value in inner.items() if value != {}}


def readable(format: Format, text: str, file: object) -> Any:
    """The settings of a file; an error says which file must be corrected first."""
    try:
        data = load(format, text)
    except (ValueError, RecursionError) as error:
        raise BadRequest(
            ErrorText(
                "{file} cannot be read ({why}). Correct it first; nothing was changed.", file=str(file), why=str(error)
            )
        ) from None
    if not isinstance(data, dict):
        raise BadRequest(ErrorText("{file} holds no settings. Correct it first; nothing was changed.", file=str(file)))
    return data


def _with(data: Any, path: Sequence[str], value: Any) -> Any:
    """`data` after the change, which the changed text must say."""
    data = copy.deepcopy(data)
    place = data
    for name in path[:-1]:
        inner = place.get(name)
        kind = list if path[0] == LIST and len(path) == 2 else dict
        if not isinstance(inner, kind):
            place[name] = inner = kind()
        place = inner
    if isinstance(place, list):
        names = [one.get("name") if isinstance(one, dict) else None for one in place]
        if path[-1] in names:
            place[names.index(path[-1])] = value
        else:
            place.insert(0, value)
        if value is MISSING:
            place.remove(value)
    elif value is MISSING:
        place.pop(path[-1], None)
    else:
        place[path[-1]] = value
    return data


def _put(format: Format, text: str, path: SettingPath, value: Any) -> str:
    if format == "json":
        return jsonc.put(text, path, value)
    return _put_toml(text, path, value) if format == "toml" else _put_yaml(text, path, value)


def _drop(format: Format, text: str, path: SettingPath, value: Any) -> str:
    if format == "json":
        return jsonc.drop(text, path)
    return _drop_toml(text, path) if format == "toml" else _drop_yaml(text, path)


# -- TOML: keys before the first table, and whole tables

_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def _toml_value(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml_value(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)  # TOML's basic strings, numbers and lists are written alike


def _root_key(text: str, key: str) -> re.Match[str] | None:
    """The line of a key before the first table; its value is a plain one on this line."""
    header = _HEADER.search(text)
    line = re.compile(
        rf"^(?P<key>[ \t]*{re.escape(key)}[ \t]*=[ \t]*)"
        rf"(?P<value>\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|[^#\n\"']*?)(?P<rest>[ \t]*(?:#[^\n]*)?)(?:\n|\Z)",
        re.MULTILINE,
    )
    return line.search(text, 0, header.start() if header else len(text))


def _table(text: str, path: SettingPath) -> tuple[int, int] | None:
    """Where a table's lines are: from its header to the last line that is neither empty nor a comment."""
    header = re.search(rf"^[ \t]*\[[ \t]*{re.escape('.'.join(path))}[ \t]*\][^\n]*(?:\n|\Z)", text, re.MULTILINE)
    if header is None:
        return None
    end = at = header.end()
    for line in text[at:].splitlines(keepends=True):
        if _HEADER.match(line):
            break
        at += len(line)
        if line.strip() and not line.lstrip().startswith("#"):
            end = at
    return header.start(), end


def _put_toml(text: str, path: SettingPath, value: Any) -> str:
    if len(path) == 1:
        if found := _root_key(text, path[0]):
            return text[: found.start("value")] + _toml_value(value) + text[found.end("value") :]
        return f"{path[0]} = {_toml_value(value)}\n{text}"
    lines = "".join(f"{key} = {_toml_value(one)}\n" for key, one in value.items())
    made = f"[{'.'.join(path)}]\n{lines}"
    if place := _table(text, path):
        return text[: place[0]] + made + text[place[1] :]
    before = text if not text or text.endswith("\n") else f"{text}\n"
    return f"{before}{chr(10) if before else ''}{made}"


def _drop_toml(text: str, path: SettingPath) -> str:
    if len(path) == 1:
        found = _root_key(text, path[0])
        return text if found is None else text[: found.start()] + text[found.end() :]
    place = _table(text, path)
    if place is None:
        return text
    before, after = text[: place[0]], text[place[1] :]
    return before.rstrip("\n") + "\n" + after if before.endswith("\n\n") else before + after


# -- YAML: keys of the outermost mapping, and items of its lists

_WIDE = 10_000


def _yaml_value(value: Any) -> str:
    """In one line."""
    import yaml

    return yaml.safe_dump([value], sort_keys=False, default_flow_style=True, allow_unicode=True, width=_WIDE)[1:-2]


def _yaml_member(text: str, key: str) -> tuple[yaml.Node, yaml.Node] | None:
    import yaml

    root = yaml.compose(text, yaml.SafeLoader)
    members = root.value if isinstance(root, yaml.MappingNode) else []
    return next(((name, value) for name, value in members if name.value == key), None)


def _put_yaml(text: str, path: SettingPath, value: Any) -> str:
    if text and not text.endswith("\n"):
        text += "\n"
    member = _yaml_member(text, path[0])
    if len(path) == 1:
        if member is None:
            return f"{text}{path[0]}: {_yaml_value(value)}\n"
        written = _yaml_value(value)
        if member[1].start_mark.index == member[1].end_mark.index:  # no value at all
            written = f" {written}"
        return text[: member[1].start_mark.index] + written + text[member[1].end_mark.index :]
    if member is None:
        return text + f"{path[0]}:\n" + _item(value, "  ")
    items = member[1]
    if items.id != "sequence" or not items.value:  # `models:` or `models: []`
        start = _line_end(text, items.end_mark.index) if items.value else _line_end(text, member[0].end_mark.index)
        colon = text.index(":", member[0].end_mark.index) + 1
        return text[:colon] + "\n" + _item(value, "  ") + text[start:]
    at = next((at for at, one in enumerate(items.value) if _name(one) == path[1]), None)
    if at is not None:
        text = _without_item(text, items, at)
        if len(items.value) == 1:
            return _put_yaml(text, path, value)
    indent = " " * items.start_mark.column
    start = text.rfind("\n", 0, items.start_mark.index) + 1
    return text[:start] + _item(value, indent) + text[start:]


def _drop_yaml(text: str, path: SettingPath) -> str:
    member = _yaml_member(text, path[0])
    if member is None:
        return text
    if len(path) == 1:
        start = text.rfind("\n", 0, member[0].start_mark.index) + 1
        return text[:start] + text[_line_end(text, _content_end(member[1])) :]
    items = member[1]
    at = next(at for at, one in enumerate(items.value) if _name(one) == path[1])
    return _without_item(text, items, at)


def _name(node: yaml.Node) -> str | None:
    members = node.value if node.id == "mapping" else []
    return next((value.value for key, value in members if key.value == "name"), None)


def _item(value: Mapping[str, Any], indent: str) -> str:
    lines = [f"  {key}: {_yaml_value(one)}" for key, one in value.items()]
    lines[0] = f"-{lines[0][1:]}"
    return "".join(f"{indent}{line}\n" for line in lines)


def _without_item(text: str, items: yaml.SequenceNode, at: int) -> str:
    start = text.rfind("\n", 0, items.value[at].start_mark.index) + 1
    end = _line_end(text, _content_end(items.value[at]))
    if len(items.value) == 1:  # an empty block list would be null
        return text[:start].rstrip() + " []\n" + text[end:]
    return text[:start] + text[end:]


def _content_end(node: yaml.Node) -> int:
    """Where the last value ends: a block's own mark stands behind the comments and empty lines that follow."""
    if isinstance(node.value, list) and node.value and not getattr(node, "flow_style", False):
        last = node.value[-1]
        return _content_end(last[1] if isinstance(last, tuple) else last)
    return node.end_mark.index


def _line_end(text: str, at: int) -> int:
    if at > 0 and text[at - 1 : at] == "\n":
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1
