"""Lark grammars for text that is written inside a JSON string: the same texts, with quotes, backslashes and line breaks escaped.

Every literal and every expression of the grammar is rewritten, so that where it matched `"` it matches `\\"`. Python's `re` says
which of these characters an atom of an expression matches.

An escape has two characters, and the grammar engine's lexer does not take one back: behind `/.+/`, which may go on with `\\"`, it
would not find the line break that is written `\\n`. So a grammar without recursion becomes a single terminal, which is matched
as one expression. In a recursive one, and with %ignore, some texts that would match cannot be written; none is written that does
not match.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from graphlib import CycleError, TopologicalSorter

from engine.errors import BadRequest

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
