"""Custom tools: calls whose input is a text, which may have to match a grammar.

A chat template knows functions alone, so a custom tool is offered to the model as a function with one parameter, `input`. Where
its grammar is held, the call is written as JSON like any other, and the grammar holds for the text as JSON spells it (lark_json.py).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from app.runtime.lark_json import json_escaped, regex_grammar
from engine.types import Grammar

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


Functions = Sequence[Mapping[str, Any]]


def demanded_calls(functions: Functions, inputs: Mapping[str, InputGrammar], several: bool) -> Grammar:
    """A reply that is a list of calls and nothing else. `inputs` are the grammars of those functions that are custom tools."""
    more = ' (", " call)*' if several else ""
    return Grammar("ebnf", f'%llguidance {{}}\nstart: "[" call{more} "]"\n' + _calls(functions, inputs))


def calls_among_words(functions: Functions, inputs: Mapping[str, InputGrammar]) -> Grammar:
    """Words, and calls as JSON within <tool_call>."""
    return Grammar("ebnf", _AMONG_WORDS + _calls(functions, inputs))


_AMONG_WORDS = r"""%llguidance {}
start: marked* words
words: TEXT
TEXT: /(.|\n)*/
marked: lead "\n" call "\n</tool_call>"
lead[lazy]: /(.|\n)*<tool_call>/
"""


def _calls(functions: Functions, inputs: Mapping[str, InputGrammar]) -> str:
    """All calls begin with literals: the lexer tells those apart, but not a literal from the parts of a schema."""
    rules = []
    for at, function in enumerate(functions):
        name = function["name"]
        if name in inputs:
            grammar = inputs[name]
            lark = regex_grammar(grammar.definition) if grammar.syntax == "regex" else grammar.definition
            opening, body, closing = _opening(name) + '{"input": "', f"%lark {{\n{json_escaped(lark)}\n}}", '"}}'
        else:
            schema = {**(function.get("parameters") or {"type": "object"}), **_COMPACT}
            opening, body, closing = _opening(name), f"%json {json.dumps(schema)}", "}"
        rules.append(f"call{at}: {json.dumps(opening)} body{at} {json.dumps(closing)}\nbody{at}: {body}\n")
    return f"call: {' | '.join(f'call{at}' for at in range(len(functions)))}\n" + "".join(rules)


def _opening(name: str) -> str:
    return json.dumps({"name": name, "arguments": {}}, ensure_ascii=False).removesuffix("{}}")


_COMPACT = {"x-guidance": {"whitespace_pattern": "[ ]?"}}
_HEAD = re.compile(r'\s*\{\s*"input"\s*:\s*"')
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class InputReader:
    """Reads a custom call's input out of the arguments of its function while they are written."""

    def __init__(self) -> None:
        self._arguments = ""
        self._at = -1  # what is read next; -1: the input has not begun
        self._ended = False
        self.input = ""

    def feed(self, text: str) -> str:
        """What is new of the input."""
        self._arguments += text
        if self._at < 0 and (head := _HEAD.match(self._arguments)):
            self._at = head.end()
        new = self._decoded() if self._at >= 0 and not self._ended else ""
        self.input += new
        return new

    def _decoded(self) -> str:
        text, out = self._arguments, []
        while self._at < len(text):
            char, step = text[self._at], 1
            if char == '"':
                self._ended = True
                break
            if char == "\\":
                if self._at + 1 == len(text):
                    break
                escape = text[self._at + 1]
                step = 6 if escape == "u" else 2
                if escape == "u" and "\ud800" <= (char := self._unicode(self._at)) < "\udc00":
                    step = 12  # a pair
                if self._at + step > len(text):
                    break
                char = (
                    json.loads(f'"{text[self._at : self._at + step]}"')
                    if escape == "u"
                    else _ESCAPES.get(escape, escape)
                )
            out.append(char)
            self._at += step
        return "".join(out)

    def _unicode(self, at: int) -> str:
        digits = self._arguments[at + 2 : at + 6]
        return chr(int(digits, 16)) if len(digits) == 4 else ""

    def end(self) -> str:
        """The rest of the input, once the arguments are whole. A model that knows no such parameter has its arguments for input."""
        if self._at >= 0:
            return ""
        try:
            value = json.loads(self._arguments)[INPUT]
        except (ValueError, KeyError, TypeError):
            value = None
        self.input = value if isinstance(value, str) else self._arguments
        return self.input
