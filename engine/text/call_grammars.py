"""Grammars of replies: JSON, tool calls in the convention of the model's family, or either of the two.

A call is spelled as the family's chat template spells it, with the arguments held to the function's schema. Where the
client asks for JSON and offers tools, a reply is calls or the JSON. Where only the calls are strict, words may surround them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.text.json_schema import BLANK, compiles, grammar_schema, room_for_more
from engine.text.tools import Family
from engine.types import Grammar

_HEAD = "%llguidance {}\n"
_ANY_OBJECT = {"type": "object"}
_Held = Callable[[Mapping[str, Any]], bool]
_CALL_ROOM = 64  # bytes of a call around its name and arguments


def json_grammar(schema: Mapping[str, Any] | None = None, strict: bool = False) -> Grammar:
    """JSON of this schema, or any object. A strict one ends before the length limit."""
    if schema is None:
        return Grammar("json_object", reserve=room_for_more(_ANY_OBJECT) if strict else None)
    text = json.dumps(schema)
    return Grammar("json_schema", text, room_for_more(grammar_schema(text).value) if strict else None)


class CallGrammars:
    """Grammars for the functions that one request offers."""

    def __init__(
        self,
        family: Family,
        functions: Sequence[Mapping[str, Any]],
        most: int | None = None,
        special_token: Callable[[str], int | None] = lambda marker: None,
    ) -> None:
        """`most`: calls in a reply. `special_token`: the id of a marker that the vocabulary has as a special token."""
        self._family = family
        self._functions = functions
        self._most = most
        self._special_token = special_token
        self._room = 0
        self.ignored: dict[
            str, None
        ] = {}  # keywords of the functions' schemas that are not enforced; "" is a whole schema

    def demanded(self) -> Grammar:
        """A reply that is calls and nothing else, so that a call that was demanded cannot fail to come."""
        rules = self._rules(lambda function: True)
        return Grammar("ebnf", f"{_HEAD}start: {self._all}\n{rules}", self._room_if_strict)

    def demanded_list(self) -> Grammar:
        """The same as a JSON list, for a model whose convention is not known."""
        calls = self._json_calls("arguments", lambda function: True)
        more = self._repeated('", " call', 1)
        text = f'{_HEAD}start: "[" call {more} "]"\n{calls}'
        return Grammar("ebnf", text, self._room_if_strict)

    @property
    def _room_if_strict(self) -> int | None:
        return self._room if all(function.get("strict") for function in self._functions) else None

    def among_words(self) -> Grammar:
        """Words, and calls. The arguments of functions that are not strict may be any object."""
        rules = self._rules(lambda function: bool(function.get("strict")))
        if self._family == "llama":
            return Grammar(
                "ebnf", f"{_HEAD}start: calls | WORDS\nWORDS: /([^\\s{{](.|\\n)*)?/\ncalls: {self._all}\n{rules}"
            )
        token = self._special_token(self._opener)
        lead = f"lead[lazy]: /(.|\\n)*{self._opener}/" if token is None else f"lead: TEXT <[{token}]>"
        start = f"start: {self._repeated('lead rest', 0)} text\ntext: TEXT\nTEXT: /(.|\\n)*/\n"
        return Grammar("ebnf", f"{_HEAD}{start}{lead}\n{rules}")

    def or_answer(self, answer: Grammar) -> Grammar:
        """Calls, or the JSON or the text that was asked for. Tools cannot be called where that is a grammar of its own."""
        if answer.kind == "ebnf":
            return answer
        rules = self._rules(lambda function: function.get("strict") is not False)
        if answer.kind == "regex":
            body = "answer: ANSWER\nANSWER: /" + answer.text.replace("/", "\\/") + "/\n"
        else:
            body = f"answer: {_json(grammar_schema(answer.text or json.dumps(_ANY_OBJECT)).value)}\n"
        room = None if answer.reserve is None else max(answer.reserve, self._room)
        return Grammar("ebnf", f"{_HEAD}start: answer | calls\ncalls: {self._all}\n{body}{rules}", room)

    # -- how a family writes them

    @property
    def _opener(self) -> str:
        return "<tool_calls>" if self._family == "hunyuan" else "<tool_call>"

    @property
    def _all(self) -> str:
        """All calls of a reply."""
        if self._family == "llama":
            return "call " + self._repeated('"; " call', 1)
        one = f"{self._marker(self._opener)} rest"
        return one if self._family == "hunyuan" else one + " " + self._repeated(f'"\\n" {one}', 1)

    def _rules(self, held: _Held) -> str:
        """`call`, and `rest`, which is what follows the opening marker. `held` says which functions' schemas count."""
        if self._family == "llama":
            return self._bare_calls(held)
        close = self._marker("</tool_call>")
        if self._family == "hunyuan":
            one = f"{self._marker('<tool_call>')} call {close}"
            return f"rest: {one} {self._repeated(one, 1)} {self._marker('</tool_calls>')}\n" + self._fenced_calls(held)
        calls = self._xml_calls(held) if self._family == "qwen_xml" else self._json_calls("arguments", held)
        return f'rest: "\\n" call "\\n" {close}\n{calls}'

    def _repeated(self, rule: str, already: int) -> str:
        if self._most is None:
            return f"({rule})*"
        return f"({rule}){{0,{self._most - already}}}" if self._most > already else ""

    def _marker(self, text: str) -> str:
        token = self._special_token(text)
        return json.dumps(text) if token is None else f"<[{token}]>"

    def _json_calls(self, key: str, held: _Held) -> str:
        calls = []
        for at, function in enumerate(self._functions):
            head = f'{{"name": {json.dumps(function["name"], ensure_ascii=False)}, "{key}": '
            calls.append(f'{_literal(head)} args{at} "}}"')
        return self._alternatives(calls) + self._arguments(held)

    def _bare_calls(self, held: _Held) -> str:
        """A call that nothing marks must be one JSON text: another one, of the answer, may begin like it."""
        calls = []
        for at, function in enumerate(self._functions):
            arguments = {"$id": f"urn:tool:{at}", **self._schema(function, held)}
            own = {"name": {"const": function["name"]}, "parameters": arguments}
            call = {"type": "object", "properties": own, "required": list(own), "additionalProperties": False}
            calls.append(_json(call))
        return self._alternatives(calls)

    def _fenced_calls(self, held: _Held) -> str:
        heads = [_literal(function["name"] + "\n```json\n") for function in self._functions]
        calls = [f'{head} args{at} "\\n```"' for at, head in enumerate(heads)]
        return self._alternatives(calls) + self._arguments(held)

    @staticmethod
    def _alternatives(calls: Sequence[str]) -> str:
        return "call: " + " | ".join(calls) + "\n"

    def _arguments(self, held: _Held) -> str:
        return "".join(
            f"args{at}: {_json(self._schema(function, held))}\n" for at, function in enumerate(self._functions)
        )

    def _schema(self, function: Mapping[str, Any], held: _Held) -> dict[str, Any]:
        given = function.get("parameters") or _ANY_OBJECT
        if not held(function):
            return _ANY_OBJECT
        made = grammar_schema(json.dumps(given))
        self.ignored.update(dict.fromkeys(made.ignored))
        schema = made.value
        if not compiles(made.text):
            self.ignored[""] = None
            schema = _ANY_OBJECT
        self._room = max(
            self._room, room_for_more(schema), _CALL_ROOM + len(function["name"]) + room_for_more(_ANY_OBJECT)
        )
        return schema

    # -- values without quotation marks, as Qwen's coders write them

    def _xml_calls(self, held: _Held) -> str:
        """Parameters in the order of the schema, which is the order that JSON grammars have as well."""
        calls, rules = [], ""
        for at, function in enumerate(self._functions):
            schema = self._schema(function, held)
            properties = schema.get("properties", {})
            parts = []
            for number, (name, value) in enumerate(properties.items()):
                if value is False:
                    continue
                head = _literal(f"<parameter={name}>\n")
                rules += f"p{at}_{number}: {head} {_bare_value(value, schema)}\n"
                parts.append(f"p{at}_{number}" + ("" if name in schema.get("required", ()) else "?"))
            if schema.get("additionalProperties", True) is not False:
                parts.append("other*")
            head = _literal(f"<function={function['name']}>\n")
            calls.append(f'{head} {" ".join(parts)} "</function>"')
        other = 'other: "<parameter=" /[^\\s<>]{1,64}/ ">\\n" bare\n'
        return self._alternatives(calls) + rules + other + "bare[lazy]: /(.|\\n)*\\n<\\/parameter>\\n/\n"


def _bare_value(value: Any, schema: Mapping[str, Any]) -> str:
    """A parameter's value and its closing tag: JSON, but texts without quotation marks."""
    end = _literal("\n</parameter>\n")
    if isinstance(value, Mapping):
        texts = value.get("enum", [value["const"]] if "const" in value else None)
        if texts and all(isinstance(text, str) for text in texts):
            return f"({' | '.join(map(_literal, texts))}) {end}"
        kinds = value.get("type")
        if kinds is not None and "string" not in ([kinds] if isinstance(kinds, str) else kinds):
            definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
            return f"{_json({**definitions, **value})} {end}"
    return "bare"


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _json(schema: Mapping[str, Any]) -> str:
    return f"%json {json.dumps({**schema, 'x-guidance': BLANK})}"
