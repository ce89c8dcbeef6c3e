"""A reader of tool calls whose arguments are literals of a language: Python's keyword arguments, as LFM2 writes them, and
Gemma 4's objects with keys without quotation marks. The arguments come out as JSON while they arrive.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import Any

from engine.text.tool_readers import StepReader

_WORDS = {"True": "true", "False": "false", "None": "null", "true": "true", "false": "false", "null": "null"}
_WORD = re.compile(r"[^\s,\[\](){}:='\"<]+")
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", "'": "'", '"': '"', "/": "/", "\n": ""}
_ESCAPED_CODE = {"x": 2, "u": 4, "U": 8}
_HELD_MOST = 300  # characters of a name or a key that is not complete
_DEEPEST = 100


@dataclass(frozen=True)
class LiteralSyntax:
    """How a language writes a call."""

    prefix: str  # before the function's name
    open: str
    assign: str  # between a key and its value
    close: str
    quotes: tuple[str, ...]
    escapes: bool = True  # whether a backslash in a string escapes


PYTHON = LiteralSyntax("", "(", "=", ")", ('"', "'"))
GEMMA = LiteralSyntax("call:", "{", ":", "}", ('<|"|>', '"'), escapes=False)


class LiteralReader(StepReader):
    """`NAME(key=value, ...)`, or what another `syntax` makes of it."""

    def __init__(self, syntax: LiteralSyntax) -> None:
        super().__init__()
        self._syntax = syntax
        self._next = self._function
        self._keys = 0
        self._stack: list[str] = []  # what closes the lists and objects that are open
        self._quote = ""  # of the string that is being read
        # a bare key can only be split from what follows it, and a quotation mark within a text only be told by that
        self._head = re.compile(rf"\s*{re.escape(syntax.prefix)}\s*([\w.:/-]{{1,256}}?)\s*{re.escape(syntax.open)}")
        self._key_head = re.compile(
            rf"\s*(?:<\|\"\|>|[\"'])?([^\s,(){{}}\[\]=:<\"']{{1,256}})(?:<\|\"\|>|[\"'])?\s*{re.escape(syntax.assign)}"
        )

    def _function(self) -> bool:
        head = self._head.match(self._held)
        if head is None:
            body = self._held.lstrip()
            prefix = self._syntax.prefix
            begun = body.startswith(prefix) or prefix.startswith(body)
            return self._wait(begun and re.fullmatch(r"[\w.:/-]*\s*", body.removeprefix(prefix).lstrip()) is not None)
        self.name = head[1]
        self._held = self._held[head.end() :]
        self._next = self._key
        return True

    def _wait(self, possible: bool) -> bool:
        """There is too little text to go on, unless nothing can come of it."""
        if not possible or len(self._held) > _HELD_MOST:
            self.state = "broken"
        return False

    def _key(self) -> bool:
        self._held = self._held.lstrip()
        if self._held.startswith(self._syntax.close):
            self._held = self._held[1:]
            self._out.append("}" if self._keys else "{}")
            self._finish()
            return False
        if self._keys and self._held.startswith(","):
            self._held = self._held[1:].lstrip()
        key = self._key_head.match(self._held)
        if key is None:
            return self._wait(re.fullmatch(r"[^,(){}\[\]=:]*", self._held) is not None)
        self._out.append((", " if self._keys else "{") + json.dumps(key[1], ensure_ascii=False) + ": ")
        self._keys += 1
        self._held = self._held[key.end() :]
        self._next = self._value
        return True

    def _value(self) -> bool:
        if self._quote:
            return self._string()
        self._held = self._held.lstrip()
        if not self._held:
            return False
        char = self._held[0]
        for quote in self._syntax.quotes:
            if self._held.startswith(quote):
                self._held = self._held[len(quote) :]
                self._quote = quote
                self._out.append('"')
                return True
            if quote.startswith(self._held):
                return False
        if not self._stack and char in (",", self._syntax.close):
            self._next = self._key
            return True
        if char in _CLOSES and len(self._stack) < _DEEPEST:
            self._stack.append(_CLOSES[char])
            self._out.append(char.replace("(", "["))
        elif self._stack and char == self._stack[-1]:
            self._stack.pop()
            self._out.append(char.replace(")", "]"))
        elif self._stack and char in ",:":
            self._out.append(char + " ")
        else:
            return self._word()
        self._held = self._held[1:]
        return True

    def _word(self) -> bool:
        word = _WORD.match(self._held)
        if word is None:
            self.state = "broken"
            return False
        after = self._held[word.end() :].lstrip()
        if not after:
            return self._wait(True)
        is_key = after[0] == ":" and self._stack[-1:] == ["}"]
        self._out.append(json.dumps(word[0], ensure_ascii=False) if is_key else _scalar(word[0]))
        self._held = self._held[word.end() :]
        return True

    def _string(self) -> bool:
        """The rest of a text, as far as it has come."""
        text, quote = self._held, self._quote
        at = 0
        chars: list[str] = []
        while at < len(text):
            if text.startswith(quote, at):
                ends = self._ends_string(text[at + len(quote) :])
                if ends is None:
                    break
                if ends:
                    at += len(quote)
                    self._quote = ""
                    break
            elif quote.startswith(text[at:]):
                break
            elif text[at] == "\\" and self._syntax.escapes:
                char, taken = _unescaped(text[at + 1 :])
                if not taken:
                    break
                chars.append(char)
                at += 1 + taken
                continue
            chars.append(text[at])
            at += 1
        self._out.append(json.dumps("".join(chars), ensure_ascii=False)[1:-1] + ("" if self._quote else '"'))
        self._held = text[at:]
        return not self._quote

    def _ends_string(self, after: str) -> bool | None:
        """Whether this quotation mark ends the text: templates show texts to the model without escaping any. None: too early
        to tell."""
        if len(self._quote) > 1:
            return True
        after = after.lstrip()
        return after[0] in ",:)]}" if after else None

    def _finish(self) -> None:
        self.arguments = "".join(self._out)
        try:
            sound = isinstance(json.loads(self.arguments), dict)
        except (ValueError, RecursionError):
            sound = False
        self.state = "done" if sound else "broken"


def _unescaped(text: str) -> tuple[str, int]:
    """What a backslash before `text` makes of its beginning, and how long that is; 0: more text is needed."""
    if not text:
        return "", 0
    digits = _ESCAPED_CODE.get(text[0], 0)
    if not digits:
        return _ESCAPES.get(text[0], "\\" + text[0]), 1
    code = text[1 : 1 + digits]
    if len(code) < digits:
        return "", 0
    try:
        char = chr(int(code, 16))
    except ValueError:
        return "\\" + text[0], 1
    if not "\ud800" <= char <= "\udfff":
        return char, 1 + digits
    other = text[1 + digits : 7 + digits]  # the other half of a pair
    if len(other) < 6 and (not other or other[0] == "\\"):
        return "", 0
    if char <= "\udbff" and re.fullmatch(r"\\u[dD][c-fC-F][0-9a-fA-F]{2}", other):
        return json.loads(f'"\\u{code}{other}"'), 7 + digits
    return "\ufffd", 1 + digits


def _scalar(word: str) -> str:
    """A value without quotation marks as JSON; a text, where it is nothing else."""
    if word in _WORDS:
        return _WORDS[word]
    try:
        value: Any = ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        value = word
    try:
        return json.dumps(value if isinstance(value, int | float) else word, allow_nan=False, ensure_ascii=False)
    except ValueError:
        return json.dumps(word)
