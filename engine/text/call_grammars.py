"""Grammars of replies: JSON, tool calls in the convention of the model's family, or either of the two.

A call is spelled as the family's chat template spells it, with the arguments held to the function's schema. Where the
client asks for JSON and offers tools, a reply is calls or the JSON. Where only the calls are strict, words may surround them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.text.argument_grammars import ArgumentGrammars, json_value, literal
from engine.text.families import Family, MessageSpelling
from engine.text.json_schema import compiles, grammar_schema, room_for_more
from engine.types import Grammar

_HEAD = "%llguidance {}\n"
_ANY_OBJECT = {"type": "object"}
_Held = Callable[[Mapping[str, Any]], bool]
_CALL_ROOM = 64  # bytes of a call around its name and arguments
_TEXT = "TEXT: /(.|\\n)*/\n"
# what may be a special token of the vocabulary, and the ids that a model makes up
_PARTS = re.compile(r"(<(?!/?｜DSML)[^<>\s]{1,40}>|｜DSML｜|\[/?[A-Z_]+\]|\{number\}|\{id\})")
_MADE_UP = {"{number}": "/[0-9]{1,4}/", "{id}": "/[A-Za-z0-9]{9}/"}


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
        inputs: Mapping[str, Callable[[str], str]] = {},
    ) -> None:
        """`most`: calls in a reply. `special_token`: the id of a marker that the vocabulary has as a special token. `inputs` make
        the rules, under the name that they are given, of the arguments of functions that no schema describes."""
        self._inputs = inputs
        self._spelling = family.spelling
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
        return Grammar("ebnf", f"{_HEAD}start: {_row(self._notes, self._all)}\n{rules}", self._room_if_strict)

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
        if self._spelling is None:
            return Grammar(
                "ebnf", f"{_HEAD}start: calls | WORDS\nWORDS: /([^\\s{{](.|\\n)*)?/\ncalls: {self._all}\n{rules}"
            )
        if isinstance(self._spelling, MessageSpelling):
            answer = f"{self._text(self._spelling.answer)} TEXT"
            return Grammar("ebnf", f"{_HEAD}start: note* ({answer} | {self._all})\n{_TEXT}{rules}")
        words = f"{self._repeated('lead rest', 0)} text"
        if self._spelling.opened:
            words = f"{self._all} | ({self._text(self._spelling.opened)} {words})?"
        start = f"start: {words}\ntext: TEXT\n{_TEXT}"
        return Grammar("ebnf", f"{_HEAD}{start}{self._up_to('lead', self._spelling.marker)}{rules}")

    def or_answer(self, answer: Grammar) -> Grammar:
        """Calls, or the JSON or the text that was asked for. Tools cannot be called where that is a grammar of its own."""
        if answer.kind == "ebnf":
            return answer
        rules = self._rules(lambda function: function.get("strict") is not False)
        room = None if answer.reserve is None else max(answer.reserve, self._room)
        start = _row(self._notes, f"({_row(self._answer_head, 'answer')} | calls)")
        text = f"{_HEAD}start: {start}\ncalls: {self._all}\n"
        return Grammar("ebnf", text + _answer(answer) + rules, room)

    def only_answer(self, answer: Grammar) -> Grammar:
        """The JSON or the text that was asked for, in a format whose replies are several messages."""
        if answer.kind == "ebnf" or not isinstance(self._spelling, MessageSpelling):
            return answer
        text = f"{_HEAD}start: note* {self._answer_head} answer\n{_answer(answer)}{self._note_rules}"
        return Grammar("ebnf", text, answer.reserve)

    # -- how a family writes them

    @property
    def _notes(self) -> str:
        return "note*" if isinstance(self._spelling, MessageSpelling) else ""

    @property
    def _answer_head(self) -> str:
        return self._text(self._spelling.answer) if isinstance(self._spelling, MessageSpelling) else ""

    @property
    def _note_rules(self) -> str:
        assert isinstance(self._spelling, MessageSpelling)
        heads = " | ".join(self._text(note) for note in self._spelling.notes)
        return f"note: ({heads}) noted\n{self._up_to('noted', self._spelling.note_end)}"

    @property
    def _all(self) -> str:
        """All calls of a reply."""
        spelling = self._spelling
        if spelling is None:
            return "call " + self._repeated('"; " call', 1)
        if isinstance(spelling, MessageSpelling):
            return "call " + self._repeated(f"{self._text(spelling.between)} call", 1)
        one = f"{self._text(spelling.marker)} rest"
        first = "rest" if spelling.opened else one
        if spelling.grouped:
            return first
        return _row(first, self._repeated(_row(self._text(spelling.between), one), 1))

    def _rules(self, held: _Held) -> str:
        """`call`, and `rest`, which is what follows the opening marker. `held` says which functions' schemas count."""
        spelling = self._spelling
        if spelling is None:
            return self._json_calls("parameters", held) if self._inputs else self._bare_calls(held)
        if isinstance(spelling, MessageSpelling):
            kind = "json" if spelling.tags is None else "tags"
            made = self._arguments(held, kind, spelling.tags, spelling.gap)
            return self._alternatives(spelling.call, spelling.call_end) + made + self._note_rules
        one = _row(self._text(spelling.each), "call", self._text(spelling.end))
        rest = one
        if spelling.grouped:
            more = self._repeated(_row(self._text(spelling.between), one), 1)
            rest = _row(self._text(spelling.open), one, more, self._text(spelling.close))
        made = self._arguments(held, spelling.arguments, spelling.tags, spelling.gap)
        return f"rest: {rest}\n{self._alternatives(spelling.head, spelling.tail)}{made}"

    def _repeated(self, rule: str, already: int) -> str:
        if self._most is None:
            return f"({rule})*"
        return f"({rule}){{0,{self._most - already}}}" if self._most > already else ""

    def _text(self, text: str) -> str:
        """A text as the model writes it: what the vocabulary has as special tokens is one of those."""
        if text == "?":
            return '("\\n")?'
        parts: list[str] = []
        plain = ""
        for part in _PARTS.split(text):
            token = self._special_token(part) if part and part not in _MADE_UP else None
            if token is None and part not in _MADE_UP:
                plain += part
                continue
            parts += [literal(plain)] if plain else []
            parts.append(_MADE_UP.get(part, f"<[{token}]>"))
            plain = ""
        return " ".join([*parts, *([literal(plain)] if plain else [])])

    def _up_to(self, rule: str, mark: str) -> str:
        """A rule of any text up to a mark, and the mark."""
        written = self._text(mark)
        if "<[" in written:
            return f"{rule}: {rule.upper()}_TEXT {written}\n{rule.upper()}_TEXT: /(.|\\n)*/\n"
        return f"{rule}[lazy]: /(.|\\n)*{_regex(mark)}/\n"

    def _alternatives(self, head: str, tail: str) -> str:
        calls = [
            f"{self._text(head.replace('{name}', json.dumps(function['name'], ensure_ascii=False)[1:-1]))} args{at} {self._text(tail)}"
            for at, function in enumerate(self._functions)
        ]
        return "call: " + " | ".join(calls) + "\n"

    def _json_calls(self, key: str, held: _Held) -> str:
        made = self._arguments(held, "json")
        return self._alternatives(f'{{"name": "{{name}}", "{key}": ', "}") + made

    def _bare_calls(self, held: _Held) -> str:
        """A call that nothing marks must be one JSON text: another one, of the answer, may begin like it."""
        calls = []
        for at, function in enumerate(self._functions):
            arguments = {"$id": f"urn:tool:{at}", **self._schema(function, held)}
            own = {"name": {"const": function["name"]}, "parameters": arguments}
            call = {"type": "object", "properties": own, "required": list(own), "additionalProperties": False}
            calls.append(json_value(call))
        return "call: " + " | ".join(calls) + "\n"

    def _arguments(self, held: _Held, kind: str, tags: Any = None, gap: str = "") -> str:
        """The rules `args0`, `args1` and so on."""
        made = ArgumentGrammars(self._text, self._up_to)
        for at, function in enumerate(self._functions):
            if function["name"] in self._inputs and kind == "json":
                made.add(self._inputs[function["name"]](f"args{at}"))
                continue
            schema = self._schema(function, held)
            if kind == "tags":
                made.tagged(at, schema, tags, gap)
            elif kind == "json":
                made.add(f"args{at}: {json_value(schema)}\n")
            else:
                made.literals(at, schema, gemma=kind == "gemma")
        return made.text

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


def _answer(answer: Grammar) -> str:
    if answer.kind == "regex":
        return "answer: ANSWER\nANSWER: /" + answer.text.replace("/", "\\/") + "/\n"
    return f"answer: {json_value(grammar_schema(answer.text or json.dumps(_ANY_OBJECT)).value)}\n"


def _row(*parts: str) -> str:
    return " ".join(filter(None, parts))


def _regex(text: str) -> str:
    """A text as a part of an expression in slashes."""
    return re.escape(text).replace("\\\n", "\\n").replace("/", "\\/")
