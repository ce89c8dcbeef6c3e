"""How much text and memory an operation of a chat template may make, told before it is done.

Knows Python's values and operations, and of Jinja its namespaces. Who asks compares the answers with what it allows.
"""

from __future__ import annotations

import re
from collections.abc import ItemsView, KeysView, Mapping, Sequence, ValuesView
from dataclasses import dataclass
from typing import Any

from jinja2.utils import Namespace

_ESCAPED = 10  # characters that repr, JSON or HTML may make of one
ITEM = 64  # bytes of an item of a list: a place in it, and a small object
_FIELD = re.compile(r"\{[^{}]*\}")
_NESTED = re.compile(r"\{[^{}]*:[^{}]*\{")
_PERCENT = re.compile(r"%(?:\([^)]*\))?[-+ #0]*(\*|\d*)(?:\.(\*|\d*))?")
_GROWS = {"escape": 6, "e": 6, "forceescape": 6, "urlencode": 12, "urlize": 12, "upper": 3, "lower": 3, "title": 3,
          "capitalize": 3, "casefold": 3, "swapcase": 3, "encode": 4, "hex": 3, "pprint": 2, "wordwrap": 2}  # fmt: skip
# these hand on what they were given, or lists of it
_PASSED_ON = frozenset(
    {"list", "sort", "unique", "map", "select", "reject", "selectattr", "rejectattr", "reverse", "dictsort", "groupby"}
    | {"items", "min", "max", "random", "attr", "get", "keys", "values", "index", "count", "copy", "fromkeys"}
)
_SPLITS = frozenset({"split", "rsplit", "splitlines", "partition", "rpartition"})
_SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_TEXT = (str, bytes, bytearray)
_VIEWS = (KeysView, ValuesView, ItemsView)
_SIZED = (*_TEXT, list, tuple, dict, set, frozenset, range, *_VIEWS)


@dataclass(frozen=True)
class Extent:
    """A value written out: values that it holds several times count each time."""

    chars: int
    items: int
    depth: int


def size(value: Any) -> int:
    """Characters, or items."""
    return len(value) if isinstance(value, _SIZED) else 1


def held(value: Any) -> int:
    """Bytes of memory, roughly: a container's own, not those of what it refers to."""
    if isinstance(value, _TEXT):
        return len(value)
    return ITEM * len(value) if isinstance(value, (list, tuple, dict, set, frozenset)) else 1


def extent(value: Any) -> Extent:
    """Each object is looked at once, however often it occurs."""
    return _extent(value, {})


def shown(value: Any) -> int:
    """Characters at most when the value is turned into text."""
    return len(value) if isinstance(value, _TEXT) else extent(value).chars


def _extent(value: Any, known: dict[int, Extent]) -> Extent:
    if (found := known.get(id(value))) is not None:
        return found
    if isinstance(value, _TEXT):
        made = known[id(value)] = _written(value)
        return made
    if isinstance(value, int):
        return Extent(value.bit_length() + 1, 1, 0)
    if isinstance(value, Mapping):
        inner: list[Any] = [*value.keys(), *value.values()]
    elif isinstance(value, (list, tuple, set, frozenset, range, *_VIEWS)):
        inner = list(value)
    elif isinstance(value, Namespace):
        attributes = object.__getattribute__(value, "_Namespace__attrs")
        inner = [*attributes.keys(), *attributes.values()]
    else:
        return Extent(200, 1, 0)
    known[id(value)] = Extent(8, 1, 0)  # where it holds itself
    parts = [_extent(one, known) for one in inner]
    made = known[id(value)] = Extent(
        4 + sum(part.chars + 4 for part in parts),
        1 + sum(part.items for part in parts),
        1 + max((part.depth for part in parts), default=0),
    )
    return made


def _written(value: Any) -> Extent:
    """A text as repr, JSON or HTML have it."""
    plain = isinstance(value, str) and value.isascii() and value.isprintable()
    if not plain:
        return Extent(_ESCAPED * len(value) + 2, 1, 0)
    return Extent(len(value) + value.count('"') + value.count("'") + value.count("\\") + 2, 1, 0)


def formatted(subject: str | bytes | bytearray, values: Sequence[Any], percent: bool) -> int | None:
    """Characters at most of `format` or `%`. None: widths are given as values, which nobody needs."""
    text = subject.decode("latin-1") if isinstance(subject, bytes | bytearray) else subject
    if percent:
        found = _PERCENT.findall(text)
        if any("*" in widths for widths in found):
            return None
        numbers = [number for widths in found for number in widths if number]
        fields = len(found)
    else:
        if _NESTED.search(text):
            return None
        specs = [field.rpartition(":")[2] for field in _FIELD.findall(text) if ":" in field]
        numbers = [number for spec in specs for number in re.findall(r"\d+", spec)]
        fields = text.count("{")
    if any(len(number) > 7 for number in numbers):
        return None
    largest = max((extent(value).chars for value in values), default=0)
    return len(text) + sum(map(int, numbers)) + fields * largest


def made(name: str, subject: Any, values: Sequence[Any]) -> int | None:
    """Characters (or bytes) that a method or filter of this name makes at most of these. None: far too many."""
    texts = size(subject) + 1
    largest = max((size(value) for value in values), default=1)
    numbers = [abs(value) for value in values if isinstance(value, int)]
    if name in ("format", "format_map", "%") and isinstance(subject, _TEXT):
        return formatted(subject, values, percent=name == "%")
    if name == "expandtabs":
        tabs = texts
        if isinstance(subject, _TEXT):
            tabs = subject.count("\t") if isinstance(subject, str) else subject.count(b"\t")
        return texts + int(tabs) * max(numbers, default=8)
    if name == "translate":
        inner = values[0] if values else {}
        each = inner.values() if isinstance(inner, Mapping) else inner if isinstance(inner, list | tuple) else ()
        return texts * max((size(value) for value in each), default=1)
    if name == "join":
        parts = [subject, *values]
        return texts * largest + sum(shown(part) for part in parts)
    if name in ("replace", "indent", "wordwrap", "urlize"):
        return texts * _GROWS.get(name, 1) * max([largest, *numbers])
    if name == "sum":
        return ITEM * extent(subject).items
    if name in ("batch", "slice"):
        return ITEM * (size(subject) + max(numbers, default=1))
    if name == "tojson":
        indent = max([*numbers, *(size(value) for value in values if isinstance(value, str))], default=0)
        whole = extent(subject)
        return whole.chars + whole.items * indent * whole.depth
    if name in _SPLITS and isinstance(subject, _TEXT):
        return len(subject) + ITEM * _parts(subject, values)
    if name == "list" and isinstance(subject, _TEXT):
        return ITEM * len(subject)
    if name in _PASSED_ON:
        return ITEM * max(texts, largest)
    return shown(subject) * _GROWS.get(name, 1)


def _parts(subject: Any, values: Sequence[Any]) -> int:
    """Pieces that splitting makes at most."""
    if len(subject) < 100_000:
        return min(len(subject), 1000)  # a small list, which is counted when it is there
    mark = next((value for value in values if isinstance(value, type(subject)) and value), None)
    if mark is not None:
        return int(subject.count(mark)) + 1
    spaces = _SPACES if isinstance(subject, str) else b" \t\n\r\x0b\x0c"
    return sum(subject.count(space) for space in spaces) + 1
