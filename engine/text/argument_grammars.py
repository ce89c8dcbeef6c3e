"""Rules for the arguments of tool calls in families that do not write them as JSON: values in tags, Python's keyword
arguments, Gemma 4's objects. Each set of rules is held to a function's JSON schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.text.json_schema import BLANK
from engine.text.tool_readers import TagSyntax

_QUOTE = '<|"|>'
_SCALARS = {"integer", "number", "boolean", "null"}
_DEEPEST = 8  # levels of a schema that are enforced in Gemma's spelling


def literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def json_value(schema: Mapping[str, Any]) -> str:
    return f"%json {json.dumps({**schema, 'x-guidance': BLANK})}"


class ArgumentGrammars:
    """Collects the rules of one grammar. `spelled` writes a text with its special tokens, `up_to` is a rule of all that comes
    before a mark, and the mark."""

    def __init__(self, spelled: Callable[[str], str], up_to: Callable[[str, str], str]) -> None:
        self._spelled = spelled
        self._up_to = up_to
        self._rules: dict[str, None] = {}

    @property
    def text(self) -> str:
        return "".join(self._rules)

    def add(self, rule: str) -> None:
        self._rules[rule] = None

    def tagged(self, at: int, schema: Mapping[str, Any], tags: TagSyntax, gap: str) -> None:
        """Parameters in the order of the schema, which is the order that JSON grammars have as well."""
        between = self._spelled(gap)
        end = ("\n" if tags.padded else "") + tags.value_end
        self.add(self._up_to("bare", end))
        parts = [between if gap == "?" else ""]
        for number, (name, value) in enumerate(schema.get("properties", {}).items()):
            if value is False:
                continue
            made = _bare_value(value, schema)
            head = self._key(tags, literal(name)[1:-1], gap, made is None or not made.startswith("%json"))
            body = "bare" if made is None else f"{made} {self._spelled(end)}"
            self.add(f"p{at}_{number}: {head} {body} {between}\n")
            parts.append(f"p{at}_{number}" + ("" if name in schema.get("required", ()) else "?"))
        if schema.get("additionalProperties", True) is not False:
            self.add(f"other: {self._key(tags, None, gap, True)} bare {between}\n")
            parts.append("other*")
        self.add(f"args{at}: {' '.join(parts) or literal('')}\n")

    def _key(self, tags: TagSyntax, name: str | None, gap: str, text: bool) -> str:
        quoted = tags.key.endswith('"')
        end = ('"' if quoted else "") + (f' string="{str(text).lower()}"' if "DSML" in tags.key else "") + tags.key_end
        before = f"{self._spelled(gap)} {self._spelled(tags.value)}" if tags.value else ""
        opened = self._spelled("\n") if tags.padded else ""
        if name is not None:
            return f"{self._spelled(tags.key + name + end)} {before} {opened}"
        return f'{self._spelled(tags.key)} /[^\\s<>"]{{1,64}}/ {self._spelled(end)} {before} {opened}'

    # -- literals

    def literals(self, at: int, schema: Mapping[str, Any], gemma: bool) -> None:
        """`key=value` with JSON values, which are Python's for the readers here; or `key:value` as Gemma writes them."""
        properties = {name: value for name, value in schema.get("properties", {}).items() if value is not False}
        assign, comma = (":", ",") if gemma else ("=", ", ")
        value_of = self._gemma_value if gemma else _python_value
        if not properties and schema.get("additionalProperties", True) is not False:
            value = self._any_gemma() if gemma else json_value({})
            one = f"/[A-Za-z_][A-Za-z0-9_]{{0,63}}/ {literal(assign)} {value}"
            self.add(f"args{at}: ({one} ({literal(comma)} {one})*)?\n")
            return
        names = sorted(properties) if gemma else list(properties)
        pairs = [f"{literal(name + assign)} {value_of(properties[name], schema)}" for name in names]
        needed = [name in schema.get("required", ()) for name in names]
        self.add(f"args{at}: {self._sequence(f'a{at}', pairs, needed, comma)}\n")

    def _sequence(self, prefix: str, pairs: Sequence[str], needed: Sequence[bool], comma: str) -> str:
        """All pairs in order, with commas between those that are there."""
        self.add(f'{prefix}f{len(pairs)}: ""\n{prefix}m{len(pairs)}: ""\n')
        for number, (pair, must) in reversed(list(enumerate(zip(pairs, needed, strict=True)))):
            skip = "" if must else f" | {prefix}f{number + 1}"
            self.add(f"{prefix}f{number}: {pair} {prefix}m{number + 1}{skip}\n")
            skip = "" if must else f" | {prefix}m{number + 1}"
            self.add(f"{prefix}m{number}: {literal(comma)} {pair} {prefix}m{number + 1}{skip}\n")
        return f"{prefix}f0"

    def _gemma_value(self, value: Any, root: Mapping[str, Any], depth: int = 0) -> str:
        if not isinstance(value, Mapping) or depth > _DEEPEST:
            return self._any_gemma()
        values = value.get("enum", [value["const"]] if "const" in value else None)
        if values and all(isinstance(text, str) for text in values):
            return "(" + " | ".join(self._spelled(_QUOTE + text + _QUOTE) for text in values) + ")"
        kinds = value.get("type")
        kinds = [kinds] if isinstance(kinds, str) else list(kinds or ())
        if values or not kinds:
            return json_value(value) if values else self._any_gemma()
        made = []
        for kind in kinds:
            if kind in _SCALARS:
                made.append(json_value({**value, "type": kind}))
            elif kind == "string":
                self._any_gemma()
                made.append("gtext")
            elif kind == "array" and isinstance(value.get("items"), Mapping):
                item = self._gemma_value(value["items"], root, depth + 1)
                made.append(f'("[" ({item} ("," {item})*)? "]")')
            elif kind == "object" and value.get("properties"):
                inner = value["properties"]
                names = sorted(name for name in inner if inner[name] is not False)
                prefix = f"o{len(self._rules)}"
                pairs = [f"{literal(name + ':')} {self._gemma_value(inner[name], root, depth + 1)}" for name in names]
                needed = [name in value.get("required", ()) for name in names]
                made.append(f'("{{" {self._sequence(prefix, pairs, needed, ",")} "}}")')
            else:
                return self._any_gemma()
        return "(" + " | ".join(made) + ")"

    def _any_gemma(self) -> str:
        self.add(f"gtext: {self._spelled(_QUOTE)} gend\n")
        self.add(self._up_to("gend", _QUOTE))
        pair = '/[^\\s<>{}\\[\\]:,"]{1,64}/ ":" gany'
        self.add('gany: gtext | /-?[0-9]{1,18}(\\.[0-9]{1,18})?/ | "true" | "false" | "null" | glist | gobject\n')
        self.add('glist: "[" (gany ("," gany)*)? "]"\n')
        self.add(f'gobject: "{{" ({pair} ("," {pair})*)? "}}"\n')
        return "gany"


def _python_value(value: Any, schema: Mapping[str, Any]) -> str:
    return json_value(_with_definitions(value, schema) if isinstance(value, Mapping) else {})


def _with_definitions(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    return {**{key: schema[key] for key in ("$defs", "definitions") if key in schema}, **value}


def _bare_value(value: Any, schema: Mapping[str, Any]) -> str | None:
    """A parameter's value: JSON, or one of several texts without quotation marks; None: any such text."""
    if isinstance(value, Mapping):
        texts = value.get("enum", [value["const"]] if "const" in value else None)
        if texts and all(isinstance(text, str) for text in texts):
            return f"({' | '.join(map(literal, texts))})"
        kinds = value.get("type")
        if kinds is not None and "string" not in ([kinds] if isinstance(kinds, str) else kinds):
            return json_value(_with_definitions(value, schema))
    return None
