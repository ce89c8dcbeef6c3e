"""Grammars that hold a reply to what was promised: calls that were demanded, strict calls among words, JSON.

Knows how calls are written, and nothing of prompts or parameters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from engine.text.tool_readers import JsonReader, Lead, Reader
from engine.text.tools import Convention
from engine.types import Grammar


def json_grammar(schema: Mapping[str, Any] | None = None) -> Grammar:
    """JSON of this schema, or any object."""
    return Grammar("json_object") if schema is None else Grammar("json_schema", json.dumps(schema))


def demanded_calls(functions: Sequence[Mapping[str, Any]], several: bool) -> Grammar:
    """A reply that is a list of calls and nothing else, so that a call that was demanded cannot fail to come."""
    schema: dict[str, Any] = {"type": "array", "minItems": 1, "items": _any_call(functions)}
    if not several:
        schema["maxItems"] = 1
    definitions = _lifted(schema["items"]["anyOf"])
    return json_grammar(schema | ({"$defs": definitions} if definitions else {}))


def strict_calls(functions: Sequence[Mapping[str, Any]]) -> Grammar:
    """Words, and calls as JSON within <tool_call>. Arguments of functions that are not strict may be any object."""
    body = _any_call([f if f.get("strict") else {"name": f["name"]} for f in functions])
    definitions = _lifted(body["anyOf"])
    body |= {"$defs": definitions} if definitions else {}
    return Grammar("ebnf", _AMONG_WORDS + f"body: %json {json.dumps(body | _COMPACT)}\n")


_COMPACT = {"x-guidance": {"whitespace_pattern": "[ ]?"}}
_AMONG_WORDS = r"""%llguidance {}
start: call* words
words: TEXT
TEXT: /(.|\n)*/
call: lead "\n" body "\n</tool_call>"
lead[lazy]: /(.|\n)*<tool_call>/
"""


def _any_call(functions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": function["name"]},
                "arguments": function.get("parameters") or {"type": "object"},
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for function in functions
    ]
    return {"anyOf": calls}


def _lifted(calls: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A schema's own definitions are found from the top; move them there, under names that cannot meet."""
    lifted: dict[str, Any] = {}
    for at, call in enumerate(calls):
        arguments = call["properties"]["arguments"]
        names = {
            f"#/{key}/{name}": f"tool{at}_{name}" for key in ("$defs", "definitions") for name in arguments.get(key, {})
        }
        if not names:
            continue
        for key in ("$defs", "definitions"):
            for name, definition in arguments.get(key, {}).items():
                lifted[f"tool{at}_{name}"] = _renamed(definition, names)
        rest = {k: v for k, v in arguments.items() if k not in ("$defs", "definitions")}
        call["properties"]["arguments"] = _renamed(rest, names)
    return lifted


def _renamed(schema: Any, names: Mapping[str, str]) -> Any:
    if isinstance(schema, Mapping):
        return {
            key: f"#/$defs/{names[value]}"
            if key == "$ref" and isinstance(value, str) and value in names
            else _renamed(value, names)
            for key, value in schema.items()
        }
    return [_renamed(item, names) for item in schema] if isinstance(schema, list) else schema


def _listed() -> Reader:
    return Lead(skip={}, keep={"{": JsonReader})


def _opening() -> Reader:
    return Lead(skip={"[": _listed}, keep={})


FORCED = Convention(opens={}, closes=("]",), joins={",": _listed}, bare=_opening)
