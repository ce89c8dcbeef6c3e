"""Custom tools: calls whose input is a text, which may have to match a grammar.

A chat template knows functions alone, so a custom tool is offered to the model as a function with one parameter, `input`. Where
its grammar is held, the call is written as JSON like any other, and the grammar holds for the text as JSON spells it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

from engine.errors import BadRequest

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


# -- Lark grammars for text that is written inside a JSON string: the same texts, with quotes, backslashes and line breaks escaped
#
# Every literal and every expression of the grammar is rewritten, so that where it matched `"` it matches `\\"`. Python's `re` says
# which of these characters an atom of an expression matches.
#
# An escape has two characters, and the grammar engine's lexer does not take one back: behind `/.+/`, which may go on with `\\"`, it
# would not find the line break that is written `\\n`. So a grammar without recursion becomes a single terminal, which is matched
# as one expression. In a recursive one, and with %ignore, some texts that would match cannot be written; none is written that does
# not match.

_SPECIAL = {
    '"': r"\\\"",
    "\\": r"\\\\",
    "\n": r"\\n",
    "\t": r"\\t",
    "\r": r"\\r",
}  # as an expression matches them escaped
_ESCAPED = r'"\\\x00-\x1f'  # cannot stand in a JSON string by themselves

_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*|//[^\n]*)
    |(?P<range>"(?:\\.|[^"\\])+"\s*\.\.\s*"(?:\\.|[^"\\])+")
    |(?P<string>"(?:\\.|[^"\\\n])*")(?P<case>i?)
    |/(?P<regex>(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+)/(?P<flags>[a-z]*)
    |%import\s+common\s*\.\s*(?P<common>\w+)(?:\s*->\s*(?P<renamed>\w+))?
    |%import\s+common\s*\((?P<several>[\w\s,]+)\)
    |(?P<foreign>%(?:import|json|regex|lark|llguidance)\b)
    |(?m:^)(?P<prefix>[?!]+)(?=_*[a-z])
    |(?P<alias>->\s*\w+)
    |(?P<name>(?<!\w)_*[a-z][a-z0-9_]*(?:\.[0-9]+(?=\s*:))?)
    |(?P<terminal>\w+)
    |(?P<stray>["/])
    |(?P<other>[\s\S])""",
    re.VERBOSE,
)

_COMMON = {
    "LF": r"\n",
    "CR": r"\r",
    "NEWLINE": r"(\r?\n)+",
    "WS": r"[ \t\f\r\n]+",
    "WS_INLINE": r"[ \t]+",
    "DIGIT": r"[0-9]",
    "HEXDIGIT": r"[0-9a-fA-F]",
    "INT": r"[0-9]+",
    "SIGNED_INT": r"[+-]?[0-9]+",
    "DECIMAL": r"[0-9]+\.[0-9]*|\.[0-9]+",
    "FLOAT": r"[0-9]+[eE][+-]?[0-9]+|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?",
    "NUMBER": r"([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?",
    "SIGNED_NUMBER": r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?",
    "LCASE_LETTER": r"[a-z]",
    "UCASE_LETTER": r"[A-Z]",
    "LETTER": r"[A-Za-z]",
    "WORD": r"[A-Za-z]+",
    "CNAME": r"[A-Za-z_][A-Za-z0-9_]*",
    "ESCAPED_STRING": r'"([^"\\\n]|\\.)*"',
}


def regex_grammar(expression: str) -> str:
    """The grammar of one expression."""
    return "start: /" + re.sub(r"\\.|/", lambda found: r"\/" if found[0] == "/" else found[0], expression) + "/"


def json_escaped(grammar: str) -> str:
    """Raises BadRequest for what cannot be rewritten."""
    tokens: list[re.Match[str]] = []
    written: list[str] = []
    for token in _TOKEN.finditer(grammar):  # one by one: a fault ends it, so that the work is bounded by the length
        tokens.append(token)
        written.append(_rewritten(token))
    text = "".join(written)
    rules = {found[1]: found for found in _DEFINED.finditer(text)}
    if "%ignore" in text or _recursive(text, list(rules.values())):
        return text
    text = "".join(_as_terminal(token, rules) for token in tokens)
    return f"start: {_terminal('start')}\n{text}"


_DEFINED = re.compile(r"^[?!]*(_*[a-z][a-z0-9_]*)(?:\.[0-9]+)?\s*:", re.MULTILINE)


def _recursive(text: str, rules: Sequence[re.Match[str]]) -> bool:
    """Whether a rule leads back to itself."""
    ends = [rule.start() for rule in rules[1:]] + [len(text)]
    names = {rule[1] for rule in rules}
    uses = {
        rule[1]: {token["name"] for token in _TOKEN.finditer(text, rule.end(), end)} & names
        for rule, end in zip(rules, ends)
    }
    try:
        TopologicalSorter(uses).prepare()
    except CycleError:
        return True
    return False


def _terminal(rule: str) -> str:
    return f"RULE_{rule.upper()}"


def _as_terminal(token: re.Match[str], rules: Collection[str]) -> str:
    if token["alias"] is not None or token["prefix"] is not None:
        return ""
    name = (token["name"] or "").partition(".")[0]
    return _terminal(name) if name in rules else _rewritten(token)


def _rewritten(token: re.Match[str]) -> str:
    if token["comment"] is not None:
        return ""
    if token["range"] is not None:
        first, last = (_unquoted(text) for text in re.findall(r'"(?:\\.|[^"\\])+"', token["range"]))
        return f"/{_expression(f'[{_in_class(first)}-{_in_class(last)}]', '')}/"
    if token["string"] is not None:
        return (
            json.dumps(json.dumps(_unquoted(token["string"]), ensure_ascii=False)[1:-1], ensure_ascii=False)
            + token["case"]
        )
    if token["regex"] is not None:
        return f"/{_expression(token['regex'], token['flags'])}/{token['flags'].replace('s', '')}"
    if token["common"] is not None:
        return _common(token["common"], token["renamed"] or token["common"])
    if token["several"] is not None:
        return "\n".join(_common(name, name) for name in re.findall(r"\w+", token["several"]))
    if token["stray"] is not None:
        raise _cannot("A text or an expression of the tool's grammar has no end.")
    if token["foreign"] is not None:
        raise _cannot(f"{token['foreign']} cannot be used in a tool's grammar, but for %import common.NAME.")
    return token[0]


def _common(name: str, alias: str) -> str:
    if name not in _COMMON:
        raise _cannot(f"There is no terminal common.{name} here; there are {', '.join(_COMMON)}.")
    return f"{alias}: /{_expression(_COMMON[name], '')}/"


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:  # an escape that only Lark has
        return re.sub(
            r"\\x([0-9a-fA-F]{2})|\\(.)", lambda found: chr(int(found[1], 16)) if found[1] else found[2], text[1:-1]
        )


def _in_class(char: str) -> str:
    return "\\" + char if char in "]\\^-[" else char


_ATOM = re.compile(
    r"""(?P<zero>\\[bBAzG^$]|\^|\$)
    |(?P<group>\(\?[^:)]*[:)]?|\()
    |(?P<counted>\{[0-9]{0,9}(?:,[0-9]{0,9})?\})
    |(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])
    |(?P<property>\\[pP](?:\{[^}]*\}|.))
    |(?P<escape>\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.)
    |(?P<dot>\.)
    |(?P<plain>[)|*+?])
    |(?P<char>[\s\S])""",
    re.VERBOSE,
)


def _expression(expression: str, flags: str) -> str:
    if "x" in flags or re.search(r"\(\?\w*x", expression):
        raise _cannot("Expressions with the flag x cannot be used in a tool's grammar.")
    every = "s" in flags or re.search(r"\(\?\w*s", expression) is not None
    return "".join(_atom(atom, every) for atom in _ATOM.finditer(expression))


def _atom(atom: re.Match[str], every: bool) -> str:
    text = atom[0]
    if atom["class"] is None and atom["escape"] is None and atom["dot"] is None and atom["char"] is None:
        return r"[\P{C}--[" + _ESCAPED + "]]" if text.startswith(r"\P") else text
    try:
        found = re.compile(text, re.DOTALL if every else 0)
    except re.error as error:
        raise _cannot(f"{text[:100]!r} is no expression: {error}.") from None
    special = [escaped for char, escaped in _SPECIAL.items() if found.fullmatch(char)]
    if not special:
        return text
    if atom["char"] is not None or (atom["escape"] is not None and text[1] not in "DWsS"):
        return special[0]
    rest = text[1:-1] if atom["class"] is not None else r"\s\S" if every and text == "." else text
    inner = text if atom["class"] is not None else r"[^\n]" if text == "." and not every else f"[{rest}]"
    return f"(?:[{inner}--[{_ESCAPED}]]|{'|'.join(special)})"


def _cannot(reason: str) -> BadRequest:
    return BadRequest(reason, "tools.format.definition")
