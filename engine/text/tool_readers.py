"""Readers of one tool call each, in the ways in which models write them.

A reader is fed text until it is done or broken, and hands back what it did not need. It gives out the arguments as they
arrive; whether the whole was sound is known only at its end. What surrounds a call is `tools.py`'s business.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from engine.text.scanner import Scanner

State = Literal["reading", "done", "broken"]
_CLOSER = {"{": "}", "[": "]"}
_OUTSIDE_STRINGS = frozenset(" \t\r\n:,+-.0123456789eEtruefalsn")
_CALL_KEYS = frozenset({"name", "arguments", "parameters", "type", "id"})
_NAME_KEYS = ("name", "tool_name")
_ARGUMENT_KEYS = ("arguments", "parameters")
_NAME = re.compile(r"[\w.:/-]{1,256}")
_NAME_START = re.compile(r"[\w.:/-]{0,257}")
_MOST_ATTRIBUTES = 256  # characters
_NOT_STRINGS = ("null", "boolean", "integer", "number", "object", "array")


class Reader(Protocol):
    @property
    def state(self) -> State: ...
    @property
    def name(self) -> str | None: ...
    @property
    def arguments(self) -> str:
        """A JSON object, once done."""

    def feed(self, text: str) -> str:
        """Read on; what is returned was not read, and is empty unless the reader is done or broken."""

    def take(self) -> str:
        """The part of the arguments that has come since this was last asked, once the name is known."""


class BaseReader:
    """What readers have in common: what they have read so far."""

    def __init__(self) -> None:
        self.state: State = "reading"
        self.name: str | None = None
        self.arguments = ""
        self._out: list[str] = []  # pieces of the arguments
        self._taken = 0

    def take(self) -> str:
        if self.name is None:
            return ""
        new = "".join(self._out[self._taken :])
        self._taken = len(self._out)
        return new


class StepReader(BaseReader):
    """Reads by steps: each takes from the held text, and returns whether there may be more to take."""

    _next: Callable[[], bool]

    def __init__(self) -> None:
        super().__init__()
        self._held = ""

    def feed(self, text: str) -> str:
        self._held += text
        while self.state == "reading" and self._next():
            pass
        if self.state == "reading":
            return ""
        rest, self._held = self._held, ""
        return rest


class JsonReader(BaseReader):
    """`{"name": ..., "arguments": {...}}`, keys in any order, "parameters" and Command-R's "tool_name" as well.

    `known` restricts it to calls of these functions with no other keys, for a model that marks calls by nothing else:
    an answer that happens to be JSON is then told apart at its first foreign key. `name` says that the object is the
    arguments alone.
    """

    def __init__(self, known: Collection[str] | None = None, name: str | None = None) -> None:
        super().__init__()
        self.name = name
        self._bare = name is not None
        self._known = known
        self._raw: list[str] = []
        self._stack: list[str] = []
        self._in_string = self._escaped = self._in_arguments = False
        self._string: list[str] = []  # the string being read directly in the call's object
        self._key: str | None = None

    def feed(self, text: str) -> str:
        for at, char in enumerate(text):
            if not self._step(char):
                self._raw.append(text[:at])
                self.state = "broken"
                return text[at:]
            if not self._stack and not char.isspace():
                self._raw.append(text[: at + 1])
                self._finish("".join(self._raw))
                return text[at + 1 :]
        self._raw.append(text)
        return ""

    def _step(self, char: str) -> bool:
        """Whether the object can still be a call with this character in it."""
        was_in_arguments = self._in_arguments
        sound = self._in_string_step(char) if self._in_string else self._structure_step(char)
        if sound and (was_in_arguments or self._in_arguments):
            raw_control = char < " " and self._in_string  # not allowed by JSON, but models write it
            self._out.append(json.dumps(char)[1:-1] if raw_control else char)
        return sound

    def _in_string_step(self, char: str) -> bool:
        if self._escaped:
            self._escaped = False
        elif char == "\\":
            self._escaped = True
        elif char == '"':
            self._in_string = False
            return len(self._stack) > 1 or self._bare or self._end_string()
        if len(self._stack) == 1 and not self._bare:
            self._string.append(char)
        return True

    def _structure_step(self, char: str) -> bool:
        if not self._stack:
            if char == "{":
                self._stack.append("}")
                self._in_arguments = self._bare
            return char == "{" or char.isspace()
        if char == '"':
            self._in_string = True
            self._string = []
        elif char in _CLOSER:
            if len(self._stack) == 1 and char == "{" and self._key in _ARGUMENT_KEYS:
                self._in_arguments = True
            self._stack.append(_CLOSER[char])
        elif char in "}]":
            if self._stack.pop() != char:
                return False
            if len(self._stack) == 1 and not self._bare:
                self._in_arguments = False
        elif char == "," and len(self._stack) == 1:
            self._key = None
        return char in _OUTSIDE_STRINGS or char in '{}[]"'

    def _end_string(self) -> bool:
        try:
            value = str(json.loads('"' + "".join(self._string) + '"', strict=False))
        except ValueError:
            return False
        if self._key is None:
            self._key = value
            return self._known is None or value in _CALL_KEYS
        if self._key in _NAME_KEYS:
            if self.name is not None or not value or (self._known is not None and value not in self._known):
                return False
            self.name = value
        return True

    def _finish(self, raw: str) -> None:
        self.state = "broken"
        try:
            call = json.loads(raw, strict=False, parse_constant=_refuse)
            arguments = call if self._bare else self._arguments_of(call)
            spelled = "".join(self._out) or json.dumps(arguments, ensure_ascii=False)
            sound = isinstance(arguments, dict) and json.loads(spelled) == arguments
        except (ValueError, RecursionError):
            return
        if sound and self.name is not None and (self._bare or self.name in map(call.get, _NAME_KEYS)):
            self._out = self._out or [spelled]
            self.arguments = spelled
            self.state = "done"

    @staticmethod
    def _arguments_of(call: Mapping[str, Any]) -> Any:
        given = [call[key] for key in _ARGUMENT_KEYS if key in call]
        if len(given) > 1:
            raise ValueError("arguments given twice")
        arguments = given[0] if given else {}
        if isinstance(arguments, str):  # some write the object as JSON within JSON
            arguments = json.loads(arguments or "{}")
        return {} if arguments is None else arguments


@dataclass(frozen=True)
class TagSyntax:
    """How a family writes a call in tags: what surrounds the function's name, each key and each value."""

    name: str
    name_end: str  # empty: the name ends with its last character, and white space or a tag follows
    key: str
    key_end: str
    value_end: str
    end: str
    value: str = ""  # between key and value, besides white space
    padded: bool = False  # a line break at either end of a value is not part of it


QWEN_TAGS = TagSyntax("<function=", ">", "<parameter=", ">", "</parameter>", "</function>", padded=True)


class XmlReader(StepReader):
    """A call in tags, by default `<function=NAME><parameter=KEY>value</parameter></function>`, as Qwen's coders write it.

    Values are bare text; a function's schema in `schemas` says which of them are numbers, objects and so on, where the
    key's tag does not (`string="true"`).
    """

    def __init__(self, schemas: Mapping[str, Mapping[str, Any]], tags: TagSyntax = QWEN_TAGS) -> None:
        super().__init__()
        self._schemas = schemas
        self._tags = tags
        self._next = self._function
        self._keys: set[str] = set()
        self._types: frozenset[str] = frozenset()
        self._value: list[str] = []
        self._gap = ""  # a line break that belongs to the closing tag, should it follow
        self._end = Scanner([tags.value_end])
        self._declared_text: bool | None = (
            None  # whether the key's tag declares its value a string; None: no declaration
        )

    def _function(self) -> bool:
        self._held = self._held.lstrip()
        return self._literal({self._tags.name: self._function_name})

    def _function_name(self) -> bool:
        name = self._name(self._tags.name_end)
        if name is not None:
            self.name = name
            self._next = self._between
        return name is not None

    def _between(self) -> bool:
        self._held = self._held.lstrip()
        return self._literal({self._tags.key: self._key, self._tags.end: None})

    def _key(self) -> bool:
        key = self._name(self._tags.key_end)
        if key is None:
            return False
        if key in self._keys:
            self.state = "broken"
            return False
        self._out.append(("{" if not self._keys else ", ") + json.dumps(key, ensure_ascii=False) + ": ")
        self._keys.add(key)
        if self._declared_text is None:
            self._types = _types((self._schemas.get(self.name or "") or {}).get(key))
        else:
            self._types = frozenset({"string"} if self._declared_text else _NOT_STRINGS)
        self._value, self._gap = [], ""
        self._next = self._before_value if self._tags.value else self._first_of_value
        return True

    def _before_value(self) -> bool:
        self._held = self._held.lstrip()
        return self._literal({self._tags.value: self._first_of_value})

    def _first_of_value(self) -> bool:
        if not self._held:
            return False
        if self._tags.padded:
            self._held = self._held.removeprefix("\n")
        if self._streams:
            self._out.append('"')
        self._next = self._rest_of_value
        return True

    @property
    def _streams(self) -> bool:
        return self._types <= {"string"}

    def _rest_of_value(self) -> bool:
        scan = self._end.feed(self._held)
        self._held = scan.rest
        if self._streams:
            text = self._gap + scan.text
            shown = text.removesuffix("\n") if self._tags.padded else text
            self._gap = text[len(shown) :]
            self._out.append(json.dumps(shown, ensure_ascii=False)[1:-1])
        else:
            self._value.append(scan.text)
        if scan.match is None:
            return False
        value = "".join(self._value)
        value = value.removesuffix("\n") if self._tags.padded else value
        self._out.append('"' if self._streams else _as_json(value, self._types))
        self._next = self._between
        return True

    def _literal(self, choices: Mapping[str, Callable[[], bool] | None]) -> bool:
        for literal, following in choices.items():
            if self._held.startswith(literal):
                self._held = self._held[len(literal) :]
                if following is None:
                    self._out.append("}" if self._keys else "{}")
                    self.arguments = "".join(self._out)
                    self.state = "done"
                else:
                    self._next = following
                return True
        if not any(literal.startswith(self._held) for literal in choices):
            self.state = "broken"
        return False

    def _name(self, end: str) -> str | None:
        """A name, once it is complete."""
        self._declared_text = None
        if end:
            name, closed, rest = self._held.partition(end)
            if not closed:  # a part of what ends it may be there
                name = (
                    name[:-at]
                    if (at := next((n for n in range(len(end) - 1, 0, -1) if name.endswith(end[:n])), 0))
                    else name
                )
        else:
            self._held = self._held.lstrip()
            name = _NAME_START.match(self._held)[0]  # type: ignore[index]
            rest = self._held[len(name) :]
            closed = rest[:1]
        name, _, attributes = name.partition('"')
        if 'string="' in attributes:
            self._declared_text = 'string="true"' in attributes
        if (name and not _NAME.fullmatch(name)) or (closed and not name) or len(attributes) > _MOST_ATTRIBUTES:
            self.state = "broken"
        if not closed or self.state == "broken":
            return None
        self._held = rest
        return name


class NamedReader(BaseReader):
    """A function's name and then its arguments as JSON; `head` matches what comes before their brace, and its group is the
    name. `partial` matches every text that may become one."""

    def __init__(self, head: re.Pattern[str], partial: re.Pattern[str]) -> None:
        super().__init__()
        self._head, self._partial = head, partial
        self._held = ""
        self._inner: JsonReader | None = None

    def feed(self, text: str) -> str:
        if self._inner is None:
            self._held += text
            before, brace, _ = self._held.partition("{")
            head = self._head.fullmatch(before) if brace else None
            if head is None:
                if not brace and self._partial.fullmatch(self._held):
                    return ""
                self.state = "broken"
                rest, self._held = self._held, ""
                return rest
            self._inner = JsonReader(name=head[1])
            text, self._held = self._held[len(before) :], ""
        rest = self._inner.feed(text)
        self.state, self.name, self.arguments = self._inner.state, self._inner.name, self._inner.arguments
        return rest

    def take(self) -> str:
        return self._inner.take() if self._inner is not None else ""


class Lead:
    """Chooses a reader by what comes first, white space aside; broken if nothing fits."""

    def __init__(self, skip: Mapping[str, Callable[[], Reader]], keep: Mapping[str, Callable[[], Reader]]) -> None:
        """Literals of `skip` are not shown to the reader that they choose. The empty literal is chosen last."""
        self._choices = [*((t, make, len(t)) for t, make in skip.items()), *((t, make, 0) for t, make in keep.items())]
        self._held = ""
        self._inner: Reader | None = None
        self._own_state: State = "reading"

    def feed(self, text: str) -> str:
        if self._inner is not None:
            return self._inner.feed(text)
        self._held += text
        body = self._held.lstrip()
        if not body:
            return ""
        undecided = any(literal != body and literal.startswith(body) for literal, _, _ in self._choices)
        for literal, make, skipped in self._choices:
            if body.startswith(literal) and not (undecided and not literal):
                self._held = ""
                self._inner = make()
                return self._inner.feed(body[skipped:])
        if undecided:
            return ""
        self._own_state, self._held = "broken", ""
        return body

    @property
    def state(self) -> State:
        return self._inner.state if self._inner is not None else self._own_state

    @property
    def name(self) -> str | None:
        return self._inner.name if self._inner is not None else None

    @property
    def arguments(self) -> str:
        return self._inner.arguments if self._inner is not None else ""

    def take(self) -> str:
        return self._inner.take() if self._inner is not None else ""


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _types(schema: Any) -> frozenset[str]:
    """The JSON types that a schema allows; empty where it does not say."""
    if not isinstance(schema, Mapping):
        return frozenset()
    own = schema.get("type", [])
    types = {own} if isinstance(own, str) else {t for t in own if isinstance(t, str)}
    for key in ("anyOf", "oneOf"):
        for option in schema.get(key) or []:
            types |= _types(option)
    return frozenset(types)


def _as_json(text: str, types: frozenset[str]) -> str:
    """A bare value as the JSON that its schema asks for, or as a string where it is nothing of the kind."""
    spelled = text.strip()
    if spelled in ("True", "False", "None"):
        spelled = {"True": "true", "False": "false", "None": "null"}[spelled]
    try:
        value = json.loads(spelled, parse_constant=_refuse)
    except (ValueError, RecursionError):
        try:  # some templates show the model Python's spelling of lists and objects
            value = ast.literal_eval(spelled) if spelled[:1] in ("[", "{") else None
            spelled = json.dumps(value, ensure_ascii=False, allow_nan=False)
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            value = None
        if value is None:
            return json.dumps(text, ensure_ascii=False)
    fits = {
        "null": value is None,
        "boolean": isinstance(value, bool),
        "integer": isinstance(value, int) and not isinstance(value, bool),
        "number": isinstance(value, (int, float)) and not isinstance(value, bool),
        "object": isinstance(value, dict),
        "array": isinstance(value, list),
    }
    return spelled if any(fits.get(t, False) for t in types) else json.dumps(text, ensure_ascii=False)
