"""Custom tools: calls whose input is a text, which may have to match a grammar.

A chat template knows functions alone, so a custom tool is offered to the model as a function with one parameter, `input`. Where
its grammar is held, the call is written as JSON like any other, and the grammar holds for the text as JSON spells it (lark_json.py).
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

from app.runtime.lark_json import json_escaped, regex_grammar

INPUT = "input"


@dataclass(frozen=True)
class InputGrammar:
    syntax: Literal["lark", "regex"]
    definition: str


def as_function(name: str, description: str | None, grammar: InputGrammar | None) -> dict[str, Any]:
    """A custom tool as a chat template takes it."""
    text = description or ""
    if grammar is not None:
        kind = "Lark grammar" if grammar.syntax == "lark" else "regular expression"
        text = f"{text}\n\nThe input must match this {kind}:\n{grammar.definition}".strip()
    parameters = {"type": "object", "properties": {INPUT: {"type": "string"}}, "required": [INPUT]}
    return {"name": name} | ({"description": text} if text else {}) | {"parameters": parameters}


def as_arguments(input: str) -> str:
    """A custom call's input as the arguments of its function."""
    return json.dumps({INPUT: input}, ensure_ascii=False)


def arguments_rules(rule: str, grammar: InputGrammar) -> str:
    """A rule for the arguments of a custom tool's function, as JSON."""
    lark = regex_grammar(grammar.definition) if grammar.syntax == "regex" else grammar.definition
    opening, closing = json.dumps(f'{{"{INPUT}": "'), json.dumps('"}')
    return f"{rule}: {opening} {rule}_input {closing}\n{rule}_input: %lark {{\n{json_escaped(lark)}\n}}\n"


_HEAD = re.compile(r'\s*\{\s*"input"\s*:\s*"')
_CHARACTERS = re.compile(  # whole ones, up to the closing quote
    r'(?:[^"\\]|\\[^u]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}|\\u(?![dD][89abAB])[0-9a-fA-F]{4})*'
)


class InputReader:
    """Reads a custom call's input out of the arguments of its function while they are written."""

    def __init__(self) -> None:
        self._arguments = ""
        self._at = -1  # what is read next; -1: the input has not begun
        self.input = ""

    def feed(self, text: str) -> str:
        """What is new of the input."""
        self._arguments += text
        if self._at < 0:
            head = _HEAD.match(self._arguments)
            if head is None:
                return ""
            self._at = head.end()
        found = _CHARACTERS.match(self._arguments, self._at)
        assert found is not None
        try:
            new = _sound(json.loads(f'"{found[0]}"', strict=False))
        except ValueError:  # an escape that JSON does not have: the call will turn out to be none
            return ""
        self._at = found.end()
        self.input += new
        return new

    def end(self) -> str:
        """The rest of the input, once the arguments are whole. Where they have no such parameter, they are the input."""
        try:
            value = json.loads(self._arguments, strict=False)[INPUT]
        except (ValueError, KeyError, TypeError):
            value = None
        whole = _sound(value) if isinstance(value, str) else self._arguments if self._at < 0 else self.input
        rest, self.input = whole[len(self.input) :], whole
        return rest


def _sound(text: str) -> str:
    """Half a surrogate pair is no character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
